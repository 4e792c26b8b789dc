/* Names: GUIDs, paths, sequence numbers, and who comes before whom. */
#include "unit.h"

#include <ctype.h>
#include <string.h>

#include "evzk/session.h"
#include "lib/base/order.h"

static const char mark[] = "-lock-";

static const char *predecessor(const struct evzk__names *names,
                               const char *text, const char *own, bool *found,
                               size_t *before)
{
    static struct evzk__mark marks[2]; /* At one address, as a kind's are. */
    struct evzk__order s;

    marks[0].text = text;
    evzk__order(&s, names, marks, own);
    *found = s.found;
    *before = s.before;
    return s.pred;
}

/* GUIDs. */

START_TEST(test_guid_form)
{
    char g[EVZK__GUID_LEN + 1];

    for (int n = 0; n < 1000; n++) {
        memset(g, 'x', sizeof g);
        ck_assert_int_eq(evzk__guid(g), 0);
        ck_assert_uint_eq(strlen(g), EVZK__GUID_LEN);
        for (size_t i = 0; i < EVZK__GUID_LEN; i++) {
            if (i == 8 || i == 13 || i == 18 || i == 23)
                UNIT_HOT(g[i] == '-');
            else
                UNIT_HOT(isdigit(g[i]) || (g[i] >= 'a' && g[i] <= 'f'));
        }
        ck_assert_int_eq(g[14], '4');                 /* Version 4. */
        ck_assert_ptr_nonnull(strchr("89ab", g[19])); /* Variant 10. */
    }
}
END_TEST

static int in_order(const void *a, const void *b) { return strcmp(a, b); }

START_TEST(test_guid_unique)
{
    enum { MANY = 20000 };
    static char g[MANY][EVZK__GUID_LEN + 1];
    bool seen[EVZK__GUID_LEN][128] = {{false}};

    for (size_t n = 0; n < MANY; n++) {
        UNIT_HOT(evzk__guid(g[n]) == 0);
        for (size_t i = 0; i < EVZK__GUID_LEN; i++)
            seen[i][(unsigned char)g[n][i]] = true;
    }
    qsort(g, MANY, sizeof g[0], in_order);
    for (size_t n = 1; n < MANY; n++)
        UNIT_HOT(strcmp(g[n - 1], g[n]) < 0);
    for (size_t i = 0; i < EVZK__GUID_LEN; i++) { /* Every place is random. */
        int values = 0;

        for (size_t c = 0; c < 128; c++)
            values += seen[i][c];
        if (i == 8 || i == 13 || i == 14 || i == 18 || i == 23)
            ck_assert_int_eq(values, 1);
        else
            ck_assert_int_eq(values, i == 19 ? 4 : 16);
    }
}
END_TEST

/* Paths. */

START_TEST(test_path_accepted)
{
    static const char *const good[] = {
        "/a",
        "/a/b/c",
        "/...",
        "/.a/..b/a./b..",
        "/a b",
        "/~!@#$%^&*()",
        "/\xc2\xa0",     /* U+00A0, the first after the controls. */
        "/k\xc3\xb6nig", /* o with two dots */
        "/\xe2\x82\xac", /* U+20AC, euro */
        "/\xed\x9f\xbf", /* U+D7FF, the last before the surrogates. */
        "/\xef\xa4\x80", /* U+F900, the first after private use. */
        "/\xef\xbf\xaf", /* U+FFEF, the last before the specials. */
        "/\xe6\x97\xa5/\xe6\x9c\xac",
    };

    for (size_t i = 0; i < UNIT_COUNT(good); i++)
        ck_assert_msg(evzk__path_ok(good[i]), "refused: %s", good[i]);
}
END_TEST

