/* The rules for consumers of a queue.  They look at the tree after each step.
 *
 * An item is delivered when it is removed, or claimed; to nobody else while the
 * claim stands; and never after it was finished.  An item goes only when its
 * finish was asked, or when a consumer takes at most once.  Only the consumer
 * with the turn takes, and a consumer that has waited long for it; what is
 * taken in a turn was first at one moment of that turn, apart from what was
 * taken before.  Nobody waits for long while an item is free.
 *
 * How it can fail.  What an operator deletes excuses what follows from that; an
 * item whose removal is under way is lost with its consumer. */
#include <stdio.h>
#include <string.h>

#include "faults.h"
#include "lib/base/name.h"
#include "recipes/parts/queue_layout.h"
#include "scene_consumer.h"

enum {
    SOON_US = 8 * 1000 * 1000,
    LATE_US = 4 * 1000 * 1000, /* Before all consumers are closed. */
    KIDS = 64
};

struct consumer_world queue;
SIM_KEEP(queue)

static char paths[2][96];
SIM_KEEP(paths)

const char *queue_path(const char *rest)
{
    snprintf(paths[0], sizeof paths[0], "%s/q%s%s",
             queue.own->chroot ? queue.own->chroot : "", rest[0] ? "/" : "",
             rest);
    return paths[0];
}

const char *side_path(const char *rest)
{
    return evzk__queue_side(paths[0], queue.own->chroot ? "/nowhere/q" : "/q",
                            queue.own->layout, rest);
}

const char *item_path(int i, const char *mark)
{
    const struct item_plan *it = &queue.own->item[i];
    struct evzk__segment seg = {it->priority, it->segment};
    char segment[EVZK__SEGMENT_NAME], rest[64];

    evzk__segment_print(segment, &seg);
    if (queue.own->layout == EVZK_QUEUE_PLAIN)
        snprintf(rest, sizeof rest, "%s%010d", mark, it->seq);
    else if (queue.own->layout == EVZK_QUEUE_PLAIN_PRIORITY)
        snprintf(rest, sizeof rest, "%s%02u%010d", mark, it->priority, it->seq);
    else
        snprintf(rest, sizeof rest, "%s/%s%010d", segment, mark, it->seq);
    return strcpy(paths[1], queue_path(rest));
}

int consumer_proc(int k) { return queue.own->consumer[k].proc; }

static bool claims(int k) { return queue.own->consumer[k].claimed; }

/* Does item a come before item b? */
static bool comes_before(int a, int b)
{
    const struct item_plan *x = &queue.own->item[a], *y = &queue.own->item[b];
    struct evzk__segment s = {x->priority, x->segment},
                         t = {y->priority, y->segment};
    int by_segment = evzk__segment_compare(&s, &t);

    return by_segment != 0 ? by_segment < 0 : x->seq < y->seq;
}

static bool is_free(int i)
{
    return queue.t[i].czxid != 0 && queue.t[i].claim_czxid == 0;
}

/* Items that the operator has put in the way count as never there. */
static bool meddled(int i)
{
    return queue.t[i].operated || queue.meddled || operator_deleted_any();
}

static bool is_buried(int i)
{
    const char *names[KIDS];
    size_t n = ens_children(side_path(EVZK__QUEUE_DEAD), names, KIDS);

    for (size_t k = 0; k < n && k < KIDS; k++) {
        struct ens_seen seen;
        char path[160];

        snprintf(path, sizeof path, "%s/%s", side_path(EVZK__QUEUE_DEAD),
                 names[k]);
        if (ens_look(path, &seen) && seen.len == 1 && seen.data[0] == 'a' + i)
            return true;
    }
    return false;
}

/* The turn. */

static void look_at_turn(void)
{
    const char *names[KIDS];
    size_t n = ens_children(side_path("turn"), names, KIDS);
    int64_t turn = 0, owner = 0;
    int32_t seq, least = INT32_MAX;

    for (size_t i = 0; i < n && i < KIDS; i++) {
        struct ens_seen seen;
        char path[160];

        if (!evzk__seq_parse(names[i], "-lock-", &seq) || seq > least)
            continue;
        snprintf(path, sizeof path, "%s/%s", side_path("turn"), names[i]);
        if (!ens_look(path, &seen) || !seen.owner)
            continue;
        least = seq;
        turn = seen.czxid;
        owner = seen.owner;
    }
    if (turn == queue.turn)
        return;
    queue.turn = turn;
    queue.turn_owner = owner;
    queue.taken = 0;
    for (int i = 0; i < ITEMS; i++)
        queue.t[i].seen_free = false;
}

