/* The order of contenders: what a name says, which contender comes before
 * which, in the queue and in the priority wait, and the answers from a listing,
 * against a naive model.
 */
#include "unit.h"

#include <string.h>

#include "lib/base/foreign.h"
#include "lib/base/order.h"
#include "recipes/lock/lock_internal.h"

static const char guid[] = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";

/* The kinds of contenders, as the model knows them. */
enum kind { LOCK, WRITE, READ, WRITE_WAIT, READ_WAIT, KINDS };

static const struct {
    const char *mark;
    bool shares, moves, waits;
} kinds[KINDS] = {{"-lock-", false, false, false},
                  {"-write-", false, true, false},
                  {"-read-", true, false, false},
                  {"-write-wait-", false, false, true},
                  {"-read-wait-", true, false, true}};

static const int32_t numbers[] = {INT32_MIN,   INT32_MIN + 1,
                                  -2000000000, -1000000000,
                                  -999999999,  -1073741824,
                                  -10,         -1,
                                  0,           1,
                                  12,          1073741823,
                                  1073741824,  999999999,
                                  1000000000,  INT32_MAX - 1,
                                  INT32_MAX};

static bool parse(const char *name, struct evzk__contender *c)
{
    memset(c, 0x5a, sizeof *c);
    return evzk__contender_parse(name, evzk__lock_marks, c);
}

static int32_t wrapped(int64_t value) { return (int32_t)(uint32_t)value; }

/* ---- What a name says ---- */

static void check_flags(const struct evzk__contender *c, enum kind kind)
{
    ck_assert(!(c->flags & EVZK__SHARES) == !kinds[kind].shares);
    ck_assert(!(c->flags & EVZK__MOVES) == !kinds[kind].moves);
    ck_assert(!(c->flags & EVZK__WAITS) == !kinds[kind].waits);
}

START_TEST(test_marks)
{
    static const char *const prefixes[] = {"x", guid, "x-write-read", "-"};
    struct evzk__contender c;
    char name[128];

    for (int k = 0; k < KINDS; k++) {
        for (size_t i = 0; i < UNIT_COUNT(numbers); i++) {
            for (size_t j = 0; j < UNIT_COUNT(prefixes); j++) {
                snprintf(name, sizeof name, "%s%s%010" PRId32, prefixes[j],
                         kinds[k].mark, numbers[i]);
                ck_assert_msg(parse(name, &c), "refused: %s", name);
                ck_assert_ptr_eq(c.name, name);
                ck_assert_int_eq(c.seq, numbers[i]);
                ck_assert_uint_eq(c.priority, 0);
                ck_assert_int_eq(c.handicap, 0);
                check_flags(&c, (enum kind)k);
            }
        }
    }
}
END_TEST

START_TEST(test_no_marks)
{
    static const char *const bad[] = {
        "",
        "config",
        "x-wait-0000000001",
        "x-lock-wait-0000000001",
        "x-write--wait-0000000001",
        "x-write-wait0000000001",
        "x-writewait-0000000001",
        "x-write-wait-",
        "x-write-wait-1",
        "x-write-wait-00000000001",
        "x-write-wait-2147483648",
        "x-read-wait-0000000001x",
        "x-read-0000000001-wait",
        "x-READ-0000000001",
        "x-read 0000000001",
        "-read-0000000001", /* Nothing before the mark. */
        "-write-wait-0000000001",
        "read-wait-0000000001",
        "x-p5a0-0000000001",
        "x-read-0000000001-p5a0",
    };
    struct evzk__contender c;

    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        ck_assert_msg(!parse(bad[i], &c), "accepted: %s", bad[i]);
}
END_TEST

static void expect_priority(const char *name, enum kind kind, uint8_t priority,
                            int64_t handicap)
{
    struct evzk__contender c;

    ck_assert_msg(parse(name, &c), "refused: %s", name);
    ck_assert_int_eq(c.seq, -7);
    check_flags(&c, kind);
    ck_assert_msg(c.priority == priority, "%s: %u", name, c.priority);
    ck_assert_msg(c.handicap == handicap, "%s: %" PRId64, name, c.handicap);
}

/* In the queue a priority is only known, in the priority wait it counts. */
static void try_priority(const char *text, uint8_t priority, int64_t handicap)
{
    static const char *const prefixes[] = {"x", guid, "x-p77a77", "x-y"};
    char name[128];

    for (int k = 0; k < KINDS; k++) {
        for (size_t j = 0; j < UNIT_COUNT(prefixes); j++) {
            snprintf(name, sizeof name, "%s%s%s%010d", prefixes[j], text,
                     kinds[k].mark, -7);
            expect_priority(name, (enum kind)k, priority,
                            kinds[k].waits ? handicap : 0);
        }
    }
}

