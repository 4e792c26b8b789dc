/* Moves a file under the locks of both folders: both SERVERS FROM TO NAME
 *
 * Each folder has a lock, at its own path: two processes that move files to and
 * fro between the same folders never wait for each other for ever. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <event2/event.h>
#include <evzk/evzk.h>

struct move {
    evzk_session *s;
    char from[512], to[512]; /* The file, in either folder. */
    int status;              /* Of the process. */
};

static void move_file(struct move *m)
{
    m->status = rename(m->from, m->to) ? 1 : 0;
    printf("%s to %s: %s\n", m->from, m->to,
           m->status ? strerror(errno) : "moved");
}

static void on_both(evzk_multi_lock *both, evzk_multi_lock_event event, int rc,
                    void *arg)
{
    struct move *m = arg;

    printf("%s (%s)\n", evzk_multi_lock_event_name(event), evzk_strerror(rc));
    if (event == EVZK_MULTI_LOCK_GRANTED) {
        move_file(m);
        evzk_multi_lock_release(both);
    } else if (evzk_multi_lock_event_is_final(event)) {
        evzk_multi_lock_free(both);
        evzk_session_close(m->s);
    }
}

static void on_session(evzk_session *s, evzk_session_event e, int rc, void *b)
{
    (void)s, (void)rc;
    if (e == EVZK_SESSION_CLOSED)
        event_base_loopbreak(b);
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new(); /* Your loop. */
    struct move m = {.status = 1};
    evzk_multi_lock_options opt = {.timeout_ms = 60000};
    evzk_multi_lock_part folders[2] = {{.path = NULL}};
    evzk_multi_lock *both;
    int rc = argc == 5 && base ? 0 : EVZK_ERR_INVAL;

    if (rc == 0) {
        folders[0].path = argv[2];
        folders[1].path = argv[3];
        snprintf(m.from, sizeof m.from, "%s/%s", argv[2], argv[4]);
        snprintf(m.to, sizeof m.to, "%s/%s", argv[3], argv[4]);
        rc = evzk_session_open(base, argv[1], NULL, on_session, base, &m.s);
    }
    if (rc == 0)
        rc = evzk_multi_lock_acquire(m.s, folders, 2, &opt, on_both, &m, &both);
    if (rc)
        return fprintf(stderr, "both SERVERS FROM TO NAME: %s\n",
                       evzk_strerror(rc)),
               1;
    event_base_dispatch(base);
    evzk_session_free(m.s);
    event_base_free(base);
    return m.status;
}