START_TEST(test_path_refused)
{
    static const char *const bad[] = {
        "",
        "a",
        "a/b",
        "/",
        "//",
        "//a",
        "/a/",
        "/a//b",
        "/.",
        "/..",
        "/./a",
        "/a/.",
        "/a/..",
        "/a/../b",
        "/a\x01",
        "/a\n",
        "/a\x1f",
        "/a\x7f",
        "/\xc2\x80",     /* U+0080 */
        "/a\xc2\x9f",    /* U+009F */
        "/\xed\xa0\x80", /* U+D800, half a surrogate pair. */
        "/\xed\xbf\xbf", /* U+DFFF */
        "/\xee\x80\x80", /* U+E000, private use. */
        "/\xef\xa3\xbf", /* U+F8FF */
        "/\xef\xbf\xb0", /* U+FFF0 */
        "/\xef\xbf\xbd", /* U+FFFD, the replacement character. */
        "/\xef\xbf\xbf", /* U+FFFF */
    };

    ck_assert(!evzk__path_ok(NULL));
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        ck_assert_msg(!evzk__path_ok(bad[i]), "accepted: number %zu", i);
}
END_TEST

/* A server works in UTF-16: there these are surrogate pairs, which it refuses.
 */
/* What the C client takes, so that nothing else comes to it; characters are the
 * server's business. */
START_TEST(test_path_sendable)
{
    static const char *const good[] = {"/",      "/a",   "/a/b",         "/...",
                                       "/.a/b.", "/a b", "/\xee\x80\x80"};
    static const char *const bad[] = {
        "",     "a",    "//",    "//a",     "/a/",   "/a//b",  "/.",    "/..",
        "/./a", "/a/.", "/a/..", "/a/../b", "/\x01", "/a\n/b", "/a\x1f"};
    static const char *const numbered[] = {"/a/", "/a/.", "/a/.."};

    ck_assert(!evzk__path_sendable(NULL, false));
    for (size_t i = 0; i < UNIT_COUNT(good); i++)
        ck_assert_msg(evzk__path_sendable(good[i], false), "no: %zu", i);
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        ck_assert_msg(!evzk__path_sendable(bad[i], false), "yes: %zu", i);
    for (size_t i = 0; i < UNIT_COUNT(numbered); i++)
        ck_assert(evzk__path_sendable(numbered[i], true));
    ck_assert(!evzk__path_sendable("/a//b", true));
    ck_assert(!evzk__path_sendable("/a/../b", true));
}
END_TEST

START_TEST(test_names_keep)
{
    char *v[] = {"a", "", "b", ".", "c/d", "..", "...", "/"};

    ck_assert_uint_eq(evzk__names_keep(v, UNIT_COUNT(v)), 3);
    ck_assert_str_eq(v[0], "a");
    ck_assert_str_eq(v[1], "b");
    ck_assert_str_eq(v[2], "...");
    for (size_t i = 3; i < UNIT_COUNT(v); i++) /* All are still there. */
        ck_assert(strchr(v[i], '/') || strlen(v[i]) < 3);
    ck_assert_uint_eq(evzk__names_keep(v, 3), 3);
    ck_assert_uint_eq(evzk__names_keep(v, 0), 0);
}
END_TEST

START_TEST(test_guid_ok)
{
    char g[EVZK__GUID_LEN + 1], was;

    ck_assert_int_eq(evzk__guid(g), EVZK_OK);
    ck_assert(evzk__guid_leads(g));
    for (size_t i = 0; i < EVZK__GUID_LEN; i++) {
        static const char others[] = "/.g-A \x01";

        was = g[i];
        for (size_t k = 0; k < sizeof others; k++) { /* And the end. */
            g[i] = others[k];
            ck_assert(evzk__guid_leads(g) == (others[k] == was));
        }
        g[i] = was;
    }
}
END_TEST

START_TEST(test_path_beyond_bmp)
{
    ck_assert(!evzk__path_ok("/\xf0\x90\x80\x80"));  /* U+10000 */
    ck_assert(!evzk__path_ok("/a\xf0\x9f\x98\x80")); /* U+1F600 */
    ck_assert(!evzk__path_ok("/\xf4\x8f\xbf\xbf"));  /* U+10FFFF */
}
END_TEST

/* A server reads what is no UTF-8 as U+FFFD, which it refuses. */
START_TEST(test_path_not_utf8)
{
    static const char *const bad[] = {
        "/\x80",         "/a\xbf",         "/\xc3",     "/\xc3/a",
        "/\xe2\x82",     "/\xe2\x82/\xac", "/\xc0\xaf", "/\xc1\x81",
        "/\xe0\x80\xaf", "/\xf5\x80",      "/\xff",     "/\xfe",
    };

    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        ck_assert_msg(!evzk__path_ok(bad[i]), "accepted: number %zu", i);
}
END_TEST

