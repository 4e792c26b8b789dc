/* A server that shakes hands, and says nothing more.  So the session is
 * connected: fork, and bad arguments in every state of each object. */
#include "args.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct server {
    struct event_base *base;
    int listener, peer;
    struct event *accepting, *reading;
    size_t got;
    char servers[32];
};

static void shake_hands(evutil_socket_t fd, short what, void *arg)
{
    /* Length; version, time-out 100 s, session 7, a password, not read-only. */
    static const unsigned char answer[41] = {
        [3] = 37, [9] = 1,   [10] = 0x86, [11] = 0xa0,
        [19] = 7, [23] = 16, [24] = 1};
    struct server *sv = arg;
    unsigned char buf[256];
    ssize_t n = recv(fd, buf, sizeof buf, 0);
    bool before = sv->got >= 44;

    (void)what;
    if (n <= 0) {
        event_del(sv->reading);
        return;
    }
    sv->got += (size_t)n;
    if (!before && sv->got >= 44)
        ck_assert_int_eq(send(fd, answer, sizeof answer, MSG_NOSIGNAL),
                         sizeof answer);
}

static void accept_one(evutil_socket_t fd, short what, void *arg)
{
    struct server *sv = arg;

    (void)what;
    sv->peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    ck_assert_int_ge(sv->peer, 0);
    sv->reading =
        event_new(sv->base, sv->peer, EV_READ | EV_PERSIST, shake_hands, sv);
    event_add(sv->reading, NULL);
}

static void start_server(struct server *sv)
{
    struct sockaddr_in sin = {.sin_family = AF_INET};
    socklen_t len = sizeof sin;

    memset(sv, 0, sizeof *sv);
    sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sv->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(sv->listener, (struct sockaddr *)&sin, sizeof sin),
                     0);
    ck_assert_int_eq(listen(sv->listener, 1), 0);
    ck_assert_int_eq(getsockname(sv->listener, (struct sockaddr *)&sin, &len),
                     0);
    snprintf(sv->servers, sizeof sv->servers, "127.0.0.1:%u",
             ntohs(sin.sin_port));
}

static void serve(struct server *sv, struct event_base *base)
{
    sv->base = base;
    sv->accepting = event_new(base, sv->listener, EV_READ, accept_one, sv);
    event_add(sv->accepting, NULL);
}

static void stop_server(struct server *sv)
{
    event_free(sv->accepting);
    if (sv->reading)
        event_free(sv->reading);
    close(sv->peer);
    close(sv->listener);
}

/* A process with a connection, and two objects of each kind that wait. */
enum { MOST_OBJECTS = 128 };

struct object {
    const struct args_kind *kind;
    struct heard heard;
    void *it;
};

struct parent {
    struct world w;
    struct server sv;
    struct object o[MOST_OBJECTS];
    int n;
};

static void begin_parent(struct parent *p)
{
    memset(p, 0, sizeof *p);
    ck_assert_int_le(2 * args_n_kinds(), MOST_OBJECTS);
    start_server(&p->sv);
    set_up_at(&p->w, p->sv.servers);
    serve(&p->sv, p->w.base);
    for (const struct args_kind *const *k = args_kinds(); *k; k++) {
        for (int all = 0; all < 2; all++) {
            struct object *o = &p->o[p->n++];

            o->kind = *k;
            o->it = args_begin(*k, &p->w, all ? (*k)->most : (*k)->least,
                               &o->heard);
        }
    }
}

static void set_up_parent(struct parent *p)
{
    begin_parent(p);
    run_until(&p->w, &p->w.session.events, 1);
    expect(&p->w.session, EVZK_SESSION_CONNECTED, EVZK_OK);
    ck_assert(evzk_session_connected(p->w.s));
    ck_assert_uint_gt(evzk_session_lease_ms(p->w.s), 0);
    run_ms(&p->w, 20);
}

static void free_objects(struct parent *p)
{
    for (int i = 0; i < p->n; i++)
        DO(p->o[i].kind->free(p->o[i].it));
}

static void close_parent(struct parent *p)
{
    free_objects(p);
    stop_server(&p->sv);
    tear_down(&p->w);
}

/* In a child process.  An assertion that fails there ends it with a status. */
typedef void child_part(struct parent *p);