START_TEST(test_priority_read)
{
    const int64_t later_than_all = INT64_C(1) << 32;

    try_priority("-p0a0", 0, 0);
    try_priority("-p0a1", 0, 0);
    try_priority("-p0a4294967295", 0, 0);
    try_priority("-p1a0", 1, later_than_all);
    try_priority("-p5a0", 5, 5 * later_than_all);
    try_priority("-p255a0", 255, 255 * later_than_all);
    try_priority("-p5a1", 5, 5);
    try_priority("-p10a20", 10, 200);
    try_priority("-p255a4294967295", 255, 255 * INT64_C(4294967295));
}
END_TEST

/* The znode is a contender's all the same, without a priority. */
START_TEST(test_priority_refused)
{
    static const char *const bad[] = {
        "-p05a0",
        "-p005a0",
        "-p00a0",
        "-p256a0",
        "-p261a0",
        "-p65541a0",
        "-p4294967301a0",
        "-p18446744073709551621a0",
        "-p5a00",
        "-p5a01",
        "-p5a4294967296",
        "-p5a4294967301",
        "-p5a18446744073709551616",
        "-p5a18446744073709551621",
        "-p+5a0",
        "-p5a+0",
        "-p-5a0",
        "-p5a-1",
        "-p-0a0",
        "-p5a-0",
        "-p 5a0",
        "-p5a 0",
        "-p5 a0",
        "-p5a0 ",
        "-p\t5a0",
        "-pa0",
        "-pa",
        "-p",
        "-p5",
        "-p5a",
        "-p0a",
        "-p5a5a5",
        "-p5a0x",
        "-p5x0",
        "-p0x5a0",
        "-p5a0x1",
        "-P5a0",
        "-p5A0",
        "-q5a0",
        "_p5a0",
        "p5a0",
        "-p5a0-",
        "-p5a0-x",
        "--5a0",
    };

    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        try_priority(bad[i], 0, 0);
}
END_TEST

/* A printed priority can be read. */
START_TEST(test_priority_printed)
{
    struct unit_rng rng = unit_seeded("priority_printed");
    struct evzk__contender c;
    char name[128];

    for (int n = 0; n < 20000; n++) {
        uint8_t priority = (uint8_t)unit_next(&rng);
        uint32_t ageing = (uint32_t)(unit_next(&rng) >> unit_upto(&rng, 63));
        char text[EVZK__PRIORITY_MAX + 1];

        text[EVZK__PRIORITY_MAX] = '~';
        evzk__priority_print(text, priority, ageing);
        UNIT_HOT(text[EVZK__PRIORITY_MAX] == '~');
        UNIT_HOT(memchr(text, '\0', EVZK__PRIORITY_MAX));
        snprintf(name, sizeof name, "%s%s-read-wait-%010d", guid, text, n);
        UNIT_HOT(parse(name, &c));
        UNIT_HOT(c.priority == priority && c.seq == n);
        UNIT_HOT(c.handicap ==
                 priority * (ageing ? (int64_t)ageing : INT64_C(1) << 32));
    }
}
END_TEST

/* Names as long as can be, and by one longer. */
START_TEST(test_long_names)
{
    static const char tail[] = "-p255a4294967295-write-wait--2147483648";
    char name[2 * EVZK__NAME_MAX];
    size_t prefix = EVZK__NAME_MAX - 1 - strlen(tail);
    struct evzk__contender c;

    memset(name, 'x', sizeof name);
    strcpy(name + prefix, tail);
    ck_assert_uint_eq(strlen(name), EVZK__NAME_MAX - 1);
    ck_assert(parse(name, &c));
    ck_assert_uint_eq(c.priority, 255);
    ck_assert_int_eq(c.handicap, 255 * INT64_C(4294967295));
    ck_assert_int_eq(c.seq, INT32_MIN);
    name[prefix] = 'x';
    strcpy(name + prefix + 1, tail);
    ck_assert(!parse(name, &c));
    memset(name, 'x', sizeof name);
    strcpy(name + sizeof name - sizeof tail, tail);
    ck_assert(!parse(name, &c));
}
END_TEST

/* The longest that the library gives itself is none of those. */
START_TEST(test_own_names_fit)
{
    char name[EVZK__NAME_MAX];
    struct evzk__contender c;

    for (int k = 0; k < KINDS; k++) {
        int n = snprintf(name, sizeof name, "%s-p255a4294967295%s%010" PRId32,
                         guid, kinds[k].mark, INT32_MIN);

        ck_assert_int_lt(n, EVZK__NAME_MAX);
        ck_assert(parse(name, &c));
        ck_assert_uint_eq(c.priority, 255);
    }
}
END_TEST

