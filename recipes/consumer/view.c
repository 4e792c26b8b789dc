/* What the consumer that has the turn knows of the queue: the segments, and the
 * first items that are free.
 *
 * A scan lists segments, all in one trip, from the last in the order of the
 * queue to the first.  So the first free item that the scan shows was the first
 * of all when its segment was listed: what comes before that item was listed
 * later, had no free item then, and so had none before, since nobody else takes
 * items during the turn.  The same holds for each later item, without those
 * before it, which are taken before.
 *
 * Of each priority the first `width` segments are scanned.  If others follow, a
 * less urgent priority says nothing, and is forgotten.  If the scan shows
 * nothing, twice as many are scanned: claimed items may fill some segments. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/consumer/consumer_internal.h"

void evzk__view_clear(struct evzk__view *v)
{
    evzk__free(v->segments);
    evzk__free(v->steps);
    evzk__free(v->picks);
    *v = (struct evzk__view){0};
}

/* The segments. */

static int by_segment(const void *a, const void *b)
{
    const struct evzk__seen_segment *x = a, *y = b;

    return evzk__segment_compare(&x->id, &y->id);
}

bool evzk__view_take(struct evzk__view *v, const struct evzk__names *names)
{
    evzk__view_clear(v);
    v->width = 1;
    v->segments = evzk__zalloc((names->n + 1) * sizeof *v->segments);
    if (!v->segments)
        return false;
    for (size_t i = 0; i < names->n; i++) {
        struct evzk__seen_segment *at = &v->segments[v->n_segments];

        if (evzk__segment_parse(names->v[i], &at->id))
            v->n_segments++;
    }
    qsort(v->segments, v->n_segments, sizeof *v->segments, by_segment);
    v->scanned = v->n_segments == 0;
    return true;
}

/* A plain queue. */

static int by_place(const void *a, const void *b)
{
    const struct evzk__pick *x = a, *y = b;
    int by = evzk__segment_compare(&x->seg, &y->seg);

    return by != 0 ? -by : (x->seq < y->seq) - (x->seq > y->seq);
}

/* Without room for all, the last items of the queue are left out. */
bool evzk__view_take_plain(struct evzk__view *v,
                           const struct evzk__names *names,
                           const struct evzk__asides *asides)
{
    struct evzk__pick *all = evzk__zalloc((names->n + 1) * sizeof *all);
    uint32_t n = 0;

    evzk__view_clear(v);
    v->picks = evzk__zalloc(EVZK__PICKS * sizeof *v->picks);
    if (!v->picks || !all) {
        evzk__free(all);
        return false;
    }
    for (size_t i = 0; i < names->n; i++) {
        const char *name = names->v[i];
        struct evzk__pick *at = &all[n];

        at->seg.number = strlen(name) == sizeof EVZK__QUEUE_ITEM - 1 + 12;
        if (evzk__plain_item_parse(name, &at->seg.priority, &at->seq) &&
            !evzk__aside_has(asides, at))
            n++;
    }
    qsort(all, n, sizeof *all, by_place);
    v->n_picks = n < EVZK__PICKS ? n : EVZK__PICKS;
    v->more = n > EVZK__PICKS;
    v->scanned = true;
    memcpy(v->picks, all + n - v->n_picks, v->n_picks * sizeof *all);
    evzk__free(all);
    return true;
}

/* The steps, with their names behind them. */

static struct evzk__step *new_steps(struct evzk__view *v, const char *path,
                                    uint32_t n)
{
    size_t room = strlen(path) + 1 + EVZK__SEGMENT_NAME;

    evzk__free(v->steps);
    v->n_order = 0;
    v->steps = evzk__zalloc((n + 1) * (sizeof *v->steps + sizeof *v->order) +
                            n * room);
    v->order = (uint32_t *)(void *)(v->steps ? v->steps + n + 1 : NULL);
    return v->steps;
}

static void add_step(struct evzk__view *v, const char *path, char *names,
                     uint32_t segment, struct evzk__step step)
{
    size_t room = strlen(path) + 1 + EVZK__SEGMENT_NAME;
    char *name = names + room * v->n_order;

    strcpy(stpcpy(name, path), "/");
    evzk__segment_print(name + strlen(name), &v->segments[segment].id);
    step.name = name;
    v->order[v->n_order++] = segment;
    v->steps[v->n_order] = step; /* Behind the sync, or a hole. */
}

static char *names_of(const struct evzk__view *v, uint32_t n)
{
    return (char *)(v->order + n + 1);
}

/* The scan. */

/* How many segments of the priority of number i come before that one. */
static uint32_t rank_in_priority(const struct evzk__view *v, uint32_t i)
{
    uint32_t rank = 0;

    while (i > 0 && rank < v->width &&
           v->segments[i - 1].id.priority == v->segments[i].id.priority) {
        rank++;
        i--;
    }
    return rank;
}

static bool is_cut(const struct evzk__view *v, uint32_t i)
{
    return i + 1 < v->n_segments &&
           v->segments[i + 1].id.priority == v->segments[i].id.priority &&
           rank_in_priority(v, i + 1) >= v->width;
}

