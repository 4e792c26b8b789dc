/* Writes a value to a znode, if its lock still stands when the servers do so:
 * guard SERVERS LOCK PATH VALUE */
#include <stdio.h>
#include <string.h>

#include <event2/event.h>
#include <evzk/evzk.h>

static evzk_guard_op op = {.verb = EVZK_GUARD_SET, .version = -1};
static evzk_guard *write_op;
static int status = 1;

static void on_write(evzk_guard *g, evzk_guard_outcome outcome, int rc,
                     const evzk_guard_result *result, void *lock)
{
    printf("%s: %s\n", evzk_guard_outcome_name(outcome), evzk_strerror(rc));
    if (outcome == EVZK_GUARD_DONE) {
        printf("mzxid %lld\n", (long long)result->zxid);
        status = 0;
    }
    evzk_guard_free(g);
    evzk_lock_release(lock); /* Or it has ended: on_lock() hears that. */
}

static void on_lock(evzk_lock *l, evzk_lock_event event, int rc, void *session)
{
    if (event == EVZK_LOCK_GRANTED)
        rc = evzk_guard_write(session, &(evzk_guard_by){.lock = l}, &op, 1,
                              NULL, on_write, l, &write_op);
    if (event == EVZK_LOCK_GRANTED && rc)
        evzk_lock_release(l);
    if (!evzk_lock_event_is_final(event))
        return;
    if (rc)
        fprintf(stderr, "the lock: %s\n", evzk_strerror(rc));
    evzk_session_close(session); /* A write under way is told before the end. */
}

static void on_session(evzk_session *s, evzk_session_event e, int rc, void *b)
{
    (void)s, (void)rc;
    if (e == EVZK_SESSION_CLOSED)
        event_base_loopbreak(b);
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    evzk_session *s = NULL;
    evzk_lock *lock = NULL;
    int rc = argc == 5 && base ? 0 : EVZK_ERR_INVAL;

    if (!rc) {
        op.path = argv[3];
        op.data = argv[4];
        op.data_len = strlen(argv[4]);
        rc = evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    }
    if (!rc)
        rc = evzk_lock_acquire(s, argv[2], NULL, on_lock, s, &lock);
    if (rc)
        fprintf(stderr, "guard SERVERS LOCK PATH VALUE: %s\n",
                evzk_strerror(rc));
    else
        event_base_dispatch(base);
    evzk_lock_free(lock);
    evzk_session_free(s);
    event_base_free(base);
    return status;
}
