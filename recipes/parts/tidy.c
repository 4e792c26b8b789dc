/* Deletes receipts of writers that were killed: see tidy.h.
 *
 *   COUNTING --> LISTING --> LOOKING <--> DELETING
 *      `------------`-----------`-----------`--------> ENDED
 *
 * COUNTING asks how many children there are: where there are many, few of those
 * that may tidy go on.  LISTING asks for the servers' time, and behind that for
 * the names.  LOOKING asks for the age of some receipts, DELETING deletes those
 * that are old; then come the next ones.
 *
 * Only the list says that a writer does not live.  So a receipt is old by the
 * time of the list, whenever it is read.  And a list that was read a while ago,
 * or on an earlier connection, is read again before anything goes by it.
 *
 * How it can fail.  A receipt that cannot be read or deleted stays, and an
 * error ends the tidying: another one begins later.  Without memory for the
 * names the list is read again in a while.  The time is what a znode
 * says that was written to last; so it may be too early, and then receipts stay
 * longer.  A server whose clock is wrong by a day makes receipts look old that
 * are not: their writers make others, see tidy.h.
 */
#include "recipes/parts/tidy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/os.h"
#include "lib/machine/rows.h"
#include "recipes/kinds.h"

#define RECEIPT "-receipt"
#define ALIVE "-alive"

enum {
    TOGETHER = 128,
    FEW = 16,   /* Of many that may tidy, so many do. */
    NAME = 72,  /* Of a receipt, with its directory. */
    SOONER = 60 /* After an error the next time comes so much sooner. */
};

struct evzk__tidy_limits evzk__tidy_limits = {
    INT64_C(24) * 3600 * 1000, INT64_C(3600) * 1000 * 1000,
    INT64_C(60) * 1000 * 1000, TOGETHER};

struct receipt {
    char name[NAME];
};

struct guid {
    char text[EVZK__GUID_LEN];
};

struct evzk__tidy {
    struct evzk__machine m;
    struct evzk__tidier *by; /* NULL: it has ended. */
    const char *dir[EVZK__TIDY_DIRS];
    uint32_t lot;
    char clock[EVZK__TIDY_CLOCKS][2 * EVZK__NAME_MAX];
    uint32_t n_clocks;
    int64_t now_ms; /* The servers' clock said so much before the list. */

    int32_t children[EVZK__TIDY_DIRS];
    uint8_t asked[EVZK__TIDY_DIRS]; /* The directory of each step. */
    int64_t listed_us;              /* When the list came, */
    uint16_t listed_on;             /* and on which connection. */
    struct receipt *receipt;        /* Owned. */
    uint32_t n, at;                 /* Receipts before `at` are done. */
    uint32_t deleted;
    int rc;         /* Why something may be left. */
    bool no_memory; /* For the names: the list is not whole. */
    bool hung_up;   /* The servers hang up at what is asked, each time. */

    /* Of the receipts from `at` on. */
    struct {
        int64_t mtime_ms; /* 0: it stays. */
        int32_t version;
    } seen[TOGETHER];
    struct evzk__step steps[EVZK__TIDY_CLOCKS + TOGETHER];
};

enum { COUNTING, LISTING, LOOKING, DELETING, ENDED, STATES };

static struct evzk__tidy *tidy_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk__tidy, m);
}

/* What nobody may read, nobody tidies. */
static void note_refused(struct evzk__tidy *t, int rc)
{
    t->hung_up = t->hung_up || rc == EVZK_ERR_TOOLARGE;
    if (t->rc == EVZK_OK && rc != EVZK_ERR_NONODE && rc != EVZK_ERR_NOAUTH)
        t->rc = rc;
}

/* Which directories are there, and how many children have they? */

static void count(struct evzk__machine *m)
{
    struct evzk__tidy *t = tidy_of(m);
    uint32_t n = 0;

    for (; n < EVZK__TIDY_DIRS && t->dir[n]; n++) {
        t->children[n] = 0;
        t->steps[n] =
            (struct evzk__step){.verb = EVZK__STEP_EXISTS, .name = t->dir[n]};
    }
    evzk__ask(m, t->steps, n, EVZK__EACH);
}