/* ---- Who bars whom ---- */

START_TEST(test_bars)
{
    for (int a = 0; a < KINDS; a++) {
        for (int b = 0; b < KINDS; b++) {
            struct evzk__contender ca, cb;
            char na[32], nb[32];

            snprintf(na, sizeof na, "a%s0000000001", kinds[a].mark);
            snprintf(nb, sizeof nb, "b%s0000000002", kinds[b].mark);
            ck_assert(parse(na, &ca) && parse(nb, &cb));
            ck_assert(evzk__contender_bars(&ca, &cb) ==
                      !(kinds[a].shares && kinds[b].shares));
        }
    }
}
END_TEST

/* ---- Who comes before whom ---- */

/* A contender, and what the model knows of it. */
struct one {
    char name[EVZK__NAME_MAX];
    enum kind kind;
    int64_t place; /* Its number, before it is wrapped. */
    int64_t key;   /* In the priority wait: the place that it counts as. */
    struct evzk__contender c;
};

static void make(struct one *o, const char *prefix, enum kind kind,
                 int64_t place, int priority, uint32_t ageing)
{
    char text[EVZK__PRIORITY_MAX] = "";

    if (priority >= 0)
        evzk__priority_print(text, (uint8_t)priority, ageing);
    snprintf(o->name, sizeof o->name, "%s%s%s%010" PRId32, prefix, text,
             kinds[kind].mark, wrapped(place));
    o->kind = kind;
    o->place = o->key = place;
    if (kinds[kind].waits && priority > 0)
        o->key += priority * (ageing ? (int64_t)ageing : INT64_C(1) << 32);
    UNIT_HOT(parse(o->name, &o->c));
}

/* The model's order, of two in the queue or two in the priority wait. */
static bool precedes(const struct one *a, const struct one *b)
{
    return a->key == b->key ? strcmp(a->name, b->name) < 0 : a->key < b->key;
}

static bool before(const struct one *a, const struct one *b)
{
    return evzk__contender_before(&a->c, &b->c);
}

/* One order for both ways. */
static void expect_before(const struct one *a, const struct one *b)
{
    ck_assert_msg(before(a, b), "%s, %s", a->name, b->name);
    ck_assert_msg(!before(b, a), "%s, %s", b->name, a->name);
}

/* In the queue only the number counts, however urgent. */
START_TEST(test_before_in_queue)
{
    static const int64_t ahead[] = {1, 2, 1000, 0x40000000, 0x7fffffff};

    for (size_t i = 0; i < UNIT_COUNT(numbers); i++) {
        for (size_t j = 0; j < UNIT_COUNT(ahead); j++) {
            for (int k = 0; k < 9; k++) {
                struct one a, b;

                make(&a, "z", (enum kind)(k % 3), numbers[i], 255, 1);
                make(&b, "a", (enum kind)(k / 3), numbers[i] + ahead[j], 0, 1);
                expect_before(&a, &b);
            }
        }
    }
}
END_TEST

START_TEST(test_before_equal)
{
    struct one a, b;

    make(&a, "a", READ, 5, -1, 0);
    make(&b, "b", WRITE, 5, -1, 0);
    expect_before(&a, &b);
    ck_assert(!before(&a, &a));
    make(&a, "a", READ_WAIT, 5, 3, 0); /* Alike, but for the name. */
    make(&b, "b", WRITE_WAIT, 5, 3, 0);
    expect_before(&a, &b);
    ck_assert(!before(&a, &a));
    make(&a, "a", READ_WAIT, 5, 3, 2); /* 5 + 6 = 7 + 4 */
    make(&b, "b", WRITE_WAIT, 7, 2, 2);
    expect_before(&a, &b);
    make(&a, "a", READ_WAIT, 5, 3, 2); /* 5 + 6 = 10 + 1 */
    make(&b, "b", WRITE_WAIT, 10, 1, 1);
    expect_before(&a, &b);
    make(&a, "c", READ_WAIT, 5, 3, 2);
    expect_before(&b, &a);
}
END_TEST

/* As far apart as can be: somebody must be first, and only one. */
START_TEST(test_before_opposite)
{
    for (size_t i = 0; i < UNIT_COUNT(numbers); i++) {
        for (int p = 0; p < 6; p++) {
            struct one a, b;
            int64_t far = numbers[i] + INT64_C(0x80000000);

            make(&a, "a", WRITE_WAIT, numbers[i], p % 3, 2);
            make(&b, "b", WRITE_WAIT, far, p / 3, 2);
            ck_assert_msg(before(&a, &b) != before(&b, &a), "%s, %s", a.name,
                          b.name);
        }
    }
}
END_TEST

