/* The names beside a file of Chubby's interface, and sequencers as texts: what
 * is written is read again, and what another program wrote is read with
 * distrust. */
#include "unit.h"

#include <string.h>

#include "lib/base/mem.h"
#include "recipes/chubby/chubby_internal.h"
#include "recipes/lock/lock_internal.h"

static const char guid[] = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";

static const char *const kinds[] = {"-write-", "-read-", "-lock-"};

static const int32_t numbers[] = {INT32_MIN, -1000000000, -7, 0, 7, INT32_MAX};

static const uint32_t delays[] = {0,     1,     999,
                                  59999, 60000, EVZK_CHUBBY_DELAY_MAX_MS};

static void print_node(char out[EVZK__NAME_MAX], const char *prefix,
                       const char *kind, int32_t seq)
{
    int n = snprintf(out, EVZK__NAME_MAX, "%s%s%010" PRId32, prefix, kind, seq);

    UNIT_HOT(n > 0 && n < EVZK__NAME_MAX);
}

static bool is_contender(const char *name)
{
    struct evzk__contender c;

    return evzk__contender_parse(name, evzk__lock_marks, &c);
}

/* ---- Reserved names, and anchors. ---- */

START_TEST(names_of_files)
{
    static const char *const reserved[] = {
        ".evzk", "x.evzk", "x.evzk.evzk", "..evzk",
        "3f2504e0-4f89-41d3-9a0c-0305e82c3301-receipt"};
    static const char *const free[] = {
        "",
        "x",
        "evzk",
        ".evz",
        "x.evzk.x",
        "x.EVZK",
        "receipt",
        "-receipt",
        "x-receipt",
        "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
        "3f2504e0-4f89-41d3-9a0c-0305e82c3301-file"};

    for (size_t i = 0; i < UNIT_COUNT(reserved); i++)
        ck_assert_msg(evzk__chubby_reserved(reserved[i]), "%s", reserved[i]);
    for (size_t i = 0; i < UNIT_COUNT(free); i++)
        ck_assert_msg(!evzk__chubby_reserved(free[i]), "%s", free[i]);
}
END_TEST

START_TEST(anchors)
{
    static const char *const bad[] = {
        "",
        "-file",
        "x-file",
        "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
        "3f2504e0-4f89-41d3-9a0c-0305e82c3301-files",
        "3f2504e0-4f89-41d3-9a0c-0305e82c3301-receipt",
        "x3f2504e0-4f89-41d3-9a0c-0305e82c3301-file",
        "3f2504e0-4f89-41d3-9a0c-0305e82c3301-write-0000000007"};
    char name[EVZK__NAME_MAX];

    ck_assert_int_eq(evzk__guid(name), EVZK_OK);
    strcat(name, EVZK__CHUBBY_ANCHOR);
    ck_assert(evzk__chubby_is_anchor(name));
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        ck_assert_msg(!evzk__chubby_is_anchor(bad[i]), "%s", bad[i]);
}
END_TEST

/* ---- Marks. ---- */

START_TEST(marks)
{
    char node[EVZK__NAME_MAX], mark[EVZK__CHUBBY_MARK_MAX];
    struct evzk__delay d;

    for (size_t k = 0; k < UNIT_COUNT(kinds); k++) {
        for (size_t s = 0; s < UNIT_COUNT(numbers); s++) {
            for (size_t i = 0; i < UNIT_COUNT(delays); i++) {
                print_node(node, guid, kinds[k], numbers[s]);
                evzk__chubby_mark(mark, node, delays[i]);
                memset(&d, 0x5a, sizeof d);
                UNIT_HOT(evzk__chubby_mark_parse(mark, &d));
                UNIT_HOT(strcmp(d.node, node) == 0);
                UNIT_HOT(d.ms == delays[i]);
                UNIT_HOT(d.shared == (k == 1));
                UNIT_HOT(!is_contender(mark) && !evzk__chubby_is_anchor(mark) &&
                         !evzk__chubby_reserved(mark));
            }
        }
    }
}
END_TEST

/* The longest name of a contender has a mark. */
START_TEST(longest_mark)
{
    char prefix[EVZK__NAME_MAX] = "", node[EVZK__NAME_MAX];
    char mark[EVZK__CHUBBY_MARK_MAX];
    struct evzk__delay d;

    memset(prefix, 'x', EVZK__NAME_MAX - 1 - strlen("-write--000000007"));
    print_node(node, prefix, "-write-", -7);
    ck_assert_uint_eq(strlen(node), EVZK__NAME_MAX - 1);
    evzk__chubby_mark(mark, node, UINT32_MAX);
    ck_assert(evzk__chubby_mark_parse(mark, &d));
    ck_assert_str_eq(d.node, node);
    ck_assert_uint_eq(d.ms, EVZK_CHUBBY_DELAY_MAX_MS); /* No longer. */
}
END_TEST