START_TEST(test_path_length)
{
    char path[4200];

    memset(path, 'a', sizeof path);
    path[0] = '/';
    path[4096] = '\0';
    ck_assert(evzk__path_ok(path));
    path[4096] = 'a';
    path[4097] = '\0';
    ck_assert(!evzk__path_ok(path));
}
END_TEST

/* Sequence numbers. */

static const int32_t interesting[] = {INT32_MIN,   INT32_MIN + 1,
                                      -2000000000, -1000000001,
                                      -1000000000, -999999999,
                                      -999999998,  -1073741824,
                                      -10,         -2,
                                      -1,          0,
                                      1,           2,
                                      10,          12,
                                      1073741823,  1073741824,
                                      999999999,   1000000000,
                                      2000000000,  INT32_MAX - 1,
                                      INT32_MAX};

/* The server prints "%010d". */
START_TEST(test_seq_as_printed)
{
    for (size_t i = 0; i < UNIT_COUNT(interesting); i++) {
        char name[64];
        int32_t seq = 77;

        snprintf(name, sizeof name, "guid%s%010" PRId32, mark, interesting[i]);
        ck_assert_msg(evzk__seq_parse(name, mark, &seq), "refused: %s", name);
        ck_assert_int_eq(seq, interesting[i]);
    }
}
END_TEST

START_TEST(test_seq_refused)
{
    static const char *const bad[] = {
        "",
        "x",
        "-lock-",
        "x-lock-",
        "-lock-0000000001", /* Nothing before the mark. */
        "0000000001",
        "x-lock-1",
        "x-lock-000000001",   /* Nine digits. */
        "x-lock-00000000001", /* Eleven. */
        "x-lock-12345678901",
        "x-lock--00000000001",
        "x-lock--00000001",  /* A minus and eight. */
        "x-lock-2147483648", /* Too large. */
        "x-lock-9999999999",
        "x-lock--2147483649", /* Too small. */
        "x-lock--9999999999",
        "x-lock-+000000001",
        "x-lock- 000000001",
        "x-lock-000000000a",
        "x-lock-0x00000001",
        "x-lock-0000000001 ",
        "x-lock-0000000001-",
        "x-lock---000000001",
        "x_lock_0000000001",
        "x-LOCK-0000000001",
        "x-read-0000000001",
        "x-lock0000000001",
        "xlock-0000000001",
        "_c_0123-lock-",
        "x__lock__0000000001",
    };

    for (size_t i = 0; i < UNIT_COUNT(bad); i++) {
        int32_t seq = 77;

        ck_assert_msg(!evzk__seq_parse(bad[i], mark, &seq), "accepted: %s",
                      bad[i]);
        ck_assert_int_eq(seq, 77);
    }
}
END_TEST

START_TEST(test_seq_prefixes)
{
    int32_t seq;

    ck_assert(evzk__seq_parse("x-lock-0000000012", mark, &seq));
    ck_assert_int_eq(seq, 12);
    ck_assert(evzk__seq_parse("-lock--lock-0000000013", mark, &seq));
    ck_assert_int_eq(seq, 13);
    ck_assert(evzk__seq_parse("x-lock-0000000001-lock-0000000002", mark, &seq));
    ck_assert_int_eq(seq, 2);
    ck_assert(evzk__seq_parse("--lock-0000000003", mark, &seq));
    ck_assert_int_eq(seq, 3);
    ck_assert(evzk__seq_parse("xn_0000000004", "n_", &seq));
    ck_assert_int_eq(seq, 4);
}
END_TEST

