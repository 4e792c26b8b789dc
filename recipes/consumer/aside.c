/* Items that are set aside: the fault of an item is that item's alone.
 *
 * An item that may not be read, that has a znode below it, whose deliveries
 * cannot be counted, or of which no dead letter can be made, nobody can take.
 * The consumer says so once, leaves the item out of what it takes, and goes on
 * with what is behind it.  It tries the item again after a while, and ever more
 * rarely.
 *
 * Each consumer has a list of such items, in the order of the queue.  An item
 * of the list that is not to be tried yet is left out of each look at the
 * queue.  A look is as new as its beginning (`looked_us`), so that an item
 * becomes due between looks only.
 *
 * Another consumer may have the right that this one lacks.  So a consumer that
 * has set something aside in its turn, and finds nothing else, gives the turn
 * to the next one; in its next turn nothing of the list is due yet.
 *
 * How it can fail.  An item of the list may be gone.  A consumer that has seen
 * all of the queue, and found nothing to take, has tried what was due: what is
 * due all the same is gone, and is forgotten. */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/os.h"
#include "recipes/consumer/consumer_internal.h"

struct evzk__consumer_limits evzk__consumer_limits = {.aside_us = 30000000,
                                                      .batch_bytes = 900000};

enum { ROOM = 16, DOUBLINGS = 5 };

void evzk__asides_free(struct evzk__asides *a)
{
    evzk__free(a->v);
    *a = (struct evzk__asides){0};
}

static int compare(const struct evzk__pick *a, const struct evzk__pick *b)
{
    int by_segment = evzk__segment_compare(&a->seg, &b->seg);

    return by_segment != 0 ? by_segment : (a->seq > b->seq) - (a->seq < b->seq);
}

/* Where the item is in the list, or would be. */
static uint32_t place_of(const struct evzk__asides *a,
                         const struct evzk__pick *pick)
{
    uint32_t low = 0, high = a->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (compare(&a->v[middle].pick, pick) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct evzk__aside *find(const struct evzk__asides *a,
                                const struct evzk__pick *pick)
{
    uint32_t i = place_of(a, pick);

    return i < a->n && compare(&a->v[i].pick, pick) == 0 ? &a->v[i] : NULL;
}

bool evzk__aside_has(const struct evzk__asides *a,
                     const struct evzk__pick *pick)
{
    const struct evzk__aside *it = find(a, pick);

    return it && it->until_us > a->looked_us;
}

/* NULL: no memory. */
static struct evzk__aside *insert(struct evzk__asides *a,
                                  const struct evzk__pick *pick)
{
    uint32_t i = place_of(a, pick);

    if (a->n == a->room) {
        uint32_t room = a->room ? 2 * a->room : ROOM;
        struct evzk__aside *v = evzk__zalloc(room * sizeof *v);

        if (!v)
            return NULL;
        if (a->n > 0)
            memcpy(v, a->v, a->n * sizeof *v);
        evzk__free(a->v);
        a->v = v;
        a->room = room;
    }
    memmove(&a->v[i + 1], &a->v[i], (a->n++ - i) * sizeof *a->v);
    a->v[i] = (struct evzk__aside){.pick = *pick};
    return &a->v[i];
}

/* Its user hears of it once. */
static void say(struct evzk_consumer *c, const struct evzk__pick *pick, int rc,
                const evzk_item *item)
{
    struct evzk__item told = {.pub = *item, .of = c};
    char path[EVZK__PATH_MAX + 1];

    evzk__log(evzk__machine_session(&c->m), EVZK_LOG_WARN,
              "consumer %s: sets %s aside: %s", c->path,
              evzk__pick_print(c, path, pick, EVZK__QUEUE_ITEM, "") +
                  strlen(c->path) + 1,
              evzk_errname(rc));
    if (evzk__may_tell(evzk__machine_session(&c->m)))
        evzk__consumer_tell(c, EVZK_CONSUMER_SET_ASIDE, rc, &told);
}

/* An item that is due in this look is tried in it. */
static void note_next(struct evzk__asides *a, int64_t until_us)
{
    if (until_us > a->looked_us && (a->next_us == 0 || until_us < a->next_us))
        a->next_us = until_us;
}

/* Without memory the item is left out of this look only. */
void evzk__aside_add(struct evzk_consumer *c, const struct evzk__pick *pick,
                     int rc, const evzk_item *item)
{
    struct evzk__aside *it = find(&c->asides, pick);
    bool told = it != NULL;

    if (!it)
        it = insert(&c->asides, pick);
    if (!it)
        return;
    c->turn_aside = true;
    it->until_us =
        evzk__now_us() + (evzk__consumer_limits.aside_us << it->doublings);
    if (it->doublings < DOUBLINGS)
        it->doublings++;
    note_next(&c->asides, it->until_us);
    if (!told)
        say(c, pick, rc, item);
}

void evzk__item_set_aside(struct evzk_consumer *c, struct evzk__item *it,
                          int rc)
{
    evzk__aside_add(c, &it->pick, rc, &it->pub);
    evzk__item_drop(c, it);
}

void evzk__asides_look(struct evzk__asides *a)
{
    a->looked_us = evzk__now_us();
    a->next_us = 0;
    for (uint32_t i = 0; i < a->n; i++)
        note_next(a, a->v[i].until_us);
}

bool evzk__asides_due(const struct evzk__asides *a)
{
    return a->next_us > 0 && a->next_us <= evzk__now_us();
}

void evzk__asides_seen(struct evzk__asides *a)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < a->n; i++) {
        if (a->v[i].until_us > a->looked_us)
            a->v[n++] = a->v[i];
    }
    a->n = n;
}