/* Without ageing: by priority, and then by number, around the end too. */
START_TEST(test_before_without_ageing)
{
    static const int64_t ahead[] = {1, 1000, 0x40000000, 0x7fffffff};

    for (size_t i = 0; i < UNIT_COUNT(numbers); i++) {
        for (size_t j = 0; j < UNIT_COUNT(ahead); j++) {
            for (int p = 0; p < 255; p += 127) {
                struct one first, later, urgent, most;
                int64_t then = numbers[i] + ahead[j];

                make(&first, "z", WRITE_WAIT, numbers[i], p + 1, 0);
                make(&later, "a", READ_WAIT, then, p + 1, 0);
                make(&urgent, "y", READ_WAIT, then, p, 0);
                make(&most, "y", WRITE_WAIT, then, -1, 0);
                expect_before(&first, &later);
                expect_before(&urgent, &first);
                expect_before(&most, &first);
            }
        }
    }
}
END_TEST

/* `ageing` later ones may pass for each step of priority, and the next may
 * not. */
static void check_bound(int64_t start, uint32_t ageing, int p, int q)
{
    int64_t most = (int64_t)ageing * (p - q);
    struct one own, last, next;

    make(&own, "m", WRITE_WAIT, start, p, ageing);
    make(&last, "a", WRITE_WAIT, start + most, q, ageing);
    make(&next, "a", WRITE_WAIT, start + most + 1, q, ageing);
    expect_before(&last, &own);
    expect_before(&own, &next);
}

START_TEST(test_before_with_ageing)
{
    static const uint32_t ageings[] = {1, 2, 3, 1000, 8000000};

    for (size_t i = 0; i < UNIT_COUNT(numbers); i++) {
        for (size_t j = 0; j < UNIT_COUNT(ageings); j++) {
            check_bound(numbers[i], ageings[j], 1, 0);
            check_bound(numbers[i], ageings[j], 3, 0);
            check_bound(numbers[i], ageings[j], 9, 7);
            check_bound(numbers[i], ageings[j], 255, 0);
        }
    }
}
END_TEST

static void random_waiter(struct one *o, struct unit_rng *rng, int64_t start,
                          int64_t span, uint32_t ageing)
{
    static const uint32_t ageings[] = {0, 1, 2, 3, 1000, UINT32_MAX};
    char prefix[16];

    if (ageing == UINT32_MAX) /* Each its own. */
        ageing = ageings[unit_upto(rng, UNIT_COUNT(ageings) - 1)];
    snprintf(prefix, sizeof prefix, "%08" PRIx32, (uint32_t)unit_next(rng));
    make(o, prefix, unit_upto(rng, 1) ? WRITE_WAIT : READ_WAIT,
         start + unit_upto(rng, span), (int)unit_upto(rng, 6) - 1, ageing);
}

static void check_order(const struct one *v, int n)
{
    for (int a = 0; a < n; a++) {
        UNIT_HOT(!before(&v[a], &v[a]));
        for (int b = 0; b < n; b++) {
            if (a == b)
                continue;
            UNIT_HOT(before(&v[a], &v[b]) == precedes(&v[a], &v[b]));
            UNIT_HOT(before(&v[a], &v[b]) != before(&v[b], &v[a]));
            for (int c = 0; before(&v[a], &v[b]) && c < n; c++)
                UNIT_HOT(!before(&v[b], &v[c]) || before(&v[a], &v[c]));
        }
    }
}

/* A total order of all whose numbers are within half the ring. */
START_TEST(test_before_random)
{
    enum { N = 12 };
    static const int64_t spans[] = {0, 3, 20, 1000, INT32_MAX};
    struct unit_rng rng = unit_seeded("before_random");
    struct one v[N];

    for (int round = 0; round < unit_rounds(3000); round++) {
        uint32_t ageing = (uint32_t)unit_upto(&rng, 4);
        int64_t start = wrapped((int64_t)unit_next(&rng));

        if (ageing == 4)
            ageing = UINT32_MAX;
        for (int i = 0; i < N; i++)
            random_waiter(&v[i], &rng, start, spans[round % 5], ageing);
        check_order(v, N);
    }
}
END_TEST

/* ---- From a listing ---- */

enum { MOST = 28 };