static bool is_wanted(const struct evzk__tidy *t, unsigned dir)
{
    uint32_t n = (uint32_t)t->children[dir];

    return t->dir[dir] && n > 0 && t->lot % n < FEW;
}

static int counted(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__tidy *t = tidy_of(m);
    const struct evzk__reply *reply = e->reply;
    bool wanted = false;

    if (reply->rc == EVZK_OK)
        t->children[reply->part] = reply->res->stat.children;
    else
        note_refused(t, reply->rc);
    if (!reply->last)
        return EVZK_OK;
    for (unsigned i = 0; i < EVZK__TIDY_DIRS; i++)
        wanted = wanted || is_wanted(t, i);
    return wanted ? evzk__machine_move(m, LISTING)
                  : evzk__machine_finish(m, t->rc);
}

/* Which receipts are there, whose writer does not say that it lives? */

static void list(struct evzk__machine *m)
{
    struct evzk__tidy *t = tidy_of(m);
    uint32_t n = 0;

    t->n = t->at = 0;
    t->no_memory = false;
    for (; n < t->n_clocks; n++)
        t->steps[n] =
            (struct evzk__step){.verb = EVZK__STEP_EXISTS, .name = t->clock[n]};
    for (unsigned i = 0; i < EVZK__TIDY_DIRS; i++) {
        if (!is_wanted(t, i))
            continue;
        t->asked[n - t->n_clocks] = (uint8_t)i;
        t->steps[n++] =
            (struct evzk__step){.verb = EVZK__STEP_CHILDREN, .name = t->dir[i]};
    }
    evzk__ask(m, t->steps, n, EVZK__EACH);
}

/* "<guid><tag>", or "<guid>-<number><tag>". */
static bool has_form(const char *name, const char *tag)
{
    const char *c = name + EVZK__GUID_LEN;

    if (strlen(name) < EVZK__GUID_LEN || !evzk__guid_leads(name))
        return false;
    if (c[0] == '-' && c[1] >= '0' && c[1] <= '9') {
        for (c++; *c >= '0' && *c <= '9'; c++)
            ;
    }
    return strcmp(c, tag) == 0;
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, EVZK__GUID_LEN);
}

/* Writers that say that they live, by GUID. */
struct alive {
    size_t n;
    struct guid *v; /* Owned; in order. */
};

/* False: no memory. */
static bool find_alive(const struct evzk__names *names, struct alive *a)
{
    size_t n = 0;

    for (size_t i = 0; i < names->n; i++)
        n += has_form(names->v[i], ALIVE);
    a->n = 0;
    a->v = evzk__zalloc(n * sizeof *a->v);
    for (size_t i = 0; a->v && i < names->n; i++) {
        if (has_form(names->v[i], ALIVE))
            memcpy(a->v[a->n++].text, names->v[i], EVZK__GUID_LEN);
    }
    if (a->v)
        qsort(a->v, a->n, sizeof *a->v, compare);
    return a->v != NULL;
}

static bool is_left(const char *name, const struct alive *a)
{
    return has_form(name, RECEIPT) &&
           !bsearch(name, a->v, a->n, sizeof *a->v, compare);
}

/* Room for so many more.  False: no memory. */
static bool make_room(struct evzk__tidy *t, size_t n)
{
    struct receipt *v = evzk__zalloc((t->n + n) * sizeof *v);

    if (!v)
        return false;
    if (t->n > 0)
        memcpy(v, t->receipt, t->n * sizeof *v);
    evzk__free(t->receipt);
    t->receipt = v;
    return true;
}

/* Not what it tells the time by: that is its owner's. */
static void add(struct evzk__tidy *t, const char *dir, const char *name)
{
    char *out = t->receipt[t->n].name;

    if (strlen(dir) + 1 + strlen(name) >= NAME)
        return;
    strcat(strcat(strcpy(out, dir), *dir ? "/" : ""), name);
    for (uint32_t i = 0; i < t->n_clocks; i++) {
        if (strcmp(out, t->clock[i]) == 0)
            return;
    }
    t->n++;
}

