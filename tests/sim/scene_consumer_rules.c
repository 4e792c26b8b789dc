/* The rules for consumers of a queue that are asked after each step, and at the
 * end: nobody waits for long while an item is free, what is lost is told, and
 * what went was delivered.
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

/* Has it asked for an item, or room for some?  It does not ask for each alone
 * while it holds others. */
static bool wants(int k)
{
    const struct consumer_slot *p = &queue.p[k];
    uint32_t most = queue.own->consumer[k].prefetch, held = 0;

    if (!p->c || p->closing)
        return false;
    for (int i = 0; i < ITEMS; i++)
        held += p->held[i] != NULL;
    if (most == 0)
        return p->taking && !p->got && !p->canceled;
    return held == 0 || (held < most && most - held >= (most + 1) / 2);
}

/* The consumer that has the turn takes, or passes the turn on. */
void consumer_owes(int proc, struct sim_debt *debt)
{
    bool any_free = false, any_wants = false;

    for (int i = 0; i < ITEMS; i++)
        any_free = any_free ||
                   (queue.own->item[i].seq && consumer_item_is_known_free(i) &&
                    !consumer_item_is_bad(i));
    for (int k = 0; k < CONSUMERS; k++) {
        if (queue.own->consumer[k].on && consumer_proc(k) == proc)
            any_wants = any_wants || wants(k);
    }
    if (any_free && any_wants)
        *debt = (struct sim_debt){
            .what = "an item is free, and a consumer waits for it",
            .paid = queue.moves};
}

static bool is_any_there(void)
{
    bool any = false;

    for (int i = 0; i < ITEMS; i++)
        any = any || (queue.t[i].czxid && !consumer_item_is_bad(i));
    return any;
}

/* A take ends when its time is over, or it is refused; or soon after. */
static void check_take(int k)
{
    struct consumer_slot *p = &queue.p[k];
    int64_t us = in_us(queue.own->consumer[k].timeout_ms);
    int proc = consumer_proc(k);

    if ((!us && !queue.own->refuses) || !p->taking || p->closing)
        return;
    if (faults_healed_at() > sim_now() || ens_refused(proc) ||
        (!us && !is_any_there()) || process_was_frozen(proc, p->begun) ||
        process_lacked_memory_since(proc, p->begun))
        p->begun = sim_now();
    if (sim_now() - p->begun > us + LATE_US)
        sim_violation("consumer %d: its take does not end", k);
}

static void check_holder(int k, int i)
{
    struct consumer_slot *p = &queue.p[k];
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
    consumer_look();
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
    processes_check();
}

/* At the end. */

static bool excused(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (queue.early[p] || ens_denied(p) || process_lacked_memory(p))
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

/* A consumer that took it was freed, or its session was closed and no server
 * confirmed that, or its connection was lost meanwhile. */
static bool may_lose(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (queue.freed[p] || (queue.early[p] && process_closed_badly(p)))
            return true;
    }
    return queue.meddled || operator_deleted_any();
}

void consumer_check_end(void)
{
    for (int i = 0; i < ITEMS; i++) {
        const struct truth *t = &queue.t[i];

        if (!queue.own->item[i].seq || !t->gone || t->operated || t->dead)
            continue;
        if (t->buried)
            continue;
        if (queue.own->buries && !t->finish_asked)
            sim_violation("item %d is gone, and no dead letter", i);
        if (!t->delivered && !may_lose())
            sim_violation("item %d was removed, and never delivered", i);
    }
    if (!excused())
        check_left();
    processes_check_end();
}
