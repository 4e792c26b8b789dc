/*
 * Servers for tests; see zk.h.
 *
 *   test ---commands---> supervisor ---parent of---> java, java, java
 *     \--commands--> link proxies (one process, see proxy.h)
 *
 * The supervisor makes the folder, starts and signals the servers, and cleans
 * up when it is told so, when its socket is closed, or when its parent dies
 * (SIGTERM by PR_SET_PDEATHSIG).  The servers die with it (SIGKILL, likewise).
 *
 * Each server's zoo.cfg has its own real ports, and the proxies' ports for the
 * others; so server i connects to leader j through link[i][j].
 */
#define _GNU_SOURCE 1
#include "zk.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proxy.h"
#include "support.h"

enum {
    SERVE_MS = 90000,
    ASK_MS = 5000,
    PROBE_MS = 500,
    PACE_MS = 20,
    ATTEMPTS = 3
};

#define JAVA_FLAGS "-Xmx256m"

/* ---- Between the test and the supervisor ---- */

enum command { CMD_RUN, CMD_SIGNAL, CMD_STATE };

struct order {
    enum command command;
    int server;
    int signal;
};

struct state {
    pid_t pid; /* 0: not running. */
    bool stopped;
};

struct hello {
    char folder[256]; /* "": it could not be made. */
};

/* ---- The supervisor's process ---- */

static char folder[256];
static struct state children[ZK_MAX];

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

_Noreturn static void clean_up(void)
{
    const char *keep = getenv("EVZK_TEST_KEEP");

    for (int i = 0; i < ZK_MAX; i++)
        if (children[i].pid)
            kill(children[i].pid, SIGKILL);
    while (wait(NULL) > 0 || errno == EINTR)
        ;
    if (!keep || strcmp(keep, "1") != 0)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    _exit(0);
}

static void exec_server(int i, const char *script, pid_t parent)
{
    char dir[300], log[320];
    sigset_t none;
    int fd;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    snprintf(dir, sizeof dir, "%s/%d", folder, i);
    snprintf(log, sizeof log, "%s/server.out", dir);
    fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(fd, 1);
    dup2(fd, 2);
    dup2(open("/dev/null", O_RDONLY), 0);
    closefrom(3);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execl(script, script, "run", dir, (char *)NULL);
    fprintf(stderr, "%s: %s\n", script, strerror(errno));
    _exit(127);
}

static void run_server(int i, const char *script)
{
    pid_t self = getpid(), pid;

    if (children[i].pid)
        return;
    pid = fork();
    if (pid == 0)
        exec_server(i, script, self);
    children[i].pid = pid > 0 ? pid : 0;
    children[i].stopped = false;
}

static void signal_server(int i, int sig)
{
    struct state *s = &children[i];

    if (!s->pid)
        return;
    kill(s->pid, sig);
    if (sig == SIGKILL) {
        waitpid(s->pid, NULL, 0);
        s->pid = 0;
    }
    if (sig == SIGSTOP) {
        siginfo_t info;

        waitid(P_PID, (id_t)s->pid, &info, WSTOPPED | WEXITED | WNOWAIT);
    }
    s->stopped = sig == SIGSTOP;
}

static void reap(void)
{
    pid_t pid;

    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        for (int i = 0; i < ZK_MAX; i++)
            if (children[i].pid == pid)
                children[i].pid = 0;
}

static void serve_order(int fd, const char *script)
{
    struct order o;

    if (recv(fd, &o, sizeof o, 0) != sizeof o)
        clean_up();
    switch (o.command) {
    case CMD_RUN:
        run_server(o.server, script);
        break;
    case CMD_SIGNAL:
        signal_server(o.server, o.signal);
        break;
    case CMD_STATE:
        reap();
        break;
    }
    send(fd, &children[o.server], sizeof children[0], MSG_NOSIGNAL);
}

static void serve_signal(int fd)
{
    struct signalfd_siginfo info;

    if (read(fd, &info, sizeof info) != sizeof info)
        return;
    if (info.ssi_signo == SIGCHLD)
        reap();
    else
        clean_up();
}

