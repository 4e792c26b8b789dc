/* Every recipe's table: what holds for all of them. */
#include "unit.h"

#include <string.h>

#include "recipes/kinds.h"

typedef void check_row(const struct evzk__kind *k, int state);

static void for_all(check_row *check)
{
    for (const struct evzk__kind *const *k = evzk__kinds; *k; k++) {
        for (int i = 0; i < (*k)->n_rows; i++) {
            if (evzk__has_row(*k, i))
                check(*k, i);
        }
    }
}

#define HOLDS_FOR(cond, k, state)                                              \
    ck_assert_msg((cond), "%s, %s: not so: %s", (k)->name,                     \
                  (k)->rows[state].name ? (k)->rows[state].name : "?", #cond)

static uint32_t all_states(const struct evzk__kind *k)
{
    return k->n_rows == 32 ? UINT32_MAX : EVZK__TO(k->n_rows) - 1;
}

START_TEST(test_kinds)
{
    int n = 0;

    for (const struct evzk__kind *const *k = evzk__kinds; *k; k++, n++) {
        ck_assert_ptr_nonnull((*k)->name);
        ck_assert_ptr_nonnull((*k)->rows);
        ck_assert_ptr_nonnull((void *)(uintptr_t)(*k)->destroy);
        ck_assert_int_ge((*k)->n_rows, 2);
        ck_assert_int_le((*k)->n_rows, 32);
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

static void check_final(const struct evzk__kind *k, int state)
{
    const struct evzk__row *r = &k->rows[state];
    bool last = state == k->n_rows - 1;

    HOLDS_FOR(((r->flags & EVZK__FINAL) != 0) == last, k, state);
    HOLDS_FOR((r->next == 0) == last, k, state);
    if (last) {
        HOLDS_FOR(r->flags == EVZK__FINAL, k, state);
        HOLDS_FOR(r->react == NULL, k, state);
        HOLDS_FOR(r->enter != NULL, k, state); /* It reports the end. */
        HOLDS_FOR(r->stop == EVZK__STAY, k, state);
        HOLDS_FOR(r->expiry == EVZK__STAY, k, state);
    }
}

START_TEST(test_final) { for_all(check_final); }
END_TEST

static void check_targets(const struct evzk__kind *k, int state)
{
    const struct evzk__row *r = &k->rows[state];

    HOLDS_FOR((r->next & ~all_states(k)) == 0, k, state);
    HOLDS_FOR(r->stop >= EVZK__STAY && r->stop < k->n_rows, k, state);
    HOLDS_FOR(r->expiry >= EVZK__STAY && r->expiry < k->n_rows, k, state);
    if (r->stop != EVZK__STAY)
        HOLDS_FOR(evzk__row_next(k, state) & EVZK__TO(r->stop), k, state);
    if (r->expiry != EVZK__STAY)
        HOLDS_FOR(evzk__row_next(k, state) & EVZK__TO(r->expiry), k, state);
}

START_TEST(test_targets) { for_all(check_targets); }
END_TEST

/* The core itself moves there: a stop in a FRESH row, an end with a stop in
 * hand, and whatever fails where a stop leads nowhere. */
static void check_can_end(const struct evzk__kind *k, int state)
{
    const struct evzk__row *r = &k->rows[state];

    if (state < k->n_rows - 1) {
        HOLDS_FOR(r->next & EVZK__TO(k->n_rows - 1), k, state);
        HOLDS_FOR(r->expiry != EVZK__STAY, k, state);
    }
}

START_TEST(test_can_end) { for_all(check_can_end); }
END_TEST

static void check_flags(const struct evzk__kind *k, int state)
{
    const struct evzk__row *r = &k->rows[state];
    unsigned reacts =
        EVZK__RETRY | EVZK__HOLDS | EVZK__WATCHES | EVZK__STAYS | EVZK__HEEDS;
    unsigned known = reacts | EVZK__FRESH | EVZK__FINAL | EVZK__UNSENT;

    HOLDS_FOR((r->flags & ~known) == 0, k, state);
    if (r->flags & reacts) {
        HOLDS_FOR(r->react != NULL, k, state);
        HOLDS_FOR(r->enter != NULL, k, state);
    }
    if (r->stop == EVZK__STAY && !(r->flags & EVZK__FINAL))
        HOLDS_FOR(r->react != NULL, k, state); /* It looks at `stopping`. */
}

START_TEST(test_flags) { for_all(check_flags); }
END_TEST

static void check_events(const struct evzk__kind *k, int state)
{
    const struct evzk__row *r = &k->rows[state];
    struct evzk__kind all = *k;
    uint32_t on;
    uint32_t doubt =
        EVZK__ON(EVZK__EV_SUSPENDED) | EVZK__ON(EVZK__EV_LEASE_END);
    uint32_t stayed = EVZK__ON(EVZK__EV_STAYED);
    uint32_t asked = EVZK__ON(EVZK__EV_ASKED);
    uint32_t watch = EVZK__ON(EVZK__EV_DELETED) | EVZK__ON(EVZK__EV_CHANGED);

    all.never = NULL;
    on = evzk__row_events(&all, state);
    HOLDS_FOR((on & ~(EVZK__ON(EVZK__EVENTS) - 1)) == 0, k, state);
    HOLDS_FOR((on & EVZK__ON(EVZK__EV_START)) == 0, k, state);
    if (state == k->n_rows - 1) {
        HOLDS_FOR(on == 0, k, state);
        return;
    }
    HOLDS_FOR(on & EVZK__ON(EVZK__EV_STOP), k, state);
    HOLDS_FOR(on & EVZK__ON(EVZK__EV_EXPIRED), k, state);
    HOLDS_FOR(on & EVZK__ON(EVZK__EV_CLOSED), k, state);
    HOLDS_FOR((on & watch) == (r->flags & EVZK__WATCHES ? watch : 0), k, state);
    HOLDS_FOR((on & asked) == (r->flags & EVZK__HEEDS ? asked : 0), k, state);
    HOLDS_FOR((on & stayed) == (r->flags & EVZK__STAYS ? stayed : 0), k, state);
    HOLDS_FOR((on & doubt) == (r->flags & EVZK__HOLDS ? doubt : 0), k, state);
}

START_TEST(test_events)
{
    for_all(check_events);
    for (int i = 0; i < EVZK__EVENTS; i++) {
        ck_assert_ptr_nonnull(evzk__event_name[i]);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(evzk__event_name[i], evzk__event_name[j]);
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
                seen |= evzk__row_next(k, i);
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
          test_can_end, test_flags, test_events, test_reach, test_stop)
