/* The order in which one session's contenders come into a directory: the
 * contender that asks first gets the lowest number.  See
 * request/create_order.c. */
#ifndef EVZK_CREATE_ORDER_H
#define EVZK_CREATE_ORDER_H

#include "lib/request/request.h"

/* The functions that take a request may be called with any kind.  Only creates
 * are noted; each belongs to a machine (evzk__place_of()). */

/* asked: the request was submitted.  over: it was answered, or taken back;
 * `made`: its znode exists. */
void evzk__create_order_asked(struct evzk__request *r);
void evzk__create_order_over(struct evzk__request *r, bool made);

/* Puts a create that is to be sent behind those that were asked for before it.
 */
void evzk__create_order_wait(struct evzk__core *s, struct evzk__request *r);

/* sent: the request goes to the server, in a transaction or not.  back: its
 * answer has come, or it could not be sent; `made`: its znode exists. */
void evzk__create_order_sent(struct evzk__core *s, struct evzk__request *r,
                             bool transaction);
void evzk__create_order_back(struct evzk__core *s, struct evzk__request *r,
                             bool made);

/* The machine is not on its way into the directory any more: it has its znode
 * there, or has ended. */
void evzk__create_order_left(struct evzk__place *p);

/* Is this the first of our creates in its directory? */
bool evzk__create_order_is_first(const struct evzk__request *r);

/* The create that is to be sent next, or NULL. */
struct evzk__request *evzk__create_order_next(struct evzk__core *s);

/* The request was answered with `rc`.  If all creates that wait for the same
 * directory would get the same answer: the first waiting create that was asked
 * for before dir->tried was `tried`; or NULL. */
struct evzk__request *evzk__create_order_like(const struct evzk__request *r,
                                              int rc, uint32_t tried);

#endif