static bool take_names(struct evzk__tidy *t, const char *dir,
                       const struct evzk__names *names)
{
    struct alive a;
    bool done = make_room(t, names->n) && find_alive(names, &a);

    for (size_t i = 0; done && i < names->n; i++) {
        if (is_left(names->v[i], &a))
            add(t, dir, names->v[i]);
    }
    if (done)
        evzk__free(a.v);
    return done;
}

static void note_time(struct evzk__tidy *t, const struct evzk__stat *stat)
{
    if (stat->mtime_ms > t->now_ms)
        t->now_ms = stat->mtime_ms;
}

static int go_on(struct evzk__tidy *t)
{
    return t->at < t->n ? evzk__machine_move(&t->m, LOOKING)
                        : evzk__machine_finish(&t->m, t->rc);
}

static int listed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__tidy *t = tidy_of(m);
    const struct evzk__reply *reply = e->reply;

    if (reply->rc != EVZK_OK)
        note_refused(t, reply->rc);
    else if (reply->part < t->n_clocks)
        note_time(t, &reply->res->stat);
    else if (!take_names(t, t->dir[t->asked[reply->part - t->n_clocks]],
                         &reply->res->names))
        t->no_memory = true;
    if (!reply->last)
        return EVZK_OK;
    if (t->no_memory)
        return evzk__machine_again_later(m);
    t->listed_us = evzk__now_us();
    t->listed_on = m->seen.connection_no;
    return go_on(t);
}

/* Does an entry go by the list?  If not, it has moved on.  Where the servers
 * hang up at a receipt, another list would lead there again. */
static bool is_listed(struct evzk__tidy *t)
{
    if (t->listed_on == t->m.seen.connection_no &&
        evzk__now_us() - t->listed_us <= evzk__tidy_limits.list_us)
        return true;
    if (t->hung_up)
        evzk__machine_finish(&t->m, t->rc);
    else
        evzk__machine_move(&t->m, LISTING);
    return false;
}

/* How old are they? */

static uint32_t together(const struct evzk__tidy *t)
{
    uint32_t most = evzk__tidy_limits.together;

    return t->n - t->at < most ? t->n - t->at : most;
}

static void look(struct evzk__machine *m)
{
    struct evzk__tidy *t = tidy_of(m);
    uint32_t n = 0;

    if (!is_listed(t))
        return;
    memset(t->seen, 0, sizeof t->seen);
    for (; n < together(t); n++)
        t->steps[n] = (struct evzk__step){.verb = EVZK__STEP_EXISTS,
                                          .name = t->receipt[t->at + n].name};
    evzk__ask(m, t->steps, n, EVZK__EACH);
}

/* Every version but -1, which servers take for any. */
static void note(struct evzk__tidy *t, uint32_t part,
                 const struct evzk__stat *stat)
{
    if (stat->owner != 0 || stat->version == -1)
        return;
    t->seen[part].mtime_ms = stat->mtime_ms;
    t->seen[part].version = stat->version;
}

static bool is_old(const struct evzk__tidy *t, uint32_t i)
{
    int64_t mtime = t->seen[i].mtime_ms;

    return mtime > 0 && mtime <= t->now_ms - evzk__tidy_limits.old_ms;
}

static int looked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__tidy *t = tidy_of(m);

    if (e->reply->rc == EVZK_OK)
        note(t, e->reply->part, &e->reply->res->stat);
    else
        note_refused(t, e->reply->rc);
    if (!e->reply->last)
        return EVZK_OK;
    for (uint32_t i = 0; i < together(t); i++) {
        if (is_old(t, i))
            return evzk__machine_move(m, DELETING);
    }
    t->at += together(t);
    return go_on(t);
}

/* Each by itself: what one writer keeps, others need not. */

static void delete_old(struct evzk__machine *m)
{
    struct evzk__tidy *t = tidy_of(m);
    uint32_t n = 0;

    if (!is_listed(t))
        return;
    for (uint32_t i = 0; i < together(t); i++) {
        if (is_old(t, i))
            t->steps[n++] =
                (struct evzk__step){.verb = EVZK__STEP_DELETE,
                                    .name = t->receipt[t->at + i].name,
                                    .versioned = true,
                                    .version = t->seen[i].version};
    }
    evzk__ask(m, t->steps, n, EVZK__EACH);
}