static void make_folder(int fd)
{
    const char *tmp = getenv("TMPDIR");
    struct hello hello = {""};

    snprintf(folder, sizeof folder, "%s/evzk-zk-XXXXXX",
             tmp && *tmp ? tmp : "/tmp");
    if (mkdtemp(folder))
        memcpy(hello.folder, folder, sizeof folder);
    send(fd, &hello, sizeof hello, MSG_NOSIGNAL);
}

static void supervise(int fd, void *arg)
{
    struct pollfd p[2] = {{fd, POLLIN, 0}, {-1, POLLIN, 0}};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    p[1].fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    make_folder(fd);
    for (;;) {
        poll(p, 2, -1);
        if (p[1].revents)
            serve_signal(p[1].fd);
        if (p[0].revents)
            serve_order(fd, arg);
    }
}

/* ---- The test's process ---- */

struct zk {
    struct zk_config config;
    struct child supervisor;
    char folder[256];
    char servers[ZK_MAX * 24];
    char server[ZK_MAX][24];
    int port[ZK_MAX];   /* For clients. */
    int quorum[ZK_MAX]; /* Where a leader listens for followers. */
    int election[ZK_MAX];
    struct proxy *link[ZK_MAX][ZK_MAX]; /* From, to. */
};

/* The one place that knows how java is called. */
static const char *find_script(char *path)
{
    const char *given = getenv("EVZK_ZK_PRIVATE"), *src = getenv("srcdir");
    const char *dirs[] = {".", "..", src ? src : ".", "../..", "../../.."};
    char trial[PATH_MAX];

    if (given && realpath(given, path))
        return path;
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs && !given; i++) {
        snprintf(trial, sizeof trial, "%s/tools/zk-private", dirs[i]);
        if (access(trial, X_OK) == 0 && realpath(trial, path))
            return path;
    }
    support_fail("tools/zk-private not found: set EVZK_ZK_PRIVATE");
}

static void set_java_flags(const struct zk_config *config)
{
    const char *user = getenv("EVZK_TEST_JAVA_FLAGS");
    char all[4096];

    snprintf(all, sizeof all, "%s %s %s", JAVA_FLAGS, user ? user : "",
             config->java_flags ? config->java_flags : "");
    setenv("ZK_JAVA_FLAGS", all, 1);
}

static struct state ask_state(struct zk *zk, int i, enum command command,
                              int sig)
{
    struct order o = {command, i, sig};
    struct state s;

    if (i < 0 || i >= zk->config.size)
        support_fail("zk: there is no server %d", i);
    child_call(&zk->supervisor, &o, sizeof o, &s, sizeof s);
    return s;
}

static int connect_to(int port, int64_t end)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd p = {fd, POLLOUT, 0};
    socklen_t len = sizeof(int);
    int error = 0;

    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    if (errno == EINPROGRESS && poll(&p, 1, (int)(end - now_ms())) > 0 &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == 0)
        return fd;
    close(fd);
    return -1;
}

/* Reads until the server hangs up. */
static int read_all(int fd, char *buf, size_t size, int64_t end)
{
    size_t len = 0;

    for (;;) {
        struct pollfd p = {fd, POLLIN, 0};
        char rest[512];
        bool full = len + 1 >= size;
        int64_t left = end - now_ms();
        ssize_t n;

        if (left <= 0 || poll(&p, 1, (int)left) <= 0)
            return -1;
        n = full ? read(fd, rest, sizeof rest)
                 : read(fd, buf + len, size - 1 - len);
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        len += full ? 0 : (size_t)n;
    }
    buf[len] = '\0';
    return (int)len;
}

static int ask_port(int port, const char *word, char *buf, size_t size,
                    int64_t ms)
{
    int64_t end = now_ms() + slow_ms(ms);
    int fd = connect_to(port, end), n = -1;

    buf[0] = '\0';
    if (fd < 0)
        return -1;
    if (send(fd, word, strlen(word), MSG_NOSIGNAL) > 0)
        n = read_all(fd, buf, size, end);
    close(fd);
    return n;
}

static int ask(struct zk *zk, int i, const char *word, char *buf, size_t size,
               int64_t ms)
{
    struct state now = ask_state(zk, i, CMD_STATE, 0);

    buf[0] = '\0';
    if (!now.pid || now.stopped)
        return -1;
    return ask_port(zk->port[i], word, buf, size, ms);
}

