/*
 * The parent: starts the processes, does things to them, one after another, and
 * after each waits until all shards are led again, evenly, by those that are
 * left.  It keeps all that they say.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <evzk/error.h>

#include "run.h"

#define REDRAW_MS 50
#define SHORTEST_US 1000000u /* A phase, so that the picture shows it. */
#define SERVER_US 4000000u   /* After the ZooKeeper server was killed. */

static volatile sig_atomic_t interrupted;

static void interrupt(int sig) { interrupted = sig; }

bool complain(const char *what, unsigned who)
{
    show_clear();
    fprintf(stderr, "shards-demo: %c: %s\n", 'A' + (int)who, what);
    return false;
}

/* The events ---------------------------------------------------------- */

static bool keep(struct parent *p, struct said said)
{
    struct log *l = p->log;
    struct said *more;

    if (l->n == l->room) {
        more = realloc(l->said, (l->room * 2 + 65536) * sizeof *more);
        if (!more)
            return false;
        l->said = more;
        l->room = l->room * 2 + 65536;
    }
    said.order = l->n;
    l->said[l->n++] = said;
    return true;
}

void did(struct parent *p, enum kind kind, unsigned who, uint64_t value)
{
    p->trouble |= !keep(p, (struct said){.us = now_us(),
                                         .who = (uint16_t)who,
                                         .kind = (uint16_t)kind,
                                         .value = value});
}

static void lead(struct parent *p, uint32_t shard, unsigned who)
{
    p->led[p->leader[shard]]--;
    p->leader[shard] = (uint8_t)who;
    p->led[who]++;
}

static void hear(struct parent *p, const struct said *s)
{
    p->trouble |= !keep(p, *s);
    if (s->kind == SAID_LEADING)
        lead(p, s->shard, s->who);
    if (s->kind == SAID_ENDED && p->leader[s->shard] == s->who)
        lead(p, s->shard, NOBODY);
    if (s->kind == SAID_DRAINED)
        p->drained = true;
    if (s->kind == SAID_FAILED)
        p->trouble = !complain(evzk_strerror(-(int)s->value), s->who);
}

/* The pipe holds whole records only. */
static void hear_all(struct parent *p, unsigned who)
{
    struct said said[512];
    ssize_t n = read(p->pipe[who], said, sizeof said);

    for (ssize_t i = 0; i < n / (ssize_t)sizeof said[0]; i++)
        hear(p, &said[i]);
    if (n > 0)
        return;
    close(p->pipe[who]);
    p->pipe[who] = -1; /* poll() passes over it. */
    if (p->has[who])
        p->trouble = !complain("the process ended", who);
}

void listen_to_all(struct parent *p)
{
    struct pollfd fds[PROCESSES];

    for (int i = 0; i < PROCESSES; i++)
        fds[i] = (struct pollfd){.fd = p->pipe[i], .events = POLLIN};
    if (poll(fds, PROCESSES, REDRAW_MS) <= 0)
        return;
    for (unsigned i = 0; i < PROCESSES; i++)
        if (fds[i].revents)
            hear_all(p, i);
}

/* The phases ---------------------------------------------------------- */

/* All are led, by those that are there, and evenly. */
static bool is_settled(const struct parent *p)
{
    uint32_t n = 0, least = UINT32_MAX, most = 0;

    for (int i = 0; i < PROCESSES; i++) {
        if (!p->has[i])
            continue;
        n += p->led[i];
        least = p->led[i] < least ? p->led[i] : least;
        most = p->led[i] > most ? p->led[i] : most;
    }
    return n == p->opt->count && most - least <= 1;
}

static bool is_done(const struct parent *p, enum phase phase, uint64_t us)
{
    if (phase == DRAIN && !p->drained)
        return false;
    return is_settled(p) && us >= (phase == SERVER ? SERVER_US : SHORTEST_US);
}

static uint32_t led_by_those(const struct parent *p)
{
    uint32_t n = 0;

    for (int i = 0; i < PROCESSES; i++)
        n += p->has[i] ? p->led[i] : 0;
    return n;
}

static bool must_stop(const struct parent *p, enum phase phase, uint64_t us)
{
    if (!interrupted && us < (uint64_t)p->opt->deadline_s * 1000000u)
        return p->trouble;
    show_clear();
    fprintf(stderr, "shards-demo: %s in \"%s\"\n",
            interrupted ? "interrupted" : "stuck", phase_name(phase));
    return true;
}

static bool run_phase(struct parent *p, enum phase phase)
{
    uint64_t began = now_us(), us = 0;

    did(p, DID_BEGIN, 0, phase);
    act(p, phase);
    while (!is_done(p, phase, us)) {
        listen_to_all(p);
        us = now_us() - began;
        if (must_stop(p, phase, us))
            return false;
        show_progress(phase, led_by_those(p), p->opt->count, us);
    }
    show_phase_end(phase, us);
    return true;
}

bool run(const struct options *opt, struct log *log)
{
    const struct sigaction on_interrupt = {.sa_handler = interrupt};
    struct parent p = {.opt = opt,
                       .log = log,
                       .leader = malloc(opt->count),
                       .led = {[NOBODY] = opt->count}};
    enum phase end = opt->kill ? PHASES : SERVER; /* Nothing kills a server. */
    bool ok = p.leader != NULL;

    sigaction(SIGINT, &on_interrupt, NULL);
    sigaction(SIGTERM, &on_interrupt, NULL);
    memset(p.pipe, -1, sizeof p.pipe);
    if (ok)
        memset(p.leader, NOBODY, opt->count);
    for (enum phase phase = 0; ok && phase < end; phase++)
        ok = run_phase(&p, phase);
    if (ok)
        did(&p, DID_END, 0, 0);
    dismiss(&p);
    free(p.leader);
    return ok && !p.trouble;
}
