/* Which calls of a handle are refused, as evzk/chubby.h says.
 *
 * How it can fail: what has happened on the servers, and is not told yet,
 * leaves it open whether the handle knows.  Each such excuse hides a refusal
 * for nothing. */
#include "processes.h"
#include "scene.h"
#include "scene_chubby.h"

static bool is_acquire(enum chubby_act act)
{
    return act == ACT_ACQUIRE || act == ACT_SHARE || act == ACT_TRY;
}

static bool is_write(enum chubby_act act)
{
    return act == ACT_SET || act == ACT_SET_GEN || act == ACT_DELETE;
}

bool chubby_holds(int i)
{
    const struct chubby_hold *hold = &chubbies.of[i].hold;

    return hold->token && !hold->clean && !hold->lost;
}

int32_t chubby_sequenced_by(int i)
{
    for (int k = 0; k < chubbies.n_ops; k++) {
        const struct chubby_op *op = &chubbies.op[k];

        if (op->handle == i + 1 && op->act == ACT_SET_SEQUENCER &&
            (!op->told || op->rc == EVZK_OK))
            return op->of + 1;
    }
    return 0;
}

/* Whatever is called. */
static bool takes_none(int i, enum chubby_act act)
{
    const struct chubby_handle *h = &chubbies.of[i];
    bool ends = act == ACT_CLOSE || act == ACT_POISON;
    bool closing = process_of(chubby_plan_of(i)->proc)->closing; /* Untold. */

    if (h->ended || h->closes || (h->poisoned && act != ACT_CLOSE))
        return true;
    return !ends &&
           ((!h->opened && !closing) || (h->invalid && act != ACT_RELEASE));
}

static bool is_refused(int i, enum chubby_act act)
{
    const struct chubby_handle *h = &chubbies.of[i];

    if (takes_none(i, act))
        return true;
    if (act == ACT_RELEASE)
        return !chubby_holds(i);
    if (chubby_plan_of(i)->read_only && (is_write(act) || is_acquire(act)))
        return true;
    if (is_acquire(act))
        return h->acquiring || h->releasing || chubby_holds(i);
    if (is_write(act)) /* LOCK_LOST is about to be told. */
        return chubby_holds(i) && !evzk_chubby_held(h->h);
    return act == ACT_SET_SEQUENCER && chubby_sequenced_by(i);
}

/* The end of the handle, or that it is invalid, is about to be told. */
static bool is_open(int i, enum chubby_act act)
{
    const struct chubby_handle *h = &chubbies.of[i];
    int proc = chubby_plan_of(i)->proc;

    if (process_of(proc)->closing || chubby_session_ended(proc))
        return true;
    if (act == ACT_CLOSE || act == ACT_POISON)
        return !h->opened && chubby_plan_of(i)->timeout_ms;
    if (act == ACT_RELEASE)
        return false;
    return chubby_gone(h->instance) || chubbies.hidden_at ||
           (h->sequenced && chubbies.of[h->sequenced - 1].sequencer_gone);
}

enum chubby_verdict chubby_verdict(int i, enum chubby_act act)
{
    if (is_refused(i, act))
        return REFUSED;
    return is_open(i, act) ? EITHER : TAKEN;
}