struct listing {
    struct one v[MOST];
    char foreign[MOST][24];
    char *names[MOST];
    int n, others; /* Contenders; and children that are none. */
};

struct expected {
    const struct one *pred;
    size_t before;
    bool next;
};

/* The nearest before `own` in the same place, that bars it. */
static const struct one *nearest(const struct listing *t, const struct one *own,
                                 size_t *count)
{
    const struct one *best = NULL;

    for (const struct one *o = t->v; o < t->v + t->n; o++) {
        if (kinds[o->kind].waits != kinds[own->kind].waits || !precedes(o, own))
            continue;
        ++*count;
        if (kinds[o->kind].shares && kinds[own->kind].shares)
            continue;
        if (!best || precedes(best, o))
            best = o;
    }
    return best;
}

/* The last in the queue with whom `own` cannot hold. */
static const struct one *last_in_queue(const struct listing *t,
                                       const struct one *own)
{
    const struct one *best = NULL;

    for (const struct one *o = t->v; o < t->v + t->n; o++) {
        if (!kinds[o->kind].waits &&
            !(kinds[o->kind].shares && kinds[own->kind].shares) &&
            (!best || precedes(best, o)))
            best = o;
    }
    return best;
}

static struct expected model(const struct listing *t, const struct one *own)
{
    struct expected e = {.before = 0};
    bool waits = kinds[own->kind].waits;

    e.pred = nearest(t, own, &e.before);
    e.next = e.pred && !waits && e.before == 1 && !kinds[e.pred->kind].moves;
    if (!e.pred && waits)
        e.pred = last_in_queue(t, own);
    return e;
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void ask_for(const struct listing *t, const struct one *own,
                    struct evzk__ordered *ordered)
{
    const struct evzk__names names = {
        .n = (size_t)(t->n + t->others), .v = t->names, .ordered = ordered};
    struct expected e = model(t, own);
    struct evzk__order s;

    memset(&s, 0x5a, sizeof s);
    evzk__order(&s, &names, evzk__lock_marks, own->name);
    UNIT_HOT(s.found);
    UNIT_HOT(same(s.pred, e.pred ? e.pred->name : NULL));
    UNIT_HOT(s.before == e.before);
    UNIT_HOT(s.next == e.next);
}

static void shuffle(struct listing *t, struct unit_rng *rng)
{
    int n = 0;

    for (int i = 0; i < t->n; i++)
        t->names[n++] = t->v[i].name;
    for (int i = 0; i < t->others; i++)
        t->names[n++] = t->foreign[i];
    for (int i = n - 1; i > 0; i--) {
        int j = (int)unit_upto(rng, i);
        char *swapped = t->names[i];

        t->names[i] = t->names[j];
        t->names[j] = swapped;
    }
}

static void random_one(struct one *o, struct unit_rng *rng, int64_t start,
                       int64_t span, int most)
{
    char prefix[16];
    int priority = -1;
    enum kind kind = (enum kind)unit_upto(rng, most);

    if (kind != LOCK)
        priority = (int)unit_upto(rng, 4) - 1;
    snprintf(prefix, sizeof prefix, "%08" PRIx32, (uint32_t)unit_next(rng));
    make(o, prefix, kind, start + unit_upto(rng, span), priority, 2);
}

/* `most`: up to which kind. */
static void random_listing(struct listing *t, struct unit_rng *rng,
                           int64_t span, int most)
{
    static const char *const foreign[] = {"config", "x-wait-0000000001",
                                          "x-lock-1", "-read-0000000001"};
    int64_t start = wrapped((int64_t)unit_next(rng));

    t->n = (int)unit_upto(rng, MOST - 4);
    t->others = (int)unit_upto(rng, 3);
    for (int i = 0; i < t->n; i++)
        random_one(&t->v[i], rng, start, span, most);
    for (int i = 0; i < t->others; i++)
        snprintf(t->foreign[i], sizeof t->foreign[i], "%s", foreign[i]);
    shuffle(t, rng);
}

static const int64_t spans[] = {8, 30, 2000, INT32_MAX};

/* Each contender asks by itself, and from one ordered listing for all. */
static void ask_all(const struct listing *t)
{
    struct evzk__ordered ordered = {.n = 0};

    for (int i = 0; i < t->n; i++) {
        ask_for(t, &t->v[i], NULL);
        ask_for(t, &t->v[i], &ordered);
        UNIT_HOT(!ordered.failed);
    }
    evzk__ordered_free(&ordered);
}

START_TEST(test_order_exclusive)
{
    struct unit_rng rng = unit_seeded("order_exclusive");
    struct listing t;

    for (int round = 0; round < unit_rounds(4000); round++) {
        random_listing(&t, &rng, spans[round % 4], LOCK);
        ask_all(&t);
    }
}
END_TEST

START_TEST(test_order_shared)
{
    struct unit_rng rng = unit_seeded("order_shared");
    struct listing t;

    for (int round = 0; round < unit_rounds(4000); round++) {
        random_listing(&t, &rng, spans[round % 4], READ);
        ask_all(&t);
    }
}
END_TEST

START_TEST(test_order_with_priority_wait)
{
    struct unit_rng rng = unit_seeded("order_with_priority_wait");
    struct listing t;

    for (int round = 0; round < unit_rounds(4000); round++) {
        random_listing(&t, &rng, spans[round % 4], READ_WAIT);
        ask_all(&t);
    }
}
END_TEST

/* ---- Which locks a new one in the priority wait concerns ---- */

/* Must o, that was there before, wait for `own` from now on, and for nobody
 * nearer? */
static bool is_passed(const struct listing *t, const struct one *own,
                      const struct one *o)
{
    size_t count = 0;

    if (own->place < o->place ||
        (own->place == o->place && strcmp(own->name, o->name) < 0))
        return false; /* Came later. */
    return kinds[o->kind].waits && precedes(own, o) &&
           nearest(t, o, &count) == own;
}

static bool among(const char *name, char *const *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(v[i], name) == 0)
            return true;
    }
    return false;
}