int zk_4lw(struct zk *zk, int i, const char *word, char *buf, size_t size)
{
    return ask(zk, i, word, buf, size, ASK_MS);
}

static enum zk_mode ask_mode(struct zk *zk, int i, int64_t ms)
{
    char buf[2048];

    if (ask(zk, i, "srvr", buf, sizeof buf, ms) < 0)
        return ZK_DOWN;
    if (strstr(buf, "Mode: standalone"))
        return ZK_STANDALONE;
    if (strstr(buf, "Mode: follower"))
        return ZK_FOLLOWER;
    return strstr(buf, "Mode: leader") ? ZK_LEADER : ZK_DOWN;
}

enum zk_mode zk_mode(struct zk *zk, int i) { return ask_mode(zk, i, ASK_MS); }

long zk_mntr(struct zk *zk, int i, const char *name)
{
    char buf[65536], key[128];
    const char *at;

    snprintf(key, sizeof key, "\n%s\t", name);
    if (zk_4lw(zk, i, "mntr", buf, sizeof buf) < 0)
        return -1;
    at = strstr(buf, key);
    return at ? strtol(at + strlen(key), NULL, 10) : -1;
}

void zk_wait_mntr(struct zk *zk, int i, const char *name, long value)
{
    int64_t end = now_ms() + slow_ms(SERVE_MS);
    long now;

    while ((now = zk_mntr(zk, i, name)) != value) {
        if (now_ms() > end)
            support_fail("zk: server %d: %s stays %ld, not %ld", i, name, now,
                         value);
        poll(NULL, 0, PACE_MS);
    }
}

/*
 * Serves, and is not another one that took the port.  A server that is just
 * starting may take a question and never answer, so each has little time.
 */
static bool serves(struct zk *zk, int i)
{
    char buf[4096], mark[320];

    if (ask_mode(zk, i, PROBE_MS) == ZK_DOWN)
        return false;
    snprintf(mark, sizeof mark, "%s/%d/data", zk->folder, i);
    return ask(zk, i, "conf", buf, sizeof buf, PROBE_MS) > 0 &&
           strstr(buf, mark);
}

/* The last words of a server, to fail with. */
_Noreturn static void fail_server(struct zk *zk, int i, const char *why)
{
    static const char *const logs[] = {"zookeeper.log", "server.out"};
    char text[6000] = "";

    for (size_t l = 0; l < 2; l++) {
        char path[320], tail[2500];
        size_t n, used = strlen(text);
        FILE *f;

        snprintf(path, sizeof path, "%s/%d/%s", zk->folder, i, logs[l]);
        f = fopen(path, "re");
        if (!f)
            continue;
        if (fseek(f, -(long)(sizeof tail - 1), SEEK_END) < 0)
            rewind(f);
        n = fread(tail, 1, sizeof tail - 1, f);
        tail[n] = '\0';
        fclose(f);
        snprintf(text + used, sizeof text - used, "\n--- %s:\n%s", logs[l],
                 tail);
    }
    support_fail("zk: server %d %s%s", i, why, text);
}

/* False when it ended before it served. */
static bool await(struct zk *zk, int i)
{
    int64_t end = now_ms() + slow_ms(SERVE_MS);

    while (!serves(zk, i)) {
        if (!ask_state(zk, i, CMD_STATE, 0).pid)
            return false;
        if (now_ms() > end)
            fail_server(zk, i, "does not serve in time");
        poll(NULL, 0, PACE_MS);
    }
    return true;
}

static void choose_ports(struct zk *zk)
{
    int fd[3 * ZK_MAX], n = 0;
    size_t used = 0;

    for (int i = 0; i < zk->config.size; i++) {
        fd[n++] = net_listen(&zk->port[i]);
        fd[n++] = net_listen(&zk->quorum[i]);
        fd[n++] = net_listen(&zk->election[i]);
        snprintf(zk->server[i], sizeof zk->server[i], "127.0.0.1:%d",
                 zk->port[i]);
        used += (size_t)snprintf(zk->servers + used, sizeof zk->servers - used,
                                 "%s%s", i ? "," : "", zk->server[i]);
    }
    while (n > 0)
        close(fd[--n]);
}

