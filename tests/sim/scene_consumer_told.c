/* What consumers are told.  An item is delivered when it is removed, or
 * claimed; to nobody else while the claim stands; and never after it was
 * finished.
 *
 * How it can fail.  What an operator deletes excuses what follows from that. */
#include "recipes/parts/queue_layout.h"
#include "scene_consumer.h"

/* Sessions that have ended, or were closed before their consumers had. */
static uint32_t ended_sessions(void)
{
    uint32_t n = 0;

    for (int p = 0; p < SIM_PROCS; p++) {
        const struct process *own = process_of(p);

        n += own->n_ids > 1 ? own->n_ids - 1 : 0;
        n += queue.early[p] || (!own->closing && own->n_ids &&
                                session_over(own->ids[own->n_ids - 1]));
    }
    return n;
}

/* A delivery is counted before it is told.  So where a session has ended, one
 * may be counted that was none: of one item.  A child that a fault has made
 * below an item counts, too, and where writing is denied, no count is taken
 * back. */
static void check_count(int k, int i, uint32_t counted, uint32_t told)
{
    uint32_t more = queue.t[i].rewritten, all = 0,
             most = told + queue.t[i].was_bad + queue.t[i].was_fixed + more;

    if (queue.meddled || operator_deleted_any())
        return;
    for (int p = 0; p < SIM_PROCS; p++) {
        if (ens_refused(p))
            return;
    }
    queue.untold[i] = counted > most ? counted - most : 0;
    for (int j = 0; j < ITEMS; j++)
        all += queue.untold[j];
    if (counted + more < told || all > ended_sessions())
        sim_violation("consumer %d: item %d: %u deliveries are counted, of "
                      "which %u were told",
                      k, i, counted, told);
}

static uint64_t number_of_plan(const struct item_plan *it)
{
    bool plain = evzk__queue_is_plain(queue.own->layout);

    return (plain ? 0 : (uint64_t)it->segment << 32) | (uint32_t)it->seq;
}

int consumer_item_of(const evzk_item *item)
{
    for (int i = 0; i < ITEMS; i++) {
        if (queue.own->item[i].seq &&
            queue.own->item[i].priority == item->priority &&
            number_of_plan(&queue.own->item[i]) == item->number)
            return i;
    }
    return -1;
}

static void check_claimed(int k, const evzk_item *item, int i)
{
    const struct truth *t = &queue.t[i];

    if (!evzk_consumer_holds(queue.p[k].c, item))
        sim_violation("consumer %d: item %d is delivered, and not held", k, i);
    if (t->claim != consumer_session(consumer_proc(k)) &&
        !consumer_item_meddled(i) &&
        !session_over(consumer_session(consumer_proc(k))))
        sim_violation("consumer %d: item %d is delivered, and not claimed", k,
                      i);
    if (t->claim == consumer_session(consumer_proc(k)) &&
        item->claim_token != (uint64_t)t->claim_czxid &&
        !consumer_item_meddled(i))
        sim_violation("consumer %d: item %d has a wrong claim token", k, i);
    if (item->claim_token <= t->token && !consumer_item_meddled(i) &&
        !session_forced(consumer_session(consumer_proc(k))))
        sim_violation("consumer %d: item %d has an old claim token", k, i);
    if (queue.own->consumer[k].max_deliveries &&
        !session_forced(consumer_session(consumer_proc(k))))
        check_count(k, i, item->deliveries, queue.deliveries[i] + 1);
}

void rules_item(int k, const evzk_item *item, int i)
{
    struct truth *t = &queue.t[i];

    if (queue.foreign && !operator_deleted_any() && !fault_malformed())
        sim_violation("consumer %d: item %d of another library's queue", k, i);
    if (item->number != number_of_plan(&queue.own->item[i]))
        sim_violation("consumer %d: item %d has a wrong number", k, i);
    if (t->finished && !session_forced(consumer_session(consumer_proc(k))) &&
        !consumer_item_meddled(i))
        sim_violation("consumer %d: item %d was finished", k, i);
    if (consumer_claims(k))
        check_claimed(k, item, i);
    else if (item->claim_token || item->deliveries)
        sim_violation("consumer %d: item %d has a claim", k, i);
    else if (t->delivered && t->claims == 0) /* Else it came back. */
        sim_violation("consumer %d: item %d is delivered twice", k, i);
    else if (t->czxid)
        sim_violation("consumer %d: item %d is delivered, and still there", k,
                      i);
    for (int j = 0; j < CONSUMERS; j++) {
        if (j != k && queue.p[j].held[i] &&
            evzk_consumer_holds(queue.p[j].c, queue.p[j].held[i]) &&
            !consumer_item_meddled(i))
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
        return process_has_lapsed(proc);
    case EVZK_ERR_NODEGONE:
    case EVZK_ERR_NOAUTH:
        return ens_denied(proc) || queue.meddled || operator_deleted_any();
    case EVZK_ERR_CONNLOSS:
        return queue.meddled || operator_deleted_any() || ens_refused(proc) ||
               ens_tidied_of(queue.p[k].session_of[i]);
    case EVZK_ERR_CLOSED: /* Or it closes, and could not make what it needs. */
        return process_of(proc)->closing ||
               (queue.p[k].closing && (ens_full_at() || ens_refused(proc)));
    case EVZK_ERR_SERVER:
        return ens_throttled(proc);
    case EVZK_ERR_NOTEMPTY:
        return queue.t[i].was_bad > 0;
    case EVZK_ERR_TOOLARGE:
        return ens_shut(proc);
    }
    return false;
}

