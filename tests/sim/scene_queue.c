/* Processes that look at a queue, and their rules.
 *
 * Operators put items into the tree and take them out, as producers and
 * consumers do.  A report counts each item that was there during the whole
 * look, and none that was not there at some moment of it.  The first items are
 * reported in their order, with their own data.  A look that follows reports
 * the queue as it is, once nothing changes any more.
 *
 * How it can fail: the tree is looked at after every step. */
#include <string.h>

#include "ens.h"
#include "evzk/queue.h"
#include "faults.h"
#include "owes.h"
#include "processes.h"
#include "scene.h"
#include "scene_list.h"
#include "scene_setup.h"
#include "steps.h"

enum { NODES = 12, LOOKS = 2 };

/* A znode, and when it comes and goes. */
struct queue_node {
    const char *path; /* An item has its path as its data. */
    int64_t put_us;   /* 0: it is there from the beginning. */
    int64_t take_us;  /* 0: it stays. */
    bool silent;      /* Its end is no reason to write `signal`. */
};

struct queue_look {
    int64_t at_us; /* 0: no such look. */
    evzk_queue_query_options opt;
};

struct queue_scene {
    const char *path, *chroot;
    const char *closed; /* A segment that nobody may list. */
    bool rooted;        /* The chroot exists. */
    bool followers_lag; /* Followers hear late of changes. */
    struct queue_node node[NODES];
    struct queue_look look[LOOKS]; /* Of the process of the same number. */
};

enum {
    TRUTH_US = 3 * 1000 * 1000, /* No server lags so long. */
    LAST_US = 8 * 1000 * 1000,  /* Then looks that follow are ended. */
    AGAIN_US = 2000
};

static struct {
    const struct queue_scene *own;
    int64_t czxid[NODES]; /* 0: not there. */
    bool silent;          /* The last change did not write `signal`. */
    struct queue_asked {
        evzk_queue_query *q;
        bool begun, over, reported;
        bool always[NODES], ever[NODES]; /* There, during the look. */
        bool hidden[NODES];              /* Not to be read, for a while. */
        uint64_t size;                   /* As reported last. */
    } look[LOOKS];
} all;
SIM_KEEP(all)

static bool is_claim(const char *path) { return strstr(path, "/claim-"); }
static bool is_dead(const char *path) { return strstr(path, "/dead/"); }
static bool is_item(const char *path)
{
    return path && strstr(path, "/queue-") && !is_dead(path);
}

/* NULL: the scene has fewer znodes. */
static const char *path_of(int k) { return all.own->node[k].path; }

/* What the tree says now. */
static void look_at_tree(void)
{
    const int read = EVZK_PERM_READ;

    for (int k = 0; k < NODES; k++) {
        struct ens_seen seen;
        bool was_there = all.czxid[k] != 0, hidden;

        if (!path_of(k))
            continue;
        hidden = (ens_perms(path_of(k)) & read) == 0;
        all.czxid[k] = ens_look(path_of(k), &seen) ? seen.czxid : 0;
        all.silent = all.silent || (was_there && !all.czxid[k]);
        for (int i = 0; i < LOOKS; i++) {
            all.look[i].ever[k] = all.look[i].ever[k] || all.czxid[k];
            all.look[i].always[k] = all.look[i].always[k] && all.czxid[k];
            all.look[i].hidden[k] = all.look[i].hidden[k] || hidden;
        }
    }
}

static void look_begins(int i)
{
    memset(all.look[i].hidden, 0, sizeof all.look[i].hidden);
    look_at_tree();
    for (int k = 0; k < NODES; k++)
        all.look[i].always[k] = all.look[i].ever[k] = all.czxid[k] != 0;
}

static void over(int i)
{
    all.look[i].over = true;
    if (process_has_session(i))
        process_close(i);
}

static void end(int i)
{
    evzk_queue_query *gone = all.look[i].q;

    all.look[i].q = NULL;
    process_call_begins(i);
    evzk_queue_query_free(gone);
    process_call_ends(i);
    over(i);
}

