/* What a listing of a transaction's znodes says of the votes.
 *
 * How it can fail.  Any process with the right to create may make a znode of
 * any name here.  A site never has two znodes that contradict each other, so
 * one of them was made by hand, and nobody can know which: such a site has not
 * voted to commit, whatever is there.  Znodes of no site of the transaction
 * never count. A vote that was made by hand in the place of the site's own
 * znode cannot be told from the site's: that is for ACLs to prevent
 * (doc/two-phase.md). */
#include <string.h>

#include "recipes/two_phase/two_phase_internal.h"

void evzk__votes_count(const struct evzk__tx_text *t,
                       const struct evzk__names *names, uint8_t *znodes,
                       struct evzk__votes *out)
{
    uint32_t n[EVZK__FORGED + 1] = {0};

    *out = (struct evzk__votes){0};
    memset(znodes, 0, t->n);
    for (size_t i = 0; i < names->n; i++) {
        const char *site;
        enum evzk__standing s = evzk__standing_parse(names->v[i], &site);
        int at = s == EVZK__ABSENT ? -1 : evzk__tx_text_find(t, site);

        if (at < 0)
            out->foreign++;
        else
            znodes[at] |= EVZK__ZNODE(s);
    }
    for (uint32_t i = 0; i < t->n; i++)
        n[evzk__standing_of(znodes[i])]++;
    out->commits = n[EVZK__COMMITS];
    out->aborts = n[EVZK__ABORTS];
    out->waiting = n[EVZK__OPEN] + n[EVZK__PRESENT];
    out->dead = n[EVZK__DEAD];
    out->absent = n[EVZK__ABSENT];
    out->forged = n[EVZK__FORGED];
}

evzk_tx_verdict evzk__votes_verdict(const struct evzk__votes *v)
{
    if (v->aborts > 0 || v->dead > 0 || v->absent > 0 || v->forged > 0)
        return EVZK_TX_ABORT;
    return v->waiting > 0 ? EVZK_TX_NONE : EVZK_TX_COMMIT;
}