#define NODE "x-write-0000000007"

START_TEST(names_that_are_no_marks)
{
    static const char *const bad[] = {"",
                                      "-delay",
                                      "7-delay",
                                      "-7-delay",
                                      NODE,
                                      NODE "-delay",
                                      NODE "--delay",
                                      NODE "--7-delay",
                                      NODE "-+7-delay",
                                      NODE "- 7-delay",
                                      NODE "-7 -delay",
                                      NODE "-7x-delay",
                                      NODE "-0x7-delay",
                                      NODE "-7-delays",
                                      NODE "-7-Delay",
                                      NODE "-7-",
                                      NODE "7-delay",
                                      NODE "-7-7-delay",
                                      "x-write-7-7-delay",
                                      "x-write-wait-0000000007-7-delay",
                                      "x-read-wait-0000000007-7-delay",
                                      "x-other-0000000007-7-delay",
                                      "-write-0000000007-7-delay"};
    static char too_long[2 * EVZK__CHUBBY_MARK_MAX];
    struct evzk__delay d;

    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        ck_assert_msg(!evzk__chubby_mark_parse(bad[i], &d), "%s", bad[i]);
    for (size_t n = 1; n < EVZK__CHUBBY_MARK_MAX; n++) {
        memset(too_long, 'x', n);
        strcpy(too_long + n, "-write-0000000007-7-delay");
        UNIT_HOT(evzk__chubby_mark_parse(too_long, &d) ==
                 (n + strlen("-write-0000000007") < EVZK__NAME_MAX));
        memset(too_long, '9', n);
        strcpy(stpcpy(too_long, NODE "-") + n, "-delay");
        memset(too_long + strlen(NODE "-"), '9', n);
        UNIT_HOT(evzk__chubby_mark_parse(too_long, &d) ==
                 (strlen(too_long) < EVZK__CHUBBY_MARK_MAX));
    }
}
END_TEST

/* ---- Sequencers. ---- */

/* The text of what was parsed is the text that was given. */
static void is_same_text(const struct evzk__sequencer *q, const char *text)
{
    static char again[2 * EVZK__PATH_MAX];

    UNIT_HOT(evzk__sequencer_print(again, sizeof again, q->dir, q->node,
                                   (uint64_t)q->czxid, q->shared));
    ck_assert_msg(strcmp(again, text) == 0, "%s from %s", again, text);
}

START_TEST(sequencers)
{
    static const char *const dirs[] = {"/a.evzk", "/a/b.evzk", "/a b/c:w.evzk",
                                       "/x.evzk/y.evzk", "/:/:.evzk"};
    static const uint64_t czxids[] = {1, 0xff, 0x123456789abcdef, INT64_MAX};
    char node[EVZK__NAME_MAX], text[EVZK_CHUBBY_SEQUENCER_MAX];
    struct evzk__sequencer q;

    for (size_t i = 0; i < 2 * UNIT_COUNT(dirs) * UNIT_COUNT(czxids); i++) {
        const char *dir = dirs[i / 2 % UNIT_COUNT(dirs)];
        uint64_t czxid = czxids[i / 2 / UNIT_COUNT(dirs)];

        print_node(node, guid, kinds[i % 2], numbers[i % UNIT_COUNT(numbers)]);
        ck_assert(evzk__sequencer_print(text, sizeof text, dir, node, czxid,
                                        i % 2 == 1));
        ck_assert_int_eq(evzk__sequencer_parse(&q, text), EVZK_OK);
        ck_assert_str_eq(q.dir, dir);
        ck_assert_str_eq(q.node, node);
        ck_assert_int_eq(q.czxid, (int64_t)czxid);
        ck_assert_int_eq(q.shared, i % 2);
        is_same_text(&q, text);
        evzk__sequencer_clear(&q);
        evzk__sequencer_clear(&q); /* Does no harm. */
        ck_assert_ptr_null(q.dir);
    }
}
END_TEST

/* With one byte less there is no room, and nothing is written behind the end.
 */
