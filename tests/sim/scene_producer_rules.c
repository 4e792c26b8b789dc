/* Processes that put items into a queue, and their rules.
 *
 * Each item is in the tree once, and never again, whatever becomes of the
 * answers: also if a consumer has taken it at once, so that nothing tells that
 * it was there.  A put that ends well has all its items there by then, and a
 * put that is refused or canceled none behind those that it tells of.  The
 * items of a producer come in the order of its puts, over segments, too.
 * Nothing is put into a segment without `open`, of each priority one segment is
 * open, and each put writes `signal`.
 *
 * A put that is told as too large has an item that is longer, alone, than the
 * servers take; and what was put together and was longer is not put together
 * again.
 *
 * How it can fail: the tree is looked at after every step.  A put may be told
 * as unknown only if somebody has deleted a receipt, or a server has refused
 * requests of that process. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "processes.h"
#include "recipes/parts/queue_layout.h"
#include "recipes/producer/producer_internal.h"
#include "scene.h"
#include "scene_closing.h"
#include "scene_producer.h"

bool producer_rc_ok(int i, int rc)
{
    int proc = plan_of(i)->proc;

    switch (rc) {
    case EVZK_OK:
        return true;
    case EVZK_ERR_CANCELED:
        return putting.of[i].canceled;
    case EVZK_ERR_CLOSED:
        return process_of(proc)->closing;
    case EVZK_ERR_SERVER:
        return ens_throttled(proc);
    case EVZK_ERR_TOOLARGE:
        return ens_shut(proc);
    case EVZK_ERR_CONNLOSS:
        return ens_throttled(proc) || ens_denied(proc) ||
               ens_shut_otherwise(proc) || operator_deleted_any();
    case EVZK_ERR_NOAUTH:
        return ens_denied(proc) || putting.own->refuses ||
               putting.own->hidden || putting.own->denied ||
               putting.own->sealed_off;
    case EVZK_ERR_SEQUENCE:
        return putting.own->full || putting.own->last;
    case EVZK_ERR_QUOTA:
        return putting.own->most > 0 || ens_full_at();
    case EVZK_ERR_FOREIGN:
        return putting.own->foreign != NULL;
    case EVZK_ERR_NOCHROOT:
        return putting.own->chroot != NULL;
    default:
        return false;
    }
}

static bool is_unknown(int rc)
{
    return rc == EVZK_ERR_CONNLOSS || rc == EVZK_ERR_CLOSED ||
           rc == EVZK_ERR_SERVER;
}

/* Which item is it, by its data? */
static bool read_item(const char *data, int len, int *i, int *n)
{
    char text[8];

    snprintf(text, sizeof text, "%.*s", len, data ? data : "");
    return sscanf(text, "%d.%d", i, n) == 2 && *i >= 0 && *i < PRODUCERS &&
           *n >= 0 && *n < putting.of[*i].n_items;
}

/* Items of one size: of so many the servers have not taken all before. */
static void check_learnt(int i, int64_t n, int64_t first)
{
    struct producer *d = &putting.of[i];

    if (d->n_long && d->first_long != first && n >= d->n_long &&
        !putting.own->large)
        sim_violation("producer %d: puts %d items together, and %d were too "
                      "large for the servers",
                      i, (int)n, (int)d->n_long);
    d->n_long = n;
    d->first_long = first;
}

void producer_sends(int proc, const struct wire_msg *m)
{
    int i = 0, first = 0, other, k;
    int64_t n = 0;

    (void)proc;
    if (!ens_too_long(m))
        return;
    for (const struct wire_msg *o = m->ops; o != NULL; o = o->next) {
        if (strstr(o->path, "/" EVZK__QUEUE_ITEM) &&
            read_item(o->data, o->len, n ? &other : &i, n ? &k : &first))
            n++;
    }
    if (n == 1)
        putting.of[i].item[first].large = true;
    else if (n > 1)
        check_learnt(i, n, first);
}

/* A put ends so at the item at which it was refused. */
static void check_large(int i, const struct put *put)
{
    int n = put->first + put->done;

    if (put->rc == EVZK_ERR_TOOLARGE && put->done < put->n &&
        !putting.of[i].item[n].large && !ens_shut_otherwise(plan_of(i)->proc))
        sim_violation("producer %d: a put is told as too large, and item %d "
                      "alone fits",
                      i, n);
}