static int deleted(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__tidy *t = tidy_of(m);

    t->deleted += e->reply->rc == EVZK_OK;
    if (e->reply->rc != EVZK_OK && e->reply->rc != EVZK_ERR_BADVERSION)
        note_refused(t, e->reply->rc);
    if (!e->reply->last)
        return EVZK_OK;
    t->at += together(t);
    return go_on(t);
}

/* Never, where that would end the connection again. */
static int64_t again_at(const struct evzk__tidy *t)
{
    int64_t us = evzk__tidy_limits.again_us;

    if (t->hung_up)
        return INT64_MAX;
    return evzk__now_us() + (t->m.rc == EVZK_OK ? us : us / SOONER);
}

static void end(struct evzk__machine *m)
{
    struct evzk__tidy *t = tidy_of(m);
    struct evzk__tidier *by = t->by;

    if (t->deleted > 0)
        evzk__log(evzk__machine_session(m), EVZK_LOG_INFO,
                  "%s: deleted %u receipts of writers that were killed",
                  evzk__machine_path(m), (unsigned)t->deleted);
    if (!by)
        return;
    by->again_us = again_at(t);
    evzk__tidier_end(by);
}

static void destroy(struct evzk__machine *m)
{
    evzk__free(tidy_of(m)->receipt);
    evzk__free(tidy_of(m));
}

/* RARELY: the directories of a live object have its own receipt at least. */
/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state     entry       reaction  main      on stop  on expiry  flags */
ROW(COUNTING, count,      counted,  LISTING,  ENDED,   COUNTING,  RETRY,
    ON(REPLY, LISTING, HERE), RARELY(REPLY, ENDED)),
ROW(LISTING,  list,       listed,   LOOKING,  ENDED,   COUNTING,  RETRY,
    ON(REPLY, LOOKING, LISTING, ENDED, HERE)),
ROW(LOOKING,  look,       looked,   DELETING, ENDED,   COUNTING,  RETRY,
    ON(REPLY, DELETING, LOOKING, ENDED, HERE),
    ON(ENTRY, LISTING, ENDED)),
ROW(DELETING, delete_old, deleted,  ENDED,    ENDED,   COUNTING,  RETRY,
    ON(REPLY, LOOKING, ENDED, HERE),
    ON(ENTRY, LISTING), RARELY(ENTRY, ENDED)),
END(ENDED,    end),
};
/* clang-format on */

const struct evzk__kind evzk__tidy_kind = {.name = "tidy",
                                           .rows = rows,
                                           .n_rows = STATES,
                                           .destroy = destroy,
                                           .outlives_session = true};

static void take_what(struct evzk__tidy *t, const struct evzk__tidy_what *what)
{
    memcpy(t->dir, what->dir, sizeof t->dir);
    t->lot = what->lot;
    for (; t->n_clocks < EVZK__TIDY_CLOCKS && what->clock[t->n_clocks];
         t->n_clocks++)
        snprintf(t->clock[t->n_clocks], sizeof t->clock[0], "%s",
                 what->clock[t->n_clocks]);
}

void evzk__tidier_may(struct evzk__tidier *t, evzk_session *s,
                      const struct evzk__tidy_what *what)
{
    struct evzk__tidy *now;

    if (t->now || evzk__now_us() < t->again_us ||
        evzk__tidy_limits.together == 0)
        return;
    now = evzk__zalloc(sizeof *now);
    if (!now)
        return;
    take_what(now, what);
    now->by = t;
    if (evzk__machine_begin(&now->m, s, &evzk__tidy_kind, what->base, 0) ==
        EVZK_OK)
        t->now = now;
}

void evzk__tidier_end(struct evzk__tidier *t)
{
    struct evzk__tidy *now = t->now;

    t->now = NULL;
    if (now) {
        now->by = NULL;
        evzk__machine_let_go(&now->m);
    }
}