static bool excused(int proc, int rc)
{
    switch (rc) {
    case EVZK_ERR_CLOSED:
        return process_of(proc)->closing;
    case EVZK_ERR_NOMEM:
        return process_lacked_memory(proc);
    case EVZK_ERR_NOAUTH:
        return all.own->closed != NULL;
    case EVZK_ERR_SERVER:
        return ens_throttled(proc);
    case EVZK_ERR_TOOLARGE:
        return ens_shut(proc);
    case EVZK_ERR_NOCHROOT:
        return all.own->chroot && (!all.own->rooted || operator_deleted_any());
    default:
        return false;
    }
}

/* What a report counts. */
enum { ITEMS, CLAIMS, DEAD_LETTERS, KINDS };

static int kind_of(const char *path)
{
    if (!path)
        return KINDS;
    return is_item(path)    ? ITEMS
           : is_claim(path) ? CLAIMS
           : is_dead(path)  ? DEAD_LETTERS
                            : KINDS;
}

static void check_counts(int i, const evzk_queue_report *r)
{
    uint64_t least[KINDS] = {0}, most[KINDS] = {0};
    const uint64_t told[KINDS] = {r->size, r->claimed, r->dead};

    for (int k = 0; k < NODES; k++) {
        int what = kind_of(path_of(k));

        if (what == KINDS)
            continue;
        least[what] += all.look[i].always[k];
        most[what] += all.look[i].ever[k];
    }
    for (int what = 0; what < KINDS; what++) {
        if (told[what] < least[what] || told[what] > most[what])
            sim_violation("p%d: count %d is %d, and not %d to %d", i, what,
                          (int)told[what], (int)least[what], (int)most[what]);
    }
}

/* A fault has written this into it. */
static bool is_malformed(int k, const evzk_queue_item *item)
{
    return fault_said(path_of(k), item->data, item->len) &&
           (!all.czxid[k] || item->token == (uint64_t)all.czxid[k]);
}

static int node_of(const evzk_queue_item *item)
{
    for (int k = 0; k < NODES; k++) {
        if (is_item(path_of(k)) &&
            ((strlen(path_of(k)) == item->len &&
              memcmp(path_of(k), item->data, item->len) == 0) ||
             is_malformed(k, item)))
            return k;
    }
    return -1;
}

static bool is_told_with_data(const evzk_queue_report *r, int k)
{
    for (size_t n = 0; n < r->n_items; n++) {
        if (!r->items[n].hidden && node_of(&r->items[n]) == k)
            return true;
    }
    return false;
}

static bool may_be_hidden(int i, const evzk_queue_report *r, int last, int k)
{
    return is_item(path_of(k)) && all.look[i].hidden[k] &&
           !(last >= 0 && strcmp(path_of(k), path_of(last)) <= 0) &&
           !is_told_with_data(r, k);
}

/* Are the items from `n` on that are told without their data those that were
 * there all the time?  Others may have gone before they were read. */
static bool only_lasting(int i, const evzk_queue_report *r, size_t n, int last)
{
    size_t told = 0, lasting = 0;

    for (; n < r->n_items; n++)
        told += r->items[n].hidden;
    for (int k = 0; k < NODES; k++)
        lasting += all.look[i].always[k] && may_be_hidden(i, r, last, k);
    return told <= lasting;
}

/* The item that is told, as number `n`, without its data, behind item `last`:
 * the first one that could not be read.  -1: none. */
static int hidden_after(int i, const evzk_queue_report *r, size_t n, int last)
{
    bool only = only_lasting(i, r, n, last);
    int first = -1;

    for (int k = 0; k < NODES; k++) {
        if (may_be_hidden(i, r, last, k) && (!only || all.look[i].always[k]) &&
            !(first >= 0 && strcmp(path_of(k), path_of(first)) >= 0))
            first = k;
    }
    return first;
}

