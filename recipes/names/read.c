/* Reads the list of a resolver, picks from it, and takes reports.
 *
 * The view has the endpoints, the turns have their order.  Both hold the same
 * names whenever the program may look, but for those for which there was no
 * memory.
 *
 * How it can fail.  No memory for a turn: each pick tries again, as long as one
 * is missing.  No random numbers: the first of the list is picked. */
#include "lib/base/os.h"
#include "recipes/names/names_internal.h"

bool evzk_resolver_find(const evzk_resolver *r, const char *name,
                        evzk_resolved *out)
{
    evzk_group_member m;

    if (!r || !out || !evzk_group_view_find(r->view, name, &m))
        return false;
    *out = evzk__resolved_of(&m);
    return true;
}

bool evzk_resolver_first(const evzk_resolver *r, evzk_resolved *out)
{
    evzk_group_member m;

    if (!r || !out || !evzk_group_view_first(r->view, &m))
        return false;
    *out = evzk__resolved_of(&m);
    return true;
}

bool evzk_resolver_next(const evzk_resolver *r, evzk_resolved *out)
{
    evzk_group_member m = {.name = out ? out->name : NULL};

    if (!r || !m.name || !evzk_group_view_next(r->view, &m))
        return false;
    *out = evzk__resolved_of(&m);
    return true;
}

size_t evzk_resolver_count(const evzk_resolver *r)
{
    return r ? evzk_group_view_count(r->view) : 0;
}

bool evzk_resolver_ready(const evzk_resolver *r)
{
    return r && evzk_group_view_ready(r->view);
}

const char *evzk_resolver_state(const evzk_resolver *r)
{
    return r ? evzk_group_view_state(r->view) : "";
}

/* Gives those their turn for which there was no memory. */
static void complete(evzk_resolver *r)
{
    evzk_group_member m;
    bool all = true, ok;

    for (ok = evzk_group_view_first(r->view, &m); ok;
         ok = evzk_group_view_next(r->view, &m))
        all = evzk__resolver_take_turn(r, &m) && all;
    r->incomplete = !all;
}

static const struct evzk__turn *choose(evzk_resolver *r)
{
    uint64_t lot = 0;

    switch (r->pick) {
    case EVZK_PICK_IN_TURN:
        break;
    case EVZK_PICK_WEIGHTED:
        if (evzk__random(&lot, sizeof lot) != EVZK_OK)
            lot = 0;
        return evzk__turns_draw(&r->turns, lot);
    case EVZK_PICK_LEAST_RECENTLY_FAILED:
        if (r->forgive_us < INT64_MAX)
            evzk__turns_forgive(&r->turns, evzk__now_us() - r->forgive_us);
        break;
    }
    return evzk__turns_next(&r->turns);
}

bool evzk_resolver_pick(evzk_resolver *r, evzk_resolved *out)
{
    const struct evzk__turn *turn;

    if (!r || !out)
        return false;
    if (r->incomplete)
        complete(r);
    turn = choose(r);
    return turn && evzk_resolver_find(r, turn->name, out);
}

/* The turn that a report is about; NULL: the endpoint is not there. */
static struct evzk__turn *reported(evzk_resolver *r, const char *name,
                                   uint64_t token)
{
    return r && name ? evzk__turns_find(&r->turns, name, token) : NULL;
}

bool evzk_resolver_failed(evzk_resolver *r, const char *name, uint64_t token)
{
    struct evzk__turn *turn = reported(r, name, token);

    if (turn && r->pick == EVZK_PICK_LEAST_RECENTLY_FAILED)
        evzk__turns_fail(&r->turns, turn, evzk__now_us());
    return turn != NULL;
}

bool evzk_resolver_worked(evzk_resolver *r, const char *name, uint64_t token)
{
    struct evzk__turn *turn = reported(r, name, token);

    if (turn)
        evzk__turns_mend(&r->turns, turn);
    return turn != NULL;
}
