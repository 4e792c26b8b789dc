/* Our own side of the comparison: a semaphore of ten leases, each of which is
 * given back as soon as it is held. */
#include "peer_evzk.h"

enum { LEASES = 10 };

static void on_lease(evzk_semaphore *semaphore, evzk_semaphore_event event,
                     int rc, void *arg)
{
    struct peer *p = arg;

    if (event == EVZK_SEMAPHORE_ACQUIRED)
        peer_must(evzk_semaphore_release(semaphore), "release");
    if (event == EVZK_SEMAPHORE_LOST || event == EVZK_SEMAPHORE_FAILED)
        peer_fail("a semaphore", rc);
    if (event != EVZK_SEMAPHORE_RELEASED)
        return;
    peer_must(rc, "release");
    evzk_semaphore_free(semaphore);
    if (peer_ended(p))
        peer_say_all(p);
}

static void acquire(struct peer *p, size_t i)
{
    const evzk_semaphore_options opt = {.leases = LEASES};
    evzk_semaphore *semaphore;

    (void)i;
    peer_must(
        evzk_semaphore_acquire(p->zk, p->dir, &opt, on_lease, p, &semaphore),
        "acquire");
}

void peer_seats(struct peer *p, const char *dir, size_t count)
{
    peer_begin(p, dir, count);
    peer_feed(p, acquire);
}
