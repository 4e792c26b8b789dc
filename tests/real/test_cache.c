/*
 * A cache of many znodes on a real server: the whole view, then a thousand
 * changes at random while connections are cut; what one change costs; what the
 * names of many children take.
 *
 * EVZK_TEST_NODES says how many znodes: with CK_RUN_CASE=many and 100000 of
 * them (they take a minute to be made) the view is whole in less than 5 s on a
 * machine that does nothing else.
 */
#define _GNU_SOURCE 1
#include <time.h>

#include "test_lock.h"
#include "tests/real/support/memory_use.h"

enum { NODES = 2000, CHANGES = 1000, PER_DIR = 1000, CUT_EVERY = 100 };

static const char root[] = "/cache-many";

/* What the tree is, as the test made it. */
static struct {
    unsigned nodes;
    unsigned *text; /* The number in the data of a znode; 0: it is not there. */
    unsigned there, texts;
} model;

static unsigned wanted(void)
{
    return (unsigned)number_set("EVZK_TEST_NODES", fewer_if_slow(NODES));
}

static unsigned dirs(void) { return (model.nodes + PER_DIR - 1) / PER_DIR; }

/* Relative to the root. */
static const char *name_of(unsigned i)
{
    static char name[64];

    snprintf(name, sizeof name, "d%03u/n%06u", i / PER_DIR, i);
    return name;
}

static const char *path_of(unsigned i)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", root, name_of(i));
    return path;
}

static void write_node(unsigned i)
{
    char text[16];
    int len = snprintf(text, sizeof text, "%u", ++model.texts);

    if (model.text[i])
        ck_assert_int_eq(raw_set(op(), path_of(i), text, len), ZOK);
    else
        ck_assert_int_eq(raw_create(op(), path_of(i), text, len, 0, NULL, 0),
                         ZOK);
    model.there += !model.text[i];
    model.text[i] = model.texts;
}

static void delete_node(unsigned i)
{
    ck_assert_int_eq(raw_delete(op(), path_of(i)), ZOK);
    model.text[i] = 0;
    model.there--;
}

static void make_all(void)
{
    char dir[64];

    raw_delete_tree(op(), root);
    model.nodes = wanted();
    model.there = model.texts = 0;
    model.text = calloc(model.nodes, sizeof *model.text);
    for (unsigned i = 0; i < dirs(); i++) {
        snprintf(dir, sizeof dir, "%s/d%03u", root, i);
        raw_mkdirs(op(), dir);
    }
    for (unsigned i = 0; i < model.nodes; i++)
        write_node(i);
}

static void change(unsigned i)
{
    if (!model.text[i] || rand() % 3 == 0)
        write_node(i);
    else {
        delete_node(i);
        if (rand() % 2 == 0)
            write_node(i);
    }
}

/* The deltas of a cache. */
struct told {
    evzk_cache *c;
    size_t added, changed, removed;
    int ready, ended, rc;
};

static void on_cache(evzk_cache *c, evzk_cache_event event, int rc,
                     const evzk_cache_entry *entry,
                     const evzk_cache_entry *before, void *arg)
{
    struct told *t = arg;

    ck_assert((event == EVZK_CACHE_CHANGED) == (before != NULL));
    ck_assert(!before || before->mzxid < entry->mzxid);
    t->added += event == EVZK_CACHE_ADDED;
    t->changed += event == EVZK_CACHE_CHANGED;
    t->removed += event == EVZK_CACHE_REMOVED;
    t->ready += event == EVZK_CACHE_READY;
    t->ended += event == EVZK_CACHE_ENDED;
    t->rc = rc;
    if (event != EVZK_CACHE_ENDED)
        ck_assert_uint_eq(evzk_cache_count(c), t->added - t->removed);
}

static void cache_start(struct told *t, evzk_session *s,
                        const evzk_cache_options *opt)
{
    *t = (struct told){0};
    ck_assert_int_eq(evzk_cache_start(s, root, opt, on_cache, t, &t->c),
                     EVZK_OK);
}

