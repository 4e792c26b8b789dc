/* Deletes the directory for which several sessions contended.  Only the session
 * that made a directory deletes it with its own last lock, and that one may
 * have ended before others.  A lock of another path guards the deletion. */
#include <stdio.h>

#include "bench.h"
#include "command.h"

static void end(struct bench *b)
{
    connection_finish(&b->connection, b->signo ? 128 + b->signo : b->status);
}

static void on_deleted(evzk_guard *guard, evzk_guard_outcome outcome, int rc,
                       const evzk_guard_result *result, void *arg)
{
    struct bench *b = arg;

    (void)result;
    evzk_guard_free(guard);
    b->guard = NULL;
    if (outcome != EVZK_GUARD_DONE && rc != EVZK_ERR_NONODE &&
        !connection_finished(&b->connection))
        b->status = complain_error(rc, b->contenders[0].path);
    evzk_lock_release(b->contenders[1].lock);
}

static void on_lock(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    struct bench *b = arg;
    evzk_guard_by by = {.lock = lock};
    evzk_guard_op op = {.verb = EVZK_GUARD_DELETE,
                        .path = b->contenders[0].path,
                        .version = -1};

    (void)rc;
    if (event == EVZK_LOCK_GRANTED) {
        if (evzk_guard_write(b->connection.session, &by, &op, 1, NULL,
                             on_deleted, b, &b->guard))
            evzk_lock_release(lock);
    } else if (evzk_lock_event_is_final(event)) {
        evzk_lock_free(lock);
        b->contenders[1].lock = NULL;
        end(b);
    }
}

void bench_sweep(struct bench *b)
{
    struct contender *c = &b->contenders[1];

    b->sweeping = true;
    snprintf(c->path, sizeof(c->path), "%s-sweep", b->path);
    if (evzk_lock_acquire(b->connection.session, c->path, NULL, on_lock, b,
                          &c->lock))
        end(b);
}