/* The claim of an item; -1: the scene has none. */
static int claim_of(int item)
{
    const char *path = path_of(item);
    size_t n = strlen(path) - strlen("queue-0000000000");

    for (int k = 0; k < NODES; k++) {
        if (path_of(k) && is_claim(path_of(k)) &&
            strncmp(path_of(k), path, n) == 0 &&
            strncmp(path_of(k) + n + strlen("claim-"),
                    path + n + strlen("queue-"), 10) == 0)
            return k;
    }
    return -1;
}

static void check_item(int i, int k, const evzk_queue_item *item)
{
    int claim = claim_of(k);

    if (!all.look[i].ever[k])
        sim_violation("p%d: %s is told, and was not there", i, path_of(k));
    if (item->hidden ? item->token != 0
                     : all.czxid[k] && item->token != (uint64_t)all.czxid[k])
        sim_violation("p%d: %s has another token", i, path_of(k));
    if (item->claimed ? claim < 0 || !all.look[i].ever[claim]
                      : claim >= 0 && all.look[i].always[claim])
        sim_violation("p%d: %s: who claims it is wrong", i, path_of(k));
}

/* Is item k missing, though it was there all the time, and too few items come
 * before it? */
static bool is_missing(int i, int k)
{
    uint32_t before = 0;

    for (int j = 0; j < NODES; j++)
        before += is_item(path_of(j)) && all.look[i].ever[j] &&
                  strcmp(path_of(j), path_of(k)) < 0;
    return all.look[i].always[k] && before < all.own->look[i].opt.peek;
}

static void check_items(int i, const evzk_queue_report *r)
{
    bool told[NODES] = {false};
    int last = -1;

    for (size_t n = 0; n < r->n_items; n++) {
        int k = r->items[n].hidden ? hidden_after(i, r, n, last)
                                   : node_of(&r->items[n]);

        if (k < 0) {
            sim_violation("p%d: an item that never was", i);
            continue;
        }
        check_item(i, k, &r->items[n]);
        if (last >= 0 && strcmp(path_of(last), path_of(k)) >= 0)
            sim_violation("p%d: %s is out of order", i, path_of(k));
        last = k;
        told[k] = true;
    }
    if (r->n_items > all.own->look[i].opt.peek)
        sim_violation("p%d: too many items are told", i);
    for (int k = 0; k < NODES; k++) {
        if (is_item(path_of(k)) && !told[k] && is_missing(i, k))
            sim_violation("p%d: %s is not told", i, path_of(k));
    }
}

static void on_report(evzk_queue_query *q, int rc, const evzk_queue_report *r,
                      void *arg)
{
    int i = (int)(intptr_t)arg;
    bool follows = all.own->look[i].opt.follow;

    process_heard(i, "the look's callback");
    if (all.look[i].q != q)
        sim_violation("p%d: a look is told twice", i);
    look_at_tree();
    if (rc == EVZK_OK && all.own->closed)
        sim_violation("p%d: items are counted that nobody may list", i);
    if (rc == EVZK_OK) {
        sim_say("p%d: size %d, claimed %d, dead %d, items %d", i, (int)r->size,
                (int)r->claimed, (int)r->dead, (int)r->n_items);
        if (all.own->chroot && !all.own->rooted)
            sim_violation("p%d: a queue below no chroot", i);
        check_counts(i, r);
        check_items(i, r);
        all.look[i].size = r->size;
        all.look[i].reported = true;
    } else if (!excused(i, rc))
        sim_violation("p%d: a look gave %s", i, evzk_errname(rc));
    process_callback(i); /* The explorer may free it here. */
    if (all.look[i].q == q && (rc != EVZK_OK || !follows))
        end(i);
}

static void start(intptr_t arg)
{
    int i = (int)arg, rc;
    const struct process *p = process_of(i);

    if (all.look[i].begun || all.look[i].over)
        return;
    if (!p->closing && process_opening(i)) {
        scene_timer_set(AGAIN_US, i, start, arg);
        return;
    }
    if (p->closing || !p->s) {
        over(i);
        return;
    }
    look_begins(i);
    process_call_begins(i);
    rc = evzk_queue_query_start(p->s, all.own->path, &all.own->look[i].opt,
                                on_report, (void *)arg, &all.look[i].q);
    process_call_ends(i);
    sim_say("p%d: looks: %s", i, evzk_errname(rc));
    if (rc == EVZK_ERR_NOMEM)
        scene_timer_set(AGAIN_US, i, start, arg);
    else
        all.look[i].begun = true;
    if (rc != EVZK_OK && !excused(i, rc))
        sim_violation("p%d: looks: %s", i, evzk_errname(rc));
    if (rc == EVZK_ERR_CLOSED)
        over(i);
}

