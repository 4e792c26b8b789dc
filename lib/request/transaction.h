/* Creates and deletes that fall due together, as one transaction. */
#ifndef EVZK_BATCH_H
#define EVZK_BATCH_H

#include "lib/request/request.h"

/* May it go in a transaction, alone or with others? */
bool evzk__batch_takes(const struct evzk_session *s,
                       const struct evzk__request *r);

/* Sends the first of a queue, and what behind it goes with it. */
void evzk__batch_send(struct evzk_session *s, struct evzk__request *first);

/* Does the directory go with this delete? */
bool evzk__batch_takes_dir(const struct evzk__request *r);

/* A create found its directory missing, or not: so it is guessed next time. */
void evzk__batch_found(struct evzk_session *s, bool missing);

/* Gives up what is in flight, at the end of the session; answers nobody. */
void evzk__batches_clear(struct evzk_session *s);

/* Is there room for one more in flight? */
bool evzk__batch_room(const struct evzk_session *s);

#endif
