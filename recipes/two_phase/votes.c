/* What a listing of a transaction's znodes says of the votes.
 *
 * How it can fail.  A site has one znode at a time.  Where there are two, one
 * was made by hand: then a vote to abort counts before one to commit, and that
 * before none.  Znodes of no site of the transaction never count. */
#include <string.h>

#include "recipes/two_phase/two_phase_internal.h"

void evzk__votes_count(const struct evzk__tx_text *t,
                       const struct evzk__names *names, uint8_t *standing,
                       struct evzk__votes *out)
{
    uint32_t n[EVZK__STANDINGS] = {0};

    *out = (struct evzk__votes){0};
    memset(standing, EVZK__ABSENT, t->n);
    for (size_t i = 0; i < names->n; i++) {
        const char *site;
        uint8_t s = (uint8_t)evzk__standing_parse(names->v[i], &site);
        int at = s == EVZK__ABSENT ? -1 : evzk__tx_text_find(t, site);

        if (at < 0)
            out->foreign++;
        else if (standing[at] < s)
            standing[at] = s;
    }
    for (uint32_t i = 0; i < t->n; i++)
        n[standing[i]]++;
    out->commits = n[EVZK__COMMITS];
    out->aborts = n[EVZK__ABORTS];
    out->waiting = n[EVZK__OPEN] + n[EVZK__PRESENT];
    out->dead = n[EVZK__DEAD];
    out->absent = n[EVZK__ABSENT];
}

evzk_tx_verdict evzk__votes_verdict(const struct evzk__votes *v)
{
    if (v->aborts > 0 || v->dead > 0 || v->absent > 0)
        return EVZK_TX_ABORT;
    return v->waiting > 0 ? EVZK_TX_NONE : EVZK_TX_COMMIT;
}