START_TEST(test_seq_long_names)
{
    static const char tail[] = "-lock-0000000007";
    char name[2 * EVZK__NAME_MAX];
    size_t prefix = EVZK__NAME_MAX - 1 - strlen(tail);
    int32_t seq = 0;

    memset(name, 'x', sizeof name);
    strcpy(name + prefix, tail); /* The longest that is stored. */
    ck_assert(evzk__seq_parse(name, mark, &seq));
    ck_assert_int_eq(seq, 7);
    name[prefix] = 'x';
    strcpy(name + prefix + 1, tail);
    ck_assert(!evzk__seq_parse(name, mark, &seq));
    memset(name, 'x', sizeof name);
    strcpy(name + sizeof name - sizeof tail, tail);
    ck_assert(!evzk__seq_parse(name, mark, &seq));
}
END_TEST

/* Order. */

START_TEST(test_order_antisymmetric)
{
    static const char *const names[] = {"a", "b"};

    for (size_t i = 0; i < UNIT_COUNT(interesting); i++) {
        for (size_t j = 0; j < UNIT_COUNT(interesting); j++) {
            for (size_t k = 0; k < 4; k++) {
                const char *na = names[k & 1], *nb = names[k >> 1];
                int32_t a = interesting[i], b = interesting[j];
                bool ab = evzk__seq_before(na, a, nb, b);
                bool ba = evzk__seq_before(nb, b, na, a);

                if (a == b && na == nb)
                    ck_assert(!ab && !ba);
                else
                    ck_assert_msg(ab != ba, "%" PRId32 "%s %" PRId32 "%s", a,
                                  na, b, nb);
            }
        }
    }
}
END_TEST

static int32_t wrapped(int64_t value) { return (int32_t)(uint32_t)value; }

START_TEST(test_order_wraps)
{
    static const int64_t ahead[] = {1, 2, 1000, 0x40000000, 0x7fffffff};

    for (size_t i = 0; i < UNIT_COUNT(interesting); i++) {
        for (size_t j = 0; j < UNIT_COUNT(ahead); j++) {
            int32_t a = interesting[i], b = wrapped(a + ahead[j]);

            ck_assert(evzk__seq_before("z", a, "a", b));
            ck_assert(!evzk__seq_before("a", b, "z", a));
        }
    }
    ck_assert(evzk__seq_before("z", INT32_MAX, "a", INT32_MIN));
    ck_assert(evzk__seq_before("z", -1, "a", 0));
}
END_TEST

/* As far apart as can be: somebody must be first, and only one. */
START_TEST(test_order_opposite)
{
    for (size_t i = 0; i < UNIT_COUNT(interesting); i++) {
        int32_t a = interesting[i], b = wrapped(a + INT64_C(0x80000000));

        ck_assert(evzk__seq_before("a", a, "a", b) !=
                  evzk__seq_before("a", b, "a", a));
        ck_assert(evzk__seq_before("a", a, "b", b) ==
                  evzk__seq_before("b", a, "a", b));
    }
}
END_TEST

START_TEST(test_order_equal)
{
    ck_assert(evzk__seq_before("a", 5, "b", 5));
    ck_assert(!evzk__seq_before("b", 5, "a", 5));
    ck_assert(!evzk__seq_before("a", 5, "a", 5));
}
END_TEST

/* Predecessors. */

enum { MOST = 40 };

struct children {
    char name[MOST][64];
    char *v[MOST];
    struct evzk__names names;
};

static void add(struct children *c, const char *name)
{
    size_t i = c->names.n++;

    UNIT_HOT(i < MOST);
    snprintf(c->name[i], sizeof c->name[i], "%s", name);
    c->v[i] = c->name[i];
    c->names.v = c->v;
}

static void expect_pred(const struct children *c, const char *own,
                        const char *pred)
{
    bool found = false;
    size_t before = 0;
    const char *p = predecessor(&c->names, mark, own, &found, &before);

    ck_assert(found);
    ck_assert(pred ? before > 0 : before == 0);
    if (pred)
        ck_assert_pstr_eq(p, pred);
    else
        ck_assert_ptr_null(p);
}

