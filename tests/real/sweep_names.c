/*
 * The scenario of names: the process behind the proxy registers an endpoint,
 * and resolves the service; the other process registers another endpoint.  When
 * the resolver has both, it picks twice; then both are taken away.  Must hold
 * whatever the network does: two picks are two endpoints; what is told adds up
 * to the list; and in the end the list is empty.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>
#include <string.h>

static const char *const parts[] = {"names", NULL};

enum { FAR, NEAR, BOTH };

struct naming {
    struct sweep_run *run;
    struct one {
        struct naming *n;
        evzk_member *m;
        bool over;
    } of[BOTH];
    evzk_resolver *r;
    int there; /* Told, and not told to be gone. */
    bool picked;
    char path[256];
};

static void on_member(evzk_member *m, evzk_member_event event, int rc,
                      void *arg)
{
    struct one *o = arg;

    (void)m;
    if (o->over)
        sweep_complain(o->n->run, SWEEP_DOUBLED, "the end is told twice");
    if (event == EVZK_MEMBER_FAILED ||
        (event == EVZK_MEMBER_LEFT && rc != EVZK_OK))
        sweep_complain(o->n->run, SWEEP_WRONG, "%s: %s",
                       evzk_member_event_name(event), evzk_errname(rc));
    o->over = evzk_member_event_is_final(event);
}

static void on_resolver(evzk_resolver *r, evzk_resolver_event event, int rc,
                        const evzk_resolved *e, void *arg)
{
    struct naming *n = arg;

    n->there += event == EVZK_RESOLVER_ADDED;
    n->there -= event == EVZK_RESOLVER_REMOVED;
    if (event == EVZK_RESOLVER_ENDED)
        sweep_complain(n->run, SWEEP_WRONG, "ENDED: %s", evzk_errname(rc));
    if (e && (e->malformed || e->hidden || e->endpoint.weight != 1))
        sweep_complain(n->run, SWEEP_WRONG, "%s is no endpoint", e->name);
    if (n->there != (int)evzk_resolver_count(r))
        sweep_complain(n->run, SWEEP_WRONG, "told %d, listed %zu", n->there,
                       evzk_resolver_count(r));
}

static void enter(struct naming *n, int i, const char *host)
{
    evzk_endpoint e = {.port = 80, .weight = 1};
    int rc;

    snprintf(e.host, sizeof e.host, "%s", host);
    n->of[i].n = n;
    rc = evzk_names_register(i == FAR ? n->run->far : n->run->near, n->path,
                             NULL, &e, NULL, on_member, &n->of[i], &n->of[i].m);
    if (rc)
        support_fail("sweep: register: %d", rc);
}

static void begin(void *scene, struct sweep_run *run)
{
    struct naming *n = scene;

    n->run = run;
    snprintf(n->path, sizeof n->path, "%s/s", run->dir);
    enter(n, FAR, "far");
    enter(n, NEAR, "near");
    if (evzk_resolver_start(run->far, n->path, NULL, on_resolver, n, &n->r))
        support_fail("sweep: resolve");
}

static void end(void *scene)
{
    struct naming *n = scene;

    for (int i = 0; i < BOTH; i++) {
        evzk_member_free(n->of[i].m);
        n->of[i].m = NULL;
    }
    evzk_resolver_free(n->r);
    n->r = NULL;
}

static void pick_both(struct naming *n)
{
    evzk_resolved a, b;

    if (!evzk_resolver_pick(n->r, &a) || !evzk_resolver_pick(n->r, &b) ||
        strcmp(a.name, b.name) == 0)
        sweep_complain(n->run, SWEEP_WRONG, "two picks are one endpoint");
    for (int i = 0; i < BOTH; i++) {
        int rc = evzk_member_leave(n->of[i].m);

        if (rc)
            support_fail("sweep: leave: %d", rc);
    }
    n->picked = true;
}

static bool turn(void *scene)
{
    struct naming *n = scene;
    bool over = n->of[FAR].over && n->of[NEAR].over;

    if (!n->picked && evzk_resolver_count(n->r) == BOTH)
        pick_both(n);
    if (!over || evzk_resolver_count(n->r) > 0)
        return false;
    end(scene);
    return true;
}

static void judge(void *scene)
{
    struct naming *n = scene;

    if (n->there != 0)
        sweep_complain(n->run, SWEEP_WRONG, "%d are left", n->there);
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct naming *n = scene;

    snprintf(text, size, "%d there, picked %d, over %d%d", n->there, n->picked,
             n->of[FAR].over, n->of[NEAR].over);
}

const struct sweep_recipe sweep_names = {.name = "names",
                                         .parts = parts,
                                         .size = sizeof(struct naming),
                                         .keeps = 2,
                                         .begin = begin,
                                         .turn = turn,
                                         .judge = judge,
                                         .end = end,
                                         .tell = tell};
