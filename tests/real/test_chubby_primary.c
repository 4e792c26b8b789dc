/*
 * What sequencers are for: the example's file server refuses the late write of
 * a primary that was frozen past its session.
 *
 * Lanes run side by side, a process each, since each waits for sessions to
 * expire.  A lane has a file server of its own, and plays runs: a primary
 * freezes itself with a write pending; a second one gets the lock and writes;
 * then the first one goes on, and its write arrives.
 *
 * How it can fail: a lane that fails ends with a status that is not 0.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_lock.h"

/* EVZK_CHUBBY_RUNS=100 is what the project promises; the default is small. */
enum { LANES = 20, CONTROL_LANES = 5, RUNS = 20, RUNS_MAX = 10000 };

/* What all lanes see. */
struct board {
    int each; /* Runs of a lane. */
    atomic_int runs, refused, control, accepted;
};

static struct board *board;

/* ---- Processes of the example ---- */

struct program {
    pid_t pid;
    int out; /* The read end of its output. */
    char said[8192];
    size_t len;
};

static const char *program_path(void)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/examples/primary/primary", build_folder());
    return path;
}

static void start(struct program *p, const char *const *args)
{
    int out[2];

    *p = (struct program){0};
    ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
    p->pid = fork();
    ck_assert_int_ge(p->pid, 0);
    if (p->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(out[1], STDOUT_FILENO);
        execv(program_path(), (char *const *)args);
        _exit(127);
    }
    close(out[1]);
    net_unblock(out[0]);
    p->out = out[0];
}

/* Has the program printed that text? */
static bool has_said(struct program *p, const char *text)
{
    ssize_t n;

    while (p->len < sizeof p->said - 1 &&
           (n = read(p->out, p->said + p->len, sizeof p->said - 1 - p->len)) >
               0)
        p->len += (size_t)n;
    return strstr(p->said, text) != NULL;
}

static bool is_frozen(struct program *p)
{
    int status;

    if (waitpid(p->pid, &status, WUNTRACED | WNOHANG) != p->pid)
        return false;
    has_said(p, "");
    ck_assert_msg(WIFSTOPPED(status), "it has ended: %s", p->said);
    return true;
}

static bool has_ended(pid_t pid, int *status)
{
    return waitpid(pid, status, WNOHANG) == pid;
}

/* The exit status.  The last words are in `said`. */
static int join(struct program *p)
{
    int status = 0;

    WAIT(has_ended(p->pid, &status));
    has_said(p, "");
    close(p->out);
    ck_assert_msg(WIFEXITED(status), "it was killed: %s", p->said);
    return WEXITSTATUS(status);
}

static void stop(struct program *p)
{
    ck_assert_int_eq(kill(p->pid, SIGTERM), 0);
    ck_assert_msg(join(p) == 0, "it said: %s", p->said);
}

/* ---- A lane ---- */

struct lane {
    const char *servers;
    char path[64], file[128], address[32], session_ms[16];
    struct program server;
};

static void start_server(struct lane *lane, const char *option)
{
    const char *const args[] = {"primary",   "serve",    "-p",
                                lane->path,  option,     lane->servers,
                                "127.0.0.1", lane->file, NULL};
    int port;

    start(&lane->server, args);
    WAIT(has_said(&lane->server, "port ") && has_said(&lane->server, "\n"));
    ck_assert_int_eq(sscanf(lane->server.said, "port %d", &port), 1);
    snprintf(lane->address, sizeof lane->address, "127.0.0.1:%d", port);
}

/* A primary that freezes has a session that is soon over. */
static void start_primary(const struct lane *lane, struct program *p,
                          const char *name, bool freezes)
{
    const char *const args[] = {"primary",
                                "run",
                                freezes ? "-f2" : "-i50",
                                "-i50",
                                "-p",
                                lane->path,
                                "-t",
                                freezes ? lane->session_ms : "30000",
                                lane->servers,
                                lane->address,
                                name,
                                NULL};

    start(p, args);
}

static bool file_has(const struct lane *lane, const char *line)
{
    char got[64];
    bool has = false;
    FILE *f = fopen(lane->file, "r");

    ck_assert_ptr_nonnull(f);
    while (fgets(got, sizeof got, f))
        has = has || strcmp(got, line) == 0;
    fclose(f);
    return has;
}

