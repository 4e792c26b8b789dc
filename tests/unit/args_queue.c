/* Looks at queues without a server. */
#include "args.h"

#include "evzk/queue.h"

static void on_report(evzk_queue_query *q, int rc, const evzk_queue_report *r,
                      void *arg)
{
    ck_assert_ptr_null(r);
    args_heard(arg, q, 0, rc);
}

ARGS_BEGIN(begin_query, evzk_queue_query, on_report,
           evzk_queue_query_start(a->s, a->path, a->options, on, a->arg, to))
ARGS_FREE(free_query, evzk_queue_query, evzk_queue_query_free)

static const evzk_queue_query_options all_options = {
    .layout = EVZK_QUEUE_PLAIN, .peek = EVZK_QUEUE_PEEK_MAX, .follow = true};

/* clang-format off */
#define BAD(what, ...)                                                         \
    {what, &(const evzk_queue_query_options){__VA_ARGS__}, EVZK_ERR_INVAL}

static const struct args_row rows[] = {
    BAD("layout: beyond the last", .layout = (evzk_queue_layout)3),
    BAD("layout: below zero", .layout = (evzk_queue_layout)-1),
    BAD("peek: too many", .peek = EVZK_QUEUE_PEEK_MAX + 1),
    ARGS_BAD_RESERVED(BAD),
};
/* clang-format on */

static const struct args_kind looking = {.start = "evzk_queue_query_start",
                                         .begin = begin_query,
                                         .most = &all_options,
                                         .rows = rows,
                                         .n_rows = UNIT_COUNT(rows),
                                         .free = free_query};

static const struct args_kind *const kinds[] = {&looking, NULL};

START_TEST(root_is_no_queue)
{
    evzk_queue_query *q = NULL;
    struct world w;

    set_up(&w);
    INVAL(evzk_queue_query_start(w.s, "/", NULL, on_report, NULL, &q));
    ck_assert_ptr_null(q);
    tear_down(&w);
}
END_TEST

static void add_tests(Suite *suite) { args_add(suite, root_is_no_queue, 1); }

const struct args_recipe args_queue = {kinds, add_tests};
