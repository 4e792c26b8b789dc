/* A recipe of the tests alone: it tries what recipes are made from (the steps
 * of request/step.h, watches by path, recipes/parts/make.h and read_all.h).
 *
 * Some processes vote.  Each says with a znode that it is here, and votes in a
 * transaction: check that it is here, create the vote, delete the other.  When
 * one of them has seen the votes of all it opens the gate; whoever sees the
 * gate open, or all votes, takes its own vote away, and is done. */
#ifndef SIM_BALLOT_H
#define SIM_BALLOT_H

#include "lib/machine/machine.h"

struct ballot;

/* Once, from the loop: EVZK_OK, all have voted; or why not. */
typedef void ballot_cb(struct ballot *b, int rc, void *arg);

struct ballot_options {
    uint32_t voters;     /* So many are waited for. */
    uint32_t timeout_ms; /* 0: none. */
    char vote;           /* The data of the vote. */
    bool persistent;     /* So is the znode that says that it is here. */
};

int ballot_start(evzk_session *s, const char *path,
                 const struct ballot_options *opt, ballot_cb *cb, void *arg,
                 struct ballot **out);
void ballot_cancel(struct ballot *b); /* The callback is still called. */
void ballot_free(struct ballot *b);   /* No callback follows. */

extern const struct evzk__kind ballot_kind;

#endif