static void in_child(struct parent *p, child_part *part)
{
    int status;
    pid_t child;

    fflush(stdout);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        part(p);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

static void session_calls(struct parent *p)
{
    evzk_session *s = p->w.s;
    void *out = NULL;

    ck_assert_int_eq(evzk_session_close(s), EVZK_ERR_FORKED);
    ck_assert_int_eq(evzk_session_add_auth(s, "digest", "a:b", 3),
                     EVZK_ERR_FORKED);
    for (const struct args_kind *const *k = args_kinds(); *k; k++) {
        struct args_start a = {
            .s = s, .path = "/a", .options = (*k)->least, .out = &out};

        args_begin_fails(*k, &a, "a child process", EVZK_ERR_FORKED);
    }
    ck_assert_uint_eq(evzk_session_lease_ms(s), 0);
}

static void connected_call(struct parent *p)
{
    ck_assert(!evzk_session_connected(p->w.s));
}

static void object_calls(struct parent *p)
{
    for (int i = 0; i < p->n; i++) {
        const struct args_kind *k = p->o[i].kind;

        for (size_t c = 0; c < k->n_calls; c++) {
            if (k->calls[c].expected != EVZK_ERR_INVAL)
                ck_assert_int_eq(k->calls[c].call(p->o[i].it), EVZK_ERR_FORKED);
        }
        if (k->stop)
            ck_assert_int_eq(k->stop(p->o[i].it), EVZK_ERR_FORKED);
        if (k->has_nothing)
            k->has_nothing(p->o[i].it);
    }
}

/* All but what the child's copy of the loop still refers to: one event. */
static void free_all(struct parent *p)
{
    evzk_session_free(p->w.s);
    free_objects(p);
    ck_assert_int_le(args_live, 1);
}

static void free_objects_first(struct parent *p)
{
    free_objects(p);
    evzk_session_free(p->w.s);
    ck_assert_int_le(args_live, 1);
}

static void free_quietly(struct parent *p)
{
    evzk_session_free(p->w.s);
    free_objects(p);
}

/* A child that goes on with its copy of the loop, as libevent says. */
static void reinit_after(struct parent *p)
{
    free_quietly(p);
    ck_assert_int_eq(event_reinit(p->w.base), 0);
}

static void reinit_before(struct parent *p)
{
    ck_assert_int_eq(event_reinit(p->w.base), 0);
    free_quietly(p);
}

static child_part *const child_parts[] = {
    session_calls,      connected_call, object_calls, free_all,
    free_objects_first, reinit_before,  reinit_after};

START_TEST(test_fork)
{
    struct parent p;

    set_up_parent(&p);
    in_child(&p, child_parts[_i]);
    close_parent(&p);
}
END_TEST

static void count_readable(evutil_socket_t fd, short what, void *arg)
{
    char c;

    (void)what;
    if (read(fd, &c, 1) == 1)
        ++*(int *)arg;
}

/* The parent's events go on: its own, and those of the session's socket. */
START_TEST(test_fork_parent_goes_on)
{
    struct event *own;
    int fd[2], read_own = 0;
    struct parent p;
    int64_t begun;

    set_up_parent(&p);
    ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
    own = event_new(p.w.base, fd[0], EV_READ | EV_PERSIST, count_readable,
                    &read_own);
    event_add(own, NULL);
    run_ms(&p.w, 20);
    in_child(&p, free_quietly);
    ck_assert_int_eq(write(fd[1], "x", 1), 1);
    run_until(&p.w, &read_own, 1);
    run_ms(&p.w, 20);
    ck_assert_int_eq(p.w.session.events, 1); /* Nothing was heard of it. */
    ck_assert(evzk_session_connected(p.w.s));
    p.w.session.events = 0;
    begun = args_now_ms();
    shutdown(p.sv.peer, SHUT_RDWR); /* Seen at once, not by a time-out. */
    run_until(&p.w, &p.w.session.events, 1);
    ck_assert_int_lt(args_now_ms() - begun, 15000);
    expect(&p.w.session, EVZK_SESSION_SUSPENDED, EVZK_OK);
    event_free(own);
    close(fd[0]);
    close(fd[1]);
    close_parent(&p);
}
END_TEST

/* Bad arguments of every call that takes any, whatever state its object is in:
 * they are looked at first, and nothing is changed. */

/* An object that has ended may have let go of its session, and of the log. */
static void bad_calls(struct parent *p)
{
    long blocks = args_live;

    args_try_session(&p->w);
    for (const struct args_kind *const *k = args_kinds(); *k; k++)
        args_try_start(*k, p->w.s);
    for (int i = 0; i < p->n; i++) {
        struct object *o = &p->o[i];

        args_try_bad_calls(o->kind, o->it,
                           !(o->kind->deaf && o->heard.events > 0));
    }
    ck_assert_int_eq(args_live, blocks);
}

static void stop_all(struct parent *p)
{
    for (int i = 0; i < p->n; i++) {
        if (p->o[i].kind->stop)
            ck_assert_int_eq(CALL(p->o[i].kind->stop(p->o[i].it)), EVZK_OK);
    }
}

START_TEST(test_bad_arguments_in_every_state)
{
    bool stopped = _i;
    struct parent p;

    begin_parent(&p);
    bad_calls(&p); /* The loop has seen none of them. */
    run_until(&p.w, &p.w.session.events, 1);
    run_ms(&p.w, 20);
    bad_calls(&p); /* The objects work. */
    in_child(&p, bad_calls);
    if (stopped) {
        stop_all(&p);
        bad_calls(&p);
    }
    p.w.session.events = 0;
    ck_assert_int_eq(CALL(evzk_session_close(p.w.s)), EVZK_OK);
    bad_calls(&p);
    run_until(&p.w, &p.w.ended, p.n);
    run_until(&p.w, &p.w.session.events, 1);
    bad_calls(&p); /* The objects have ended. */
    in_child(&p, bad_calls);
    close_parent(&p);
}
END_TEST

void args_add_fork(Suite *suite)
{
    args_add(suite, test_fork, UNIT_COUNT(child_parts));
    args_add(suite, test_fork_parent_goes_on, 1);
    args_add(suite, test_bad_arguments_in_every_state, 2);
}