START_TEST(test_pred_plain)
{
    struct children c = {.names.n = 0};

    add(&c, "c-lock-0000000003");
    add(&c, "z-lock-0000000001");
    add(&c, "a-lock-0000000009");
    add(&c, "b-lock-0000000004");
    expect_pred(&c, "z-lock-0000000001", NULL);
    expect_pred(&c, "c-lock-0000000003", "z-lock-0000000001");
    expect_pred(&c, "b-lock-0000000004", "c-lock-0000000003");
    expect_pred(&c, "a-lock-0000000009", "b-lock-0000000004");
}
END_TEST

START_TEST(test_pred_foreign)
{
    struct children c = {.names.n = 0};

    add(&c, "");
    add(&c, "readme");
    add(&c, "x-lock-");
    add(&c, "x-lock-5");
    add(&c, "-lock-0000000001");
    add(&c, "x-read-0000000001");
    add(&c, "x__lock__0000000001");
    add(&c, "own-lock-0000000007");
    add(&c, "x-lock-9999999999");
    expect_pred(&c, "own-lock-0000000007", NULL);
    add(&c, "operator-lock-0000000002"); /* Well-formed: it stands in line. */
    expect_pred(&c, "own-lock-0000000007", "operator-lock-0000000002");
}
END_TEST

START_TEST(test_pred_too_long)
{
    struct children c = {.names.n = 0};
    static char longer[200];

    memset(longer, 'x', sizeof longer);
    strcpy(longer + 120, "-lock-0000000001");
    add(&c, "own-lock-0000000007");
    c.v[c.names.n++] = longer;
    expect_pred(&c, "own-lock-0000000007", NULL);
}
END_TEST

START_TEST(test_pred_own_missing)
{
    struct children c = {.names.n = 0};
    bool found = true;
    size_t before = 77;

    ck_assert_ptr_null(
        predecessor(&c.names, mark, "own-lock-0000000007", &found, &before));
    ck_assert(!found);
    add(&c, "a-lock-0000000003");
    add(&c, "b-lock-0000000007"); /* Our number is not our name. */
    add(&c, "own-lock-0000000008");
    found = true;
    predecessor(&c.names, mark, "own-lock-0000000007", &found, &before);
    ck_assert(!found);
    found = true; /* A prefix is not one's own name either. */
    ck_assert_ptr_null(
        predecessor(&c.names, mark, "own-lock-", &found, &before));
    ck_assert(!found);
}
END_TEST

START_TEST(test_pred_wraps)
{
    struct children c = {.names.n = 0};

    add(&c, "a-lock--2147483647");
    add(&c, "b-lock-2147483646");
    add(&c, "c-lock--2147483648");
    add(&c, "d-lock-2147483647");
    expect_pred(&c, "b-lock-2147483646", NULL);
    expect_pred(&c, "d-lock-2147483647", "b-lock-2147483646");
    expect_pred(&c, "c-lock--2147483648", "d-lock-2147483647");
    expect_pred(&c, "a-lock--2147483647", "c-lock--2147483648");
}
END_TEST

START_TEST(test_pred_to_zero)
{
    struct children c = {.names.n = 0};

    add(&c, "a-lock-0000000000");
    add(&c, "b-lock--000000001"); /* As the server prints -1. */
    expect_pred(&c, "a-lock-0000000000", "b-lock--000000001");
    expect_pred(&c, "b-lock--000000001", NULL);
}
END_TEST

START_TEST(test_pred_equal)
{
    struct children c = {.names.n = 0};

    add(&c, "b-lock-0000000007");
    add(&c, "c-lock-0000000007");
    add(&c, "a-lock-0000000007");
    expect_pred(&c, "a-lock-0000000007", NULL);
    expect_pred(&c, "b-lock-0000000007", "a-lock-0000000007");
    expect_pred(&c, "c-lock-0000000007", "b-lock-0000000007");
}
END_TEST

