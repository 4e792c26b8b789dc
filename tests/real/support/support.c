/*
 * The clock, the ports and the helper processes of the tests on real servers;
 * see support.h.
 */
#define _GNU_SOURCE 1
#include "support.h"
#include "tests/real/support/memory_use.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHILD_FD = 3, CALL_MS = 120000, LOWEST_PORT = 12000 };

int64_t now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t slow_ms(int64_t ms)
{
    const char *text = getenv("EVZK_TEST_SLOW");
    double factor = text ? strtod(text, NULL) : 1.0;

    if (factor < 1.0)
        factor = 1.0;
    if (RUNNING_ON_VALGRIND)
        factor *= 10.0;
    return (int64_t)((double)ms * factor);
}

int fewer_if_slow(int n)
{
    return RUNNING_ON_VALGRIND || OWN_MALLOC ? n / 10 : n;
}

int number_set(const char *variable, int usual)
{
    const char *text = getenv(variable);

    return text ? atoi(text) : usual;
}

const char *build_folder(void)
{
    const char *build = getenv("EVZK_BUILDDIR");

    return build ? build : ".";
}

void support_fail(const char *format, ...)
{
    char text[8192];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "%s\n", text);
    ck_abort_msg("%s", text);
    abort();
}

void net_unblock(int fd)
{
    int on = 1;

    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* A socket bound to the loopback's @port, or -1.  With @shared, the port may be
 * bound already, if no socket listens there. */
static int bind_to(int port, int shared)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &shared, sizeof shared);
    if (bind(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

int net_listen_on(int port)
{
    int fd = bind_to(port, 1);

    if (fd >= 0 && listen(fd, 1024)) {
        close(fd);
        return -1;
    }
    return fd;
}

int net_reserve(int port)
{
    int on = 1, fd = bind_to(port, 0);

    /* From now on net_listen_on() may have the port, net_reserve() not. */
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return fd;
}

/* Where the ports of outgoing connections begin. */
static int first_ephemeral(void)
{
    FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    int low = 0;

    if (f) {
        if (fscanf(f, "%d", &low) != 1)
            low = 0;
        fclose(f);
    }
    return low > LOWEST_PORT + 1000 ? low : 32768;
}

int net_listen(int *port)
{
    static uint64_t seed;
    static pid_t seeded;
    struct timespec ts;
    int span = first_ephemeral() - LOWEST_PORT;

    if (seeded != getpid()) {
        seeded = getpid();
        clock_gettime(CLOCK_MONOTONIC, &ts);
        seed = (uint64_t)ts.tv_nsec ^ ((uint64_t)seeded << 32);
    }
    for (int i = 0; i < 1000; i++) {
        int held, fd;

        seed = seed * 6364136223846793005u + 1442695040888963407u;
        *port = LOWEST_PORT + (int)((seed >> 33) % (uint64_t)span);
        held = net_reserve(*port);
        if (held < 0)
            continue;
        fd = net_listen_on(*port);
        if (fd >= 0)
            return fd;
        close(held);
    }
    support_fail("no free loopback port: %s", strerror(errno));
}

/* In the new process: nothing of the test's is left but its memory. */
static void become_child(pid_t owner, int deathsig, int fd)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, deathsig);
    if (getppid() != owner)
        _exit(1);
    for (int sig = 1; sig < NSIG; sig++)
        signal(sig, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    if (fd != CHILD_FD)
        dup2(fd, CHILD_FD);
    fcntl(CHILD_FD, F_SETFD, FD_CLOEXEC);
    closefrom(CHILD_FD + 1);
}

void child_start(struct child *child, int deathsig,
                 void (*main)(int fd, void *arg), void *arg)
{
    sigset_t all, old;
    int fds[2];

    child->owner = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
        support_fail("socketpair: %s", strerror(errno));
    fflush(NULL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    child->pid = fork();
    if (child->pid == 0) {
        become_child(child->owner, deathsig, fds[1]);
        main(CHILD_FD, arg);
        _exit(0);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    close(fds[1]);
    child->fd = fds[0];
    if (child->pid < 0)
        support_fail("fork: %s", strerror(errno));
}

void child_call(const struct child *child, const void *command, size_t len,
                void *answer, size_t size)
{
    int64_t end = now_ms() + slow_ms(CALL_MS);
    ssize_t n = send(child->fd, command, len, MSG_NOSIGNAL);

    if (n != (ssize_t)len)
        support_fail("helper process %d is gone", (int)child->pid);
    for (;;) {
        struct pollfd p = {child->fd, POLLIN, 0};

        if (poll(&p, 1, 100) > 0)
            break;
        if (now_ms() > end)
            support_fail("helper process %d is silent", (int)child->pid);
    }
    n = recv(child->fd, answer, size, 0);
    if (n != (ssize_t)size)
        support_fail("helper process %d died", (int)child->pid);
}

void child_end(struct child *child)
{
    close(child->fd);
    if (child->owner != getpid())
        return;
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}
