/* The versions that a guarded write tells when it is done.
 *
 * How it can fail.  Several operations may be about one znode: all of them tell
 * the version that the last one leaves.  A version that no operation names is
 * not known.
 */
#include <string.h>

#include "recipes/guard/guard_internal.h"

/* The version of a znode behind an operation; `before`: the version before it.
 * -1: not known, or no such znode. */
static int32_t version_after(const struct evzk__step *step, int32_t before)
{
    if (step->versioned)
        before = step->version;
    switch ((enum evzk__verb)step->verb) {
    case EVZK__STEP_CREATE:
        return 0;
    case EVZK__STEP_SET: /* The servers' numbers wrap, too. */
        return before == -1 ? -1 : (int32_t)((uint32_t)before + 1);
    case EVZK__STEP_CHECK:
        return before;
    case EVZK__STEP_DELETE:
    case EVZK__STEP_SYNC:
    case EVZK__STEP_EXISTS:
    case EVZK__STEP_GET:
    case EVZK__STEP_UNWATCH:
    case EVZK__STEP_CHILDREN:
        break;
    }
    return -1;
}

/* The nearest operation before number i, or behind it, that is about the same
 * znode; `n`: none. */
static size_t other(const struct evzk_guard *g, size_t i, bool behind)
{
    const struct evzk__step *op = &g->step[EVZK__GUARD_OPS];
    size_t k = i;

    while (behind ? ++k < g->n : k-- > 0) {
        if (strcmp(op[k].name, op[i].name) == 0)
            return k;
    }
    return g->n;
}

void evzk__guard_foretell(struct evzk_guard *g)
{
    size_t k;

    for (size_t i = 0; i < g->n; i++) {
        k = other(g, i, false);
        g->versions[i] = version_after(&g->step[EVZK__GUARD_OPS + i],
                                       k < g->n ? g->versions[k] : -1);
    }
    for (size_t i = g->n; i-- > 0;) {
        k = other(g, i, true);
        if (k < g->n)
            g->versions[i] = g->versions[k];
    }
}