/* The sealed segments of the scene that stand, and are empty. */
static uint32_t empty_segments(void)
{
    uint32_t empty = 0;

    for (int i = 0; i < SEGMENTS; i++) {
        const struct segment_plan *plan = &queue.own->segment[i];
        struct evzk__segment seg = {plan->priority, plan->number};
        char name[EVZK__SEGMENT_NAME];
        const char *kids[KIDS];
        struct ens_seen seen;

        evzk__segment_print(name, &seg);
        if (plan->on && ens_look(queue_path(name), &seen) &&
            ens_children(queue_path(name), kids, KIDS) == 0)
            empty |= 1U << i;
    }
    return empty;
}

/* REMOVING deletes at least one of the segments that were empty before; but for
 * what another program has put into a segment. */
static void check_removed(int proc, const evzk_trace *t)
{
    uint32_t before = queue.empty[proc];

    if (strcmp(t->from, "REMOVING") != 0) {
        if (strcmp(t->to, "REMOVING") == 0)
            queue.empty[proc] = empty_segments();
    } else if (strcmp(t->event, "reply") == 0 && before &&
               t->rc != EVZK_ERR_NOTEMPTY && !ens_throttled(proc) &&
               (before & empty_segments()) == before)
        sim_violation("process %d has deleted no empty segment", proc);
}

void consumer_traced(int proc, const evzk_trace *t)
{
    if (strcmp(t->kind, "consumer") == 0 && t->entered && t->from)
        check_removed(proc, t);
}

/* An item was claimed, or removed by a consumer that claims nothing. */
static void taken(int i, const char *how, int64_t owner)
{
    uint32_t left;

    queue.taken |= 1U << i;
    if (queue.meddled || operator_deleted_any())
        return;
    if (!queue.turn || (owner && owner != queue.turn_owner))
        sim_violation("item %d is %s without the turn", i, how);
    left = queue.t[i].seen_free ? queue.t[i].before & ~queue.taken : 0;
    for (int k = 0; k < ITEMS; k++) {
        if (left & 1U << k && queue.t[k].operated)
            left &= ~(1U << k);
    }
    if (left)
        sim_violation("item %d is %s, and items %x are before it", i, how,
                      (unsigned)left);
}

/* The items. */

static void look_at_item(int i, uint32_t *came)
{
    struct truth *t = &queue.t[i];
    struct ens_seen seen;
    bool there = ens_look(item_path(i, "queue-"), &seen);

    if (there && t->gone && !t->operated)
        sim_violation("item %d is there again", i);
    if (!there && t->czxid) {
        t->gone = true;
        t->operated = t->operated || operator_deleted(t->czxid);
        *came |= 1U << i;
    }
    t->czxid = there ? seen.czxid : 0;
    t->put = t->put || there;
}

static void look_at_claim(int i, uint32_t *claimed)
{
    struct truth *t = &queue.t[i];
    struct ens_seen seen;
    bool there = ens_look(item_path(i, "claim-"), &seen);

    if (there && seen.czxid != t->claim_czxid && seen.owner) {
        *claimed |= 1U << i;
        t->claims++;
    }
    if ((!there && t->claim_czxid && operator_deleted(t->claim_czxid)) ||
        (there && !seen.owner)) /* A copy. */
        queue.meddled = queue.claims_meddled = true;
    t->claim = there ? seen.owner : 0;
    t->claim_czxid = there ? seen.czxid : 0;
}

/* The tree does not show which consumer has removed an item. */
static void item_went(int i)
{
    struct truth *t = &queue.t[i];
    bool any = false;

    if (t->operated)
        return;
    for (int k = 0; k < CONSUMERS; k++)
        any = any || (queue.own->consumer[k].on && !claims(k));
    if (t->finish_asked || t->dead || queue.own->buries)
        return;
    if (any)
        taken(i, "removed", 0);
    else
        sim_violation("item %d is gone, and nobody has finished it", i);
}

/* Notes the items that were free before an item, when that one came. */
static void note_free(int i)
{
    struct truth *t = &queue.t[i];

    if (!is_free(i)) {
        t->seen_free = false;
        return;
    }
    if (t->seen_free)
        return;
    t->seen_free = true;
    t->before = 0;
    for (int k = 0; k < ITEMS; k++) {
        if (queue.own->item[k].seq && is_free(k) && comes_before(k, i))
            t->before |= 1U << k;
    }
}

