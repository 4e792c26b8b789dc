/* The name service, as its files know it.
 *
 *   names/endpoint.c  an endpoint as a text, and back
 *   names/register.c  registers an endpoint: a member of a group
 *   names/turns.c     whose turn it is to be picked
 *   names/resolver.c  follows endpoints: a view of a group
 *   names/read.c      reads what a resolver has, and picks
 *
 * The recipe is put together from the group's, sends no request of its own, and
 * has no table. */
#ifndef EVZK_NAMES_INTERNAL_H
#define EVZK_NAMES_INTERNAL_H

#include "evzk/names.h"
#include "recipes/names/turns.h"

/* ---- names/endpoint.c ---- */

/* "[" host "]:65535 1000000" and a line feed. */
enum {
    EVZK__ENDPOINT_HEAD_MAX = EVZK_ENDPOINT_HOST_MAX + 2 + 1 + 5 + 1 + 7 + 1
};

/* The rule that the endpoint breaks; or NULL. */
const char *evzk__endpoint_fault(const evzk_endpoint *e);

/* ---- names/resolver.c ---- */

struct evzk_resolver {
    evzk_group_view *view;
    evzk_resolver_cb *cb; /* NULL once the caller has freed it. */
    void *arg;
    struct evzk__turns turns; /* Of every member of the view, but .. */
    bool incomplete;          /* .. there was no memory for one of them. */
    evzk_pick pick;
    int64_t forgive_us; /* INT64_MAX: never. */
    bool inside;        /* The view calls: what is freed now is freed later. */
};

/* A member of the view, read as an endpoint. */
evzk_resolved evzk__resolved_of(const evzk_group_member *m);

/* Gives a member its turn.  False: no memory. */
bool evzk__resolver_take_turn(evzk_resolver *r, const evzk_group_member *m);

#endif
