/* Two-phase commit without a server. */
#include "args.h"

#include <string.h>

static const char id[] = "123e4567-e89b-42d3-a456-426614174000";

static void on_tx(evzk_tx *tx, evzk_tx_event event, const evzk_tx_vote *vote,
                  int rc, void *arg)
{
    ck_assert_ptr_null(vote);
    args_heard(arg, tx, (int)event, rc);
}

static void on_site(evzk_site *site, evzk_site_event event, evzk_site_tx *tx,
                    int rc, void *arg)
{
    ck_assert_ptr_null(tx);
    args_heard(arg, site, (int)event, rc);
}

static void on_answer(evzk_tx_query *q, int rc, const evzk_tx_info *v, size_t n,
                      void *arg)
{
    ck_assert_ptr_null(v);
    ck_assert_uint_eq(n, 0);
    args_heard(arg, q, 0, rc);
}

ARGS_BEGIN(begin, evzk_tx, on_tx,
           evzk_tx_begin(a->s, a->path, a->options, on, a->arg, to))
ARGS_BEGIN(recover, evzk_tx, on_tx,
           evzk_tx_recover(a->s, a->path, id, a->options, on, a->arg, to))
ARGS_BEGIN(start, evzk_site, on_site,
           evzk_site_start(a->s, a->path, "site", a->options, on, a->arg, to))
ARGS_BEGIN(ask, evzk_tx_query, on_answer,
           evzk_tx_query_start(a->s, a->path, on, a->arg, to))
ARGS_FREE(free_tx, evzk_tx, evzk_tx_free)
ARGS_FREE(free_site, evzk_site, evzk_site_free)
ARGS_FREE(free_query, evzk_tx_query, evzk_tx_query_free)
ARGS_CALL(abort_it, evzk_tx, evzk_tx_abort(o))
ARGS_CALL(cancel, evzk_site, evzk_site_cancel(o))

static const char *const ab[] = {"a", "b"}, *const twice[] = {"a", "b", "a"},
                         *const hole[] = {"a", NULL}, *const empty[] = {""},
                         *const slash[] = {"a/b"}, *const dot[] = {"."},
                         *const dots[] = {".."}, *const line[] = {"a\nb"},
                         *const longest[] = {"0123456789012345678901234567890"
                                             "12345678901234567890123456789012"
                                             "34"};

static const evzk_tx_options least = {.sites = ab, .n_sites = 1};
static const evzk_tx_options most = {.variant = EVZK_TX_PRESENCE,
                                     .sites = ab,
                                     .n_sites = 2,
                                     .question = "?",
                                     .question_len = 1,
                                     .timeout_ms = 10000,
                                     .vote_data = true,
                                     .acl = args_one_acl,
                                     .acl_count = 1};
static const evzk_tx_options to_recover = {
    .vote_data = true, .acl = args_one_acl, .acl_count = 1};
static const evzk_site_options site_most = {.acl = args_one_acl,
                                            .acl_count = 1};

/* clang-format off */
#define BAD(what, ...)                                                         \
    {what, &(const evzk_tx_options){.sites = ab, .n_sites = 2, __VA_ARGS__}, EVZK_ERR_INVAL}
#define BAD_SITES(what, list, n)                                               \
    {what, &(const evzk_tx_options){.sites = (list), .n_sites = (n)}, EVZK_ERR_INVAL}
#define BAD_SITE(what, ...)                                                    \
    {what, &(const evzk_site_options){__VA_ARGS__}, EVZK_ERR_INVAL}
#define BAD_QUESTION(what, ...)                                                \
    BAD(what, __VA_ARGS__)

static const struct args_row rows[] = {
    BAD_SITES("sites: NULL", NULL, 1),
    BAD_SITES("sites: none", ab, 0),
    BAD_SITES("sites: too many", ab, EVZK_TX_SITES_MAX + 1),
    BAD_SITES("sites: one twice", twice, 3),
    BAD_SITES("sites: one is NULL", hole, 2),
    BAD_SITES("sites: an empty name", empty, 1),
    BAD_SITES("sites: a slash", slash, 1),
    BAD_SITES("sites: a dot", dot, 1),
    BAD_SITES("sites: two dots", dots, 1),
    BAD_SITES("sites: a line's end", line, 1),
    BAD_SITES("sites: a long name", longest, 1),
    BAD("variant: below zero", .variant = (evzk_tx_variant)-1),
    BAD("variant: too great", .variant = (evzk_tx_variant)(EVZK_TX_PRESENCE + 1)),
    BAD("question: NULL, with a length", .question_len = 1),
    BAD("question: too long", .question = "x", .question_len = EVZK_TX_DATA_MAX + 1),
    ARGS_BAD_RESERVED(BAD),
    ARGS_BAD_ACL(BAD),
};

