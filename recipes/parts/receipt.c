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

/* A delete that must fail, by its version, and what is there behind it. */
void evzk__receipt_look(struct evzk__machine *m, const struct evzk__receipt *r)
{
    static const struct evzk__step looking[] = {{.verb = EVZK__STEP_DELETE,
                                                 .versioned = true,
                                                 .version = EVZK__NO_VERSION},
                                                {.verb = EVZK__STEP_EXISTS}};

    evzk__ask_about(m, r->name, looking, 2, 0);
}

enum evzk__outcome evzk__receipt_looked(struct evzk__receipt *r,
                                        const struct evzk__reply *reply)
{
    int32_t next = (int32_t)((uint32_t)r->version + 1);

    if (reply->first_rc == EVZK_ERR_SERVER || reply->rc != EVZK_OK)
        return EVZK__UNKNOWN;
    if (reply->res->stat.version == r->version)
        return EVZK__REFUSED;
    if (reply->res->stat.version != next)
        return EVZK__UNKNOWN;
    r->version = next;
    return EVZK__DONE_BEFORE;
}