void producer_check_told(int i, const struct put *put)
{
    struct producer *d = &putting.of[i];

    if (!producer_rc_ok(i, put->rc))
        sim_violation("producer %d: a put gave %s", i, evzk_errname(put->rc));
    if (put->done > put->n || (put->rc == EVZK_OK) != (put->done == put->n))
        sim_violation("producer %d: %s, and %d of %d items are in the queue", i,
                      evzk_errname(put->rc), put->done, put->n);
    check_large(i, put);
    if (putting.own->denied && put->rc == EVZK_ERR_NOAUTH &&
        !ens_denied(plan_of(i)->proc) && put->first % 2 == 0)
        sim_violation("producer %d: a put is refused for another", i);
    for (int k = 0; k < put->n; k++) {
        struct item *it = &d->item[put->first + k];

        if (k < put->done && !it->made)
            sim_violation("producer %d: item %d is told, and was never there",
                          i, put->first + k);
        if (k >= put->done && !is_unknown(put->rc)) {
            if (it->made)
                sim_violation("producer %d: item %d is refused, and is there",
                              i, put->first + k);
            it->refused = true;
        }
    }
}

/* Each put is told, and each producer that is to end ends. */
void producer_owes(int proc, struct sim_debt *debt)
{
    for (int i = 0; i < PRODUCERS; i++) {
        const struct producer *d = &putting.of[i];

        if (!d->p || plan_of(i)->proc != proc)
            continue;
        sim_owe(debt, d->n_told < d->n_puts, "a put is not told", i);
        sim_owe(debt, d->closed || d->canceled, "a producer does not end", i);
        debt->paid += (uint64_t)d->n_told;
    }
}

/* The tree. */

static int compare_places(const struct item *a, const struct item *b)
{
    if (a->segment != b->segment)
        return a->segment < b->segment ? -1 : 1;
    return (a->seq > b->seq) - (a->seq < b->seq);
}

/* An operator may have deleted a segment: then numbers begin anew. */
static void check_order(int i, int n)
{
    const struct producer *d = &putting.of[i];
    const struct item *it = &d->item[n];

    for (int k = 0; k < d->n_items; k++) {
        const struct item *other = &d->item[k];

        if (k == n || !other->made || other->priority != it->priority ||
            (operator_deleted_any() && !other->there))
            continue;
        if ((k < n) != (compare_places(other, it) < 0))
            sim_violation("producer %d: items %d and %d are in the wrong order",
                          i, k, n);
    }
}

/* Producers learn of each other's items with their own answers.  A producer
 * without others knows how full a segment is, unless the segment was only
 * listed. */
static bool is_too_long(const struct item *it)
{
    const struct producer_scene *own = putting.own;
    bool alone = !own->plan[1].puts && !operator_deleted_any();
    uint32_t more =
        alone ? evzk__producer_limits.first_items : PRODUCERS * own->batch;

    return own->segment && it->seq >= (int32_t)(own->segment + more);
}

/* Is this item where it should be, and were the consumers told? */
static void check_place(const char *path, const struct item *it)
{
    struct ens_seen seen;
    char open[2 * ROOM];

    if (is_plain())
        return;
    snprintf(open, sizeof open, "%.*s/open", (int)(strrchr(path, '/') - path),
             path);
    if (!ens_look(open, &seen))
        sim_violation("%s is made in a segment that is sealed", path);
    if (is_too_long(it))
        sim_violation("%s is made, and the segment is full", path);
    if (!ens_look("/q/signal", &seen) || seen.mzxid < it->made)
        sim_violation("%s is made, and nobody was told", path);
}

