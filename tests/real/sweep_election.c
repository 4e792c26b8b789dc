/*
 * The election's scenario: two stand, of whom the first, the second, or both
 * are behind the proxy; the first leads, says so, and resigns when the second
 * stands behind it; then the second does the same.  One observer is behind the
 * proxy, and one is not.
 *
 * Must hold whatever the network does: never two elected, each elected once,
 * and ended once, epochs that grow; an observer's epochs never go back, nor
 * come again when it was told of their end, and its last word is that nobody
 * leads.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <evzk/election.h>
#include <stdio.h>
#include <string.h>

enum part { FAR_FIRST, NEAR_FIRST, BOTH_FAR };

static const char *const parts[] = {"leader", "next", "both", NULL};

struct stander {
    evzk_election *e;
    struct sweep_run *run;
    evzk_election_event last;
    char text[256];
    bool far, asked, resigned;
    int elected, leading, finals, rc;
};

struct onlooker {
    evzk_observer *o;
    struct sweep_run *run;
    uint64_t highest;
    bool far, leads, over;
    int told;
};

struct ballot {
    struct sweep_run *run;
    struct stander c[2];
    struct onlooker w[2];
};

static evzk_session *session_of(const struct sweep_run *run, bool far)
{
    return far ? run->far : run->near;
}

static void note_text(struct stander *c, evzk_election_event ev, int rc)
{
    static const char *const word[] = {
        "?",        "ELECTED",   "LEADING",  "SUSPENDED", "RESUMED",
        "REQUEUED", "REQUESTED", "RESIGNED", "LOST",      "FAILED"};
    size_t n = strlen(c->text);

    snprintf(c->text + n, sizeof c->text - n, "%s%s(%d)", n ? " " : "",
             word[ev], rc);
}

static void elected(struct stander *c)
{
    uint64_t epoch = evzk_election_epoch(c->e);

    if (++c->elected > 1)
        sweep_complain(c->run, SWEEP_DOUBLED, "elected twice");
    if (epoch <= c->run->token)
        sweep_complain(c->run, SWEEP_WRONG, "epoch %llx after %llx",
                       (unsigned long long)epoch,
                       (unsigned long long)c->run->token);
    c->run->token = epoch;
}

static void on_event(evzk_election *e, evzk_election_event ev, int rc,
                     void *arg)
{
    struct stander *c = arg;

    (void)e;
    note_text(c, ev, rc);
    if (c->finals > 0)
        sweep_complain(c->run, SWEEP_DOUBLED, "heard after the end");
    c->finals += ev >= EVZK_ELECTION_RESIGNED;
    c->last = ev;
    c->rc = rc;
    if (ev == EVZK_ELECTION_ELECTED)
        elected(c);
    if (ev != EVZK_ELECTION_LEADING)
        return;
    if (++c->leading > 1)
        sweep_complain(c->run, SWEEP_DOUBLED, "leads twice");
    if (rc)
        sweep_complain(c->run, SWEEP_WRONG, "leads: %d", rc);
}

static void enter(struct stander *c)
{
    int rc = evzk_election_volunteer(session_of(c->run, c->far), c->run->dir,
                                     NULL, on_event, c, &c->e);

    if (rc)
        support_fail("sweep: volunteer: %d", rc);
}

/* The same again is told only while it was not told to have ended. */
static void on_look(evzk_observer *o, int rc, const evzk_leader *leader,
                    void *arg)
{
    struct onlooker *w = arg;

    (void)o;
    w->told++;
    if (w->over || rc)
        sweep_complain(w->run, SWEEP_WRONG, "the observer's end: %d", rc);
    w->over = w->over || rc != EVZK_OK;
    if (leader && (leader->epoch < w->highest ||
                   (leader->epoch == w->highest && !w->leads)))
        sweep_complain(w->run, SWEEP_WRONG, "observed %llx after %llx",
                       (unsigned long long)leader->epoch,
                       (unsigned long long)w->highest);
    w->leads = leader != NULL;
    if (leader)
        w->highest = leader->epoch;
}

static void look_on(struct onlooker *w)
{
    int rc = evzk_election_observe(session_of(w->run, w->far), w->run->dir,
                                   on_look, w, &w->o);

    if (rc)
        support_fail("sweep: observe: %d", rc);
}

