/* Directories, each once, and many contenders in one. */
#include "unit_dir.h"

#include "evzk/session.h"

enum { PATHS = 12, PIECES = 3 };

/* Each path, cut into a chroot and what is below it. */
static const char *const pieces[PATHS][PIECES][2] = {
    {{"/a", ""}, {"", "/a"}, {"/", "a"}},
    {{"/a/b", ""}, {"", "/a/b"}, {"/a", "/b"}},
    {{"/a/bb", ""}, {"/a/b", "b"}, {"/a", "/bb"}},
    {{"/a/b/c", ""}, {"/a/b", "/c"}, {"/a", "/b/c"}},
    {{"/ab", ""}, {"/a", "b"}, {"", "/ab"}},
    {{"/b", ""}, {"", "/b"}, {"/", "b"}},
    {{"/", ""}, {"", "/"}, {"/", ""}},
    {{"/B", ""}, {"", "/B"}, {"/", "B"}},
    {{"/a.", ""}, {"/a", "."}, {"", "/a."}},
    {{"/a/", ""}, {"/a", "/"}, {"/", "a/"}},
    {{"/k\xc3\xb6nig", ""}, {"/k\xc3", "\xb6nig"}, {"/", "k\xc3\xb6nig"}},
    {{"/a/b/c/d", ""}, {"/a/b", "/c/d"}, {"/a/b/c", "/d"}},
};

static const char *path_of(size_t path) { return pieces[path][0][0]; }

struct tree {
    struct evzk__core s;
    struct evzk__dir *d[PATHS];
    unsigned refs[PATHS];
    bool idle[PATHS];
};

static size_t count_dirs(const struct evzk__dir *d)
{
    return d ? 1 + count_dirs(RB_LEFT(d, node)) + count_dirs(RB_RIGHT(d, node))
             : 0;
}

static void check_tree(struct tree *t)
{
    struct evzk__dir *d;
    size_t there = 0, idle = 0, n = 0;

    for (size_t i = 0; i < PATHS; i++) {
        UNIT_HOT(evzk__dir_find(&t->s, path_of(i)) == t->d[i]);
        if (!t->d[i])
            continue;
        UNIT_HOT(strcmp(t->d[i]->path, path_of(i)) == 0);
        UNIT_HOT(t->d[i]->refs == t->refs[i]);
        UNIT_HOT(t->d[i]->idling == t->idle[i]);
        there++;
        idle += t->idle[i];
    }
    UNIT_HOT(count_dirs(RB_ROOT(&t->s.dirs)) == there);
    TAILQ_FOREACH(d, &t->s.idle, idle) n++;
    UNIT_HOT(n == idle);
}

static void get(struct tree *t, size_t i, size_t cut)
{
    const char *const *piece = pieces[i][cut];
    struct evzk__dir *d = evzk__dir_get(&t->s, piece[0], piece[1]);

    UNIT_HOT(d && (!t->d[i] || t->d[i] == d));
    if (t->refs[i] == 0)
        UNIT_HOT(!evzk__dir_busy(d) && !d->listing); /* Idle, or new. */
    if (!t->d[i])
        UNIT_HOT(!d->check_empty && !d->exists && !d->missing);
    t->d[i] = d;
    t->idle[i] = false;
    t->refs[i]++;
}

static void put(struct tree *t, size_t i)
{
    bool worth = t->d[i]->check_empty || t->d[i]->exists;
    bool stays = worth && t->s.phase == EVZK__RUNNING;

    evzk__dir_put(&t->s, t->d[i]);
    if (--t->refs[i] > 0)
        return;
    t->idle[i] = stays;
    if (!stays)
        t->d[i] = NULL;
}

static void act_on_tree(struct tree *t, struct unit_rng *rng)
{
    size_t i = (size_t)unit_upto(rng, PATHS - 1);

    switch (unit_upto(rng, 6)) {
    case 0:
    case 1:
    case 2:
        get(t, i, (size_t)unit_upto(rng, PIECES - 1));
        break;
    case 3:
    case 4:
    case 5:
        if (t->refs[i] > 0)
            put(t, i);
        break;
    default:
        if (t->refs[i] > 0) { /* The directory's state is kept for a while. */
            t->d[i]->check_empty = unit_upto(rng, 1);
            t->d[i]->exists = unit_upto(rng, 1);
        }
        break;
    }
}

START_TEST(test_dirs_random)
{
    struct unit_rng rng = unit_seeded("dirs");
    static struct tree t;

    for (int round = 0; round < 50; round++) {
        memset(&t, 0, sizeof t);
        unit_open(&t.s);
        for (int n = 0; n < 500; n++) {
            t.s.phase = n > 450 ? EVZK__DRAINING : EVZK__RUNNING;
            act_on_tree(&t, &rng);
            check_tree(&t);
        }
        for (size_t i = 0; i < PATHS; i++) {
            while (t.refs[i] > 0)
                put(&t, i);
        }
        check_tree(&t);
        evzk__idle_dirs_clear(&t.s);
        ck_assert(RB_EMPTY(&t.s.dirs) && TAILQ_EMPTY(&t.s.idle));
    }
}
END_TEST