static void look(void)
{
    uint32_t went = 0, claimed = 0;

    queue.moved = false;
    if (!ens_has_changed(&queue.looked))
        return;
    for (int i = 0; i < ITEMS; i++) {
        if (queue.own->item[i].seq) {
            look_at_item(i, &went);
            look_at_claim(i, &claimed);
        }
    }
    queue.taken |= claimed | went;
    queue.moved = (claimed | went) != 0;
    for (int i = 0; i < ITEMS; i++) {
        if (went & 1U << i)
            item_went(i);
        if (claimed & 1U << i)
            taken(i, "claimed", queue.t[i].claim);
    }
    look_at_turn();
    for (int i = 0; i < ITEMS; i++) {
        if (queue.own->item[i].seq)
            note_free(i);
    }
}

/* The events. */

static int64_t session_now(int proc)
{
    const struct process *p = process_of(proc);

    return p->n_ids ? p->ids[p->n_ids - 1] : 0;
}

static void check_claimed(int k, const evzk_item *item, int i)
{
    const struct truth *t = &queue.t[i];

    if (!evzk_consumer_holds(queue.p[k].c, item))
        sim_violation("consumer %d: item %d is delivered, and not held", k, i);
    if (t->claim != session_now(consumer_proc(k)) && !meddled(i) &&
        !session_over(session_now(consumer_proc(k))))
        sim_violation("consumer %d: item %d is delivered, and not claimed", k,
                      i);
    if (t->claim == session_now(consumer_proc(k)) &&
        item->claim_token != (uint64_t)t->claim_czxid && !meddled(i))
        sim_violation("consumer %d: item %d has a wrong claim token", k, i);
    if (item->claim_token <= t->token && !meddled(i) &&
        !session_forced(session_now(consumer_proc(k))))
        sim_violation("consumer %d: item %d has an old claim token", k, i);
    if (queue.own->consumer[k].max_deliveries &&
        item->deliveries != queue.deliveries[i] + 1 && !queue.early[0])
        sim_say("item %d: delivery %u, of which %u were told", i,
                item->deliveries, (unsigned)queue.deliveries[i]);
}

void rules_item(int k, const evzk_item *item, int i)
{
    struct truth *t = &queue.t[i];

    if (t->finished && !session_forced(session_now(consumer_proc(k))) &&
        !meddled(i))
        sim_violation("consumer %d: item %d was finished", k, i);
    if (claims(k))
        check_claimed(k, item, i);
    else if (item->claim_token || item->deliveries)
        sim_violation("consumer %d: item %d has a claim", k, i);
    else if (t->delivered)
        sim_violation("consumer %d: item %d is delivered twice", k, i);
    else if (t->czxid)
        sim_violation("consumer %d: item %d is delivered, and still there", k,
                      i);
    for (int j = 0; j < CONSUMERS; j++) {
        if (j != k && queue.p[j].held[i] &&
            evzk_consumer_holds(queue.p[j].c, queue.p[j].held[i]) &&
            !meddled(i))
            sim_violation("item %d is delivered to %d, and held by %d", i, k,
                          j);
    }
    t->token = item->claim_token;
    t->delivered = true;
    t->doubted = false;
    queue.deliveries[i]++;
}

static bool lost_rc_ok(int k, int i, int rc)
{
    int proc = consumer_proc(k);

    switch (rc) {
    case EVZK_ERR_EXPIRED:
        return session_over(queue.p[k].session_of[i]);
    case EVZK_ERR_LEASE:
        return true;
    case EVZK_ERR_NODEGONE:
    case EVZK_ERR_NOAUTH:
        return queue.meddled || operator_deleted_any();
    case EVZK_ERR_CONNLOSS:
        return queue.meddled || operator_deleted_any() || ens_throttled(proc);
    case EVZK_ERR_CLOSED:
        return process_of(proc)->closing;
    case EVZK_ERR_SERVER:
        return ens_throttled(proc);
    }
    return false;
}

void rules_dead(int k, const evzk_item *item, int i)
{
    struct truth *t = &queue.t[i];

    if (t->czxid && !meddled(i))
        sim_violation("consumer %d: item %d is a dead letter, and there", k, i);
    if (!is_buried(i) && !meddled(i))
        sim_violation("consumer %d: item %d is no dead letter", k, i);
    if (item->deliveries != queue.own->consumer[k].max_deliveries)
        sim_violation("consumer %d: item %d was delivered %u times", k, i,
                      (unsigned)item->deliveries);
    if (t->claims < queue.own->consumer[k].max_deliveries)
        sim_violation("consumer %d: item %d is dead too soon", k, i);
    if (t->dead)
        sim_violation("consumer %d: item %d is dead twice", k, i);
    t->dead = true;
}

