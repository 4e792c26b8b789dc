/*
 * The group's scenario: the process behind the proxy joins as "a", gives itself
 * other data, and leaves.  The other process wants the same name as soon as the
 * first one has joined; it joins when that has left, and leaves, too.  Must
 * hold whatever the network does: two are never members at once; each joins and
 * leaves, and then nothing is left.  If the far session ends, the other process
 * may have the name before the first one has other data: then that leaves, too.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>

static const char *const parts[] = {"group", NULL};

enum { FAR, NEAR, MEMBERS };

struct grouping {
    struct sweep_run *run;
    struct one {
        struct grouping *g;
        evzk_member *m;
        bool begun, joined, updated, leaving, over;
        int rc;
    } of[MEMBERS];
    char path[256];
};

static void on_member(evzk_member *m, evzk_member_event event, int rc,
                      void *arg)
{
    struct one *o = arg;
    struct grouping *g = o->g;
    struct one *other = &g->of[o == &g->of[FAR] ? NEAR : FAR];

    (void)m;
    if (o->over)
        sweep_complain(g->run, SWEEP_DOUBLED, "the end is told twice");
    o->joined = o->joined || event == EVZK_MEMBER_JOINED;
    o->updated = o->updated || event == EVZK_MEMBER_UPDATED;
    if (event == EVZK_MEMBER_JOINED && other->m && evzk_member_joined(other->m))
        sweep_complain(g->run, SWEEP_BOTH_HELD, "both are members");
    if (event == EVZK_MEMBER_FAILED ||
        (event == EVZK_MEMBER_LEFT && rc != EVZK_OK))
        sweep_complain(g->run, SWEEP_WRONG, "%s: %s",
                       evzk_member_event_name(event), evzk_errname(rc));
    o->over = evzk_member_event_is_final(event);
}

static void begin_one(struct grouping *g, int i)
{
    struct one *o = &g->of[i];
    int rc = evzk_group_join(i == FAR ? g->run->far : g->run->near, g->path,
                             "a", NULL, on_member, o, &o->m);

    o->begun = true;
    if (rc)
        support_fail("sweep: member: %d", rc);
}

static void begin(void *scene, struct sweep_run *run)
{
    struct grouping *g = scene;

    g->run = run;
    g->of[FAR].g = g->of[NEAR].g = g;
    snprintf(g->path, sizeof g->path, "%s/g", run->dir);
    begin_one(g, FAR);
}

static void leave(struct one *o)
{
    int rc = evzk_member_leave(o->m);

    if (rc)
        support_fail("sweep: leave: %d", rc);
    o->leaving = true;
}

static void end(void *scene)
{
    struct grouping *g = scene;

    for (int i = 0; i < MEMBERS; i++) {
        evzk_member_free(g->of[i].m);
        g->of[i].m = NULL;
    }
}

static bool turn(void *scene)
{
    struct grouping *g = scene;
    struct one *far = &g->of[FAR], *near = &g->of[NEAR];

    if (far->joined && !near->begun) {
        begin_one(g, NEAR);
        if (evzk_member_update(far->m, "other", 5))
            support_fail("sweep: update");
    }
    if ((far->updated || near->joined) && !far->leaving)
        leave(
            far); /* Its session may have ended, and the other has the name. */
    if (near->joined && !near->leaving && far->over)
        leave(near);
    if (far->over && near->over)
        end(scene);
    return far->over && near->over;
}

static void judge(void *scene)
{
    struct grouping *g = scene;

    for (int i = 0; i < MEMBERS; i++) {
        if (!g->of[i].joined)
            sweep_complain(g->run, SWEEP_WRONG, "member %d never joined", i);
    }
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct grouping *g = scene;

    snprintf(text, size, "far %d%d%d, near %d%d", g->of[FAR].joined,
             g->of[FAR].updated, g->of[FAR].over, g->of[NEAR].joined,
             g->of[NEAR].over);
}

const struct sweep_recipe sweep_group = {.name = "group",
                                         .parts = parts,
                                         .size = sizeof(struct grouping),
                                         .keeps = 2,
                                         .begin = begin,
                                         .turn = turn,
                                         .judge = judge,
                                         .end = end,
                                         .tell = tell};