/* As long as paths may be: a chroot of 4096 bytes, and as much below it. */
START_TEST(test_dirs_longest)
{
    static struct evzk__core s;
    static char half[4097], whole[8193];
    struct evzk__dir *d;

    unit_open(&s);
    memset(half, 'x', sizeof half - 1);
    half[0] = '/';
    snprintf(whole, sizeof whole, "%s%s", half, half);
    d = evzk__dir_get(&s, half, half);
    ck_assert_str_eq(d->path, whole);
    ck_assert_ptr_eq(evzk__dir_get(&s, "", whole), d);
    ck_assert_uint_eq(d->refs, 2);
    evzk__dir_put(&s, d);
    evzk__dir_put(&s, d);
    ck_assert_ptr_null(evzk__dir_find(&s, whole));
}
END_TEST

static void *no_memory(size_t size)
{
    (void)size;
    return NULL;
}

START_TEST(test_dirs_no_memory)
{
    static struct evzk__core s;
    struct evzk__dir *d;

    unit_open(&s);
    d = evzk__dir_get(&s, "/a", "/b");
    evzk_set_allocator(no_memory, NULL, NULL);
    ck_assert_ptr_null(evzk__dir_get(&s, "/a", "/c"));
    ck_assert_ptr_null(evzk__dir_find(&s, "/a/c"));
    ck_assert_ptr_eq(evzk__dir_get(&s, "/a/b", ""),
                     d); /* The directory is there. */
    evzk_set_allocator(NULL, NULL, NULL);
    evzk__dir_put(&s, d);
    evzk__dir_put(&s, d);
    ck_assert(RB_EMPTY(&s.dirs));
}
END_TEST

/* Many contenders. */

enum { MANY = 10000 };

struct crowd {
    struct evzk__core s;
    struct evzk__dir *d;
    struct evzk__machine m[MANY];
    char own[MANY][32], pred[MANY][32];
    size_t order[MANY];
};

/* Ours are odd, and each has one of another session before it. */
static void gather(struct crowd *t, struct unit_rng *rng)
{
    memset(t, 0, sizeof *t);
    unit_open(&t->s);
    t->d = evzk__dir_get(&t->s, "/many", "");
    for (size_t i = 0; i < MANY; i++) {
        size_t j = (size_t)unit_upto(rng, (int64_t)i);

        t->order[i] = t->order[j];
        t->order[j] = i;
        snprintf(t->own[i], sizeof t->own[i], "x-lock-%010zu", 2 * i + 1);
        snprintf(t->pred[i], sizeof t->pred[i], "f-lock-%010zu", 2 * i);
        unit_machine(&t->m[i], &t->s, t->d);
    }
}

static void enter_all(struct crowd *t)
{
    for (size_t n = 0; n < MANY; n++) {
        size_t i = t->order[n];

        evzk__queue_enter(&t->m[i].place, t->own[i], (int32_t)(2 * i + 1));
        evzk__watch_add(&t->m[i].place, &t->m[i].place.own_watch, t->own[i]);
        evzk__watch_add(&t->m[i].place, &t->m[i].place.pred_watch, t->pred[i]);
    }
}

static void fire_all(struct crowd *t)
{
    for (size_t n = 0; n < MANY; n++) {
        size_t i = t->order[n];
        struct evzk__machine *m = &t->m[i];

        UNIT_HOT(evzk__watch_find(&t->s, t->d, t->pred[i], EVZK__PRED));
        evzk__watch_fired(&t->s, t->d, t->pred[i], EVZK__DELETED);
        UNIT_HOT(m->place.news == EVZK__NEWS_DELETED << 1);
        evzk__watch_fired(&t->s, t->d, t->own[i], EVZK__CHANGED);
        UNIT_HOT(m->place.news ==
                 (EVZK__NEWS_DELETED << 1 | EVZK__NEWS_CHANGED));
        UNIT_HOT(t->d->remote == MANY - n - 1);
    }
}

static void leave_all(struct crowd *t)
{
    for (size_t i = 0; i < MANY; i++) {
        evzk__queue_follow(&t->m[i].place, evzk__queue_before(&t->m[i].place));
        evzk__queue_seen(&t->m[i].place);
    }
    t->m[0].place.rank = EVZK__LEADS;
    for (size_t i = 0; i < MANY; i++) {
        UNIT_HOT(t->m[i].place.rank == EVZK__LEADS && !t->m[i].place.before);
        t->m[i].place.news &= (uint8_t)~EVZK__NEWS_BEFORE; /* Has looked. */
        evzk__queue_hand_over(&t->m[i].place);
        evzk__queue_remove(&t->m[i].place);
    }
}

START_TEST(test_many)
{
    struct unit_rng rng = unit_seeded("many");
    static struct crowd t;

    gather(&t, &rng);
    enter_all(&t);
    ck_assert_uint_eq(t.s.watches, 2 * MANY);
    for (size_t i = 0; i < MANY; i++) {
        UNIT_HOT(evzk__queue_find(t.d, t.own[i]) == &t.m[i].place);
        UNIT_HOT(!evzk__queue_find(t.d, t.pred[i]));
        UNIT_HOT(evzk__queue_before(&t.m[i].place) ==
                 (i ? &t.m[i - 1].place : NULL));
        UNIT_HOT(!evzk__queue_lone(t.d, t.own[i]));
    }
    fire_all(&t);
    leave_all(&t);
    ck_assert(!evzk__dir_busy(t.d));
    ck_assert_uint_eq(t.s.watches, 0);
    evzk__dir_put(&t.s, t.d);
}
END_TEST

UNIT_MAIN("dir", test_dirs_random, test_dirs_longest, test_dirs_no_memory,
          test_many)
