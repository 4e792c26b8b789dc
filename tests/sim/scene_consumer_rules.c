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
#include "owes.h"
#include "recipes/parts/queue_layout.h"
#include "scene_consumer.h"

enum {
    KIDS = 64,
    UNHEARD_US = 3500 * 1000,   /* After a round, the claims are looked at. */
    STUCK_US = 14 * 1000 * 1000 /* The longest pause of a session that deletes
                                   what was left. */
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

/* But for those of which nobody has said that they are free. */
static bool is_any_there(void)
{
    bool any = false;

    for (int i = 0; i < ITEMS; i++)
        any = any ||
              (queue.t[i].czxid && !consumer_item_is_bad(i) &&
               (!consumer_item_is_free(i) || consumer_item_is_known_free(i)));
    return any;
}

static bool is_any_free(bool (*is_free)(int i))
{
    bool any = false;

    for (int i = 0; i < ITEMS; i++)
        any = any || (queue.own->item[i].seq && is_free(i) &&
                      !consumer_item_is_bad(i));
    return any;
}

static bool has_any(int proc)
{
    bool any = false;

    for (int k = 0; k < CONSUMERS; k++)
        any = any || (consumer_proc(k) == proc && queue.p[k].c);
    return any;
}

/* The session has a claim, and none of its consumers the item. */
static bool is_any_stuck(int proc)
{
    for (int i = 0; i < ITEMS; i++) {
        bool held = false;

        for (int k = 0; k < CONSUMERS; k++)
            held = held || (consumer_proc(k) == proc && queue.p[k].held[i]);
        if (!held && queue.own->item[i].seq &&
            consumer_may_free(i, consumer_session(proc)))
            return true;
    }
    return false;
}

/* Its time is over, or it is to be refused. */
static bool is_take_over(int k)
{
    const struct consumer_slot *p = &queue.p[k];
    int64_t us = in_us(queue.own->consumer[k].timeout_ms);

    if (!p->taking)
        return false;
    return us ? sim_now() > p->begun + us
              : queue.own->refuses && is_any_there();
}

static void item_owes(int k, struct sim_debt *debt)
{
    const struct consumer_slot *p = &queue.p[k];
    bool holds = false;

    for (int i = 0; i < ITEMS; i++) {
        holds = holds || p->held[i];
        sim_owe(debt, p->held[i] && session_over(p->session_of[i]),
                "an item is lost, and it was not told", i);
        sim_owe(debt, p->held[i] && (p->finish[i] || p->give[i]),
                "an item is finished, or given back, and it was not told", i);
    }
    sim_owe(debt, p->closing && !holds,
            "a consumer is closed, and does not end", k);
}

/* The consumer that has the turn takes, or passes the turn on. */
/* Is an old receipt left?  Of a scene where each listing has who has the turn
 * tidy. */
static bool is_untidy(void)
{
    return queue.own->tidies && consumer_any_old_receipt();
}

void consumer_owes(int proc, struct sim_debt *debt)
{
    bool any_free = is_any_free(consumer_item_is_free);

    for (int k = 0; k < CONSUMERS; k++) {
        if (!queue.own->consumer[k].on || consumer_proc(k) != proc ||
            !queue.p[k].c)
            continue;
        sim_owe(debt, any_free && wants(k),
                "an item is free, and a consumer waits for it", 0);
        sim_owe(debt, !queue.p[k].closing && is_take_over(k),
                "a take does not end", k);
        item_owes(k, debt);
        sim_owe(debt,
                !queue.p[k].closing &&
                    queue.listed[proc] > faults_healed_at() &&
                    queue.listed[proc] > owes_refused_at() && is_untidy() &&
                    !ens_shut(proc), /* At the reads of who tidies, maybe. */
                "an old receipt stays", k);
    }
    if (debt->what && any_free && !is_any_free(consumer_item_is_known_free))
        debt->most_us = UNHEARD_US;
    if (!debt->what && is_any_stuck(proc)) {
        sim_owe(debt, true, "a claim stands, and nobody has its item", proc);
        debt->most_us = has_any(proc) ? UNHEARD_US : STUCK_US;
    }
    debt->paid = queue.moves;
}

static void check_holder(int k, int i)
{
    struct consumer_slot *p = &queue.p[k];
    const struct truth *t = &queue.t[i];

    if (evzk_consumer_holds(p->c, p->held[i]) && !t->operated &&
        !queue.claims_meddled &&
        (t->claim != p->session_of[i] || !ens_alive(p->session_of[i])) &&
        !session_forced(p->session_of[i]))
        sim_violation("consumer %d holds item %d, and has not claimed it", k,
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
        if (consumer_is_left(names[i]))
            continue;
        if (strstr(names[i], EVZK__QUEUE_RECEIPT_TAG) ||
            strstr(names[i], EVZK__QUEUE_ALIVE_TAG))
            sim_violation("%s is left", names[i]);
    }
}

/* A consumer that took it was freed; or its session was closed, and no server
 * confirmed that, or its connection was lost meanwhile; or nobody could say
 * what became of the removal.  Or another consumer has tidied a receipt of its
 * process, which had no connection for a day. */
static bool may_lose(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (queue.freed[p] || queue.unsaid[p] ||
            process_any_session(p, ens_tidied_of) ||
            (queue.early[p] && process_closed_badly(p)))
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
