/* A transaction under way: its requests are chosen in transaction_choice.c, put
 * together in transaction.c, and answered in transaction_answer.c. */
#ifndef EVZK_TRANSACTION_INTERNAL_H
#define EVZK_TRANSACTION_INTERNAL_H

#include "lib/base/util.h"
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

/* The request number i of those that a request consists of, if it is a
 * transaction; else the request itself is number 0.  NULL: there are fewer. */
static inline struct evzk__request *evzk__batch_item(struct evzk__request *r,
                                                     unsigned i)
{
    struct evzk__batch *b = evzk__container_of(r, struct evzk__batch, r);

    if (r->op != EVZK__BATCH)
        return i == 0 ? r : NULL;
    return i < b->n ? b->item[i] : NULL;
}

/* Is it a commit that may go with those of other machines? */
bool evzk__batch_is_commit(const struct evzk__request *r);
/* At most so many bytes of the transaction are the request's. */
size_t evzk__batch_bytes(const struct evzk__request *r);
/* Gathers the requests that go together with the first of a queue. */
unsigned evzk__batch_gather(struct evzk__core *s, struct evzk__request *first,
                            struct evzk__request *v[EVZK__BATCH_ITEMS],
                            size_t *bytes);

/* The answer came, or it is lost: answers each request of the transaction, or
 * sends it again.  Frees the transaction. */
void evzk__batch_answered(struct evzk__request *r,
                          const struct evzk__reply *reply);

#endif
