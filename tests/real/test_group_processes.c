/*
 * A group of ten processes on a real server: all members join at once, all
 * processes watch, and one member leaves.  The default is small;
 * EVZK_GROUP_MEMBERS=2000 gives the size that the project promises.
 *
 * How it can fail: a process that fails ends with a status that is not 0, and
 * the others wait in vain for it.
 */
#define _GNU_SOURCE 1
#include <stdatomic.h>
#include <unistd.h>

#include "test_lock.h"

enum { PROCESSES = 10, MEMBERS = 200, MEMBERS_MAX = 5000 };

/* What all processes see; they have one clock, too. */
struct board {
    int each; /* Members of a process. */
    atomic_int open, joined, watching, heard, left;
    atomic_bool join, watch, leave, end;
    _Atomic int64_t joined_ms, called_ms, heard_ms; /* The last of each. */
    atomic_uint join_requests, watch_requests,
        most; /* The most of a watcher, but for looks. */
};

static struct board *board;

static void note_last(_Atomic int64_t *last, int64_t ms)
{
    int64_t seen = atomic_load(last);

    while (ms > seen && !atomic_compare_exchange_weak(last, &seen, ms))
        ;
}

static void note_most(unsigned n)
{
    unsigned seen = atomic_load(&board->most);

    while (n > seen && !atomic_compare_exchange_weak(&board->most, &seen, n))
        ;
}

/* Requests but for the probes, which come with time. */
static unsigned asked(evzk_session *s)
{
    evzk_session_stats st;

    evzk_session_get_stats(s, &st);
    return (unsigned)(st.requests - st.probes);
}

/* ---- In each process ---- */

static int joined, finals;

static void on_member(evzk_member *m, evzk_member_event event, int rc,
                      void *arg)
{
    (void)m, (void)arg;
    ck_assert_int_ne(event, EVZK_MEMBER_CONFLICT);
    ck_assert_int_ne(event, EVZK_MEMBER_REJOINING);
    joined += event == EVZK_MEMBER_JOINED;
    if (!evzk_member_event_is_final(event))
        return;
    ck_assert_int_eq(event, EVZK_MEMBER_LEFT);
    ck_assert_int_eq(rc, EVZK_OK);
    finals++;
}

static void join_all(evzk_member **v, evzk_session *s, int k)
{
    unsigned before = asked(s);

    for (int i = 0; i < board->each; i++) {
        char name[32];

        snprintf(name, sizeof name, "member-%d-%d", k, i);
        ck_assert_int_eq(
            evzk_group_join(s, "/ten", name, NULL, on_member, NULL, &v[i]),
            EVZK_OK);
    }
    WAIT(joined == board->each);
    note_last(&board->joined_ms, now_ms());
    atomic_fetch_add(&board->join_requests, asked(s) - before);
    atomic_fetch_add(&board->joined, 1);
}

static int gone;

static void on_view(evzk_group_view *v, evzk_group_event event, int rc,
                    const evzk_group_member *m, void *arg)
{
    (void)v, (void)rc, (void)arg;
    if (!atomic_load(&board->leave) || event != EVZK_GROUP_LEFT || gone)
        return;
    ck_assert_str_eq(m->name, "member-0-0");
    gone = 1;
    note_last(&board->heard_ms, now_ms());
    atomic_fetch_add(&board->heard, 1);
}

static bool is_whole(const evzk_group_view *v)
{
    return evzk_group_view_ready(v) &&
           evzk_group_view_count(v) == (size_t)board->each * PROCESSES;
}

/* The watches that a session may look at in so long: those of each machine once
 * in a round (machine/rounds.h), and a member has two. */
static unsigned looks(evzk_session *s, int64_t ms)
{
    enum { ROUND_MS = 30000, EACH = 2 };
    evzk_session_stats st;

    evzk_session_get_stats(s, &st);
    return 1 + (unsigned)(st.machines * EACH * ms / ROUND_MS);
}

/* The first process has the member that leaves, and asks for it too: only the
 * others' requests are those of a watcher. */
