/* What other threads see of a grant: evzk/lease.h.
 *
 * A *term* is one unbroken stretch of a session's lease: its deadline moves
 * with each renewal, and once the lease has lapsed, or the session has ended,
 * the term is over for ever.  A *view* is one grant's: it names the term in
 * which the grant was seen, and has an end of its own.  All views of a session
 * share its term, so that a renewal costs one store. */
#ifndef EVZK_VIEW_H
#define EVZK_VIEW_H

#include <stdint.h>

#include "evzk/lease.h"

struct evzk__term;

/* With one reference, the session's.  NULL: no memory. */
struct evzk__term *evzk__term_new(int64_t deadline_us);

void evzk__term_renew(struct evzk__term *t, int64_t deadline_us);

/* It is over: all its views say no.  Gives the session's reference back. */
void evzk__term_end(struct evzk__term *t);

/* With one reference, the recipe's.  NULL: no memory. */
evzk_lease *evzk__view_new(struct evzk__term *t, uint64_t token);

/* The grant has ended: it says no from now on.  NULL is a no-op. */
void evzk__view_end(evzk_lease *l);

#endif
