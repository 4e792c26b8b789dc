/* Until when a session is surely alive.  Pure: the clock is handed in. */
#ifndef EVZK_LIB_LEASE_H
#define EVZK_LIB_LEASE_H

#include <stdint.h>

enum { EVZK__LEASE_CONTACTS = 8 };

struct evzk__lease {
    int64_t timeout_us;  /* Granted by the server. */
    int64_t valid_until; /* The session lives until then; 0: unknown. */
    struct {
        int64_t sent, answered;
    } contact[EVZK__LEASE_CONTACTS]; /* With our server; newest last. */
    unsigned contacts;
};

/* A connection was made, by a handshake begun at `begun`.  The handshake went
 * through the leader, which counts the session's time-out anew, from a moment
 * after `begun`. */
void evzk__lease_connected(struct evzk__lease *l, int64_t begun, int64_t now,
                           int64_t timeout_us);

/* The leader answered, now, a sync that was sent at `sent`. */
void evzk__lease_confirmed(struct evzk__lease *l, int64_t sent, int64_t now);

/* The session ended. */
void evzk__lease_end(struct evzk__lease *l);

/* The interval between two syncs. */
int64_t evzk__lease_probe_us(const struct evzk__lease *l);

#endif
