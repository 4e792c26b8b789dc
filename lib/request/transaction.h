/* Creates and deletes that fall due together, as one transaction. */
#ifndef EVZK_BATCH_H
#define EVZK_BATCH_H

#include "lib/request/request.h"

/* May the request go in a transaction, alone or with others? */
bool evzk__batch_takes(const struct evzk__core *s,
                       const struct evzk__request *r);

/* Prepares a transaction of the first request of a queue and of those behind it
 * that may go with it.  NULL: no memory; then nothing is sent for a while. */
struct evzk__request *evzk__batch_prepare(struct evzk__core *s,
                                          struct evzk__request *first,
                                          struct evzk__multi **multi);

/* Is the directory to be deleted with this request? */
bool evzk__batch_takes_dir(const struct evzk__request *r);

/* Gives up the transactions in flight at the end of the session; no request is
 * answered. */
void evzk__batches_clear(struct evzk__core *s);

/* May one more transaction be in flight? */
bool evzk__batch_room(const struct evzk__core *s);

#endif
