/* The table of watches against a naive model. */
#include "unit.h"

#include <string.h>

#include "lib/watch.h"

enum { WATCHES = 48, PATHS = 14 };

/* Two of them have the same hash as others: one path, cut at another place. */
static const struct {
    const char *dir, *name;
} paths[PATHS] = {
    {"/a", "x"},
    {"/a", "y"},
    {"/a", "xx"},
    {"/a/b", "c"},
    {"/a", "b/c"},
    {"/a/b/c", "d"},
    {"/a/b", "c/d"},
    {"/b", "x"},
    {"/b", "y"},
    {"/ab", "x"},
    {"/a", "bx"},
    {"/very/long/dir", "n"},
    {"/a", "x-lock-0000000001"},
    {"/a", "x-lock-0000000002"},
};

/* One watch, and what the model knows of it. */
struct entry {
    struct evzk__watch w;
    char dir[32], name[32]; /* Copies: only the text may count. */
    size_t path;
    bool listed, armed;
};

struct world {
    struct evzk__watches table;
    struct entry e[WATCHES];
};

static void set_up(struct world *t)
{
    memset(t, 0, sizeof *t);
    evzk__watches_init(&t->table);
    for (size_t i = 0; i < WATCHES; i++) {
        t->e[i].w.serial = (uint32_t)(WATCHES - i / 2); /* Two an owner. */
        t->e[i].w.which = (uint8_t)(i % 2);
    }
}

static size_t count_on(const struct world *t, size_t path)
{
    size_t n = 0;

    for (size_t i = 0; i < WATCHES; i++)
        n += t->e[i].listed && t->e[i].path == path;
    return n;
}

/* The oldest owner's, and of that the first. */
static const struct evzk__watch *first_on(const struct world *t, size_t path)
{
    const struct evzk__watch *best = NULL;

    for (size_t i = 0; i < WATCHES; i++) {
        const struct evzk__watch *w = &t->e[i].w;

        if (!t->e[i].listed || t->e[i].path != path)
            continue;
        if (!best || w->serial < best->serial ||
            (w->serial == best->serial && w->which < best->which))
            best = w;
    }
    return best;
}

static void check(struct world *t)
{
    uint32_t distinct = 0;

    for (size_t p = 0; p < PATHS; p++) {
        char dir[32], name[32];

        strcpy(dir, paths[p].dir);
        strcpy(name, paths[p].name);
        UNIT_HOT(evzk__watch_find(&t->table, dir, name) == first_on(t, p));
        distinct += count_on(t, p) > 0;
    }
    UNIT_HOT(t->table.paths == distinct);
    for (size_t i = 0; i < WATCHES; i++) {
        UNIT_HOT(t->e[i].w.listed == t->e[i].listed);
        UNIT_HOT(t->e[i].w.armed == t->e[i].armed);
    }
}

static void add(struct world *t, size_t i, size_t path)
{
    struct entry *e = &t->e[i];

    strcpy(e->dir, paths[path].dir);
    strcpy(e->name, paths[path].name);
    evzk__watch_add(&t->table, &e->w, e->dir, e->name);
    e->path = path;
    e->listed = true;
    e->armed = false;
}

static void take_out(struct world *t, size_t i)
{
    struct entry *e = &t->e[i];
    bool unused = e->listed && e->armed && count_on(t, e->path) == 1;

    UNIT_HOT(evzk__watch_remove(&t->table, &e->w) == unused);
    e->listed = e->armed = false;
}

static void arm(struct world *t, size_t i)
{
    if (t->e[i].listed)
        t->e[i].w.armed = t->e[i].armed = true;
}

static void act(struct world *t, struct unit_rng *rng)
{
    size_t i = (size_t)unit_upto(rng, WATCHES - 1);

    switch (unit_upto(rng, 4)) {
    case 0:
    case 1:
        if (!t->e[i].listed)
            add(t, i, (size_t)unit_upto(rng, PATHS - 1));
        break;
    case 2:
        take_out(t, i); /* Listed or not. */
        break;
    default:
        arm(t, i);
        break;
    }
}

START_TEST(test_random)
{
    struct unit_rng rng = unit_seeded("watch");
    static struct world t;

    for (int round = 0; round < 50; round++) {
        set_up(&t);
        for (int n = 0; n < 400; n++) {
            act(&t, &rng);
            check(&t);
        }
        for (size_t i = 0; i < WATCHES; i++) {
            take_out(&t, i);
            check(&t);
        }
        ck_assert(RB_EMPTY(&t.table.tree));
        ck_assert_uint_eq(t.table.paths, 0);
    }
}
END_TEST

START_TEST(test_empty)
{
    struct world t;

    set_up(&t);
    ck_assert_ptr_null(evzk__watch_find(&t.table, "/a", "x"));
    ck_assert(!evzk__watch_remove(&t.table, &t.e[0].w));
    ck_assert_uint_eq(t.table.paths, 0);
}
END_TEST

/* Found, and taken out, in the order of the owners' ages: each one once. */
START_TEST(test_one_path)
{
    static struct world t;
    struct evzk__watch *w;
    uint32_t serial = 0, n = 0;

    set_up(&t);
    for (size_t i = 0; i < WATCHES; i++) {
        add(&t, (i * 17) % WATCHES, 0);
        ck_assert_uint_eq(t.table.paths, 1);
    }
    while ((w = evzk__watch_find(&t.table, "/a", "x")) != NULL) {
        ck_assert_uint_ge(w->serial, serial);
        ck_assert_uint_eq(w->which, n % 2); /* Own before pred. */
        serial = w->serial;
        evzk__watch_remove(&t.table, w);
        n++;
    }
    ck_assert_uint_eq(n, WATCHES);
    ck_assert_uint_eq(t.table.paths, 0);
}
END_TEST

/* The server's watch is to be taken off when the last user goes, and only if
 * that one's was acknowledged. */
START_TEST(test_last_user)
{
    struct world t;

    set_up(&t);
    for (size_t i = 0; i < 3; i++) {
        add(&t, i, 3);
        arm(&t, i);
    }
    add(&t, 3, 4); /* The same hash, but another path. */
    ck_assert(!evzk__watch_remove(&t.table, &t.e[1].w));
    ck_assert(!evzk__watch_remove(&t.table, &t.e[0].w));
    ck_assert(!evzk__watch_remove(&t.table, &t.e[0].w));
    ck_assert(evzk__watch_remove(&t.table, &t.e[2].w));
    ck_assert(!evzk__watch_remove(&t.table, &t.e[2].w));
    ck_assert(!evzk__watch_remove(&t.table, &t.e[3].w)); /* Not armed. */
}
END_TEST

/* A watch that is entered again is not armed. */
START_TEST(test_again)
{
    struct world t;

    set_up(&t);
    add(&t, 0, 0);
    arm(&t, 0);
    take_out(&t, 0);
    add(&t, 0, 1);
    check(&t);
    ck_assert(!t.e[0].w.armed);
    ck_assert(!evzk__watch_remove(&t.table, &t.e[0].w));
}
END_TEST

UNIT_MAIN("watch", test_random, test_empty, test_one_path, test_last_user,
          test_again)