static bool is_right(const evzk_cache *c, unsigned i)
{
    evzk_cache_entry e;
    char text[16];

    if (evzk_cache_get(c, name_of(i), &e) != EVZK_OK)
        return model.text[i] == 0;
    snprintf(text, sizeof text, "%u", model.text[i]);
    return e.len == strlen(text) && memcmp(e.data, text, e.len) == 0;
}

static bool is_tree(const evzk_cache *c)
{
    if (!evzk_cache_ready(c) || evzk_cache_count(c) != model.there + dirs() + 1)
        return false;
    for (unsigned i = 0; i < model.nodes; i++) {
        if (!is_right(c, i))
            return false;
    }
    return true;
}

/* Node by node, with what the server says. */
static void compare(const evzk_cache *c)
{
    evzk_cache_entry e;
    unsigned n = 0;

    for (bool ok = evzk_cache_first(c, &e); ok; ok = evzk_cache_next(c, &e)) {
        struct Stat stat;
        char path[256];

        if (n++ % (1 + model.nodes / 4000))
            continue;
        snprintf(path, sizeof path, "%s%s%s", root, e.path[0] ? "/" : "",
                 e.path);
        ck_assert_int_eq(raw_exists(op(), path, &stat), ZOK);
        ck_assert(e.czxid == stat.czxid && e.mzxid == stat.mzxid);
        ck_assert_int_eq(e.version, stat.version);
        ck_assert_uint_eq(e.len, (size_t)stat.dataLength);
    }
    ck_assert_uint_eq(n, evzk_cache_count(c));
}

static void change_all(struct proxy *proxy)
{
    for (unsigned k = 1; k <= CHANGES; k++) {
        change((unsigned)rand() % model.nodes);
        if (k % CUT_EVERY == 0)
            proxy_cut(proxy);
    }
}

/* A change of one znode is one read of that znode. */
static void change_one(struct told *t, evzk_session *s)
{
    evzk_session_stats before, after;

    all_answered(s);
    evzk_session_get_stats(s, &before);
    t->changed = 0;
    write_node(7);
    WAIT(t->changed == 1);
    evzk_session_get_stats(s, &after);
    ck_assert_uint_le(after.requests - before.requests, 2 + 4); /* Probes. */
}

/* What the session asks by itself meanwhile: probes, and one look at each of
 * the watched znodes in half a minute, or in three times the session's
 * time-out. */
static uint64_t besides(const evzk_session *s, size_t nodes, int64_t ms)
{
    int64_t round_ms = 3 * (int64_t)evzk_session_timeout_ms(s);

    if (round_ms > 30000)
        round_ms = 30000;
    return 20 + (nodes + 8) * (uint64_t)ms / (uint64_t)round_ms;
}

/* On a new connection each znode is read and listed once, changed or not. */
static void cut_once(struct told *t, evzk_session *s, struct proxy *proxy)
{
    evzk_session_stats before, after;
    size_t nodes = evzk_cache_count(t->c);
    int64_t begun = now_ms();
    int ready = t->ready;

    all_answered(s);
    evzk_session_get_stats(s, &before);
    proxy_cut(proxy);
    WAIT_MS(120000, t->ready > ready);
    evzk_session_get_stats(s, &after);
    ck_assert_uint_le(after.requests - before.requests,
                      2 * nodes + besides(s, nodes, now_ms() - begun));
}

