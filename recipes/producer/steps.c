/* The transactions of a producer, as steps.
 *
 * To put:     the receipt; `open` of each segment exists; the items; `signal`
 *             is written.
 * To extend:  the receipt; of each segment that is missing: `open` of the full
 *             one before is deleted, the segment and its `open` are made; then
 *             `signal`, if that is missing.
 *
 * In a plain queue there are only the receipt and the items; and to extend it
 * is to make its directory.
 *
 * How it can fail.  The same transaction may be asked for several times: the
 * steps are made from what does not change before its outcome.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/producer/producer_internal.h"

enum {
    STEP_BYTES = 64, /* Of a step, without its path, its data and its ACL. */
    EXTRA = 2 + 3 * EVZK__TARGETS, /* Steps besides those of the items. */
    WHOLE = 4                      /* Paths in a transaction of one item. */
};

/* The paths of a target.  OPEN is that of the last segment, which is to be put
 * into, or is full. */
enum { OPEN, ITEM };
enum { NEXT = ITEM, NEXT_OPEN };

static size_t acl_bytes(const struct evzk_producer *p)
{
    size_t n = STEP_BYTES; /* Of an ACL that is open to all. */

    for (uint32_t i = 0; i < p->acl_count; i++)
        n += 16 + strlen(p->acl[i].scheme) + strlen(p->acl[i].id);
    return n;
}

int evzk__steps_allocate(struct evzk_producer *p)
{
    size_t room = strlen(p->path) + EVZK__QUEUE_NAME;
    char *next;

    p->names = evzk__zalloc((EVZK__TARGETS * EVZK__TARGET_PATHS + 1) * room);
    p->steps = evzk__zalloc((evzk__producer_limits.batch_items + EXTRA) *
                            sizeof p->steps[0]);
    if (!p->names || !p->steps)
        return EVZK_ERR_NOMEM;
    next = p->names;
    for (int i = 0; i < EVZK__TARGETS; i++) {
        for (int k = 0; k < EVZK__TARGET_PATHS; k++, next += room)
            p->target[i].path[k] = next;
    }
    p->signal = evzk__queue_side(next, p->path, p->layout, EVZK__QUEUE_SIGNAL);
    return EVZK_OK;
}

void evzk__steps_measure(struct evzk_producer *p, const evzk_session *s)
{
    size_t path = evzk__path_bytes(s, p->path) + EVZK__QUEUE_NAME + STEP_BYTES;

    p->item_bytes = path + acl_bytes(p);
    p->one_bytes = WHOLE * path + acl_bytes(p);
}

static struct evzk__step *add(struct evzk_producer *p, enum evzk__verb verb,
                              const char *path)
{
    struct evzk__step *step = &p->steps[p->n_steps++];

    *step = (struct evzk__step){.verb = (uint8_t)verb, .name = path};
    return step;
}

static struct evzk__step *add_create(struct evzk_producer *p, const char *path)
{
    struct evzk__step *step = add(p, EVZK__STEP_CREATE, path);

    step->acl = p->acl;
    step->acl_count = p->acl_count;
    return step;
}

static void begin(struct evzk_producer *p)
{
    p->steps[0] = evzk__receipt_step(&p->receipt);
    p->n_steps = 1;
}

/* Of an item alone it is to be proved anew that it is too large: not by what
 * was lost before, with more items, or for another item. */
static void ask(struct evzk_producer *p)
{
    bool anew = p->batch.items == 1 && p->receipt.sends == 1;

    evzk__ask(&p->m, p->steps, p->n_steps,
              anew ? EVZK__COMMIT | EVZK__ANEW : EVZK__COMMIT);
}

static struct evzk__tail *tail_of(struct evzk_producer *p,
                                  const struct evzk__target *t)
{
    return &p->tail[t->priority];
}

/* Writes the path of a znode of a segment, or of the segment: "". */
static const char *print(const struct evzk_producer *p, char *to,
                         uint32_t priority, uint32_t number, const char *below)
{
    struct evzk__segment seg = {priority, number};
    char name[EVZK__SEGMENT_NAME];

    evzk__segment_print(name, &seg);
    strcpy(stpcpy(stpcpy(stpcpy(to, p->path), "/"), name), below);
    return to;
}

/* To extend. */