static const struct args_row recover_rows[] = {
    ARGS_BAD_RESERVED(BAD),
    ARGS_BAD_ACL(BAD),
};

static const struct args_row site_rows[] = {
    ARGS_BAD_RESERVED(BAD_SITE),
    ARGS_BAD_ACL(BAD_SITE),
};

/* evzk_site_tx_vote: every call needs a server, and so do "evzk_site_tx_abort"
 * and "evzk_site_tx_done": see tests/real/test_two_phase.c. */
/* clang-format on */

static const void *with_acl(const evzk_acl *acl, size_t n)
{
    static evzk_tx_options opt = {.sites = ab, .n_sites = 2};

    opt.acl = acl;
    opt.acl_count = n;
    return &opt;
}

static const void *with_timeout(uint32_t ms)
{
    static evzk_tx_options opt = {.sites = ab, .n_sites = 2};

    opt.timeout_ms = ms;
    return &opt;
}

ARGS_WITH_ACL(site_with_acl, evzk_site_options)

static void expect_undecided(void *object)
{
    const evzk_tx *tx = object;

    ck_assert_uint_eq(strlen(evzk_tx_id(tx)), EVZK_TX_ID_LEN);
    ck_assert_int_eq(evzk_tx_decision(tx), EVZK_TX_NONE);
    ck_assert_int_eq(evzk_tx_token(tx), 0);
    ck_assert_uint_gt(strlen(evzk_tx_state(tx)), 0);
}

static void no_tx(void)
{
    INVAL_SILENT(evzk_tx_abort(NULL));
    ck_assert_str_eq(evzk_tx_id(NULL), "");
    ck_assert_int_eq(evzk_tx_decision(NULL), EVZK_TX_NONE);
    ck_assert_int_eq(evzk_tx_token(NULL), 0);
    ck_assert_str_eq(evzk_tx_state(NULL), "");
}

static void expect_state(void *object)
{
    ck_assert_uint_gt(strlen(evzk_site_state(object)), 0);
}

static void no_site(void)
{
    size_t len = 1;

    INVAL_SILENT(evzk_site_cancel(NULL));
    INVAL_SILENT(evzk_site_tx_vote(NULL, EVZK_TX_COMMIT, NULL, 0));
    INVAL_SILENT(evzk_site_tx_abort(NULL));
    INVAL_SILENT(evzk_site_tx_done(NULL));
    ck_assert_str_eq(evzk_site_state(NULL), "");
    ck_assert_str_eq(evzk_site_tx_id(NULL), "");
    ck_assert_str_eq(evzk_site_tx_state(NULL), "");
    ck_assert_ptr_null(evzk_site_tx_question(NULL, &len));
    ck_assert_uint_eq(len, 0);
    ck_assert_int_eq(evzk_site_tx_own_vote(NULL), EVZK_TX_NONE);
    ck_assert_int_eq(evzk_site_tx_decision(NULL), EVZK_TX_NONE);
    ck_assert_int_eq(evzk_site_tx_token(NULL), 0);
    evzk_site_tx_set_arg(NULL, NULL);
    ck_assert_ptr_null(evzk_site_tx_arg(NULL));
}

static const struct args_kind tx = {.start = "evzk_tx_begin",
                                    .begin = begin,
                                    .least = &least,
                                    .most = &most,
                                    .rows = rows,
                                    .n_rows = UNIT_COUNT(rows),
                                    .with_acl = with_acl,
                                    .with_timeout = with_timeout,
                                    .stop_function = "evzk_tx_abort",
                                    .stop = abort_it,
                                    .stopped_event = EVZK_TX_FAILED,
                                    .stopped_rc = EVZK_ERR_CANCELED,
                                    .failed_event = EVZK_TX_FAILED,
                                    .free = free_tx,
                                    .has_nothing = expect_undecided,
                                    .null = no_tx};