void rules_ended(int k, int i, evzk_consumer_event event, int rc)
{
    struct player *p = &queue.p[k];
    struct truth *t = &queue.t[i];

    if (event == EVZK_CONSUMER_FINISHED) {
        if (!p->finish[i] || rc != EVZK_OK)
            sim_violation("consumer %d: item %d is finished: %s", k, i,
                          evzk_errname(rc));
        if (t->czxid && !meddled(i))
            sim_violation("consumer %d: item %d is finished, and there", k, i);
        t->finished = true;
    } else if (event == EVZK_CONSUMER_GIVEN_BACK) {
        if (rc != EVZK_OK || p->finish[i])
            sim_violation("consumer %d: item %d is given back", k, i);
        if (!p->give[i] && !p->closing)
            queue.refused[k] = true;
        if (t->claim == p->session_of[i] && t->claim &&
            t->token == (uint64_t)t->claim_czxid && !meddled(i))
            sim_violation("consumer %d: item %d is given back, and claimed", k,
                          i);
    } else if (!lost_rc_ok(k, i, rc))
        sim_violation("consumer %d: item %d is lost: %s", k, i,
                      evzk_errname(rc));
    t->doubted = event == EVZK_CONSUMER_LOST && rc == EVZK_ERR_CONNLOSS;
}

void rules_taken(int k, int rc)
{
    const struct player *p = &queue.p[k];

    if (!p->taking)
        sim_violation("consumer %d: TAKEN, and no take", k);
    if (p->got != (rc == EVZK_OK))
        sim_violation("consumer %d: TAKEN with %s", k, evzk_errname(rc));
    if (rc == EVZK_ERR_CANCELED && !p->canceled && !p->closing)
        sim_violation("consumer %d: its take was not canceled", k);
    if (rc == EVZK_ERR_TIMEOUT && !queue.own->consumer[k].timeout_ms)
        sim_violation("consumer %d: its take has no time-out", k);
}

static bool over_rc_ok(int k, int rc)
{
    int proc = consumer_proc(k);

    switch (rc) {
    case EVZK_OK:
        return queue.p[k].closing;
    case EVZK_ERR_CLOSED:
        return process_of(proc)->closing;
    case EVZK_ERR_SERVER:
        return ens_throttled(proc);
    case EVZK_ERR_NOCHROOT:
        return queue.own->chroot != NULL;
    case EVZK_ERR_FOREIGN: /* In the turn's directory; or too many items. */
        return true;
    case EVZK_ERR_NOAUTH:
    case EVZK_ERR_NODEEXISTS:
        return queue.meddled || operator_deleted_any();
    }
    return false;
}

/* The consumer does not know whether the claim is its own, and cannot find out
 * any more, since somebody has written to it: the claim goes with the session.
 */
static bool is_unprovable(int i)
{
    struct ens_seen seen;

    return (queue.t[i].doubted || !queue.t[i].delivered) &&
           ens_look(item_path(i, "claim-"), &seen) && seen.version > 0;
}

void rules_over(int k, evzk_consumer_event event, int rc)
{
    if ((event == EVZK_CONSUMER_CLOSED) != (rc == EVZK_OK) ||
        !over_rc_ok(k, rc))
        sim_violation("consumer %d: %s with %s", k,
                      evzk_consumer_event_name(event), evzk_errname(rc));
    if (queue.refused[k] && event == EVZK_CONSUMER_CLOSED)
        sim_violation("consumer %d was about to fail", k);
    for (int i = 0; i < ITEMS; i++) {
        if (queue.p[k].held[i])
            sim_violation("consumer %d has ended, and item %d has not", k, i);
        if (rc == EVZK_OK && queue.t[i].claim &&
            queue.t[i].claim == session_now(consumer_proc(k)) && !meddled(i) &&
            !is_unprovable(i))
            sim_violation("consumer %d has ended, and item %d is claimed", k,
                          i);
    }
    if (queue.p[k].taking)
        sim_violation("consumer %d has ended, and its take has not", k);
}

/* After each step. */

static bool wants(int k)
{
    const struct player *p = &queue.p[k];
    const struct consumer_plan *plan = &queue.own->consumer[k];
    uint32_t held = 0;

    if (!p->c || p->closing || process_of(plan->proc)->closing)
        return false;
    for (int i = 0; i < ITEMS; i++)
        held += p->held[i] != NULL;
    return plan->prefetch ? held == 0 : p->taking && !p->got && !p->canceled;
}

/* The consumer has stood still, or was without memory, since an item is free;
 * or the servers refuse what it asks. */
static bool is_hindered(int k)
{
    return ens_throttled(consumer_proc(k)) ||
           process_was_frozen(consumer_proc(k), queue.starving) ||
           process_lacked_memory_since(consumer_proc(k), queue.starving);
}