bool evzk__view_scan(struct evzk__view *v, const char *path)
{
    const struct evzk__step list = {.verb = EVZK__STEP_CHILDREN};

    v->n_picks = v->n_empty = 0;
    v->more = v->scanned = v->claimed = false;
    if (!v->picks)
        v->picks = evzk__zalloc(EVZK__PICKS * sizeof *v->picks);
    if (!v->picks || !new_steps(v, path, v->n_segments))
        return false;
    v->steps[0] = (struct evzk__step){
        .verb = EVZK__STEP_SYNC, .name = "", .shared = true};
    for (uint32_t i = v->n_segments; i-- > 0;) {
        v->segments[i].empty = false;
        v->segments[i].cut = is_cut(v, i);
        if (rank_in_priority(v, i) < v->width)
            add_step(v, path, names_of(v, v->n_segments), i, list);
    }
    return true;
}

/* The content of a segment. */

struct content {
    int32_t *items, *claims;
    uint32_t n_items, n_claims;
    bool open;
    bool claimed; /* Some of the items are. */
};

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

static void sort_out(struct content *in, const struct evzk__names *names)
{
    for (size_t i = 0; i < names->n; i++) {
        const char *name = names->v[i];

        if (evzk__item_parse(name, &in->items[in->n_items]))
            in->n_items++;
        else if (evzk__claim_parse(name, &in->claims[in->n_claims]))
            in->n_claims++;
        in->open = in->open || strcmp(name, EVZK__QUEUE_OPEN) == 0;
    }
    qsort(in->items, in->n_items, sizeof *in->items, by_number);
    qsort(in->claims, in->n_claims, sizeof *in->claims, by_number);
}

/* Leaves the items that nobody has claimed, and that are not set aside. */
static void leave_free(struct content *in, const struct evzk__segment *seg,
                       const struct evzk__asides *asides)
{
    uint32_t n = 0, k = 0;

    for (uint32_t i = 0; i < in->n_items; i++) {
        struct evzk__pick pick = {.seg = *seg, .seq = in->items[i]};

        while (k < in->n_claims && in->claims[k] < in->items[i])
            k++;
        if (k < in->n_claims && in->claims[k] == in->items[i])
            in->claimed = true;
        else if (!evzk__aside_has(asides, &pick))
            in->items[n++] = in->items[i];
    }
    in->n_items = n;
}

/* Without room for all, the last items of the queue are left out. */
static void push(struct evzk__view *v, const struct evzk__segment *seg,
                 const struct content *in)
{
    uint32_t n = in->n_items < EVZK__PICKS ? in->n_items : EVZK__PICKS;
    uint32_t room = EVZK__PICKS - n, over;

    over = v->n_picks > room ? v->n_picks - room : 0;
    v->more = v->more || over > 0 || n < in->n_items;
    v->n_picks -= over;
    memmove(v->picks, v->picks + over, v->n_picks * sizeof *v->picks);
    while (n-- > 0)
        v->picks[v->n_picks++] =
            (struct evzk__pick){.seg = *seg, .seq = in->items[n]};
}

bool evzk__view_note(struct evzk__view *v, uint32_t step,
                     const struct evzk__result *res,
                     const struct evzk__asides *asides)
{
    struct evzk__seen_segment *at = &v->segments[v->order[step - 1]];
    const struct evzk__names *names = &res->names;
    struct content in = {
        .items = evzk__zalloc((2 * names->n + 2) * sizeof *in.items)};

    if (!in.items)
        return false;
    in.claims = in.items + names->n + 1;
    sort_out(&in, names);
    at->version = res->stat.version;
    at->empty = !in.open && in.n_items == 0 && in.n_claims == 0;
    v->n_empty += at->empty;
    leave_free(&in, &at->id, asides);
    v->claimed = v->claimed || in.claimed;
    if (at->cut) {
        v->n_picks = 0;
        v->more = true;
    }
    push(v, &at->id, &in);
    evzk__free(in.items);
    return true;
}

struct evzk__seen_segment *evzk__view_find(const struct evzk__view *v,
                                           const struct evzk__segment *id)
{
    struct evzk__seen_segment key = {.id = *id};

    return v->n_segments == 0 ? NULL
                              : bsearch(&key, v->segments, v->n_segments,
                                        sizeof *v->segments, by_segment);
}

bool evzk__view_done(struct evzk__view *v)
{
    if (v->n_picks == 0 && v->more) {
        v->width *= 2;
        return false;
    }
    v->scanned = true;
    return true;
}

void evzk__view_forget(struct evzk__view *v)
{
    v->n_picks = 0;
    v->scanned = false;
}

/* Empty segments. */

bool evzk__view_remove(struct evzk__view *v, const char *path)
{
    const struct evzk__step remove = {.verb = EVZK__STEP_DELETE};

    if (!new_steps(v, path, v->n_empty))
        return false;
    for (uint32_t i = 0; i < v->n_segments; i++) {
        if (v->segments[i].empty)
            add_step(v, path, names_of(v, v->n_empty), i, remove);
    }
    return true;
}

void evzk__view_removed(struct evzk__view *v)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < v->n_segments; i++) {
        if (!v->segments[i].empty)
            v->segments[n++] = v->segments[i];
    }
    v->n_segments = n;
    v->n_empty = 0;
}
