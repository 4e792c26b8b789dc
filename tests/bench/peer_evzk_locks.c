/* Our own side of the comparison: locks that nobody else wants, and one lock
 * with a queue. */
#include "peer_evzk.h"

#include <stdio.h>
#include <stdlib.h>

/* Those of "each"; of "queue" they free themselves. */
static evzk_lock **locks;
static evzk_lock *held;
static double last; /* When the queue's last grant was. */
static bool joining;

/* Nothing ends a lock here but its release. */
static bool released(evzk_lock *lock, evzk_lock_event event, int rc)
{
    if (event == EVZK_LOCK_LOST || event == EVZK_LOCK_FAILED)
        peer_fail("a lock ended", rc);
    if (event != EVZK_LOCK_RELEASED)
        return false;
    peer_must(rc, "release");
    evzk_lock_free(lock);
    return true;
}

/* ------------------------------------------------------------------- each */

static void release(struct peer *p, size_t i)
{
    (void)p;
    peer_must(evzk_lock_release(locks[i]), "release");
}

static void on_each(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    struct peer *p = arg;

    if (event == EVZK_LOCK_GRANTED && peer_granted(p))
        peer_feed(p, release);
    if (!released(lock, event, rc) || !peer_ended(p))
        return;
    peer_say_both(p);
    free(locks);
    locks = NULL;
}

static void acquire(struct peer *p, size_t i)
{
    char path[300];

    snprintf(path, sizeof path, "%s/%zu", p->dir, i);
    peer_must(evzk_lock_acquire(p->zk, path, NULL, on_each, p, &locks[i]),
              path);
}

void peer_each(struct peer *p, const char *dir, size_t count)
{
    locks = peer_room(count, sizeof *locks);
    peer_begin(p, dir, count);
    peer_feed(p, acquire);
}

/* -------------------------------------------------------------- one queue */

static void on_held(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    (void)arg;
    if (event == EVZK_LOCK_GRANTED)
        peer_say("OK");
    released(lock, event, rc);
}

void peer_hold(struct peer *p, const char *dir)
{
    peer_must(evzk_lock_acquire(p->zk, dir, NULL, on_held, p, &held), dir);
}

void peer_free_held(struct peer *p)
{
    double begun = peer_now();

    (void)p;
    peer_must(evzk_lock_release(held), "free");
    peer_say("OK %.6f", begun);
}

void peer_join(struct peer *p)
{
    joining = true;
    if (p->ended == p->count)
        peer_say("OK %.6f %.6f", last, peer_cpu() - p->cpu);
}

static void on_waiter(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    struct peer *p = arg;

    if (event == EVZK_LOCK_GRANTED) {
        last = peer_now();
        peer_must(evzk_lock_release(lock), "release");
    }
    if (released(lock, event, rc) && peer_ended(p) && joining)
        peer_join(p);
}

static void wait_too(struct peer *p, size_t i)
{
    evzk_lock *lock;

    (void)i;
    peer_must(evzk_lock_acquire(p->zk, p->dir, NULL, on_waiter, p, &lock),
              p->dir);
}

void peer_queue(struct peer *p, const char *dir, size_t count)
{
    peer_begin(p, dir, count);
    joining = false;
    peer_feed(p, wait_too);
    peer_say("OK");
}