static void check_passed(const struct listing *t, const struct one *own,
                         const struct evzk__ordered *ordered)
{
    char *passed[MOST] = {NULL};
    size_t n = evzk__passed(ordered, &own->c, NULL), expected = 0;

    UNIT_HOT(evzk__passed(ordered, &own->c, passed) == n);
    for (const struct one *o = t->v; o < t->v + t->n; o++) {
        bool is = o != own && is_passed(t, own, o);

        expected += is;
        UNIT_HOT(among(o->name, passed, n) == is);
    }
    UNIT_HOT(n == expected);
}

static void check_held_by_less(const struct listing *t, const struct one *own,
                               const struct evzk__ordered *ordered)
{
    bool less = false;

    for (const struct one *o = t->v; o < t->v + t->n; o++)
        less |= !kinds[o->kind].waits && o->c.priority > own->c.priority &&
                (kinds[own->kind].waits ||
                 evzk__contender_before(&o->c, &own->c)) &&
                !(kinds[o->kind].shares && kinds[own->kind].shares);
    UNIT_HOT(evzk__blocked_by_less(ordered, &own->c) == less);
}

START_TEST(test_priority_wait_passed)
{
    struct unit_rng rng = unit_seeded("priority_wait_passed");
    struct listing t;
    int some = 0;

    for (int round = 0; round < unit_rounds(4000); round++) {
        struct evzk__ordered ordered = {.n = 0};
        struct evzk__names names = {.v = t.names, .ordered = &ordered};
        struct evzk__order s;

        random_listing(&t, &rng, spans[round % 3], READ_WAIT);
        names.n = (size_t)(t.n + t.others);
        for (int i = 0; i < t.n; i++) {
            evzk__order(&s, &names, evzk__lock_marks, t.v[i].name);
            check_held_by_less(&t, &t.v[i], &ordered);
            if (!kinds[t.v[i].kind].waits)
                continue;
            check_passed(&t, &t.v[i], &ordered);
            some += evzk__passed(&ordered, &t.v[i].c, NULL) > 1;
        }
        evzk__ordered_free(&ordered);
    }
    ck_assert_int_gt(some, 0);
}
END_TEST

/* A contender that is not listed is not found, and the caller is told so. */
START_TEST(test_order_missing)
{
    struct unit_rng rng = unit_seeded("order_missing");
    struct evzk__ordered ordered;
    struct listing t;
    struct one own;

    for (int round = 0; round < unit_rounds(2000); round++) {
        const struct evzk__names names = {.v = t.names};
        struct evzk__names asked = names;
        struct evzk__order s = {.found = true};

        random_listing(&t, &rng, 30, READ_WAIT);
        random_one(&own, &rng, 0, 60, READ_WAIT);
        own.name[0] = '~'; /* Nobody else's name begins so. */
        asked.n = (size_t)(t.n + t.others);
        evzk__order(&s, &asked, evzk__lock_marks, own.name);
        UNIT_HOT(!s.found);
        s.found = true;
        ordered = (struct evzk__ordered){.n = 0};
        asked.ordered = &ordered;
        evzk__order(&s, &asked, evzk__lock_marks, own.name);
        UNIT_HOT(!s.found);
        evzk__ordered_free(&ordered);
    }
}
END_TEST