START_TEST(many_changes)
{
    const evzk_cache_options opt = {.depth = EVZK_CACHE_SUBTREE};
    evzk_session_stats stats;
    struct proxy *proxy;
    struct stall *stall;
    struct peer p;
    struct told t;
    int64_t begun;
    clock_t cpu;
    size_t bytes;

    make_all();
    proxy = proxy_start(the_server());
    peer_open(&p, proxy_address(proxy));
    write_node(7); /* So that it is there for change_one(). */
    stall = stall_start(harness_base());
    bytes = memory_in_use();
    begun = now_ms();
    cpu = clock();
    cache_start(&t, p.s, &opt);
    WAIT_MS(120000, t.ready == 1);
    evzk_session_get_stats(p.s, &stats);
    printf("cache: %zu znodes in %d ms (%d of CPU), %.0f bytes each, %.2f ms "
           "in a turn, stall %.2f ms\n",
           evzk_cache_count(t.c), (int)(now_ms() - begun),
           (int)((clock() - cpu) * 1000 / CLOCKS_PER_SEC),
           (double)(memory_in_use() - bytes) / (double)evzk_cache_count(t.c),
           (double)stats.turn_max_us / 1000, stall_own_ms(stall));
    stall_stop(stall);
    ck_assert(is_tree(t.c));
    ck_assert_uint_eq(t.added, model.there + dirs() + 1);
    change_one(&t, p.s);
    cut_once(&t, p.s, proxy);
    change_all(proxy);
    WAIT_MS(120000, is_tree(t.c));
    compare(t.c);
    ck_assert_int_gt(t.ready, 1);
    ck_assert_int_eq(evzk_cache_cancel(t.c), EVZK_OK);
    WAIT(t.ended == 1);
    ck_assert_int_eq(t.rc, EVZK_ERR_CANCELED);
    ck_assert_uint_eq(evzk_cache_count(t.c), model.there + dirs() + 1);
    evzk_cache_free(t.c);
    idle(p.s);
    wait_watches(0);
    peer_close(&p);
    proxy_stop(proxy);
    raw_delete_tree(op(), root);
    free(model.text);
}
END_TEST

/* An operator ends the session. */
START_TEST(session_ends)
{
    const evzk_cache_options opt = {.depth = EVZK_CACHE_SUBTREE};
    struct peer p;
    struct told t;

    make_all();
    peer_open(&p, the_server());
    cache_start(&t, p.s, &opt);
    WAIT(t.ready == 1);
    raw_expire(the_server(), evzk_session_id(p.s));
    write_node(3);
    delete_node(5);
    WAIT(t.ready == 2 && is_tree(t.c));
    ck_assert_uint_eq(t.removed, 1);
    ck_assert_uint_eq(t.changed, 1);
    peer_close(&p);
    ck_assert_int_eq(t.ended, 1);
    ck_assert_int_eq(t.rc, EVZK_ERR_CLOSED);
    evzk_cache_free(t.c);
    raw_delete_tree(op(), root);
    free(model.text);
}
END_TEST

static void on_names(evzk_cache *c, evzk_cache_event event, int rc,
                     const evzk_cache_entry *entry,
                     const evzk_cache_entry *before, void *arg)
{
    struct told *t = arg;

    (void)c;
    ck_assert_int_eq(rc, EVZK_OK);
    ck_assert(!before && (!entry || !entry->data));
    t->added += event == EVZK_CACHE_ADDED;
    t->removed += event == EVZK_CACHE_REMOVED;
    t->ready += event == EVZK_CACHE_READY;
}

/* A single listing, whatever the number of children. */
START_TEST(names_of_many)
{
    const evzk_cache_options opt = {.names_only = true};
    struct peer p;
    struct told t = {0};
    uint64_t before;
    size_t bytes, children;
    char dir[64];

    make_all();
    peer_open(&p, the_server());
    before = requests_of(p.s);
    bytes = memory_in_use();
    snprintf(dir, sizeof dir, "%s/d000", root);
    children = model.nodes < PER_DIR ? model.nodes : PER_DIR;
    ck_assert_int_eq(evzk_cache_start(p.s, dir, &opt, on_names, &t, &t.c),
                     EVZK_OK);
    WAIT(t.ready == 1);
    ck_assert_uint_eq(t.added, children + 1);
    ck_assert_uint_le(requests_of(p.s) - before, 4 + 4);
    printf("cache: %.0f bytes of a name\n",
           (double)(memory_in_use() - bytes) / (double)children);
    delete_node(3);
    WAIT(t.removed == 1);
    write_node(3);
    WAIT(t.added == children + 2);
    evzk_cache_free(t.c);
    idle(p.s);
    peer_close(&p);
    raw_delete_tree(op(), root);
    free(model.text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cache");
    TCase *many = lock_tests(suite, "many", 600000);
    TCase *others = lock_tests(suite, "others", 600000);

    srand(1);
    tcase_add_test(many, many_changes);
    tcase_add_test(others, session_ends);
    tcase_add_test(others, names_of_many);
    return lock_suite_run(suite);
}