static void extend_tail(struct evzk_producer *p, struct evzk__target *t)
{
    const struct evzk__tail *tail = tail_of(p, t);
    uint32_t next = evzk__tail_next(tail);

    if (tail->state == EVZK__TAIL_FULL)
        add(p, EVZK__STEP_DELETE,
            print(p, t->path[OPEN], t->priority, tail->number,
                  "/" EVZK__QUEUE_OPEN));
    add_create(p, print(p, t->path[NEXT], t->priority, next, ""));
    add_create(p, print(p, t->path[NEXT_OPEN], t->priority, next,
                        "/" EVZK__QUEUE_OPEN));
}

void evzk__steps_extend(struct evzk_producer *p)
{
    begin(p);
    if (evzk__producer_is_plain(p))
        add_create(p, p->path);
    for (uint32_t i = 0; !evzk__producer_is_plain(p) && i < p->batch.n_targets;
         i++) {
        if (evzk__tail_is_short(tail_of(p, &p->target[i])))
            extend_tail(p, &p->target[i]);
    }
    if (!evzk__producer_is_plain(p) && !p->has_signal)
        add_create(p, p->signal);
    ask(p);
}

/* To put. */

static void name_plain(const struct evzk_producer *p, struct evzk__target *t)
{
    char *end = stpcpy(stpcpy(t->path[ITEM], p->path), "/" EVZK__QUEUE_ITEM);

    if (p->layout == EVZK_QUEUE_PLAIN_PRIORITY)
        snprintf(end, 3, "%02u", (unsigned)t->priority % 100);
}

static void begin_target(struct evzk_producer *p, struct evzk__target *t)
{
    if (evzk__producer_is_plain(p)) {
        name_plain(p, t);
        return;
    }
    print(p, t->path[ITEM], t->priority, tail_of(p, t)->number,
          "/" EVZK__QUEUE_ITEM);
    add(p, EVZK__STEP_CHECK,
        print(p, t->path[OPEN], t->priority, tail_of(p, t)->number,
              "/" EVZK__QUEUE_OPEN));
}

static void add_item(struct evzk_producer *p, const evzk_put_item *item)
{
    struct evzk__target *t = p->target;
    struct evzk__step *step;

    while (t->priority != item->priority)
        t++;
    step = add_create(p, t->path[ITEM]);
    step->mode =
        p->ephemeral ? EVZK__EPHEMERAL_SEQUENTIAL : EVZK__PERSISTENT_SEQUENTIAL;
    step->data = item->data;
    step->len = (uint32_t)item->len;
}

static void add_items(struct evzk_producer *p)
{
    const struct evzk__put *put = TAILQ_FIRST(&p->puts);
    size_t i = put->done;

    for (uint32_t n = 0; n < p->batch.items; n++, i++) {
        if (i == put->n) {
            put = TAILQ_NEXT(put, link);
            i = 0;
        }
        add_item(p, &put->item[i]);
    }
}

/* The last item of a segment tells how far its numbers are. */
static void ask_number(struct evzk_producer *p, struct evzk__target *t)
{
    uint32_t i = p->n_steps;

    strcpy(t->made, EVZK__QUEUE_ITEM);
    while (p->steps[--i].name != t->path[ITEM])
        ;
    p->steps[i].made = t->made;
}

void evzk__steps_put(struct evzk_producer *p)
{
    begin(p);
    for (uint32_t i = 0; i < p->batch.n_targets; i++)
        begin_target(p, &p->target[i]);
    add_items(p);
    if (!evzk__producer_is_plain(p)) {
        for (uint32_t i = 0; i < p->batch.n_targets; i++)
            ask_number(p, &p->target[i]);
        add(p, EVZK__STEP_SET, p->signal);
    }
    p->batch.asked = true;
    ask(p);
}

/* Steps that have failed. */

struct evzk__tail *evzk__steps_item_of(struct evzk_producer *p, uint32_t part)
{
    const char *path = part < p->n_steps ? p->steps[part].name : NULL;

    for (uint32_t i = 0; path && i < p->batch.n_targets; i++) {
        if (path == p->target[i].path[ITEM])
            return tail_of(p, &p->target[i]);
    }
    return NULL;
}

struct evzk__tail *evzk__steps_tail_of(struct evzk_producer *p, uint32_t part)
{
    const char *path = part < p->n_steps ? p->steps[part].name : NULL;

    for (uint32_t i = 0; path && i < p->batch.n_targets; i++) {
        if (path == p->target[i].path[OPEN])
            return tail_of(p, &p->target[i]);
    }
    return NULL;
}

bool evzk__steps_is_signal(const struct evzk_producer *p, uint32_t part)
{
    return part < p->n_steps && p->steps[part].name == p->signal;
}
