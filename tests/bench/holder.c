/*
 * A process that holds locks, for the measured one to wait for: one session,
 * made with large transactions, silent but for a ping in twenty seconds.
 */
#include <event2/event.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch.h"
#include "bench.h"
#include "harness.h"

enum { SESSION_MS = 60000 };

static struct {
    struct plain p;
    struct run where;
    char path[2 * PATH_SIZE];
} self;

static void on_deleted(int rc, const void *data)
{
    (void)data;
    if (rc != ZOK)
        fail("the holder cannot release: %s", zerror(rc));
}

static void on_listed(int rc, const struct String_vector *names,
                      const void *data)
{
    char dir[PATH_SIZE];

    (void)data;
    run_path(&self.where, 0, dir);
    for (int32_t k = 0; rc == ZOK && k < names->count; k++)
        if (strstr(names->data[k], "00000000-0000-0000"))
            snprintf(self.path, sizeof self.path, "%s/%.180s", dir,
                     names->data[k]);
    if (!*self.path)
        fail("the holder does not hold");
}

static void on_command(evutil_socket_t fd, short what, void *arg)
{
    char c;

    (void)what;
    (void)arg;
    if (read((int)fd, &c, 1) != 1) {
        plain_close(&self.p);
        _exit(0);
    }
    zoo_adelete(self.p.zh, self.path, -1, on_deleted, NULL);
    plain_kick(&self.p);
}

_Noreturn static void hold(int fd, const struct run *r, int n, int step)
{
    struct event_base *base = event_base_new();
    enum batch_kind kind = r->way->makes_dirs ? BATCH_BOTH : BATCH_NODES;
    char dir[PATH_SIZE];

    self.where = *r;
    run_path(r, 0, dir);
    plain_open(&self.p, base, r->servers, SESSION_MS, NULL);
    batch_run(&self.p, kind, r->dir, n, step, r->one);
    zoo_aget_children(self.p.zh, dir, 0, on_listed, NULL);
    plain_kick(&self.p);
    while (!*self.path)
        event_base_loop(base, EVLOOP_ONCE);
    event_add(event_new(base, fd, EV_READ | EV_PERSIST, on_command, NULL),
              NULL);
    if (write(fd, "h", 1) == 1)
        event_base_dispatch(base);
    _exit(1);
}

void holder_start(struct holder *h, const struct run *r, int n, int step)
{
    int fds[2];
    char c;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        fail("no socket for the holder");
    h->pid = harness_fork();
    if (h->pid == 0) {
        close(fds[0]);
        hold(fds[1], r, n, step);
    }
    close(fds[1]);
    h->fd = fds[0];
    if (read(h->fd, &c, 1) != 1)
        fail("the holder did not get its locks");
}

void holder_release(struct holder *h)
{
    if (write(h->fd, "r", 1) != 1)
        fail("the holder is gone");
}

void holder_end(struct holder *h)
{
    close(h->fd);
    if (harness_join(h->pid) != 0)
        fail("the holder failed");
}