static bool is_any_starving(void)
{
    bool any_free = false, any_wants = false;

    if (queue.moved || queue.meddled || operator_deleted_any() ||
        faults_healed_at() > sim_now())
        return false;
    for (int i = 0; i < ITEMS; i++)
        any_free = any_free || (queue.own->item[i].seq && is_free(i));
    for (int k = 0; k < CONSUMERS; k++) {
        if (queue.own->consumer[k].on)
            any_wants = any_wants || (wants(k) && !is_hindered(k));
    }
    return any_free && any_wants;
}

static void check_starving(void)
{
    int64_t soon = queue.own->soon_us ? queue.own->soon_us : SOON_US;

    if (!queue.starving)
        queue.starving = sim_now();
    if (!is_any_starving())
        queue.starving = 0;
    else if (sim_now() - queue.starving > soon)
        sim_violation("an item is free, and a consumer waits for it");
}

static bool is_any_there(void)
{
    bool any = false;

    for (int i = 0; i < ITEMS; i++)
        any = any || queue.t[i].czxid;
    return any;
}

/* A take ends when its time is over, or it is refused; or soon after. */
static void check_take(int k)
{
    struct player *p = &queue.p[k];
    int64_t us = in_us(queue.own->consumer[k].timeout_ms);
    int proc = consumer_proc(k);

    if ((!us && !queue.own->refuses) || !p->taking || p->closing)
        return;
    if (faults_healed_at() > sim_now() || ens_throttled(proc) ||
        (!us && !is_any_there()) || process_was_frozen(proc, p->begun) ||
        process_lacked_memory_since(proc, p->begun))
        p->begun = sim_now();
    if (sim_now() - p->begun > us + LATE_US)
        sim_violation("consumer %d: its take does not end", k);
}

static void check_holder(int k, int i)
{
    struct player *p = &queue.p[k];
    const struct truth *t = &queue.t[i];
    bool over = session_over(p->session_of[i]);

    if (evzk_consumer_holds(p->c, p->held[i]) && !t->operated &&
        !queue.claims_meddled &&
        (t->claim != p->session_of[i] || !ens_alive(p->session_of[i])) &&
        !session_forced(p->session_of[i]))
        sim_violation("consumer %d holds item %d, and has not claimed it", k,
                      i);
    if (!over || !evzk_session_connected(process_of(consumer_proc(k))->s)) {
        p->gone_since[i] = 0;
        return;
    }
    if (!p->gone_since[i])
        p->gone_since[i] = sim_now();
    if (sim_now() - p->gone_since[i] > SOON_US &&
        !process_was_frozen(consumer_proc(k), p->gone_since[i]))
        sim_violation("consumer %d: item %d is lost, and it was not told", k,
                      i);
}

void consumer_check(void)
{
    look();
    for (int k = 0; k < CONSUMERS; k++) {
        int before = sim_enter(consumer_proc(k));

        for (int i = 0; i < ITEMS; i++) {
            if (queue.p[k].c && queue.p[k].held[i] &&
                process_of(consumer_proc(k))->s)
                check_holder(k, i);
        }
        if (queue.own->consumer[k].on)
            check_take(k);
        sim_leave(before);
    }
    check_starving();
    processes_check();
}

/* At the end. */

static bool excused(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (queue.early[p] || ens_throttled(p) || process_lacked_memory(p))
            return true;
    }
    return queue.meddled || operator_deleted_any();
}

static void check_left(void)
{
    const char *names[KIDS];
    size_t n = ens_children(side_path(EVZK__QUEUE_CLIENTS), names, KIDS);

    for (size_t i = 0; i < n && i < KIDS; i++) {
        if (strstr(names[i], EVZK__QUEUE_RECEIPT_TAG) ||
            strstr(names[i], EVZK__QUEUE_ALIVE_TAG))
            sim_violation("%s is left", names[i]);
    }
}

static bool any_freed(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (queue.freed[p] || queue.early[p])
            return true;
    }
    return false;
}

void consumer_check_end(void)
{
    for (int i = 0; i < ITEMS; i++) {
        const struct truth *t = &queue.t[i];

        if (!queue.own->item[i].seq || !t->gone || t->operated || t->dead)
            continue;
        if (queue.own->buries && is_buried(i))
            continue;
        if (queue.own->buries && !t->finish_asked)
            sim_violation("item %d is gone, and no dead letter", i);
        if (!t->delivered && !any_freed() && !excused())
            sim_violation("item %d was removed, and never delivered", i);
    }
    if (!excused())
        check_left();
    processes_check_end();
}
