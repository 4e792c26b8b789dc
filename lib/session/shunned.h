/* Servers that are no ZooKeeper: left out for a while, and longer each time. */
#ifndef EVZK_SHUNNED_H
#define EVZK_SHUNNED_H

#include <stdbool.h>
#include <stdint.h>

enum { EVZK__SHUNNED = 16, EVZK__SHUNNED_ADDRESS = 64 };

/* Zero-initialize it; nothing is to be freed. */
struct evzk__shunned {
    struct evzk__shun {
        char address[EVZK__SHUNNED_ADDRESS]; /* "": none. */
        int64_t until, pause, told_at;
    } server[EVZK__SHUNNED];
    int64_t crowded_until; /* The list is full: no server is tried before. */
};

/* Leaves a server out from now on, for at most `most_us`.  True: it is time to
 * tell of it. */
bool evzk__shunned_add(struct evzk__shunned *sh, const char *address,
                       int64_t now, int64_t most_us);

/* Is it time to tell of a server that is not left out, but silent? */
bool evzk__shunned_tell(struct evzk__shunned *sh, const char *address,
                        int64_t now);

/* The server is a ZooKeeper: next time the pause is short again. */
void evzk__shunned_forgive(struct evzk__shunned *sh, const char *address);

/* Copies the list without the servers that are left out now; `out` has room for
 * all of it.  False: none remains before *until. */
bool evzk__shunned_filter(struct evzk__shunned *sh, const char *list,
                          int64_t now, char *out, int64_t *until);

#endif