/* Numbers all around the ring have no order for a whole listing: then each
 * contender looks through the names, and finds the same. */
START_TEST(test_order_spread)
{
    struct unit_rng rng = unit_seeded("order_spread");
    int failed = 0;

    for (int round = 0; round < unit_rounds(2000); round++) {
        struct evzk__ordered ordered = {.n = 0};
        struct evzk__names names;
        struct listing t;

        random_listing(&t, &rng, UINT32_MAX, READ_WAIT);
        names.n = (size_t)(t.n + t.others);
        names.v = t.names;
        for (int i = 0; i < t.n; i++) {
            struct evzk__order plain, rolled;

            names.ordered = NULL;
            evzk__order(&plain, &names, evzk__lock_marks, t.v[i].name);
            names.ordered = &ordered;
            evzk__order(&rolled, &names, evzk__lock_marks, t.v[i].name);
            UNIT_HOT(plain.found && rolled.found);
            UNIT_HOT(same(plain.pred, rolled.pred));
            UNIT_HOT(plain.before == rolled.before);
            UNIT_HOT(plain.next == rolled.next);
        }
        failed += ordered.failed;
        evzk__ordered_free(&ordered);
    }
    ck_assert_int_gt(failed, 0);
}
END_TEST

/* ---- Other libraries' ---- */

/* Every name that one of them gives, and whose it is. */
START_TEST(test_foreign_names)
{
    static const struct {
        const char *name, *library;
        int32_t seq;
        bool shares;
    } all[] = {
        {"_c_3d53a08e-0cfd-49e9-a63f-a9f2778a2d18-__WRIT__0000000012",
         "Curator", 12, false},
        {"_c_3d53a08e-0cfd-49e9-a63f-a9f2778a2d18-__READ__0000000000",
         "Curator", 0, true},
        {"_c_3d53a08e-0cfd-49e9-a63f-a9f2778a2d18-latch-0000000003", "Curator",
         3, false},
        {"_c_3d53a08e-0cfd-49e9-a63f-a9f2778a2d18-lease-2147483647", "Curator",
         INT32_MAX, false},
        {"3d53a08e0cfd49e9a63fa9f2778a2d18__lock__0000000001", "Kazoo", 1,
         false},
        {"3d53a08e0cfd49e9a63fa9f2778a2d18__rlock__-000000001", "Kazoo", -1,
         true},
        {"x__lock__0000000001", "Kazoo", 1, false}, /* Whatever is before. */
    };
    struct evzk__foreign f;
    struct evzk__contender c;

    for (size_t i = 0; i < UNIT_COUNT(all); i++) {
        ck_assert(evzk__foreign_parse(all[i].name, &f));
        ck_assert_str_eq(f.library, all[i].library);
        ck_assert_int_eq(f.seq, all[i].seq);
        ck_assert(f.shares == all[i].shares);
        ck_assert(
            !parse(all[i].name,
                   &c)); /* A foreign contender has no place in the queue. */
    }
}
END_TEST

START_TEST(test_no_foreign_names)
{
    static const char *const bad[] = {
        "3d53a08e0cfd49e9a63fa9f2778a2d18", /* Kazoo's Semaphore. */
        "locks",
        "leases", /* Of Curator's semaphore. */
        "__lock__",
        "__lock__0000000001", /* Nothing before the mark. */
        "x__lock__1",
        "x__lock__9999999999",
        "x__LOCK__0000000001",
        "x__WRIT__0000000001x",
        "x_lock_0000000001",
        "x-latch0000000001",
        "leader",
        "x-lock-0000000001", /* Known well. */
        "x-n_0000000001"};
    struct evzk__foreign f;

    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        ck_assert_msg(!evzk__foreign_parse(bad[i], &f), "%s", bad[i]);
}
END_TEST

/* By one that looks alone, and by one of many. */
static void expect_foreign(char **names, size_t n, const char *own,
                           const char *foreign)
{
    struct evzk__ordered ordered = {.n = 0};
    struct evzk__names list = {.n = n, .v = names};
    struct evzk__order s;

    for (int i = 0; i < 2; i++) {
        evzk__order(&s, &list, evzk__lock_marks, own);
        ck_assert_pstr_eq(s.foreign, foreign);
        ck_assert(s.found);
        list.ordered = &ordered;
    }
    evzk__ordered_free(&ordered);
}

