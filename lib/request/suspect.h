/* Requests at which connections end, again and again. */
#ifndef EVZK_SUSPECT_H
#define EVZK_SUSPECT_H

#include "lib/request/request.h"

/* The connection ended, and a part of the request was not answered; for each
 * part of it.  EVZK_ERR_CONNLOSS: the outcome is unknown.  EVZK_ERR_TOOLARGE:
 * the servers hang up at this request. */
int evzk__suspect_lost(struct evzk__core *s, struct evzk__request *r);

/* Another request was the same, and was sent with this one. */
void evzk__suspect_shared(const struct evzk__request *r,
                          struct evzk__request *other);

/* The request fails with its connection, and was not sent: nothing follows. */
void evzk__suspect_unheard(struct evzk__request *r);

/* The connection has ended: all that was on its way was answered. */
void evzk__suspects_cut(struct evzk__core *s);

/* The request is not on its way any more: all of it was answered, or lost. */
void evzk__suspect_back(struct evzk__core *s, struct evzk__request *r);

/* A request is asked for: goes on with the count of the same read of an owner
 * that took it back. */
void evzk__suspect_asked(struct evzk__core *s, struct evzk__request *r);

/* Its owner takes it back, and may end. */
void evzk__suspect_dropped(struct evzk__core *s, const struct evzk__request *r);

/* Its owner asks for something else than before, however like it. */
void evzk__suspect_forget(struct evzk__request *r);

/* The request was taken back. */
void evzk__suspect_left(struct evzk__core *s, const struct evzk__request *r);

/* Is it to be sent alone? */
bool evzk__is_suspect(const struct evzk__request *r);

/* Has the same read failed a moment ago, since the servers hang up at it?  Then
 * it is not sent. */
bool evzk__suspect_is_barred(struct evzk__core *s,
                             const struct evzk__request *r);

/* Has it not been sent alone yet?  Then it may be trusted again. */
bool evzk__suspect_may_be_released(const struct evzk__request *r);
void evzk__suspect_release(struct evzk__request *r);

/* Puts it at the end of the suspects' queue. */
void evzk__suspect_hold(struct evzk__core *s, struct evzk__request *r);

/* Had all others their time? */
bool evzk__suspects_due(const struct evzk__core *s);

/* May a suspect be sent now?  Nothing is on its way, and the connection has
 * answered something. */
bool evzk__suspects_may_go(const struct evzk__core *s);

#endif