/* In any order of the listing: the chain of predecessors visits everybody. */
START_TEST(test_pred_chain)
{
    struct unit_rng rng = unit_seeded("pred_chain");

    for (int round = 0; round < unit_rounds(500); round++) {
        struct children c = {.names.n = 0};
        int64_t start = INT32_MAX - unit_upto(&rng, 60);
        const char *own, *pred;
        size_t n = (size_t)unit_upto(&rng, MOST - 1) + 1, chain = 1, before;
        bool found;

        for (size_t i = 0; i < n; i++) {
            char name[64];

            snprintf(name, sizeof name, "%" PRIx64 "%s%010" PRId32,
                     unit_next(&rng), mark, wrapped(start + (int64_t)i));
            add(&c, name);
        }
        own = c.v[n - 1];
        for (size_t i = n; i-- > 1;) {
            size_t j = (size_t)unit_upto(&rng, (int64_t)i);
            char *swap = c.v[i];

            c.v[i] = c.v[j];
            c.v[j] = swap;
        }
        while ((pred = predecessor(&c.names, mark, own, &found, &before)) !=
               NULL) {
            UNIT_HOT(found && before == n - chain);
            own = pred;
            chain++;
        }
        ck_assert_uint_eq(chain, n);
        ck_assert_ptr_eq(own, c.name[0]);
    }
}
END_TEST

/* Counting by eye: two numbers nearer than half the ring have an order. */

static bool naive_before(const char *a, const char *b)
{
    int32_t sa = 0, sb = 0;
    int64_t ahead;

    UNIT_HOT(evzk__seq_parse(a, mark, &sa) && evzk__seq_parse(b, mark, &sb));
    ahead = ((int64_t)sb - sa + (INT64_C(1) << 32)) % (INT64_C(1) << 32);
    return ahead == 0 ? strcmp(a, b) < 0 : ahead < INT64_C(1) << 31;
}

struct answer {
    const char *pred;
    bool found;
    size_t before;
};

/* The nearest one before has as many before it as we have, but for itself. */
static struct answer by_eye(const struct children *c, const char *own)
{
    struct answer a = {NULL, false, 0};
    int32_t seq;

    for (size_t i = 0; i < c->names.n; i++) {
        const char *name = c->v[i];

        if (!evzk__seq_parse(name, mark, &seq))
            continue;
        a.found = a.found || strcmp(name, own) == 0;
        if (!naive_before(name, own))
            continue;
        a.before++;
        if (!a.pred || naive_before(a.pred, name))
            a.pred = name;
    }
    return a;
}

static void expect_answer(const struct children *c,
                          struct evzk__ordered *ordered, const char *own)
{
    struct evzk__names names = {c->names.n, c->names.v, ordered};
    struct answer a = {"", true, 77}, b = by_eye(c, own);

    a.pred = predecessor(&names, mark, own, &a.found, &a.before);
    UNIT_HOT(a.found == b.found);
    if (!b.found)
        return; /* A missing contender has none before it. */
    UNIT_HOT(a.before == b.before);
    UNIT_HOT(a.pred == b.pred || strcmp(a.pred, b.pred) == 0);
}

/* Contenders within `span` numbers of each other, some with one number, among
 * names that are nobody's. */
static void add_random(struct children *c, struct unit_rng *rng, int64_t start,
                       int64_t span)
{
    static const char *const foreign[] = {"", "config", "x-lock-", "x-lock-5",
                                          "x-read-0000000001"};
    char name[64];

    if (unit_upto(rng, 5) == 0) {
        add(c, foreign[unit_upto(rng, UNIT_COUNT(foreign) - 1)]);
        return;
    }
    snprintf(name, sizeof name, "%" PRIx64 "%s%010" PRId32, unit_next(rng),
             mark, wrapped(start + unit_upto(rng, span)));
    add(c, name);
}

static void random_listing(struct children *c, struct unit_rng *rng,
                           int64_t span)
{
    static const int64_t starts[] = {0,   100,       INT32_MAX - 20,
                                     -20, INT32_MIN, INT32_MAX};
    int64_t start = starts[unit_upto(rng, UNIT_COUNT(starts) - 1)];
    int64_t n = unit_upto(rng, MOST);

    c->names.n = 0;
    for (int64_t i = 0; i < n; i++)
        add_random(c, rng, start, span);
}

/* All who are there ask, and some who are not. */
static void ask_all(const struct children *c, struct evzk__ordered *ordered)
{
    static const char *const missing[] = {
        "x-lock-0000000005", "-1-lock--000000003", "z-lock-2147483640"};

    for (size_t i = 0; i < c->names.n; i++) {
        int32_t seq;

        if (evzk__seq_parse(c->v[i], mark, &seq))
            expect_answer(c, ordered, c->v[i]);
    }
    for (size_t i = 0; i < UNIT_COUNT(missing); i++)
        expect_answer(c, ordered, missing[i]);
}