static void start_links(struct zk *zk)
{
    char target[ZK_MAX * ZK_MAX][24];
    const char *targets[ZK_MAX * ZK_MAX];
    struct proxy *made[ZK_MAX * ZK_MAX];
    int size = zk->config.size;
    size_t n = 0;

    if (size == 1)
        return;
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            if (i == j)
                continue;
            snprintf(target[n], sizeof target[n], "127.0.0.1:%d",
                     zk->quorum[j]);
            targets[n] = target[n];
            n++;
        }
    proxy_start_all(targets, n, false, made);
    n = 0;
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            if (i != j)
                zk->link[i][j] = made[n++];
}

static FILE *make_file(struct zk *zk, int i, const char *name)
{
    char path[320];
    FILE *f;

    snprintf(path, sizeof path, "%s/%d/%s", zk->folder, i, name);
    f = fopen(path, "we");
    if (!f)
        support_fail("zk: %s: %s", path, strerror(errno));
    return f;
}

static void write_members(struct zk *zk, int i, FILE *f)
{
    fprintf(f, "initLimit=%d\nsyncLimit=%d\n",
            zk->config.init_limit ? zk->config.init_limit : 25,
            zk->config.sync_limit ? zk->config.sync_limit : 5);
    for (int j = 0; j < zk->config.size; j++)
        fprintf(f, "server.%d=127.0.0.1:%d:%d\n", j + 1,
                i == j ? zk->quorum[j] : proxy_port(zk->link[i][j]),
                zk->election[j]);
    f = make_file(zk, i, "data/myid");
    fprintf(f, "%d\n", i + 1);
    fclose(f);
}

static void write_config(struct zk *zk, int i)
{
    const struct zk_config *c = &zk->config;
    FILE *f = make_file(zk, i, "zoo.cfg");

    fprintf(f,
            "tickTime=%d\ndataDir=%s/%d/data\nclientPort=%d\n"
            "clientPortAddress=127.0.0.1\nmaxClientCnxns=0\n"
            "admin.enableServer=false\n4lw.commands.whitelist=*\n"
            "maxCnxns=0\nreconfigEnabled=false\n",
            c->tick_ms ? c->tick_ms : 200, zk->folder, i, zk->port[i]);
    if (c->min_session_ms)
        fprintf(f, "minSessionTimeout=%d\n", c->min_session_ms);
    fprintf(f, "maxSessionTimeout=%d\n",
            c->max_session_ms ? c->max_session_ms : 60000);
    if (c->cfg_lines)
        fprintf(f, "%s\n", c->cfg_lines);
    if (c->size > 1)
        write_members(zk, i, f);
    fclose(f);
}

static void make_dirs(struct zk *zk, int i)
{
    char path[320];

    snprintf(path, sizeof path, "%s/%d", zk->folder, i);
    if (mkdir(path, 0700) < 0)
        support_fail("zk: %s: %s", path, strerror(errno));
    snprintf(path, sizeof path, "%s/%d/data", zk->folder, i);
    mkdir(path, 0700);
}

/* False when a server ended at once: a port was taken meanwhile. */
static bool attempt(struct zk *zk, bool last)
{
    int size = zk->config.size;

    choose_ports(zk);
    start_links(zk);
    for (int i = 0; i < size; i++) {
        make_dirs(zk, i);
        write_config(zk, i);
        ask_state(zk, i, CMD_RUN, 0);
    }
    for (int i = 0; i < size; i++) {
        if (await(zk, i))
            continue;
        if (last)
            fail_server(zk, i, "ended before it served");
        return false;
    }
    return true;
}

static void stop_links(struct zk *zk)
{
    for (int i = 0; i < ZK_MAX; i++)
        for (int j = 0; j < ZK_MAX; j++) {
            proxy_stop(zk->link[i][j]);
            zk->link[i][j] = NULL;
        }
}

static void start_supervisor(struct zk *zk, char *script)
{
    struct hello hello;

    child_start(&zk->supervisor, SIGTERM, supervise, script);
    if (recv(zk->supervisor.fd, &hello, sizeof hello, 0) != sizeof hello ||
        !*hello.folder)
        support_fail("zk: no temporary folder could be made");
    memcpy(zk->folder, hello.folder, sizeof zk->folder);
}