static void end_following(intptr_t i)
{
    if (all.look[i].q && owes_any())
        scene_timer_set(OWES_AGAIN_US, (int)i, end_following, i);
    else if (all.look[i].q)
        end((int)i);
    else if (!all.look[i].over)
        over((int)i);
}

static void make(const char *path)
{
    char above[64];

    for (const char *slash = strchr(path + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        memcpy(above, path, (size_t)(slash - path));
        above[slash - path] = '\0';
        ens_create(above, "", 0, 0);
    }
    ens_create(path, path, strlen(path), 0);
}

static void ring(void)
{
    char path[64];

    if (all.own->look[0].opt.layout != EVZK_QUEUE_SEGMENTS)
        return;
    strcat(strcpy(path, all.own->path), "/signal");
    if (ens_set_data(path, "", 0) != 0)
        ens_create(path, "", 0, 0);
}

static void changed(bool silent)
{
    look_at_tree();
    all.silent = silent;
    if (!silent)
        ring();
}

static void put(intptr_t k)
{
    make(all.own->node[k].path);
    changed(false);
}

static void take(intptr_t k)
{
    operator_delete(all.own->node[k].path);
    changed(all.own->node[k].silent);
}

static void plan(int k)
{
    const struct queue_node *n = &all.own->node[k];

    if (!n->path)
        return;
    if (n->put_us)
        scene_timer_set(n->put_us, -1, put, k);
    else
        make(n->path);
    if (n->take_us)
        scene_timer_set(n->take_us, -1, take, k);
}

/* Each look begins with LOOKING. */
static void traced(int proc, const evzk_trace *t)
{
    if (proc < LOOKS && strcmp(t->kind, "queue-query") == 0 && t->entered &&
        strcmp(t->to, "LOOKING") == 0)
        look_begins(proc);
}

static void queue_begin(const struct sim_scene *sc)
{
    struct ens_config servers = scene_servers;
    struct process_config cfg = {.timeout_ms = 1000};

    scene_unhook();
    memset(&all, 0, sizeof all);
    all.own = sc->own;
    cfg.chroot = all.own->chroot;
    process_trace = traced;
    if (all.own->followers_lag)
        servers.link_us = SCENE_LAG_US;
    ens_begin(&servers);
    if (all.own->rooted)
        ens_create(all.own->chroot, "", 0, 0);
    for (int k = 0; k < NODES; k++)
        plan(k);
    if (all.own->closed)
        ens_set_perms(all.own->closed, ZOO_PERM_ALL & ~ZOO_PERM_READ);
    look_at_tree();
    for (int i = 0; i < LOOKS; i++) {
        all.look[i].over = !all.own->look[i].at_us;
        if (all.look[i].over)
            continue;
        wire_route(i, i == 0 ? FOLLOWER_1 : FOLLOWER_2);
        process_open(i, &cfg);
        scene_timer_set(all.own->look[i].at_us, i, start, i);
        if (all.own->look[i].opt.follow)
            scene_timer_set(LAST_US, i, end_following, i);
    }
}

static uint64_t size_now(void)
{
    uint64_t size = 0;

    for (int k = 0; k < NODES; k++)
        size += is_item(path_of(k)) && all.czxid[k];
    return size;
}

/* A look that follows knows each item; in segments, items that were taken are
 * no reason to report. */
static bool is_known(const struct queue_asked *l, int proc)
{
    bool segments = all.own->look[proc].opt.layout == EVZK_QUEUE_SEGMENTS;

    return segments && all.silent ? l->size >= size_now()
                                  : l->size == size_now();
}

/* A look is told; one that follows has reported the size of now. */
static void queue_owes(int proc, struct sim_debt *debt)
{
    const struct queue_asked *l = &all.look[proc < LOOKS ? proc : 0];
    bool follows;

    if (proc >= LOOKS || !l->q)
        return;
    follows = all.own->look[proc].opt.follow;
    sim_owe(debt, !l->reported, "a look is not told", proc);
    sim_owe(debt, follows && !is_known(l, proc),
            "follows, and does not know the size", proc);
    debt->paid = l->size;
}

static void queue_check(void)
{
    look_at_tree();
    processes_check();
}

static bool queue_done(void)
{
    for (int i = 0; i < LOOKS; i++) {
        if (!all.look[i].over)
            return false;
    }
    return processes_gone();
}

static void queue_check_end(void)
{
    for (int i = 0; i < LOOKS; i++)
        scene_timer_cancel(end_following, i);
    processes_check_end();
}

static const char *const queue_calls[] = {"free", "close-session", NULL};

static bool queue_call(int proc, unsigned which)
{
    if (proc >= LOOKS)
        return false;
    if (which == 0) {
        if (!all.look[proc].q)
            return false;
        end(proc);
        return true;
    }
    if (!process_has_session(proc))
        return false;
    if (!all.look[proc].q && !all.look[proc].begun)
        all.look[proc].over = true;
    process_close(proc);
    return true;
}

#define QUEUE(...)                                                             \
    .own = &(const struct queue_scene) { __VA_ARGS__ }

#define SEG_0 "/q/seg-00-0000000000/"
#define SEG_1 "/q/seg-00-0000000001/"
#define CLAIMER "123e4567-e89b-42d3-a456-426614174000"
#define SEG_URGENT "/q/seg-00-0000000004/"
#define SEG_LATER "/q/seg-07-0000000000/"

static const struct sim_scene scenes[] = {
    {.name = "queue-follow",
     .about = "one follows, and another only looks",
     .processes = 2,
     QUEUE(.path = "/q",
           .node = {{.path = SEG_0 "open"},
                    {.path = SEG_0 "queue-0000000000", .put_us = 30000}},
           .look = {{.at_us = 10000, .opt = {.peek = 1, .follow = true}},
                    {.at_us = 20000}})},
    {.name = "queue",
     .about = "one looks at a queue of two segments",
     .processes = 1,
     .pairs = true,
     QUEUE(.path = "/q",
           .node = {{.path = SEG_0 "queue-0000000000"},
                    {.path = SEG_1 "open"},
                    {.path = SEG_1 "queue-0000000000"},
                    {.path = SEG_1 "claim-0000000000-" CLAIMER}},
           .look = {{.at_us = 10000, .opt = {.peek = 2}}})},
    {.name = "queue-absent",
     .about = "one looks at a queue that is not there",
     .processes = 1,
     .pairs = true,
     QUEUE(.path = "/q", .look = {{.at_us = 10000, .opt = {.peek = 2}}})},
    {.name = "queue-empty",
     .about = "one looks at a queue that never had an item",
     .processes = 1,
     QUEUE(.path = "/q", .node = {{.path = "/q/signal"}},
           .look = {{.at_us = 10000, .opt = {.peek = 2}}})},
    {.name = "queue-size",
     .about = "one asks for the size alone, and there are dead letters",
     .processes = 1,
     QUEUE(.path = "/q",
           .node = {{.path = SEG_0 "open"},
                    {.path = SEG_0 "queue-0000000000"},
                    {.path = "/q/dead/queue-0000000000"},
                    {.path = "/q/dead/queue-0000000001"},
                    {.path = "/q/seg-garbage"},
                    {.path = SEG_0 "garbage-0000000000"}},
           .look = {{.at_us = 10000}})},
    {.name = "queue-closed",
     .about = "a segment may not be listed: nobody knows how many items",
     .processes = 1,
     QUEUE(.path = "/q", .closed = "/q/seg-00-0000000000",
           .node = {{.path = SEG_0 "queue-0000000000"},
                    {.path = SEG_1 "open"},
                    {.path = SEG_1 "queue-0000000000"}},
           .look = {{.at_us = 10000, .opt = {.peek = 3}}})},
    {.name = "queue-moves",
     .about = "items come and go while one looks",
     .processes = 1,
     QUEUE(.path = "/q",
           .node = {{.path = SEG_0 "queue-0000000000", .take_us = 14000},
                    {.path = SEG_0 "queue-0000000001", .take_us = 15000},
                    {.path = SEG_0 "queue-0000000002"},
                    {.path = SEG_1 "open"},
                    {.path = SEG_1 "queue-0000000000", .put_us = 13000},
                    {.path = SEG_1 "queue-0000000001", .put_us = 15500}},
           .look = {{.at_us = 10000, .opt = {.peek = 3}}})},
    {.name = "queue-behind",
     .about = "one looks behind a put that its server has not heard of",
     .processes = 1,
     QUEUE(.path = "/q", .followers_lag = true,
           .node = {{.path = SEG_0 "open"},
                    {.path = SEG_0 "queue-0000000000", .put_us = 480000}},
           .look = {{.at_us = 490000}})},
    {.name = "queue-urgent",
     .about = "items of two priorities, more than are asked for",
     .processes = 1,
     QUEUE(.path = "/q",
           .node = {{.path = SEG_LATER "queue-0000000000"},
                    {.path = SEG_LATER "open"},
                    {.path = SEG_URGENT "queue-0000000030"},
                    {.path = SEG_URGENT "open"},
                    {.path = SEG_URGENT "queue-0000000031"}},
           .look = {{.at_us = 10000, .opt = {.peek = 2}}})},
    {.name = "queue-follow-none",
     .about = "one follows a queue that comes later",
     .processes = 1,
     QUEUE(.path = "/q",
           .node = {{.path = SEG_0 "queue-0000000000", .put_us = 40000},
                    {.path = SEG_0 "queue-0000000001",
                     .put_us = 60000,
                     .take_us = 90000}},
           .look = {{.at_us = 10000, .opt = {.peek = 1, .follow = true}}})},
    {.name = "queue-plain",
     .about = "one looks at a plain queue",
     .processes = 1,
     QUEUE(.path = "/q",
           .node = {{.path = "/q/queue-0000000003"},
                    {.path = "/q/queue-0000000005", .take_us = 12000},
                    {.path = "/q/qn-0000000006"}},
           .look = {{.at_us = 10000,
                     .opt = {.layout = EVZK_QUEUE_PLAIN, .peek = 2}}})},
    {.name = "queue-plain-follow",
     .about = "one follows a plain queue, with priorities, that comes and goes",
     .processes = 1,
     QUEUE(.path = "/q",
           .node = {{.path = "/q/queue-070000000000", .put_us = 40000},
                    {.path = "/q/queue-010000000001",
                     .put_us = 60000,
                     .take_us = 90000}},
           .look = {{.at_us = 10000,
                     .opt = {.layout = EVZK_QUEUE_PLAIN_PRIORITY,
                             .peek = 2,
                             .follow = true}}})},
    {.name = "queue-plain-ends",
     .about = "one follows a plain queue, which somebody deletes",
     .processes = 1,
     QUEUE(.path = "/q",
           .node = {{.path = "/q/queue-0000000000", .take_us = 60000},
                    {.path = "/q", .take_us = 90000}},
           .look = {{.at_us = 10000,
                     .opt = {.layout = EVZK_QUEUE_PLAIN, .follow = true}}})},
    {.name = "queue-rooted",
     .about = "one follows below a chroot, where there is no queue",
     .processes = 1,
     QUEUE(.path = "/q", .chroot = "/app", .rooted = true,
           .look = {{.at_us = 10000, .opt = {.follow = true}}})},
    {.name = "queue-rootless",
     .about = "one looks below a chroot that is not there",
     .processes = 1,
     QUEUE(.path = "/q", .chroot = "/nowhere", .look = {{.at_us = 10000}})},
};

const struct sim_recipe sim_queue =
    SIM_RECIPE("queue", queue_query, scenes, queue, queue);
