/* A server's greeting: its answer to the connect request of the client.  What
 * a service other than ZooKeeper sends must not reach the client, which
 * believes all of it.  See doc/client-facts.md, "A server that is no
 * ZooKeeper". */
#ifndef EVZK_GREETING_H
#define EVZK_GREETING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    EVZK__GREETING = 41, /* Bytes; a server before 3.4 sends one less. */
    EVZK__GREETING_WHY = 96
};

struct evzk__greeting {
    int64_t id;          /* Of the session that goes on; 0: a new session. */
    uint32_t timeout_ms; /* As asked for. */
    char why[EVZK__GREETING_WHY]; /* Set when the greeting is wrong. */
};

enum evzk__verdict {
    EVZK__GREETING_SHORT, /* Right so far, and not complete. */
    EVZK__GREETING_RIGHT,
    EVZK__GREETING_WRONG
};

/* Judges the first `n` bytes that a server has sent, at most
 * EVZK__GREETING of them. */
enum evzk__verdict evzk__greeting_judge(struct evzk__greeting *g,
                                        const unsigned char *bytes, size_t n);

#endif