/* True: the late write was refused. */
static bool play(const struct lane *lane, int run)
{
    struct program first, second;
    char name[2][32], late[64], ok[64], refused[64];

    snprintf(name[0], sizeof name[0], "first-%d", run);
    snprintf(name[1], sizeof name[1], "second-%d", run);
    snprintf(late, sizeof late, "%s 2\n", name[0]);
    snprintf(ok, sizeof ok, "%s 2 OK\n", name[0]);
    snprintf(refused, sizeof refused, "%s 2 REFUSED\n", name[0]);
    start_primary(lane, &first, name[0], true);
    WAIT(is_frozen(&first));
    ck_assert(has_said(&first, " 1 OK\n"));
    start_primary(lane, &second, name[1], false);
    WAIT(has_said(&second, " 1 OK\n"));
    ck_assert(!file_has(lane, late));
    ck_assert_int_eq(kill(first.pid, SIGCONT), 0);
    WAIT(has_said(&first, ok) || has_said(&first, refused));
    ck_assert_msg(join(&first) != 0, "the lock was lost: %s", first.said);
    ck_assert_int_eq(file_has(lane, late), has_said(&first, ok));
    stop(&second);
    return strstr(first.said, refused) != NULL;
}

/* Sequencers are checked at ZooKeeper, or by what was seen; or not at all. */
static const char *option_of(int lane)
{
    if (lane >= LANES)
        return "-x";
    return lane % 2 ? "-s" : "-t30000";
}

_Noreturn static void play_lane(const char *servers, int k)
{
    struct lane lane = {.servers = servers};
    int runs = k < LANES ? board->each : 1;

    harness_set_base(event_base_new());
    snprintf(lane.session_ms, sizeof lane.session_ms, "%d",
             (int)slow_ms(BRIEF_MS));
    snprintf(lane.path, sizeof lane.path, "/primary/%d", k);
    snprintf(lane.file, sizeof lane.file, "%s/journal-%d",
             zk_folder(zk_shared()), k);
    start_server(&lane, option_of(k));
    for (int i = 0; i < runs; i++) {
        bool refused = play(&lane, i);

        atomic_fetch_add(k < LANES ? &board->runs : &board->control, 1);
        if (k < LANES)
            atomic_fetch_add(&board->refused, refused);
        else
            atomic_fetch_add(&board->accepted, !refused);
    }
    stop(&lane.server);
    _exit(0);
}

/* ---- In the test ---- */

static int runs_wanted(void)
{
    int n = number_set("EVZK_CHUBBY_RUNS", RUNS);

    return n < LANES ? LANES : n > RUNS_MAX ? RUNS_MAX : n;
}

START_TEST(late_write_of_a_frozen_primary)
{
    enum { ALL = LANES + CONTROL_LANES };
    const char *servers = the_server();
    pid_t pid[ALL];
    int status = 0;

    board = harness_share(sizeof *board);
    board->each = (runs_wanted() + LANES - 1) / LANES;
    for (int k = 0; k < ALL; k++) {
        pid[k] = harness_fork();
        if (pid[k] == 0)
            play_lane(servers, k);
    }
    for (int k = 0; k < ALL; k++) {
        WAIT_MS(board->each * 60000, has_ended(pid[k], &status));
        ck_assert_int_eq(status, 0);
    }
    printf("chubby frozen runs=%d refused=%d control=%d accepted=%d\n",
           board->runs, board->refused, board->control, board->accepted);
    ck_assert_int_eq(board->runs, board->each * LANES);
    ck_assert_int_eq(board->refused, board->runs);
    ck_assert_int_eq(board->control, CONTROL_LANES);
    ck_assert_int_eq(board->accepted, board->control);
    zk_wait_mntr(zk_shared(), 0, "zk_ephemerals_count", 0);
    harness_unshare(board, sizeof *board);
}
END_TEST

/* No port to listen on, a wrong number, a role that does not exist. */
START_TEST(wrong_arguments_are_refused)
{
    static const char *const args[][8] = {
        {"primary", "serve", "-t", "soon", "127.0.0.1:1", "127.0.0.1", "f"},
        {"primary", "run", "-x", "127.0.0.1:1", "127.0.0.1:1", "a"},
        {"primary", "watch", "127.0.0.1:1", "127.0.0.1:1", "a"},
        {"primary", "run", "127.0.0.1:1", "127.0.0.1:1"}};
    struct program p;

    for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) {
        start(&p, args[i]);
        ck_assert_int_eq(join(&p), 2);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chubby-primary");
    TCase *tests = lock_tests(suite, "primary", 300000);

    tcase_add_test(tests, late_write_of_a_frozen_primary);
    tcase_add_test(tests, wrong_arguments_are_refused);
    return lock_suite_run(suite);
}