START_TEST(test_roll_random)
{
    static const int64_t spans[] = {0, 10, 60, INT32_MAX};
    struct unit_rng rng = unit_seeded("roll_random");

    for (int round = 0; round < unit_rounds(400); round++) {
        struct children c = {.names.n = 0};
        struct evzk__ordered ordered = {.n = 0};

        random_listing(&c, &rng, spans[round % 4]);
        ask_all(&c, NULL);
        ask_all(&c, &ordered);
        ck_assert(!ordered.failed);
        evzk__ordered_free(&ordered);
    }
}
END_TEST

/* Znodes made by hand may be spread all around the ring, where no order is
 * right for all.  Each contender finds itself, and the one that it would have
 * found alone. */
START_TEST(test_roll_spread)
{
    struct unit_rng rng = unit_seeded("roll_spread");

    for (int round = 0; round < unit_rounds(400); round++) {
        struct children c = {.names.n = 0};
        struct evzk__ordered ordered = {.n = 0};

        random_listing(&c, &rng, UINT32_MAX);
        for (size_t i = 0; i < c.names.n; i++) {
            struct evzk__names names = {c.names.n, c.names.v, NULL};
            struct answer a, b;
            int32_t seq;

            if (!evzk__seq_parse(c.v[i], mark, &seq))
                continue;
            a.pred = predecessor(&names, mark, c.v[i], &a.found, &a.before);
            names.ordered = &ordered;
            b.pred = predecessor(&names, mark, c.v[i], &b.found, &b.before);
            UNIT_HOT(a.found && b.found);
            UNIT_HOT(a.pred == b.pred && a.before == b.before);
        }
        evzk__ordered_free(&ordered);
    }
}
END_TEST

static unsigned asked;

static void *no_memory(size_t size)
{
    (void)size;
    asked++;
    return NULL;
}

/* Each looks for itself then, and memory is asked for once. */
START_TEST(test_roll_no_memory)
{
    struct unit_rng rng = unit_seeded("roll_no_memory");

    evzk_set_allocator(no_memory, NULL, NULL);
    for (int round = 0; round < 100; round++) {
        struct children c = {.names.n = 0};
        struct evzk__ordered ordered = {.n = 0};

        asked = 0;
        random_listing(&c, &rng, 60);
        ask_all(&c, &ordered);
        UNIT_HOT(asked == 1);
        ck_assert(ordered.failed);
        evzk__ordered_free(&ordered);
    }
    evzk_set_allocator(NULL, NULL, NULL);
}
END_TEST

/* Machines of two kinds share a listing: each finds its own contenders. */
START_TEST(test_roll_two_kinds)
{
    static char *const v[] = {"b-lock-0000000004", "b-in-0000000002",
                              "a-lock-0000000001", "a-in-0000000003"};
    static const struct evzk__mark lock[] = {{"-lock-", 0}, {NULL, 0}},
                                   in[] = {{"-in-", 0}, {NULL, 0}};
    struct evzk__ordered ordered = {.n = 0};
    struct evzk__names names = {.n = 4, .v = v, .ordered = &ordered};
    struct evzk__order s;

    for (int i = 0; i < 2; i++) {
        evzk__order(&s, &names, lock, v[0]);
        ck_assert(s.found && s.pred == v[2] && s.before == 1);
        evzk__order(&s, &names, in, v[3]);
        ck_assert(s.found && s.pred == v[1] && s.before == 1);
    }
    evzk__ordered_free(&ordered);
}
END_TEST

