/* The order in which contenders of one session come into a directory: the one
 * that asks first comes first.  See request/create_order.c. */
#ifndef EVZK_ARRIVAL_H
#define EVZK_ARRIVAL_H

#include "lib/request/request.h"

/* All that take a request are told of every kind; only creates are noted, and
 * those belong to a machine (evzk__place_of()). */

/* The request was asked for; it was answered, or taken back, `made` or not. */
void evzk__arrival_asked(struct evzk__request *r);
void evzk__arrival_over(struct evzk__request *r, bool made);

/* Puts a create that is to be sent behind those that were asked for before it.
 */
void evzk__arrival_wait(struct evzk__core *s, struct evzk__request *r);

/* It leaves for the server, in a transaction or not; and it is back from there,
 * `made` or not. */
void evzk__arrival_sent(struct evzk__core *s, struct evzk__request *r,
                        bool transaction);
void evzk__arrival_back(struct evzk__core *s, struct evzk__request *r,
                        bool made);

/* The machine wants no more to come into the directory: it has its place there,
 * or has ended. */
void evzk__arrival_left(struct evzk__place *p);

/* Is no other of ours to come into its directory before it? */
bool evzk__arrival_is_first(const struct evzk__request *r);

/* The create that is to be sent next, or NULL. */
struct evzk__request *evzk__arrival_next(struct evzk__core *s);

/* The request was answered with @rc.  If all that wait for the same directory
 * would be answered the same: the first of them that waits, of those that asked
 * when dir->tried was @tried; or NULL. */
struct evzk__request *evzk__arrival_like(const struct evzk__request *r, int rc,
                                         uint32_t tried);

#endif
