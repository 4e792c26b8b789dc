/* The servers of a session: names on one side, addresses on the other. */
#ifndef EVZK_SERVERS_H
#define EVZK_SERVERS_H

#include <stdbool.h>

struct event_base;
struct evdns_base;
struct evzk__servers;

/* `text` is "host:port,[v6]:port,...", at most EVZK_SERVERS_MAX of them, 2181
 * when a port is missing.  `changed`
 * is called when the addresses change; it may be called inside refresh. */
struct evzk__servers *evzk__servers_new(struct event_base *base,
                                        struct evdns_base *dns,
                                        const char *text,
                                        void (*changed)(void *), void *arg,
                                        int *rc);

/* Looks the names up again; does nothing while that goes on, or when there are
 * none.  Does not block. */
void evzk__servers_refresh(struct evzk__servers *sv);

bool evzk__servers_busy(const struct evzk__servers *sv);

/* "address:port,...", or NULL while none is known. */
const char *evzk__servers_addresses(const struct evzk__servers *sv);

/* Gives look-ups under way up; `changed` is called when the last has ended. */
void evzk__servers_cancel(struct evzk__servers *sv);

/* Look-ups under way are given up; `changed` is not called again. */
void evzk__servers_free(struct evzk__servers *sv);

/* In the child of a fork: look-ups and their sockets are the parent's, and are
 * left behind. */
void evzk__servers_abandon(struct evzk__servers *sv);

#endif
