/*
 * The test's side of the proxy of proxy.h: starts its process, and sends it one
 * order at a time.
 */
#define _GNU_SOURCE 1
#include "proxy.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "proxy_route.h"
#include "support.h"

const struct proxy_cut proxy_cuts[PROXY_CUTS] = {{PROXY_C2S, PROXY_CUT_BEFORE},
                                                 {PROXY_C2S, PROXY_CUT_AFTER},
                                                 {PROXY_S2C, PROXY_CUT_BEFORE},
                                                 {PROXY_S2C, PROXY_CUT_AFTER}};

struct host {
    struct child child;
    size_t users;
};

struct proxy {
    struct host *host;
    size_t route;
    int port;
    char address[32];
};

static void aim(struct sockaddr_in *to, const char *target)
{
    const char *colon = strrchr(target, ':');

    if (!colon || strncmp(target, "127.0.0.1:", 10) != 0)
        support_fail("proxy: not \"127.0.0.1:port\": %s", target);
    to->sin_family = AF_INET;
    to->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to->sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
}

static struct proxy *handle(struct host *host, size_t route)
{
    struct proxy *p = calloc(1, sizeof *p);
    struct answer port;

    if (!p || recv(host->child.fd, &port, sizeof port, 0) != sizeof port)
        support_fail("proxy: did not start");
    p->host = host;
    p->route = route;
    p->port = (int)port.value;
    snprintf(p->address, sizeof p->address, "127.0.0.1:%d", p->port);
    return p;
}

void proxy_start_all(const char *const *targets, size_t n, bool framed,
                     struct proxy **out)
{
    struct host *host = calloc(1, sizeof *host);
    struct plan plan = {calloc(n, sizeof *plan.route), n};

    if (!host || !plan.route)
        support_fail("proxy: out of memory");
    for (size_t i = 0; i < n; i++) {
        plan.route[i].framed = framed;
        plan.route[i].fd = -1;
        aim(&plan.route[i].target, targets[i]);
    }
    host->users = n;
    child_start(&host->child, SIGKILL, proxy_process, &plan);
    for (size_t i = 0; i < n; i++)
        out[i] = handle(host, i);
    free(plan.route);
}

struct proxy *proxy_start(const char *target)
{
    struct proxy *p;

    proxy_start_all(&target, 1, true, &p);
    return p;
}

void proxy_stop(struct proxy *p)
{
    if (!p)
        return;
    if (--p->host->users == 0) {
        child_end(&p->host->child);
        free(p->host);
    }
    free(p);
}

int proxy_port(const struct proxy *p) { return p->port; }

const char *proxy_address(const struct proxy *p) { return p->address; }

static int64_t order(struct proxy *p, struct order o)
{
    struct answer a;
    struct order sent;

    memset(&sent, 0, sizeof sent); /* The padding is sent, too. */
    sent.route = p->route;
    sent.command = o.command;
    sent.dir = o.dir;
    sent.op = o.op;
    sent.act = o.act;
    sent.n = o.n;
    sent.ms = o.ms;
    child_call(&p->host->child, &sent, sizeof sent, &a, sizeof a);
    return a.value;
}

void proxy_cut(struct proxy *p)
{
    order(p, (struct order){.command = CMD_CUT});
}

void proxy_refuse(struct proxy *p, bool on)
{
    order(p, (struct order){.command = CMD_REFUSE, .n = on});
}

void proxy_freeze(struct proxy *p, int dir)
{
    order(p, (struct order){.command = CMD_FREEZE, .dir = dir});
}

void proxy_thaw(struct proxy *p)
{
    order(p, (struct order){.command = CMD_THAW});
}

void proxy_trap(struct proxy *p, enum proxy_dir dir, int op, int64_t k,
                enum proxy_act act)
{
    order(p, (struct order){.command = CMD_TRAP,
                            .dir = (int)dir,
                            .op = op,
                            .act = act,
                            .n = k});
}

void proxy_cut_at_frame(struct proxy *p, enum proxy_dir dir, int64_t k,
                        enum proxy_act act)
{
    proxy_trap(p, dir, PROXY_OP_ANY, k, act);
}

void proxy_cut_after_bytes(struct proxy *p, enum proxy_dir dir, int64_t n)
{
    order(p,
          (struct order){.command = CMD_TRAP_BYTES, .dir = (int)dir, .n = n});
}

void proxy_hold_at_frame(struct proxy *p, enum proxy_dir dir, int64_t k,
                         enum proxy_act act, int64_t ms)
{
    order(p, (struct order){.command = CMD_TRAP,
                            .dir = (int)dir,
                            .op = PROXY_OP_ANY,
                            .act = act,
                            .n = k,
                            .ms = ms});
}

void proxy_then_at_frame(struct proxy *p, enum proxy_dir dir, int64_t k,
                         enum proxy_act act)
{
    order(p, (struct order){.command = CMD_THEN,
                            .dir = (int)dir,
                            .op = PROXY_OP_ANY,
                            .act = act,
                            .n = k});
}

void proxy_slow(struct proxy *p, bool on)
{
    order(p, (struct order){.command = CMD_PACE, .n = on});
}

void proxy_reset(struct proxy *p)
{
    order(p, (struct order){.command = CMD_RESET});
}

void proxy_untrap(struct proxy *p)
{
    order(p, (struct order){.command = CMD_UNTRAP});
}

int64_t proxy_fired(struct proxy *p)
{
    return order(p, (struct order){.command = CMD_FIRED});
}

int64_t proxy_accepts(struct proxy *p)
{
    return order(p, (struct order){.command = CMD_ACCEPTS});
}

int64_t proxy_open(struct proxy *p)
{
    return order(p, (struct order){.command = CMD_OPEN});
}

int64_t proxy_frames(struct proxy *p, enum proxy_dir dir)
{
    return order(p, (struct order){.command = CMD_FRAMES, .dir = (int)dir});
}

int64_t proxy_frames_of(struct proxy *p, enum proxy_dir dir, int op)
{
    if (op + PROXY_OP_BASE < 0 || op + PROXY_OP_BASE >= PROXY_OPS)
        support_fail("proxy: no such operation: %d", op);
    return order(
        p, (struct order){.command = CMD_FRAMES_OF, .dir = (int)dir, .op = op});
}

int64_t proxy_bytes(struct proxy *p, enum proxy_dir dir)
{
    return order(p, (struct order){.command = CMD_BYTES, .dir = (int)dir});
}

int64_t proxy_session(struct proxy *p)
{
    return order(p, (struct order){.command = CMD_SESSION});
}
