/* What other threads see of a grant: evzk/lease.h.
 *
 * A *term* is one unbroken stretch of a session's lease.  Its deadline moves
 * with each renewal.  When the lease has ended, or the session has, the term is
 * over for ever.  A *view* belongs to one grant: it refers to the term in which
 * the grant was made, and has an end of its own.  All views of a session share
 * its term, so a renewal costs one store. */
#ifndef EVZK_VIEW_H
#define EVZK_VIEW_H

#include <stdint.h>

#include "evzk/lease.h"

struct evzk__term;

/* Makes a term with one reference, which the session owns.  NULL: no memory. */
struct evzk__term *evzk__term_new(int64_t deadline_us);

void evzk__term_renew(struct evzk__term *t, int64_t deadline_us);

/* Ends the term: all its views say no from now on.  Gives the session's
 * reference back. */
void evzk__term_end(struct evzk__term *t);

/* Makes a view with one reference, which the recipe owns.  NULL: no memory. */
evzk_lease *evzk__view_new(struct evzk__term *t, uint64_t token);

/* The grant has ended: the view says no from now on.  NULL is a no-op. */
void evzk__view_end(evzk_lease *l);

#endif