/* Another consumer had the item since this one was told: it may have been gone
 * from all that this one saw. */
static bool was_claimed_since(int k, int i)
{
    const struct truth *t = &queue.t[i];
    uint32_t before = queue.aside_claims[k][i];

    queue.aside_claims[k][i] = t->claims - (t->claim != 0);
    return t->claims > before;
}

/* Of an item that nobody can take it is told, and once; once more if it was
 * good meanwhile, or another had it. */
void rules_aside(int k, int rc, const evzk_item *item)
{
    int i = consumer_item_of(item);
    bool had = i >= 0 && was_claimed_since(k, i);

    if (i < 0)
        sim_violation("consumer %d: an unknown item is set aside", k);
    else if (!queue.t[i].was_bad &&
             !(rc == EVZK_ERR_NOAUTH && ens_denied(consumer_proc(k))) &&
             !(rc == EVZK_ERR_QUOTA && ens_full_at()))
        sim_violation("consumer %d: item %d is set aside: %s", k, i,
                      evzk_errname(rc));
    else if (queue.aside[k][i]++ > 0 && !had &&
             queue.aside[k][i] > queue.t[i].was_bad)
        sim_violation("consumer %d: item %d is set aside twice", k, i);
}

void rules_dead(int k, const evzk_item *item, int i)
{
    struct truth *t = &queue.t[i];

    if (t->czxid && !consumer_item_meddled(i))
        sim_violation("consumer %d: item %d is a dead letter, and there", k, i);
    if (!consumer_item_is_buried(i) && !consumer_item_meddled(i))
        sim_violation("consumer %d: item %d is no dead letter", k, i);
    if (item->deliveries != queue.own->consumer[k].max_deliveries)
        sim_violation("consumer %d: item %d was delivered %u times", k, i,
                      (unsigned)item->deliveries);
    check_count(k, i, item->deliveries, queue.deliveries[i]);
    if (t->dead)
        sim_violation("consumer %d: item %d is dead twice", k, i);
    t->dead = true;
}

void rules_ended(int k, int i, evzk_consumer_event event, int rc)
{
    struct consumer_slot *p = &queue.p[k];
    struct truth *t = &queue.t[i];

    if (event == EVZK_CONSUMER_FINISHED) {
        if (!p->finish[i] || rc != EVZK_OK)
            sim_violation("consumer %d: item %d is finished: %s", k, i,
                          evzk_errname(rc));
        if (t->czxid && !consumer_item_meddled(i))
            sim_violation("consumer %d: item %d is finished, and there", k, i);
        t->finished = true;
    } else if (event == EVZK_CONSUMER_GIVEN_BACK) {
        if (rc != EVZK_OK || p->finish[i])
            sim_violation("consumer %d: item %d is given back", k, i);
        if (!p->give[i] && !p->closing)
            queue.refused[k] = true;
        if (t->claim == p->session_of[i] && t->claim &&
            t->token == (uint64_t)t->claim_czxid && !consumer_item_meddled(i))
            sim_violation("consumer %d: item %d is given back, and claimed", k,
                          i);
    } else if (!lost_rc_ok(k, i, rc))
        sim_violation("consumer %d: item %d is lost: %s", k, i,
                      evzk_errname(rc));
    t->doubted = event == EVZK_CONSUMER_LOST && rc == EVZK_ERR_CONNLOSS;
    t->left = event == EVZK_CONSUMER_LOST && rc == EVZK_ERR_CLOSED;
}

void rules_taken(int k, int rc)
{
    const struct consumer_slot *p = &queue.p[k];

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
    case EVZK_ERR_TOOLARGE:
        return ens_shut(proc);
    case EVZK_ERR_NOCHROOT:
        return queue.own->chroot != NULL;
    case EVZK_ERR_FOREIGN: /* In the turn's directory; or too many items. */
        return true;
    case EVZK_ERR_NOAUTH:
        return ens_denied(proc) || queue.meddled || operator_deleted_any();
    case EVZK_ERR_NODEEXISTS:
        return queue.meddled || operator_deleted_any();
    }
    return false;
}

/* Nobody was told of this item, or LOST was told, and a quota keeps its
 * consumer from making the receipt by which items are given back: the session
 * deletes the claim. */
static bool is_left_to_session(int i)
{
    return (!queue.t[i].delivered || queue.t[i].doubted) && ens_full_at() != 0;
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
            queue.t[i].claim == consumer_session(consumer_proc(k)) &&
            !session_over(queue.t[i].claim) && !queue.t[i].left &&
            !is_left_to_session(i) && !consumer_item_meddled(i))
            sim_violation("consumer %d has ended, and item %d is claimed", k,
                          i);
    }
    if (queue.p[k].taking)
        sim_violation("consumer %d has ended, and its take has not", k);
}
