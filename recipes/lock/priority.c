/* Waiting by priority, before the queue, for contenders that are not equally
 * urgent.
 *
 *   <guid>-p<priority>a<ageing>-write-wait-<seq>     waits by priority
 *   <guid>-p<priority>a<ageing>-read-wait-<seq>
 *   <guid>-p<priority>a<ageing>-write-<seq>          in the queue (lock.c)
 *   <guid>-p<priority>a<ageing>-read-<seq>
 *
 * Contenders that wait by priority are ordered by seq + priority * ageing: a
 * contender that is less urgent by 1 counts as come `ageing` contenders later.
 * The order follows from the names alone, is the same for every session, and
 * never changes.  So the number of contenders that can pass a waiter is known
 * from the beginning.  Without ageing the order is that of (priority, seq).
 *
 * The first in this order replaces its znode by a znode in the queue, in one
 * transaction, as soon as no holder is in its way.  So a contender in the queue
 * is never passed, and few besides the holders are there.  All rules of the
 * queue hold for it: a grant has a greater token than all grants before it, in
 * whatever order the contenders came.
 *
 * The watches, and why a change wakes only those that it concerns:
 *
 * - A writer watches the nearest contender before it in this order; a reader
 *   watches the nearest writer before it.  The first of them watches, in the
 *   same way, the last in the queue.  So when a contender leaves, its waiters
 *   wake: one writer, or all readers up to the next writer.
 * - A newcomer may come before others, which then watch the wrong znode.  The
 *   newcomer notifies those contenders, and no others: it writes to their own
 *   znodes, which they watch anyway, the data that is there already.  These
 *   contenders are the one right behind it, if that is a writer; and if the
 *   newcomer is a writer, all readers behind it up to the next writer.  They
 *   list again, and watch the right znode.  Later arrivals notify those that
 *   were inserted between.
 * - The notification is a hint.  A contender that was not notified, because the
 *   newcomer died too early or had no right to write, wakes once in vain,
 * lists, and then watches the right znode.
 *
 * How it can fail.  Two contenders that enter at the same moment, from two
 * listings, are in the queue in the order in which they entered: the more
 * urgent one may be the second.  A look goes through all contenders that wait
 * by priority: a thousand of them cost a thousand times a thousand steps.
 */
#include "recipes/lock/lock_internal.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/order.h"
#include "recipes/lock/revoke.h"

/* Notifies the contenders that the lock has passed.  Without memory they find
 * out by themselves. */
static void tell_passed(struct evzk_lock *l,
                        const struct evzk__ordered *ordered,
                        const struct evzk__contender *own)
{
    size_t n = evzk__passed(ordered, own, NULL);
    char **passed = n > 0 ? evzk__zalloc(n * sizeof *passed) : NULL;

    if (!passed)
        return;
    evzk__passed(ordered, own, passed);
    (void)evzk__lock_notify(evzk__machine_session(&l->m),
                            evzk__machine_path(&l->m), passed, (uint32_t)n);
    evzk__free(passed);
}

/* All have let go, or could not be asked: the lock looks again, and asks again,
 * unless it has no right to.  What the servers refuse for the moment makes the
 * session pause (request/answer.c): so it asks ten times a second at most. */
static void pressed(evzk_lock_revoke *r, int rc, const evzk_revoked *v,
                    size_t n, void *arg)
{
    struct evzk_lock *l = arg;

    (void)r, (void)v, (void)n;
    l->given->may_not_press =
        rc != EVZK_OK && rc != EVZK_ERR_NOMEM && rc != EVZK_ERR_SERVER;
    if (!l->given->may_not_press)
        evzk__machine_ask(&l->m);
}

/* If the caller wants that: asks all less urgent contenders before the lock to
 * let go.  A contender that was asked is not asked again. */
static int press(struct evzk_lock *l, const struct evzk__ordered *ordered,
                 const struct evzk__contender *own)
{
    struct given *g = l->given;
    evzk_lock_revoke_options opt = {.mode = (evzk_lock_mode)l->mode,
                                    .before = l->own,
                                    .priority = (uint8_t)(own->priority + 1),
                                    .remove = g->priority.grace_ms > 0,
                                    .grace_ms = g->priority.grace_ms};

    if (!g->priority.revoke || g->may_not_press ||
        !evzk__lock_revoked(g->press) || !evzk__blocked_by_less(ordered, own))
        return EVZK_OK;
    evzk_lock_revoke_free(g->press);
    g->press = NULL;
    return evzk__lock_revoke_lower(evzk__machine_session(&l->m),
                                   evzk__machine_path(&l->m), &opt, pressed, l,
                                   &g->press);
}

void evzk__lock_stop_revoking(struct evzk_lock *l)
{
    if (!l->given)
        return;
    evzk_lock_revoke_free(l->given->press);
    l->given->press = NULL;
}

/* Names without an order were made by hand: no contender can be notified. */
int evzk__lock_look_round(struct evzk_lock *l,
                          const struct evzk__ordered *ordered)
{
    struct evzk__contender own;

    if (!evzk__lock_urgent(l))
        return EVZK_OK;
    if (ordered->failed)
        return evzk__ordered_short(ordered) ? EVZK_ERR_NOMEM : EVZK_OK;
    evzk__contender_parse(l->own, evzk__lock_marks, &own);
    if (!l->given->told_passed && (own.flags & EVZK__WAITS))
        tell_passed(l, ordered, &own);
    l->given->told_passed = true;
    return press(l, ordered, &own);
}
