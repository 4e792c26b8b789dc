/* Every recipe's table: what holds for all of them. */
#include "unit.h"

#include <string.h>

#include "lib/request/path_watch.h"
#include "recipes/kinds.h"

typedef void check_row(const struct evzk__kind *k, int state);

static void for_all(check_row *check)
{
    for (const struct evzk__kind *const *k = evzk__kinds; *k; k++) {
        for (int i = 0; i < (*k)->n_rows; i++) {
            check(*k, i);
        }
    }
}

#define HOLDS_FOR(cond, k, state)                                              \
    ck_assert_msg((cond), "%s, %s: not so: %s", (k)->name,                     \
                  (k)->rows[state].name ? (k)->rows[state].name : "?", #cond)

static uint32_t all_states(const struct evzk__kind *k)
{
    return EVZK__BIT(k->n_rows) - 1;
}

START_TEST(test_kinds)
{
    int n = 0;

    for (const struct evzk__kind *const *k = evzk__kinds; *k; k++, n++) {
        ck_assert_ptr_nonnull((*k)->name);
        ck_assert_ptr_nonnull((*k)->rows);
        ck_assert_ptr_nonnull((void *)(uintptr_t)(*k)->destroy);
        ck_assert_int_ge((*k)->n_rows, 2);
        ck_assert_int_le((*k)->n_rows, EVZK__ROWS_MAX);
        ck_assert_int_le((*k)->n_watches, EVZK__PATH_WATCHES_MAX);
        for (const struct evzk__kind *const *o = evzk__kinds; o < k; o++)
            ck_assert_str_ne((*k)->name, (*o)->name);
    }
    ck_assert_int_gt(n, 0);
}
END_TEST

static void check_names(const struct evzk__kind *k, int state)
{
    HOLDS_FOR(k->rows[state].name != NULL, k, state);
    HOLDS_FOR(k->rows[state].name[0] != '\0', k, state);
    HOLDS_FOR(strcmp(k->rows[state].name, "NEW") != 0, k, state);
    for (int i = 0; i < state; i++)
        HOLDS_FOR(strcmp(k->rows[i].name, k->rows[state].name) != 0, k, state);
}

START_TEST(test_names) { for_all(check_names); }
END_TEST

static uint32_t may(const struct evzk__kind *k, int state, int cause)
{
    return evzk__row_may(k, state, (enum evzk__cause)cause);
}

static void check_final(const struct evzk__kind *k, int state)
{
    const struct evzk__row *r = &k->rows[state];
    bool last = state == k->n_rows - 1;

    HOLDS_FOR(((r->flags & EVZK__FINAL) != 0) == last, k, state);
    HOLDS_FOR((evzk__row_reach(k, state) == 0) == last, k, state);
    if (last) {
        HOLDS_FOR(r->flags == EVZK__FINAL, k, state);
        HOLDS_FOR(r->react == NULL, k, state);
        HOLDS_FOR(r->enter != NULL, k, state); /* The entry reports the end. */
        HOLDS_FOR(r->main == EVZK__ASIDE, k, state);
        HOLDS_FOR(r->stop == EVZK__STAY, k, state);
        HOLDS_FOR(r->expiry == EVZK__STAY, k, state);
        for (int c = 0; c < EVZK__CAUSES; c++)
            HOLDS_FOR((r->on[c] | r->rarely[c]) == 0, k, state);
    }
}

START_TEST(test_final) { for_all(check_final); }
END_TEST

static void check_targets(const struct evzk__kind *k, int state)
{
    const struct evzk__row *r = &k->rows[state];
    uint32_t fail = EVZK__BIT(EVZK__FAIL), here = EVZK__BIT(EVZK__HERE);
    uint32_t words = fail | here | EVZK__BIT(EVZK__NEVER);

    for (int c = 0; c < EVZK__CAUSES; c++) {
        uint32_t listed = r->on[c] | r->rarely[c];

        HOLDS_FOR((listed & ~(all_states(k) | words)) == 0, k, state);
        HOLDS_FOR((r->on[c] & r->rarely[c]) == 0, k, state);
        HOLDS_FOR((may(k, state, c) & ~(all_states(k) | here)) == 0, k, state);
        HOLDS_FOR(!(listed & fail) || r->react, k, state);
    }
    HOLDS_FOR(r->main >= EVZK__ASIDE && r->main < k->n_rows, k, state);
    HOLDS_FOR(r->stop >= EVZK__STAY && r->stop < k->n_rows, k, state);
    HOLDS_FOR(r->expiry >= EVZK__STAY && r->expiry < k->n_rows, k, state);
    if (r->main != EVZK__ASIDE)
        HOLDS_FOR(evzk__row_reach(k, state) & EVZK__BIT(r->main), k, state);
}

START_TEST(test_targets) { for_all(check_targets); }
END_TEST

/* The core itself moves there: a stop in a NOTHING_SENT row, an end with a stop
 * in hand, and whatever fails where a stop leads nowhere. */
static void check_can_end(const struct evzk__kind *k, int state)
{
    const struct evzk__row *r = &k->rows[state];

    if (state < k->n_rows - 1) {
        HOLDS_FOR(evzk__row_reach(k, state) & EVZK__BIT(k->n_rows - 1), k,
                  state);
        HOLDS_FOR(r->expiry != EVZK__STAY, k, state);
    }
}

START_TEST(test_can_end) { for_all(check_can_end); }
END_TEST

/* The events that a reaction hears. */
static bool is_heard(int cause) { return cause <= EVZK__ON_LEASE_END; }

static void check_flags(const struct evzk__kind *k, int state)
{
    const struct evzk__row *r = &k->rows[state];
    unsigned again = EVZK__RETRY | EVZK__HOLDS | EVZK__UNSENT;
    unsigned known = again | EVZK__NOTHING_SENT | EVZK__FINAL | EVZK__SIGHTS;

    HOLDS_FOR(!(r->flags & EVZK__SIGHTS) || (r->flags & EVZK__RETRY), k, state);
    HOLDS_FOR((r->flags & ~known) == 0, k, state);
    HOLDS_FOR(!(r->flags & again) || r->enter, k, state);
    HOLDS_FOR(!(r->flags & EVZK__HOLDS) || r->react, k, state);
    for (int c = 0; c < EVZK__CAUSES; c++)
        HOLDS_FOR(!is_heard(c) || !evzk__row_hears(r, (enum evzk__cause)c) ||
                      r->react,
                  k, state);
    if (r->stop == EVZK__STAY && !(r->flags & EVZK__FINAL))
        HOLDS_FOR(r->react != NULL, k,
                  state); /* The reaction looks at `stopping`. */
}

START_TEST(test_flags) { for_all(check_flags); }
END_TEST

static uint32_t listed(const struct evzk__row *r, enum evzk__cause c)
{
    return (r->on[c] | r->rarely[c]) & ~EVZK__TO(EVZK__FAIL, EVZK__NEVER);
}

/* What the columns say, and the lists do not. */
static void check_columns(const struct evzk__kind *k, int state)
{
    const struct evzk__row *r = &k->rows[state];
    uint32_t end = EVZK__BIT(k->n_rows - 1), here = EVZK__BIT(EVZK__HERE);
    uint32_t fresh = r->flags & EVZK__NOTHING_SENT ? end : 0;
    uint32_t doubt = r->flags & EVZK__HOLDS ? here : 0;

    HOLDS_FOR(may(k, state, EVZK__ON_START) == 0, k, state);
    if (state == k->n_rows - 1)
        return;
    HOLDS_FOR(may(k, state, EVZK__ON_STOP) ==
                  ((r->stop == EVZK__STAY ? here : EVZK__BIT(r->stop)) | fresh |
                   listed(r, EVZK__ON_STOP)),
              k, state);
    HOLDS_FOR(r->stop == EVZK__STAY || !listed(r, EVZK__ON_STOP), k, state);
    HOLDS_FOR(may(k, state, EVZK__ON_EXPIRED) == (EVZK__BIT(r->expiry) | end),
              k, state);
    HOLDS_FOR(may(k, state, EVZK__ON_CLOSED) == end, k, state);
    HOLDS_FOR((may(k, state, EVZK__ON_SUSPENDED) & here) == doubt, k, state);
    HOLDS_FOR((may(k, state, EVZK__ON_LEASE_END) & here) == doubt, k, state);
}

START_TEST(test_columns)
{
    for_all(check_columns);
    for (int i = 0; i < EVZK__CAUSES; i++) {
        ck_assert_ptr_nonnull(evzk__cause_name[i]);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(evzk__cause_name[i], evzk__cause_name[j]);
    }
}
END_TEST

/* A rare move is legal, and does not count; what never comes is legal, too,
 * should it come all the same.  A failure counts, even if another move to the
 * same state is rare. */
START_TEST(test_rare)
{
    static const struct evzk__row rows[] = {
        {.name = "A",
         .stop = 2,
         .expiry = 0,
         .on = {[EVZK__ON_REPLY] = EVZK__TO(1, EVZK__FAIL),
                [EVZK__ON_USER_EVENT] = EVZK__TO(0, 1),
                [EVZK__ON_EXPIRED] = EVZK__TO(EVZK__NEVER)},
         .rarely = {[EVZK__ON_REPLY] = EVZK__TO(0),
                    [EVZK__ON_USER_EVENT] = EVZK__TO(1),
                    [EVZK__ON_ENTRY] = EVZK__TO(2)}},
        {.name = "B",
         .stop = EVZK__STAY,
         .expiry = 2,
         .on = {[EVZK__ON_LINGERED] = EVZK__TO(0, EVZK__FAIL)},
         .rarely = {[EVZK__ON_LINGERED] = EVZK__TO(2),
                    [EVZK__ON_STOP] = EVZK__TO(EVZK__HERE)}},
        {.name = "C", .flags = EVZK__FINAL}};
    struct evzk__kind k = {.rows = rows, .n_rows = 3};

    ck_assert_uint_eq(evzk__row_next(&k, 0, EVZK__ON_REPLY), EVZK__TO(1, 2));
    ck_assert_uint_eq(may(&k, 0, EVZK__ON_REPLY), EVZK__TO(0, 1, 2));
    ck_assert_uint_eq(evzk__row_next(&k, 0, EVZK__ON_ENTRY), 0);
    ck_assert_uint_eq(may(&k, 0, EVZK__ON_ENTRY), EVZK__TO(2));
    ck_assert_uint_eq(evzk__row_next(&k, 0, EVZK__ON_USER_EVENT), EVZK__TO(0));
    ck_assert_uint_eq(may(&k, 0, EVZK__ON_USER_EVENT), EVZK__TO(0, 1));
    ck_assert_uint_eq(evzk__row_next(&k, 0, EVZK__ON_EXPIRED), 0);
    ck_assert_uint_eq(may(&k, 0, EVZK__ON_EXPIRED), EVZK__TO(0, 2));
    ck_assert_uint_eq(may(&k, 1, EVZK__ON_REPLY), 0);
    ck_assert_uint_eq(may(&k, 1, EVZK__ON_STOP), EVZK__TO(EVZK__HERE));
    ck_assert_uint_eq(evzk__row_next(&k, 1, EVZK__ON_STOP), 0);
    ck_assert_uint_eq(evzk__row_next(&k, 1, EVZK__ON_LINGERED), EVZK__TO(0, 2));
}
END_TEST

/* The straight way begins at the first row, ends at the last, and goes round
 * nowhere; a row that it does not pass is aside. */
START_TEST(test_main)
{
    for (const struct evzk__kind *const *k = evzk__kinds; *k; k++) {
        uint32_t seen = 0, main = 0;
        int at = 0;

        while (at != EVZK__ASIDE && !(seen & EVZK__BIT(at))) {
            seen |= EVZK__BIT(at);
            at = (*k)->rows[at].main;
        }
        ck_assert_msg(at == EVZK__ASIDE, "%s goes round", (*k)->name);
        HOLDS_FOR(seen & EVZK__BIT((*k)->n_rows - 1), *k, 0);
        for (int i = 0; i < (*k)->n_rows; i++)
            if ((*k)->rows[i].main != EVZK__ASIDE)
                main |= EVZK__BIT(i);
        HOLDS_FOR((main & ~seen) == 0, *k, 0);
    }
}
END_TEST

static uint32_t reach(const struct evzk__kind *k, int from)
{
    uint32_t seen = EVZK__TO(from), before = 0;

    while (seen != before) {
        before = seen;
        for (int i = 0; i < k->n_rows; i++) {
            if (seen & EVZK__TO(i))
                seen |= evzk__row_reach(k, i);
        }
    }
    return seen;
}

static void check_reach(const struct evzk__kind *k, int state)
{
    HOLDS_FOR(reach(k, 0) & EVZK__TO(state), k, state);
    HOLDS_FOR(reach(k, state) & EVZK__TO(k->n_rows - 1), k, state);
}

START_TEST(test_reach) { for_all(check_reach); }
END_TEST

/* From everywhere, stops alone lead to the end, or to a row that stays. */
static void check_stop(const struct evzk__kind *k, int state)
{
    int steps = 0, at = state;

    while (k->rows[at].stop != EVZK__STAY && steps++ <= k->n_rows)
        at = k->rows[at].stop;
    HOLDS_FOR(steps <= k->n_rows, k, state);
}

START_TEST(test_stop) { for_all(check_stop); }
END_TEST

UNIT_MAIN("tables", test_kinds, test_names, test_final, test_targets,
          test_can_end, test_flags, test_columns, test_rare, test_main,
          test_reach, test_stop)