START_TEST(test_foreign_among_ours)
{
    char *v[] = {"a-lock-0000000001", "leader", "b-write-0000000003",
                 "x__lock__0000000009", "c-read-0000000004"};

    for (size_t i = 0; i < 5; i += 2) {
        expect_foreign(v, 5, v[i], v[3]); /* Behind all, and all the same. */
        v[3] = "no-contender";
        expect_foreign(v, 5, v[i], NULL);
        v[3] = "x__lock__0000000009";
    }
}
END_TEST

/* Curator's mutex waits for "-lock-" alone. */
START_TEST(test_foreign_mutex)
{
    char *v[] = {"a-lock-0000000001", "b-write-0000000003", "c-n_0000000004",
                 "_c_x-lock-0000000002", "d-p1a1-read-wait-0000000005"};

    expect_foreign(v, 5, v[0], NULL);
    expect_foreign(v, 5, v[1], v[3]);
    expect_foreign(v, 5, v[2], v[3]);
    expect_foreign(v, 5, v[4], v[3]);
    v[3] = "x-lock-0000000002"; /* An unknown library's. */
    expect_foreign(v, 5, v[1], NULL);
}
END_TEST

/* ---- By hand, to be read ---- */

static void expect_stand(char **names, size_t n, const char *own,
                         const char *pred, size_t before_it, bool next)
{
    struct evzk__ordered ordered = {.n = 0};
    struct evzk__names list = {.n = n, .v = names};
    struct evzk__order s;

    for (int i = 0; i < 2; i++) {
        evzk__order(&s, &list, evzk__lock_marks, own);
        ck_assert(s.found);
        ck_assert_pstr_eq(s.pred, pred);
        ck_assert_uint_eq(s.before, before_it);
        ck_assert(s.next == next);
        list.ordered = &ordered;
    }
    evzk__ordered_free(&ordered);
}

START_TEST(test_order_readers_and_writers)
{
    char *v[] = {"f-read-0000000006",  "a-read-0000000001",
                 "c-write-0000000003", "e-write-0000000005",
                 "b-read-0000000002",  "d-read-0000000004"};

    expect_stand(v, 6, v[1], NULL, 0, false);
    expect_stand(v, 6, v[4], NULL, 1, false); /* Reads with the first. */
    expect_stand(v, 6, v[2], v[4], 2, false);
    expect_stand(v, 6, v[5], v[2], 3, false);
    expect_stand(v, 6, v[3], v[5], 4, false);
    expect_stand(v, 6, v[0], v[3], 5, false);
}
END_TEST

/* A writer that goes may have become a reader of the same number. */
START_TEST(test_order_next)
{
    char *write[] = {"a-write-0000000001", "b-read-0000000002"};
    char *read[] = {"a-read-0000000001", "b-write-0000000002"};
    char *lock[] = {"a-lock-0000000001", "b-read-0000000002"};

    expect_stand(write, 2, write[1], write[0], 1, false);
    expect_stand(read, 2, read[1], read[0], 1, true);
    expect_stand(lock, 2, lock[1], lock[0], 1, true);
}
END_TEST

START_TEST(test_order_in_priority_wait)
{
    char *v[] = {"a-read-0000000001",
                 "b-read-0000000002",
                 "c-p5a0-write-wait-0000000003",
                 "d-p5a0-read-wait-0000000004",
                 "e-p1a0-read-wait-0000000005",
                 "f-p0a0-read-wait-0000000006",
                 "g-p1a0-write-wait-0000000007"};

    /* Nobody holds with whom these could not: they may enter. */
    expect_stand(v, 7, v[5], NULL, 0, false);
    expect_stand(v, 7, v[4], NULL, 1, false);
    /* All before it in the priority wait. */
    expect_stand(v, 7, v[6], v[4], 2, false);
    expect_stand(v, 7, v[2], v[6], 3, false);
    expect_stand(v, 7, v[3], v[2], 4, false);
    /* The first that writes waits for the last that holds. */
    expect_stand(v, 4, v[2], v[1], 0, false);
    expect_stand(v, 1, v[0], NULL, 0, false);
}
END_TEST

UNIT_MAIN("stand", test_marks, test_no_marks, test_priority_read,
          test_priority_refused, test_priority_printed, test_long_names,
          test_own_names_fit, test_bars, test_before_in_queue,
          test_before_equal, test_before_opposite, test_before_without_ageing,
          test_before_with_ageing, test_before_random, test_order_exclusive,
          test_order_shared, test_order_with_priority_wait,
          test_priority_wait_passed, test_order_missing, test_order_spread,
          test_foreign_names, test_no_foreign_names, test_foreign_among_ours,
          test_foreign_mutex, test_order_readers_and_writers, test_order_next,
          test_order_in_priority_wait)