struct zk *zk_start(const struct zk_config *config)
{
    char script[PATH_MAX];
    struct zk *zk = calloc(1, sizeof *zk);

    if (!zk)
        support_fail("zk: out of memory");
    if (config)
        zk->config = *config;
    if (zk->config.size == 0)
        zk->config.size = 1;
    if (zk->config.size < 0 || zk->config.size > ZK_MAX)
        support_fail("zk: %d servers", zk->config.size);
    find_script(script);
    set_java_flags(&zk->config);
    for (int i = 0; i < ATTEMPTS; i++) {
        start_supervisor(zk, script);
        if (attempt(zk, i == ATTEMPTS - 1))
            break;
        child_end(&zk->supervisor);
        stop_links(zk);
    }
    return zk;
}

void zk_stop(struct zk *zk)
{
    if (!zk)
        return;
    child_end(&zk->supervisor);
    stop_links(zk);
    free(zk);
}

static struct zk *shared;

struct zk *zk_shared(void)
{
    if (!shared)
        shared = zk_start(NULL);
    return shared;
}

void zk_shared_stop(void)
{
    zk_stop(shared);
    shared = NULL;
}

const char *zk_servers(const struct zk *zk) { return zk->servers; }

const char *zk_server(const struct zk *zk, int i)
{
    if (i < 0 || i >= zk->config.size)
        support_fail("zk: there is no server %d", i);
    return zk->server[i];
}

int zk_size(const struct zk *zk) { return zk->config.size; }

const char *zk_folder(const struct zk *zk) { return zk->folder; }

pid_t zk_pid(struct zk *zk, int i)
{
    return ask_state(zk, i, CMD_STATE, 0).pid;
}

void zk_kill(struct zk *zk, int i) { ask_state(zk, i, CMD_SIGNAL, SIGKILL); }

void zk_revive(struct zk *zk, int i) { ask_state(zk, i, CMD_RUN, 0); }

void zk_wait(struct zk *zk, int i)
{
    if (!await(zk, i))
        fail_server(zk, i, "is not running");
}

void zk_restart(struct zk *zk, int i)
{
    zk_kill(zk, i);
    zk_revive(zk, i);
    zk_wait(zk, i);
}

void zk_stop_signal(struct zk *zk, int i)
{
    ask_state(zk, i, CMD_SIGNAL, SIGSTOP);
}

void zk_cont(struct zk *zk, int i) { ask_state(zk, i, CMD_SIGNAL, SIGCONT); }

int zk_leader(struct zk *zk)
{
    int64_t end = now_ms() + slow_ms(SERVE_MS);

    for (;;) {
        for (int i = 0; i < zk->config.size; i++)
            if (ask_mode(zk, i, PROBE_MS) == ZK_LEADER)
                return i;
        if (now_ms() > end)
            support_fail("zk: no leader was elected");
        poll(NULL, 0, PACE_MS);
    }
}

static int find_follower(struct zk *zk, int k)
{
    for (int i = 0; i < zk->config.size; i++)
        if (ask_mode(zk, i, PROBE_MS) == ZK_FOLLOWER && k-- == 0)
            return i;
    return -1;
}

int zk_follower(struct zk *zk, int k)
{
    int64_t end = now_ms() + slow_ms(SERVE_MS);
    int i;

    while ((i = find_follower(zk, k)) < 0) {
        if (now_ms() > end)
            support_fail("zk: there is no follower %d", k);
        poll(NULL, 0, PACE_MS);
    }
    return i;
}

static void on_link(struct zk *zk, int i, int j, void (*act)(struct proxy *p))
{
    zk_server(zk, i);
    zk_server(zk, j);
    if (i == j)
        support_fail("zk: no link from server %d to itself", i);
    act(zk->link[i][j]);
    act(zk->link[j][i]);
}

static void freeze_both(struct proxy *p) { proxy_freeze(p, PROXY_BOTH); }

void zk_link_freeze(struct zk *zk, int i, int j)
{
    on_link(zk, i, j, freeze_both);
}

void zk_link_thaw(struct zk *zk, int i, int j)
{
    on_link(zk, i, j, proxy_thaw);
}

void zk_link_cut(struct zk *zk, int i, int j) { on_link(zk, i, j, proxy_cut); }
