/*
 * What a transaction's znode says: what is written is read again, and nothing
 * else is, whatever stands there.  The names in it become parts of paths.
 */
#include "unit.h"

#include <string.h>

#include "lib/base/mem.h"
#include "recipes/two_phase/two_phase_internal.h"

#define TAG "123e4567-e89b-42d3-a456-426614174000-00001"
#define HEAD "evzk-2pc 1 "
#define GOOD HEAD "m ? " TAG "\n2\na\nb\nwhy not?"

static int parse(struct evzk__tx_text *t, const char *text, size_t len)
{
    return evzk__tx_text_parse(t, text, len);
}

static void refuse(const char *text, size_t len)
{
    struct evzk__tx_text t = {0};

    ck_assert_msg(parse(&t, text, len) == EVZK_ERR_FOREIGN, "taken: %s", text);
    ck_assert_ptr_null(t.data);
    ck_assert_ptr_null(t.site);
}

START_TEST(test_text)
{
    struct evzk__tx_text t = {0};

    ck_assert_int_eq(parse(&t, GOOD, strlen(GOOD)), EVZK_OK);
    ck_assert_str_eq(t.tag, TAG);
    ck_assert_uint_eq(t.n, 2);
    ck_assert_str_eq(t.site[1], "b");
    ck_assert_uint_eq(t.question_len, 8);
    ck_assert_int_eq(evzk__tx_text_decision(GOOD, strlen(GOOD)), EVZK_TX_NONE);
    evzk__tx_text_free(&t);
}
END_TEST

/* The session's tag is the name of a znode, as this library makes it. */
START_TEST(test_tag)
{
    static const char others[] = "/.- g\n\x01\x1f\x7f\xff";
    char text[] = GOOD;
    size_t tag = strlen(HEAD) + 4;

    for (size_t i = 0; i < EVZK__TAG_LEN; i++) {
        char was = text[tag + i];

        for (size_t k = 0; k < sizeof others; k++) { /* The zero byte, too. */
            text[tag + i] = others[k];
            if (others[k] != was)
                refuse(text, strlen(GOOD));
        }
        text[tag + i] = was;
    }
    memcpy(text + tag, "//", 2);
    refuse(text, strlen(GOOD));
    memcpy(text + tag, "..", 2);
    refuse(text, strlen(GOOD));
}
END_TEST

#define BAD(rest) refuse(HEAD rest, sizeof(HEAD rest) - 1)

START_TEST(test_sites)
{
    BAD("m ? " TAG "\n0\n");
    BAD("m ? " TAG "\n01\na\n");
    BAD("m ? " TAG "\n-1\na\n");
    BAD("m ? " TAG "\n513\na\n");
    BAD("m ? " TAG "\n99999999999999999999\na\n");
    BAD("m ? " TAG "\n2\na\n");
    BAD("m ? " TAG "\n2\na\na\n");
    BAD("m ? " TAG "\n1\na");
    BAD("m ? " TAG "\n1\n\n");
    BAD("m ? " TAG "\n1\na/b\n");
    BAD("m ? " TAG "\n1\n..\n");
    BAD("m ? " TAG "\n1\na\0b\n");
    BAD("m ? " TAG "\n1\na\x01\n");
    BAD("x ? " TAG "\n1\na\n");
    BAD("m x " TAG "\n1\na\n");
    BAD("\0 ? " TAG "\n1\na\n");
}
END_TEST

/* Whatever one byte is, and wherever the text ends: either it is refused, or
 * all that it says can be part of a path. */
START_TEST(test_every_byte)
{
    char text[] = GOOD;

    for (size_t i = 0; i < strlen(GOOD); i++) {
        struct evzk__tx_text t = {0};
        char was = text[i];

        if (parse(&t, GOOD, i) == EVZK_OK)
            UNIT_HOT(i >= strlen(GOOD) - 8);
        for (int c = 0; c < 256; c++) {
            text[i] = (char)c;
            if (parse(&t, text, sizeof text - 1) != EVZK_OK)
                continue;
            UNIT_HOT(evzk__name_ok(t.tag, strlen(t.tag)));
            for (uint32_t k = 0; k < t.n; k++)
                UNIT_HOT(!evzk__site_name_fault(t.site[k]));
        }
        text[i] = was;
        evzk__tx_text_free(&t);
    }
}
END_TEST

START_TEST(test_id)
{
    ck_assert(evzk__is_tx_id("123e4567-e89b-42d3-a456-426614174000"));
    ck_assert(!evzk__is_tx_id("123e4567-e89b-42d3-a456-4266141740000"));
    ck_assert(!evzk__is_tx_id("123e4567-e89b-42d3-a456-42661417400"));
    ck_assert(!evzk__is_tx_id("123e4567-e89b-42d3-a456-4266141740/0"));
    ck_assert(!evzk__is_tx_id("123e4567-e89b-42d3-a456-4266141740\x01"
                              "0"));
    ck_assert(!evzk__is_tx_id("...................................."));
    ck_assert(!evzk__is_tx_id(""));
}
END_TEST

UNIT_MAIN("tx-text", test_text, test_tag, test_sites, test_every_byte, test_id)