static void begin(void *scene, struct sweep_run *run)
{
    enum part part = (enum part)run->part;
    struct ballot *d = scene;

    d->run = run;
    for (int i = 0; i < 2; i++) {
        d->c[i].run = d->w[i].run = run;
        d->w[i].far = i == 0;
    }
    d->c[0].far = part != NEAR_FIRST;
    d->c[1].far = part != FAR_FIRST;
    look_on(&d->w[0]);
    look_on(&d->w[1]);
    enter(&d->c[0]);
}

static bool over(const struct stander *c) { return c->finals > 0; }

static bool in_queue(const struct stander *c)
{
    return c->e && (over(c) || evzk_election_node(c->e)[0]);
}

/* The candidate's leader znode is certain when it leaves, so that there are
 * frames to strike while it leads. */
static void push(struct stander *c, const struct stander *other)
{
    if (!c->e || c->resigned || !evzk_election_elected(c->e))
        return;
    if (!c->asked) {
        c->asked = true;
        if (evzk_election_acknowledge(c->e, "x", 1) != EVZK_OK)
            sweep_complain(c->run, SWEEP_WRONG, "acknowledge");
    }
    if (!c->leading || !in_queue(other) || c->last == EVZK_ELECTION_SUSPENDED)
        return;
    c->resigned = true;
    if (evzk_election_resign(c->e) != EVZK_OK || evzk_election_elected(c->e))
        sweep_complain(c->run, SWEEP_WRONG, "resign");
}

static bool both_elected(const struct ballot *d)
{
    return evzk_election_elected(d->c[0].e) && evzk_election_elected(d->c[1].e);
}

static void look_away(struct ballot *d)
{
    for (int i = 0; i < 2; i++) {
        evzk_observer_free(d->w[i].o);
        d->w[i].o = NULL;
    }
}

/* Both look until they have seen the end of the last one that said it leads. */
static bool seen_out(const struct ballot *d)
{
    for (int i = 0; i < 2; i++) {
        if (d->w[i].leads || !d->w[i].told)
            return false;
    }
    return true;
}

static bool turn(void *scene)
{
    struct ballot *d = scene;

    if (both_elected(d))
        sweep_complain(d->run, SWEEP_BOTH_HELD, "between events");
    if (!d->c[1].e && (d->c[0].elected > 0 || over(&d->c[0])))
        enter(&d->c[1]);
    push(&d->c[0], &d->c[1]);
    push(&d->c[1], &d->c[0]);
    if (!over(&d->c[0]) || !d->c[1].e || !over(&d->c[1]) || !seen_out(d))
        return false;
    look_away(d);
    return true;
}

/* Resigned as it wished; or lost, by one whose session was let die. */
static bool well_ended(const struct ballot *d, const struct stander *c)
{
    if (c->elected != 1)
        return false;
    if (c->last == EVZK_ELECTION_RESIGNED)
        return c->rc == EVZK_OK && c->leading == 1;
    return c->far && d->run->may_lose && c->last == EVZK_ELECTION_LOST &&
           (c->rc == EVZK_ERR_LEASE || c->rc == EVZK_ERR_EXPIRED);
}

static void judge(void *scene)
{
    struct ballot *d = scene;

    for (int i = 0; i < 2; i++)
        if (!well_ended(d, &d->c[i]))
            sweep_complain(d->run, SWEEP_WRONG, "%s candidate's end",
                           i ? "second" : "first");
}

static void end(void *scene)
{
    struct ballot *d = scene;

    for (int i = 0; i < 2; i++) {
        evzk_election_free(d->c[i].e);
        d->c[i].e = NULL;
    }
    look_away(d);
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct ballot *d = scene;
    const char *state[2];

    for (int i = 0; i < 2; i++)
        state[i] = d->c[i].e ? evzk_election_state(d->c[i].e) : "none";
    snprintf(text, size, "[%s: %s] [%s: %s] observed far: %d, %s; near: %d, %s",
             state[0], d->c[0].text, state[1], d->c[1].text, d->w[0].told,
             d->w[0].leads ? "one leads" : "nobody", d->w[1].told,
             d->w[1].leads ? "one leads" : "nobody");
}

const struct sweep_recipe sweep_election = {.name = "election",
                                            .parts = parts,
                                            .size = sizeof(struct ballot),
                                            .begin = begin,
                                            .turn = turn,
                                            .judge = judge,
                                            .end = end,
                                            .tell = tell};
