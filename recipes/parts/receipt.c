/* What an answer to a transaction with a receipt means: see receipt.h. */
#include "recipes/parts/receipt.h"

enum evzk__outcome evzk__receipt_answered(struct evzk__receipt *r,
                                          const struct evzk__reply *reply,
                                          uint32_t n_steps)
{
    int32_t next = (int32_t)((uint32_t)r->version + 1); /* As servers count. */
    bool sent_before = r->sends > 1;

    r->sends = 0;
    if (reply->rc == EVZK_OK) {
        r->version = next;
        return EVZK__DONE;
    }
    if (!sent_before)
        return EVZK__REFUSED;
    if (reply->part == 0 && reply->rc == EVZK_ERR_BADVERSION) {
        r->version = next;
        return EVZK__DONE_BEFORE;
    }
    /* Another step failed, so the receipt had the version: no transaction
     * before this one was done. */
    return reply->part > 0 && reply->part < n_steps ? EVZK__REFUSED
                                                    : EVZK__UNKNOWN;
}

/* What a withdrawal leaves in the receipt: a transaction leaves nothing there.
 */
static const char mark[] = "withdrawn";

/* The write of the next version, and what is there behind it. */
void evzk__receipt_withdraw(struct evzk__machine *m,
                            const struct evzk__receipt *r,
                            struct evzk__step steps[EVZK__WITHDRAWAL])
{
    steps[0] = (struct evzk__step){.verb = EVZK__STEP_SET,
                                   .versioned = true,
                                   .version = r->version,
                                   .data = mark,
                                   .len = sizeof mark - 1};
    steps[1] = (struct evzk__step){.verb = EVZK__STEP_EXISTS};
    evzk__ask_about(m, r->name, steps, EVZK__WITHDRAWAL, 0);
}

/* A write that was refused by its version may be the second one: then the mark
 * tells that the first one was done.  A write that was refused for another
 * reason has come behind all that the session sent before. */
enum evzk__outcome evzk__receipt_withdrawn(struct evzk__receipt *r,
                                           const struct evzk__reply *reply)
{
    int32_t next = (int32_t)((uint32_t)r->version + 1);

    r->sends = 0;
    if (reply->first_rc == EVZK_OK) {
        r->version = next;
        return EVZK__REFUSED;
    }
    if (reply->first_rc == EVZK_ERR_SERVER ||
        reply->first_rc == EVZK_ERR_TOOLARGE || reply->rc != EVZK_OK)
        return EVZK__UNKNOWN;
    if (reply->res->stat.version == r->version)
        return EVZK__REFUSED;
    if (reply->res->stat.version != next)
        return EVZK__UNKNOWN;
    r->version = next;
    return reply->res->stat.data_len > 0 ? EVZK__REFUSED : EVZK__DONE_BEFORE;
}
