/* The room before the queue, where contenders wait that are not equally urgent.
 *
 *   <guid>-p<priority>a<ageing>-write-wait-<seq>     in the room
 *   <guid>-p<priority>a<ageing>-read-wait-<seq>
 *   <guid>-p<priority>a<ageing>-write-<seq>          in the queue (lock.c)
 *   <guid>-p<priority>a<ageing>-read-<seq>
 *
 * In the room the order is that of seq + priority * ageing: one that is by 1
 * less urgent counts as come by `ageing` contenders later.  It is read off the
 * names alone, is the same for everybody, and never changes while one waits; so
 * the number of those that can pass one is bounded from the beginning.  Without
 * ageing it is the order of (priority, seq).
 *
 * Who is first in the room changes its znode for one in the queue, in one
 * transaction, as soon as nobody holds the lock with whom it could not hold it
 * together.  So whoever is in the queue is never passed, and is seldom more
 * than the holders; all that is said of the queue holds for it: what is granted
 * there has a greater token than all before it, in whatever order they came.
 *
 * What is watched, and why one change wakes only whom it concerns:
 *
 * - One that writes watches the nearest before it in the room; one that reads,
 *   the nearest before it that writes.  The first of them watches, in the same
 *   way, the last in the queue.  So when one goes, from the room or from the
 *   queue, those wake who waited for it: one that writes, or all who read up to
 *   the next that writes.
 * - One that comes may have to go before others, who watch another than they
 *   should from then on.  It tells those, and nobody else: by writing to their
 *   own znodes, which they watch anyway, what these say already.  They are the
 *   one right behind it, if that writes; and if it writes itself, all behind it
 *   that read up to the next that writes.  They look, and watch what they
 *   should.  Who comes in between is told by who comes last.
 * - That is a hint.  Who was not told, since the other died too early, or had
 *   no right to write, wakes once in vain, and then knows.
 *
 * How it can fail.  Two that enter at the same moment, from two listings, stand
 * in the queue, one behind the other, in the order in which they entered: the
 * more urgent one may be the second.  A look at the room is through all that is
 * in it: a thousand that wait there cost a thousand times a thousand steps.
 */
#include "recipes/lock/lock_internal.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/order.h"
#include "recipes/lock/revoke.h"

enum { TRIES = 8 };

/* Those it has come before.  No memory: they find out by themselves. */
static void tell_passed(struct evzk_lock *l, const struct evzk__roll *roll,
                        const struct evzk__contender *own)
{
    size_t n = evzk__passed(roll, own, NULL);
    char **passed = n > 0 ? evzk__zalloc(n * sizeof *passed) : NULL;

    if (!passed)
        return;
    evzk__passed(roll, own, passed);
    (void)evzk__lock_touch(evzk__machine_session(&l->m),
                           evzk__machine_path(&l->m), passed, (uint32_t)n);
    evzk__free(passed);
}

/* All have gone, or it could not be done: then it looks again.  Not for ever,
 * and not when it may not ask. */
static void pressed(evzk_lock_revoke *r, int rc, const evzk_revoked *v,
                    size_t n, void *arg)
{
    struct evzk_lock *l = arg;

    (void)r, (void)v, (void)n;
    if (rc != EVZK_OK && rc != EVZK_ERR_NOMEM && rc != EVZK_ERR_SERVER)
        l->given->failed = TRIES;
    else if (rc != EVZK_OK)
        l->given->failed++;
    if (l->given->failed < TRIES)
        evzk__machine_ask(&l->m);
}

/* By policy: all that are before it and less urgent, each once, since who was
 * asked is not asked again. */
static int press(struct evzk_lock *l, const struct evzk__roll *roll,
                 const struct evzk__contender *own)
{
    struct given *g = l->given;
    evzk_lock_revoke_options opt = {.mode = (evzk_lock_mode)l->mode,
                                    .before = l->own,
                                    .priority = (uint8_t)(own->priority + 1),
                                    .remove = g->priority.grace_ms > 0,
                                    .grace_ms = g->priority.grace_ms};

    if (!g->priority.revoke || g->failed == TRIES ||
        !evzk__lock_revoked(g->press) || !evzk__held_by_less(roll, own))
        return EVZK_OK;
    evzk_lock_revoke_free(g->press);
    g->press = NULL;
    return evzk__lock_press(evzk__machine_session(&l->m),
                            evzk__machine_path(&l->m), &opt, pressed, l,
                            &g->press);
}

void evzk__lock_calm(struct evzk_lock *l)
{
    if (!l->given)
        return;
    evzk_lock_revoke_free(l->given->press);
    l->given->press = NULL;
}

/* Names without an order, made by hand, are nobody's whom one could tell. */
int evzk__lock_look_round(struct evzk_lock *l, const struct evzk__roll *roll)
{
    struct evzk__contender own;

    if (!evzk__lock_urgent(l))
        return EVZK_OK;
    if (roll->failed)
        return evzk__roll_short(roll) ? EVZK_ERR_NOMEM : EVZK_OK;
    evzk__contender_parse(l->own, evzk__lock_marks, &own);
    if (!l->given->arrived && (own.flags & EVZK__WAITS))
        tell_passed(l, roll, &own);
    l->given->arrived = true;
    return press(l, roll, &own);
}
