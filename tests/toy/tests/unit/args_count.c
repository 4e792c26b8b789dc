/* Counts without a server. */
#include "args.h"

static void on_count(evzk_count *c, int rc, size_t n, void *arg)
{
    ck_assert_uint_eq(n, 0);
    args_heard(arg, c, 0, rc);
}

ARGS_BEGIN(begin_count, evzk_count, on_count,
           evzk_count_start(a->s, a->path, on, a->arg, to))
ARGS_FREE(free_count, evzk_count, evzk_count_free)

static const struct args_kind count = {
    .start = "evzk_count_start", .begin = begin_count, .free = free_count};

static const struct args_kind *const kinds[] = {&count, NULL};

const struct args_recipe args_count = {kinds, NULL};
