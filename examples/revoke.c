/* Asks all holders of a lock, and all waiters in its queue, to let go, and
 * shows what became of each:
 *
 *     revoke localhost:2181 /app/leader 5000
 *
 * Contenders that are still there after 5,000 ms are removed; without that
 * number none is. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>
#include <event2/event_struct.h>
#include <evzk/evzk.h>

static evzk_lock_revoke *attempt; /* Ours to free; NULL: ended. */
static int status = EXIT_FAILURE;

static void on_end(evzk_lock_revoke *r, int rc, const evzk_revoked *v, size_t n,
                   void *session)
{
    static const char *const how[] = {
        [EVZK_REVOKED_STAYS] = "stays",
        [EVZK_REVOKED_YIELDED] = "yielded",
        [EVZK_REVOKED_REMOVED] = "removed",
    };

    for (size_t i = 0; i < n; i++)
        printf("%-8s %s\n", how[v[i].how], v[i].node);
    if (rc)
        fprintf(stderr, "revoke: %s\n", evzk_strerror(rc));
    else if (n == 0)
        puts("nobody");
    status = rc ? EXIT_FAILURE : EXIT_SUCCESS;
    evzk_lock_revoke_free(r);
    attempt = NULL;
    evzk_session_close(session);
}

static void on_session(evzk_session *s, evzk_session_event event, int rc,
                       void *base)
{
    (void)s, (void)rc;
    if (event == EVZK_SESSION_CLOSED)
        event_base_loopbreak(base);
}

static void on_interrupt(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
    evzk_lock_revoke_cancel(attempt); /* The written data stays. */
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    struct event interrupt;
    evzk_lock_revoke_options opt = {.remove = argc == 4};
    evzk_session *s = NULL;
    char *end = "";
    int rc;

    opt.grace_ms = opt.remove ? (uint32_t)strtoul(argv[3], &end, 10) : 0;
    rc = argc < 3 || argc > 4 || *end || end == argv[3] || !base;
    rc = rc ? EVZK_ERR_INVAL : EVZK_OK;
    if (!rc)
        rc = evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    if (!rc)
        rc = evzk_lock_revoke_start(s, argv[2], &opt, on_end, s, &attempt);
    if (rc) {
        fprintf(stderr, "revoke SERVERS PATH [MS]: %s\n", evzk_strerror(rc));
        return EXIT_FAILURE;
    }
    evsignal_assign(&interrupt, base, SIGINT, on_interrupt, NULL);
    event_add(&interrupt, NULL);
    event_base_dispatch(base);
    evzk_session_free(s);
    event_base_free(base);
    return status;
}