static void see_one_leave(evzk_member *first, evzk_session *s, int k)
{
    unsigned before, all, most;
    int64_t begun;

    all_answered(s);
    before = asked(s);
    begun = now_ms();
    atomic_fetch_add(&board->watching, 1);
    WAIT(atomic_load(&board->leave));
    if (k == 0) {
        atomic_store(&board->called_ms, now_ms());
        ck_assert_int_eq(evzk_member_leave(first), EVZK_OK);
    }
    WAIT(gone);
    WAIT(atomic_load(&board->heard) == PROCESSES);
    run_for(harness_base(), 200); /* For what is asked late. */
    all_answered(s);
    if (k == 0)
        return;
    all = asked(s) - before;
    most = looks(s, now_ms() - begun);
    atomic_fetch_add(&board->watch_requests, all);
    note_most(all > most ? all - most : 0);
}

static void leave_all(evzk_member **v)
{
    for (int i = 0; i < board->each; i++) {
        int rc = evzk_member_leave(v[i]);

        ck_assert(rc == EVZK_OK || rc == EVZK_ERR_STATE);
    }
    WAIT(finals == board->each);
    for (int i = 0; i < board->each; i++)
        evzk_member_free(v[i]);
    free(v);
}

_Noreturn static void process(const char *server, int k)
{
    evzk_member **v = calloc((size_t)board->each, sizeof *v);
    evzk_group_view *view;
    struct peer p;

    ck_assert_ptr_nonnull(v);
    harness_set_base(event_base_new());
    peer_open(&p, server);
    all_answered(p.s);
    atomic_fetch_add(&board->open, 1);
    WAIT(atomic_load(&board->join));
    join_all(v, p.s, k);
    WAIT(atomic_load(&board->watch));
    ck_assert_int_eq(evzk_group_watch(p.s, "/ten", NULL, on_view, NULL, &view),
                     EVZK_OK);
    WAIT(is_whole(view));
    see_one_leave(v[0], p.s, k);
    atomic_fetch_add(&board->left, 1);
    WAIT(atomic_load(&board->end));
    evzk_group_view_free(view);
    leave_all(v);
    peer_close(&p);
    _exit(0);
}

/* ---- In the test ---- */

static int members_wanted(void)
{
    int n = number_set("EVZK_GROUP_MEMBERS", MEMBERS);

    return n < PROCESSES ? PROCESSES : n > MEMBERS_MAX ? MEMBERS_MAX : n;
}

/* Where a process has failed, the wait fails too. */
static void all_reach(atomic_int *count)
{
    WAIT(atomic_load(count) == PROCESSES);
}

static void print_figures(int64_t joined_ms, int64_t delta_ms)
{
    int all = board->each * PROCESSES;

    printf("group members=%d processes=%d joined_ms=%d delta_ms=%d "
           "requests_per_member=%.1f requests_per_watcher=%.1f\n",
           all, PROCESSES, (int)joined_ms, (int)delta_ms,
           (double)atomic_load(&board->join_requests) / all,
           (double)atomic_load(&board->watch_requests) / (PROCESSES - 1));
}

START_TEST(ten_processes)
{
    const char *server = the_server();
    pid_t pid[PROCESSES];
    int64_t begun, joined_ms, delta_ms;

    board = harness_share(sizeof *board);
    board->each = members_wanted() / PROCESSES;
    for (int k = 0; k < PROCESSES; k++) {
        pid[k] = harness_fork();
        if (pid[k] == 0)
            process(server, k);
    }
    all_reach(&board->open);
    begun = now_ms();
    atomic_store(&board->join, true);
    all_reach(&board->joined);
    joined_ms = atomic_load(&board->joined_ms) - begun;
    atomic_store(&board->watch, true);
    all_reach(&board->watching);
    atomic_store(&board->leave, true);
    all_reach(&board->left);
    delta_ms = atomic_load(&board->heard_ms) - atomic_load(&board->called_ms);
    print_figures(joined_ms, delta_ms);
    atomic_store(&board->end, true);
    for (int k = 0; k < PROCESSES; k++)
        ck_assert_int_eq(harness_join(pid[k]), 0);
    /* However many members there are: the znode that is gone is read, and the
     * group listed, each behind a sync. */
    ck_assert_uint_le(atomic_load(&board->most), 4);
    ck_assert_uint_le(atomic_load(&board->join_requests),
                      (unsigned)(board->each * PROCESSES * 6));
    nothing_left("/ten/.evzk", NULL);
    harness_unshare(board, sizeof *board);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("group-processes");

    tcase_add_test(lock_tests(suite, "ten", 120000), ten_processes);
    return lock_suite_run(suite);
}