START_TEST(room_for_a_sequencer)
{
    static const char whole[] = "/a.evzk/" NODE ":00000000000000ff:w";
    char text[sizeof whole + 8];

    for (size_t size = 0; size <= sizeof whole; size++) {
        memset(text, 0x5a, sizeof text);
        ck_assert_int_eq(
            evzk__sequencer_print(text, size, "/a.evzk", NODE, 0xff, false),
            size == sizeof whole);
        for (size_t i = size; i < sizeof text; i++)
            UNIT_HOT(text[i] == 0x5a);
    }
    ck_assert_str_eq(
        (evzk__sequencer_print(text, sizeof text, "/a.evzk", NODE, 0xff, false),
         text),
        whole);
}
END_TEST

/* What a handle can have for a path gives a text that is read again. */
START_TEST(longest_path)
{
    static char dir[EVZK__PATH_MAX], text[2 * EVZK__PATH_MAX];
    size_t len = EVZK__PATH_MAX - EVZK__CHUBBY_MARK_MAX - 1;
    struct evzk__sequencer q;

    memset(dir, 'x', len);
    dir[0] = '/';
    strcpy(dir + len - strlen(EVZK__CHUBBY_SIDE), EVZK__CHUBBY_SIDE);
    ck_assert(evzk__sequencer_print(text, sizeof text, dir, NODE, 1, false));
    ck_assert_int_eq(evzk__sequencer_parse(&q, text), EVZK_OK);
    evzk__sequencer_clear(&q);
}
END_TEST

/* ---- Corruption. ---- */

static const char bytes[] = "/:-.evzkrw0fF09delay \n\x7f\xc3";

/* Changes, deletes, inserts, doubles or cuts something. */
static void corrupt(struct unit_rng *r, char *text, size_t room)
{
    size_t n = strlen(text), at = (size_t)unit_upto(r, (int64_t)n);
    char c = bytes[unit_upto(r, sizeof bytes - 2)];

    switch (unit_upto(r, 4)) {
    case 0:
        if (at < n)
            text[at] = c;
        break;
    case 1:
        if (at < n)
            memmove(text + at, text + at + 1, n - at);
        break;
    case 2:
        if (n + 2 <= room) {
            memmove(text + at + 1, text + at, n - at + 1);
            text[at] = c;
        }
        break;
    case 3:
        if (n + (n - at) + 1 <= room)
            memmove(text + n, text + at, n - at + 1);
        break;
    default:
        text[at] = '\0';
    }
}

static void check_sequencer_text(const char *text)
{
    struct evzk__sequencer q;
    int rc = evzk__sequencer_parse(&q, text);

    UNIT_HOT(rc == EVZK_OK || rc == EVZK_ERR_INVAL);
    UNIT_HOT((rc == EVZK_OK) == (q.dir != NULL));
    if (rc != EVZK_OK)
        return;
    UNIT_HOT(q.czxid > 0);
    UNIT_HOT(evzk__path_ok(q.dir) && is_contender(q.node));
    UNIT_HOT(evzk__chubby_reserved(strrchr(q.dir, '/') + 1));
    is_same_text(&q, text);
    evzk__sequencer_clear(&q);
}

START_TEST(corrupted_sequencers)
{
    struct unit_rng r = unit_seeded("sequencers");
    char text[1024], node[EVZK__NAME_MAX];

    for (int round = 0; round < unit_rounds(30000); round++) {
        bool shared = unit_upto(&r, 1);

        print_node(node, unit_upto(&r, 1) ? guid : "x", kinds[shared],
                   numbers[unit_upto(&r, UNIT_COUNT(numbers) - 1)]);
        evzk__sequencer_print(text, sizeof text,
                              unit_upto(&r, 1) ? "/a/b.evzk" : "/w:r.evzk",
                              node, unit_next(&r) >> unit_upto(&r, 63), shared);
        for (int64_t n = unit_upto(&r, 3); n >= 0; n--) {
            check_sequencer_text(text);
            corrupt(&r, text, sizeof text);
        }
        check_sequencer_text(text);
    }
}
END_TEST

/* A name is at most one of all that there is beside a file. */
static void check_name(const char *name)
{
    struct evzk__delay d;
    bool mark = evzk__chubby_mark_parse(name, &d);
    size_t n;

    UNIT_HOT(mark + is_contender(name) + evzk__chubby_is_anchor(name) +
                 evzk__chubby_reserved(name) <=
             1);
    if (!mark)
        return;
    n = strlen(d.node);
    UNIT_HOT(d.ms <= EVZK_CHUBBY_DELAY_MAX_MS && is_contender(d.node));
    UNIT_HOT(strncmp(name, d.node, n) == 0 && name[n] == '-');
    UNIT_HOT(strcmp(name + n + 1 + strspn(name + n + 1, "0123456789"),
                    "-delay") == 0);
}

