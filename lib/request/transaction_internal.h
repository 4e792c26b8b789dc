/* A transaction under way, between the file that puts it together
 * (transaction.c) and the file that hears its answer (transaction_answer.c). */
#ifndef EVZK_TRANSACTION_INTERNAL_H
#define EVZK_TRANSACTION_INTERNAL_H

#include "lib/request/request.h"

enum {
    EVZK__BATCH_ITEMS = 64, /* In one transaction. */
    EVZK__BATCH_TRIES = 8   /* Of a request, together with others. */
};

struct evzk__batch {
    struct evzk__request r;
    LIST_ENTRY(evzk__batch) link;
    struct evzk__core *s;
    struct evzk__multi *multi;
    unsigned n;
    struct evzk__request *item[EVZK__BATCH_ITEMS];
    uint16_t ops[EVZK__BATCH_ITEMS]; /* Operations of each item. */
};

/* The answer came, or it is lost: answers each request of the transaction, or
 * sends it again.  Frees the transaction. */
void evzk__batch_answered(struct evzk__request *r,
                          const struct evzk__reply *reply);

#endif