static const struct args_kind successor = {.start = "evzk_tx_recover",
                                           .begin = recover,
                                           .most = &to_recover,
                                           .rows = recover_rows,
                                           .n_rows = UNIT_COUNT(recover_rows),
                                           .stop_function = "evzk_tx_abort",
                                           .stop = abort_it,
                                           .stopped_event = EVZK_TX_FAILED,
                                           .stopped_rc = EVZK_ERR_CANCELED,
                                           .failed_event = EVZK_TX_FAILED,
                                           .free = free_tx,
                                           .has_nothing = expect_undecided,
                                           .null = no_tx};

static const struct args_kind site = {.start = "evzk_site_start",
                                      .begin = start,
                                      .most = &site_most,
                                      .rows = site_rows,
                                      .n_rows = UNIT_COUNT(site_rows),
                                      .with_acl = site_with_acl,
                                      .stop_function = "evzk_site_cancel",
                                      .stop = cancel,
                                      .stopped_event = EVZK_SITE_ENDED,
                                      .stopped_rc = EVZK_ERR_CANCELED,
                                      .failed_event = EVZK_SITE_ENDED,
                                      .free = free_site,
                                      .has_nothing = expect_state,
                                      .null = no_site};

/* clang-format off */
static const struct args_kind query = {
    .start = "evzk_tx_query_start", .begin = ask, .free = free_query};
/* clang-format on */

static const struct args_kind *const kinds[] = {&tx, &successor, &site, &query,
                                                NULL};

/* Options that have no default; and names. */
START_TEST(names_are_needed)
{
    static const char *const bad[] = {NULL, "", ".", "..", "a/b", "a\tb"};
    static const char *const ids[] = {NULL, "", "x",
                                      "123e4567-e89b-42d3-a456/426614174000"};
    evzk_tx *out = NULL;
    evzk_site *at = NULL;
    struct heard h = {0};
    struct world w;

    set_up(&w);
    INVAL(evzk_tx_begin(w.s, "/d", NULL, on_tx, &h, &out));
    INVAL(evzk_tx_begin(w.s, "/", &least, on_tx, &h, &out));
    INVAL(evzk_tx_recover(w.s, "/", id, NULL, on_tx, &h, &out));
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        INVAL(evzk_site_start(w.s, "/d", bad[i], NULL, on_site, &h, &at));
    for (size_t i = 0; i < UNIT_COUNT(ids); i++)
        INVAL(evzk_tx_recover(w.s, "/d", ids[i], NULL, on_tx, &h, &out));
    ck_assert_ptr_null(out);
    ck_assert_ptr_null(at);
    tear_down(&w);
}
END_TEST

/* Each option is good by itself, and the servers would hang up at all together:
 * two znodes a site, each with the ACL. */
START_TEST(all_is_one_transaction)
{
    static char names[EVZK_TX_SITES_MAX][8], digest[1024];
    static const char *sites[EVZK_TX_SITES_MAX];
    const evzk_acl acl = {EVZK_PERM_ALL, "digest", digest};
    evzk_tx_options opt = {.sites = sites, .acl = &acl, .acl_count = 1};
    struct heard h = {0};
    evzk_tx *out = NULL;
    struct world w;

    set_up(&w);
    memset(digest, 'd', sizeof digest - 1);
    for (size_t i = 0; i < EVZK_TX_SITES_MAX; i++) {
        snprintf(names[i], sizeof names[i], "s%zu", i);
        sites[i] = names[i];
    }
    opt.n_sites = EVZK_TX_SITES_MAX;
    INVAL(evzk_tx_begin(w.s, "/d", &opt, on_tx, &h, &out));
    ck_assert_ptr_null(out);
    opt.n_sites = EVZK_TX_SITES_MAX / 2;
    ck_assert_int_eq(evzk_tx_begin(w.s, "/d", &opt, on_tx, &h, &out), EVZK_OK);
    evzk_tx_free(out);
    tear_down(&w);
}
END_TEST

static void add_tests(Suite *suite)
{
    args_add(suite, names_are_needed, 1);
    args_add(suite, all_is_one_transaction, 1);
}

const struct args_recipe args_two_phase = {kinds, add_tests};