/* Names that are none of a contender's do not look at the listing. */
START_TEST(test_roll_no_contender)
{
    struct children c = {.names.n = 0};
    struct evzk__ordered ordered = {.n = 0};
    size_t before = 77;
    bool found = true;

    c.names.ordered = &ordered;
    add(&c, "config");
    ck_assert_ptr_null(predecessor(&c.names, mark, "config", &found, &before));
    ck_assert(!found);
    ck_assert_uint_eq(before, 0);
    ck_assert_ptr_null(ordered.v);
    ck_assert_ptr_null(
        predecessor(&c.names, mark, "x-lock-0000000001", &found, &before));
    ck_assert(!found); /* Of a listing without contenders. */
    ck_assert_uint_eq(ordered.n, 0);
    evzk__ordered_free(&ordered);
}
END_TEST

static const char *find(const struct children *c, const char *prefix,
                        int64_t above)
{
    return evzk__find_prefix(&c->names, prefix, &above);
}

START_TEST(test_find_prefix)
{
    struct children c = {.names.n = 0};
    int64_t seq = INT64_MIN;

    ck_assert_ptr_null(find(&c, "a", seq));
    add(&c, "x");
    add(&c, "guid-lock");
    add(&c, "Guid-lock-0000000001");
    ck_assert_ptr_null(find(&c, "guid-lock-", seq));
    add(&c, "xguid-lock-0000000001");
    ck_assert_ptr_null(find(&c, "guid-lock-", seq));
    add(&c, "guid-lock-0000000009-and-more"); /* Put there by another. */
    add(&c, "guid-lock-junk");
    ck_assert_ptr_null(find(&c, "guid-lock-", seq));
    add(&c, "guid-lock-0000000009");
    ck_assert_str_eq(find(&c, "guid-lock-", seq), "guid-lock-0000000009");
    ck_assert_ptr_null(find(&c, "x", seq)); /* No number. */
    add(&c, "guid-lock-0000000012");        /* Copies, by another. */
    add(&c, "guid-lock--000000004");
    add(&c, "guid-lock--2147483648");
    evzk__find_prefix(&c.names, "guid-lock-", &seq);
    ck_assert_int_eq(seq, INT32_MIN);
    evzk__find_prefix(&c.names, "guid-lock-", &seq);
    ck_assert_int_eq(seq, -4);
    ck_assert_str_eq(evzk__find_prefix(&c.names, "guid-lock-", &seq),
                     "guid-lock-0000000009");
    ck_assert_str_eq(find(&c, "guid-lock-", 9), "guid-lock-0000000012");
    ck_assert_ptr_null(find(&c, "guid-lock-", 12));
}
END_TEST

START_TEST(test_complete)
{
    static const struct {
        const char *name, *path, *made;
    } tries[] = {
        {"a-lock-", "/d/a-lock-0000000012", "a-lock-0000000012"},
        {"a-lock-", "/a-lock--2147483648", "a-lock--2147483648"},
        {"a-lock-", "/d/a-lock-", "a-lock-"},
        {"a-lock-", "/d/a-lock-000000000012", "a-lock-"}, /* Too long. */
        {"a-lock-", "/d/b-lock-0000000012", "a-lock-"},   /* Another name. */
        {"a-lock-", "a-lock-0000000012", "a-lock-"},      /* No path. */
        {"a-lock-", NULL, "a-lock-"},
    };

    for (size_t i = 0; i < UNIT_COUNT(tries); i++) {
        char name[EVZK__NAME_MAX];

        strcpy(name, tries[i].name);
        evzk__name_complete(name, tries[i].path);
        ck_assert_str_eq(name, tries[i].made);
    }
}
END_TEST

UNIT_MAIN("name", test_guid_form, test_guid_unique, test_path_accepted,
          test_path_refused, test_path_sendable, test_names_keep, test_guid_ok,
          test_path_beyond_bmp, test_path_not_utf8, test_path_length,
          test_seq_as_printed, test_seq_refused, test_seq_prefixes,
          test_seq_long_names, test_order_antisymmetric, test_order_wraps,
          test_order_opposite, test_order_equal, test_pred_plain,
          test_pred_foreign, test_pred_too_long, test_pred_own_missing,
          test_pred_wraps, test_pred_to_zero, test_pred_equal, test_pred_chain,
          test_roll_random, test_roll_spread, test_roll_no_memory,
          test_roll_two_kinds, test_roll_no_contender, test_find_prefix,
          test_complete)
