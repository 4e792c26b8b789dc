/* Endpoints as texts: what is written is read again, and nothing else is; and
 * no byte behind the text is touched. */
#include "unit.h"

#include <string.h>

#include "evzk/evzk.h"

enum { TEXT_MAX = EVZK_MEMBER_DATA_MAX + 1 };

/* A host of so many letters. */
static void long_host(evzk_endpoint *e, size_t len)
{
    memset(e->host, 'h', len);
    e->host[len] = '\0';
}

static bool same(const evzk_endpoint *a, const evzk_endpoint *b)
{
    return strcmp(a->host, b->host) == 0 && a->port == b->port &&
           a->weight == b->weight && a->data_len == b->data_len &&
           (a->data_len == 0 || memcmp(a->data, b->data, a->data_len) == 0);
}

/* Reads a copy that ends where its block ends: memory checkers see more. */
static bool parses(const char *text, size_t len, evzk_endpoint *e)
{
    char *copy = malloc(len ? len : 1);
    bool ok;

    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, len);
    ok = evzk_endpoint_parse(copy, len, e);
    if (ok && e->data)
        e->data = text + ((const char *)e->data - copy);
    free(copy);
    return ok;
}

static void comes_back(const evzk_endpoint *e)
{
    static char text[TEXT_MAX];
    evzk_endpoint back;
    size_t len = evzk_endpoint_print(e, text, sizeof text);

    ck_assert_uint_gt(len, 0);
    ck_assert_uint_le(len, EVZK_MEMBER_DATA_MAX);
    ck_assert(parses(text, len, &back));
    ck_assert(same(e, &back));
}

START_TEST(what_is_written)
{
    static const struct {
        evzk_endpoint e;
        const char *text;
    } rows[] = {
        {{.host = "a", .port = 1}, "a:1 0"},
        {{.host = "azAZ09", .port = 1}, "azAZ09:1 0"},
        {{.host = "10.0.0.7", .port = 8080, .weight = 1}, "10.0.0.7:8080 1"},
        {{.host = "::1", .port = 65535, .weight = 1000000},
         "[::1]:65535 1000000"},
        {{.host = "fe80::1:2.3.4.5", .port = 80, .weight = 9},
         "[fe80::1:2.3.4.5]:80 9"},
        {{.host = "Web-1_x.example.",
          .port = 9,
          .weight = 10,
          .data = "zone=b\n\n",
          .data_len = 8},
         "Web-1_x.example.:9 10\nzone=b\n\n"},
    };
    char text[64];

    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        size_t len = strlen(rows[i].text);

        ck_assert_uint_eq(evzk_endpoint_print(&rows[i].e, NULL, 0), len);
        memset(text, '?', sizeof text);
        ck_assert_uint_eq(evzk_endpoint_print(&rows[i].e, text, len - 1), len);
        ck_assert_int_eq(text[0], '?');
        ck_assert_uint_eq(evzk_endpoint_print(&rows[i].e, text, len), len);
        ck_assert_int_eq(memcmp(text, rows[i].text, len), 0);
        ck_assert_int_eq(text[len], '?');
        ck_assert_uint_eq(evzk_endpoint_print(&rows[i].e, text, len + 1), len);
        ck_assert_str_eq(text, rows[i].text);
        comes_back(&rows[i].e);
    }
}
END_TEST

START_TEST(limits)
{
    static char data[EVZK_ENDPOINT_DATA_MAX + 1], text[TEXT_MAX];
    evzk_endpoint e = {.port = 65535,
                       .weight = EVZK_ENDPOINT_WEIGHT_MAX,
                       .data = data,
                       .data_len = EVZK_ENDPOINT_DATA_MAX};
    size_t len;

    long_host(&e, EVZK_ENDPOINT_HOST_MAX);
    comes_back(&e);
    len = evzk_endpoint_print(&e, text, sizeof text);
    ck_assert(!parses(text, len + 1, &e)); /* One byte of data too many. */
    e.data_len++;
    ck_assert_uint_eq(evzk_endpoint_print(&e, NULL, 0), 0);
    e.data_len = SIZE_MAX;
    ck_assert_uint_eq(evzk_endpoint_print(&e, NULL, 0), 0);
}
END_TEST