static void see_item(const char *path, const struct item *at)
{
    struct ens_seen seen;
    int i, n;
    struct item *it;

    if (!ens_look(path, &seen))
        return;
    if (ens_is_by_hand(seen.owner) && putting.own->plan[0].ephemeral)
        return; /* An operator's copy. */
    if (seen.version > 0 || seen.len == ALIEN)
        return; /* An operator or a fault has written to it, or another program
                   has put it. */
    if (!read_item(seen.data, seen.len, &i, &n)) {
        sim_violation("%s: nobody has put that", path);
        return;
    }
    it = &putting.of[i].item[n];
    if (it->made && it->made == seen.czxid && it->seq == at->seq) {
        it->there = true;
        return;
    }
    /* The frame of another library's item is all that tells it. */
    if (putting.own->theirs && !operator_deleted_any() && !fault_malformed())
        sim_violation("producer %d: item %d is put where another library has "
                      "its own",
                      i, n);
    sim_say("producer %d: item %d is there: %s", i, n, path);
    if (it->made)
        sim_violation("producer %d: item %d is made twice", i, n);
    if (it->refused)
        sim_violation("producer %d: item %d was refused, and is made", i, n);
    *it = *at;
    it->made = seen.czxid;
    it->there = true;
    check_order(i, n);
    check_place(path, it);
    if (putting.own->taken)
        producer_take_soon();
}

static void see_dir(const char *dir, uint32_t priority, uint32_t segment)
{
    const char *names[NAMES];
    char path[2 * ROOM];
    size_t n = ens_children(dir, names, NAMES);

    for (size_t k = 0; k < n && k < NAMES; k++) {
        struct item at = {.segment = segment, .priority = (uint8_t)priority};
        uint32_t own = priority;

        if (is_plain() ? !evzk__plain_item_parse(names[k], &own, &at.seq)
                       : !evzk__item_parse(names[k], &at.seq))
            continue;
        at.priority = (uint8_t)own;
        snprintf(path, sizeof path, "%s/%s", dir, names[k]);
        see_item(path, &at);
    }
}

static void see_segment(const char *name, bool *open)
{
    struct evzk__segment seg;
    struct ens_seen seen;
    char path[ROOM];

    if (!evzk__segment_parse(name, &seg))
        return;
    snprintf(path, sizeof path, "/q/%s/open", name);
    if (ens_look(path, &seen)) {
        if (open[seg.priority])
            sim_violation("two segments of a priority are open");
        open[seg.priority] = true;
    }
    *strrchr(path, '/') = '\0';
    see_dir(path, seg.priority, seg.number);
}

static void check_tree(void)
{
    const char *names[NAMES];
    size_t n = ens_children("/q", names, NAMES);
    bool open[EVZK_QUEUE_PRIORITIES] = {0};

    for (int i = 0; i < PRODUCERS; i++) {
        for (int k = 0; k < putting.of[i].n_items; k++)
            putting.of[i].item[k].there = false;
    }
    if (is_plain())
        see_dir("/q", 0, 0);
    for (size_t k = 0; !is_plain() && k < n && k < NAMES; k++)
        see_segment(names[k], open);
}

static void check_pending(int i)
{
    struct producer *d = &putting.of[i];
    size_t items = 0;

    for (int n = 0; n < d->n_puts; n++)
        items += d->put[n].told ? 0 : d->put[n].n;
    if (d->p && evzk_producer_pending(d->p) != items)
        sim_violation("producer %d: %d items wait, and it says %d", i,
                      (int)items, (int)evzk_producer_pending(d->p));
}

static void check_size(void)
{
    const char *names[NAMES];

    if (putting.own->most &&
        ens_children("/q", names, NAMES) > putting.own->most)
        sim_violation("a plain queue has more items than can be listed");
}

void producer_check(void)
{
    check_size();
    if (ens_has_changed(&putting.looked))
        check_tree();
    for (int i = 0; i < PRODUCERS; i++) {
        int before;

        if (!putting.of[i].p)
            continue;
        before = sim_enter(plan_of(i)->proc);
        check_pending(i);
        sim_leave(before);
    }
    processes_check();
}

/* A process that has closed its session early, or may not delete it or look for
 * it, leaves its receipt behind. */
static bool may_leave(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (ens_denied(p) || ens_shut_otherwise(p) || closed_early(p))
            return true;
    }
    return false;
}

void producer_check_end(void)
{
    const char *names[NAMES];

    if (ens_children(receipts_path(), names, NAMES) > 0 && !may_leave())
        sim_violation("%s is left", names[0]);
    processes_check_end();
}
