/* A transaction that is done once, whatever happens.
 *
 * A receipt is a persistent znode of one object.  Every transaction of that
 * object begins with a write to the receipt, and is done only if the receipt
 * has the version that the object expects: the number of transactions so far.
 * So a transaction whose answer was lost is sent again, as it was.  If the
 * receipt has another version now, the first one was done; if not, the second
 * one is, and a first one that arrives late is refused.  Since the receipt is
 * persistent, this holds when the session has ended in between.
 *
 * A recipe makes the receipt with the rows of parts/make.h, and has rows for
 * its transactions, with EVZK__RETRY:
 *
 *     static void put(struct evzk__machine *m)
 *     {
 *         steps[0] = evzk__receipt_step(&p->receipt);
 *         ...
 *         evzk__ask(m, steps, n, EVZK__COMMIT);
 *     }
 *     static int was_put(struct evzk__machine *m, const struct evzk__event *e)
 *     {
 *         switch (evzk__receipt_answered(&p->receipt, e->reply)) {
 *         ...
 *
 * No transaction may be begun before the one before it has an outcome. */
#ifndef EVZK_RECEIPT_H
#define EVZK_RECEIPT_H

#include "lib/machine/machine.h"

struct evzk__receipt {
    const char *name; /* In the machine's directory; borrowed. */
    int32_t version;  /* As the next transaction expects it. */
    uint32_t sends;   /* How often the present transaction was asked. */
};

enum evzk__outcome {
    EVZK__DONE,        /* The reply is that of the transaction. */
    EVZK__DONE_BEFORE, /* Done, and its answer was lost. */
    EVZK__REFUSED,     /* Not done: reply->rc, and reply->part, say why. */
    EVZK__UNKNOWN      /* Somebody has deleted the receipt, or the servers have
                          refused to say: the transaction may be done. */
};

/* The error to tell of a transaction whose outcome is UNKNOWN. */
static inline int evzk__receipt_why_unknown(const struct evzk__reply *reply)
{
    return reply->rc == EVZK_ERR_TOOLARGE ? EVZK_ERR_TOOLARGE
                                          : EVZK_ERR_CONNLOSS;
}

/* For a receipt that was just made. */
static inline void evzk__receipt_init(struct evzk__receipt *r, const char *name)
{
    *r = (struct evzk__receipt){.name = name};
}

/* The first step of a transaction. */
static inline struct evzk__step evzk__receipt_step(struct evzk__receipt *r)
{
    r->sends++;
    return (struct evzk__step){.verb = EVZK__STEP_SET,
                               .name = r->name,
                               .versioned = true,
                               .version = r->version};
}

/* The outcome of a transaction of `n_steps` steps, in a row with EVZK__RETRY:
 * such a row hears of no lost answer.  Another transaction may be begun then.
 * But if the receipt may not exist any more (UNKNOWN; or REFUSED, with part 0)
 * a new receipt must be made before. */
enum evzk__outcome evzk__receipt_answered(struct evzk__receipt *r,
                                          const struct evzk__reply *reply,
                                          uint32_t n_steps);

/* Where the servers hang up at the transaction, each time: what became of it
 * before that?  Writes to the receipt, and only if that has the version that
 * the transaction expects: so whichever of the two comes first, the other one
 * is never done.  REFUSED: the transaction is withdrawn, and another one may be
 * begun.  DONE_BEFORE, UNKNOWN: as above.
 *
 * The row has EVZK__RETRY.  `steps` has room for the request, until its
 * answer. */
enum { EVZK__WITHDRAWAL = 2 };
void evzk__receipt_withdraw(struct evzk__machine *m,
                            const struct evzk__receipt *r,
                            struct evzk__step steps[EVZK__WITHDRAWAL]);
enum evzk__outcome evzk__receipt_withdrawn(struct evzk__receipt *r,
                                           const struct evzk__reply *reply);

#endif