START_TEST(not_written)
{
    static const evzk_endpoint bad[] = {
        {.host = "", .port = 1},
        {.host = "a", .port = 0},
        {.host = "a", .port = 1, .weight = EVZK_ENDPOINT_WEIGHT_MAX + 1},
        {.host = "a", .port = 1, .weight = UINT32_MAX},
        {.host = "a", .port = 1, .data_len = 1},
        {.host = ".a", .port = 1},
        {.host = "-a", .port = 1},
        {.host = "_a", .port = 1},
        {.host = "a b", .port = 1},
        {.host = "a\n", .port = 1},
        {.host = "a/b", .port = 1},
        {.host = "\xc3\xa4", .port = 1},
        {.host = "a:b", .port = 1},
        {.host = "[::1]", .port = 1},
        {.host = "::1::2", .port = 1},
        {.host = "fe80::1%eth0", .port = 1},
        {.host = ":", .port = 1},
    };
    evzk_endpoint e = {.port = 1};

    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        ck_assert_msg(evzk_endpoint_print(&bad[i], NULL, 0) == 0, "%zu", i);
    ck_assert_uint_eq(evzk_endpoint_print(NULL, NULL, 0), 0);
    memset(e.host, 'h', sizeof e.host); /* Without an end. */
    ck_assert_uint_eq(evzk_endpoint_print(&e, NULL, 0), 0);
}
END_TEST

START_TEST(malformed)
{
    static const char *const bad[] = {
        "",
        "a",
        "a:",
        ":1 1",
        "a:1",
        "a:1 ",
        "a:1\n",
        "a:1 \n",
        "a:1  1",
        "a: 1 1",
        " a:1 1",
        "a :1 1",
        "a:1\t1",
        "a:1 1 ",
        "a:1 1\r\n",
        "a:1 1x",
        "a:1 +1",
        "a:1 -1",
        "a:1 0x1",
        "a:1 01",
        "a:1 00",
        "a:01 1",
        "a:+1 1",
        "a:0 1",
        "a:65536 1",
        "a:99999999999999999999 1",
        "a:4294967297 1",
        "a:1 1000001",
        "a:1 4294967297",
        "a:1 99999999999999999999",
        "a:b 1",
        "::1:80 1",
        "[::1] 1",
        "[::1]80 1",
        "[::1:80 1",
        "[]:80 1",
        "[a]:80 1",
        "[1.2.3.4]:80 1",
        "[::1%lo]:80 1",
        "[[::1]]:80 1",
        ".a:1 1",
        "-a:1 1",
        "a/b:1 1",
        "\xc3\xa4:1 1",
        "http://a:1 1",
        "{\"host\":\"a\",\"port\":1}",
    };
    evzk_endpoint e = {.host = "untouched"};
    char far[2 * EVZK_ENDPOINT_HOST_MAX];

    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        ck_assert_msg(!parses(bad[i], strlen(bad[i]), &e), "%s", bad[i]);
    ck_assert(!parses("a\0b:1 1", 7, &e));
    ck_assert(!parses("a:1\0 1", 6, &e));
    ck_assert(!parses("a:1 1\0", 6, &e));
    ck_assert(!parses("[::1\0]:1 1", 10, &e));
    memset(far, 'h', sizeof far);
    memcpy(far + EVZK_ENDPOINT_HOST_MAX + 1, ":1 1", 4);
    ck_assert(!parses(far, EVZK_ENDPOINT_HOST_MAX + 5, &e));
    ck_assert(!parses(far, sizeof far, &e));
    ck_assert(!evzk_endpoint_parse(NULL, 0, &e));
    ck_assert(!evzk_endpoint_parse("a:1 1", 5, NULL));
    ck_assert_str_eq(e.host, "untouched");
    ck_assert(parses(far + 1, EVZK_ENDPOINT_HOST_MAX + 4, &e));
}
END_TEST

/* Texts that are written otherwise than this library writes them. */
START_TEST(read_all_the_same)
{
    evzk_endpoint e;

    ck_assert(parses("a:1 5\n", 6, &e));
    ck_assert_uint_eq(e.data_len, 0);
    ck_assert_ptr_null(e.data);
    ck_assert_uint_eq(e.weight, 5);
    ck_assert(parses("a:1 5\n\0\n", 8, &e));
    ck_assert_uint_eq(e.data_len, 2);
    ck_assert(parses("[0:0::1]:80 1", 13, &e));
    ck_assert_str_eq(e.host, "0:0::1");
}
END_TEST

/* Every text that is cut off, and every text with a byte changed: read as
 * something that is written as the same text, or not at all. */
START_TEST(bytes)
{
    struct unit_rng r = {.state = 7};
    static const char *const good[] = {"10.0.0.7:8080 15\nzone", "[::1]:80 2"};
    char text[64], again[64];
    evzk_endpoint e;

    for (int i = 0; i < 200000; i++) {
        const char *from = good[i % 2];
        size_t len = strlen(from), n;

        memcpy(text, from, len);
        text[unit_upto(&r, (int64_t)len - 1)] = (char)unit_next(&r);
        len = (size_t)unit_upto(&r, (int64_t)len);
        if (!evzk_endpoint_parse(text, len, &e))
            continue;
        n = evzk_endpoint_print(&e, again, sizeof again);
        UNIT_HOT(n == len || (n + 1 == len && text[n] == '\n'));
        UNIT_HOT(memcmp(text, again, n) == 0);
    }
}
END_TEST

UNIT_MAIN("endpoint", what_is_written, limits, not_written, malformed,
          read_all_the_same, bytes)