START_TEST(corrupted_names)
{
    struct unit_rng r = unit_seeded("names");
    char name[1024], node[EVZK__NAME_MAX], mark[EVZK__CHUBBY_MARK_MAX];

    for (int round = 0; round < unit_rounds(30000); round++) {
        print_node(node, unit_upto(&r, 1) ? guid : "x",
                   kinds[unit_upto(&r, UNIT_COUNT(kinds) - 1)],
                   numbers[unit_upto(&r, UNIT_COUNT(numbers) - 1)]);
        evzk__chubby_mark(mark, node, (uint32_t)unit_next(&r) >> 12);
        strcpy(name, unit_upto(&r, 3) ? mark : node);
        if (unit_upto(&r, 7) == 0)
            strcpy(stpcpy(name, guid), EVZK__CHUBBY_ANCHOR);
        for (int64_t n = unit_upto(&r, 3); n >= 0; n--) {
            check_name(name);
            corrupt(&r, name, sizeof name);
        }
        check_name(name);
    }
}
END_TEST

/* ---- The front of the queue. ---- */

enum { MOST = 12 };

/* As recipes/lock says: nobody before this one that is in its way. */
static bool is_first_naively(const struct evzk__names *names, const char *node)
{
    struct evzk__contender own, other;
    bool found = false;

    UNIT_HOT(evzk__contender_parse(node, evzk__lock_marks, &own));
    for (size_t i = 0; i < names->n; i++) {
        if (strcmp(names->v[i], node) == 0)
            found = true;
        else if (evzk__contender_parse(names->v[i], evzk__lock_marks, &other) &&
                 evzk__contender_before(&other, &own) &&
                 evzk__contender_bars(&other, &own))
            return false;
    }
    return found;
}

static void draw_name(struct unit_rng *r, char out[EVZK__CHUBBY_MARK_MAX],
                      int32_t seq)
{
    char node[EVZK__NAME_MAX];

    print_node(node, guid, kinds[unit_upto(r, UNIT_COUNT(kinds) - 1)], seq);
    switch (unit_upto(r, 7)) {
    case 0:
        evzk__chubby_mark(out, node, 7);
        break;
    case 1:
        strcpy(stpcpy(out, guid), EVZK__CHUBBY_ANCHOR);
        break;
    default:
        strcpy(out, node);
    }
}

START_TEST(front_of_the_queue)
{
    struct unit_rng r = unit_seeded("queue");
    char name[MOST][EVZK__CHUBBY_MARK_MAX], *v[MOST];
    struct evzk__names names = {.v = v};
    int firsts = 0, others = 0;

    for (int round = 0; round < unit_rounds(20000); round++) {
        int32_t seq = numbers[unit_upto(&r, UNIT_COUNT(numbers) - 1)];
        size_t own;

        names.n = 1 + (size_t)unit_upto(&r, MOST - 1);
        for (size_t i = 0; i < names.n; i++) {
            draw_name(&r, name[i], (int32_t)((uint32_t)seq + (uint32_t)i));
            v[i] = name[i];
        }
        for (size_t i = names.n; i > 1; i--) { /* In any order. */
            size_t j = (size_t)unit_upto(&r, (int64_t)i - 1);
            char *other = v[j];

            v[j] = v[i - 1];
            v[i - 1] = other;
        }
        own = (size_t)unit_upto(&r, (int64_t)names.n - 1);
        if (!is_contender(name[own]))
            continue;
        UNIT_HOT(evzk__sequencer_is_first(&names, name[own]) ==
                 is_first_naively(&names, name[own]));
        if (evzk__sequencer_is_first(&names, name[own]))
            firsts++;
        else
            others++;
        names.n--; /* The last one may be the same. */
        UNIT_HOT(evzk__sequencer_is_first(&names, name[own]) ==
                 is_first_naively(&names, name[own]));
    }
    ck_assert_int_gt(firsts, 100);
    ck_assert_int_gt(others, 100);
}
END_TEST

UNIT_MAIN("chubby names", names_of_files, anchors, marks, longest_mark,
          names_that_are_no_marks, sequencers, room_for_a_sequencer,
          longest_path, corrupted_sequencers, corrupted_names,
          front_of_the_queue)
