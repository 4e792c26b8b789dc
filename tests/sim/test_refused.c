/* A step of a request that the servers refuse for no known reason, again and
 * again, by a machine that is told so by hand: the row hears of the refusal in
 * the end, also if the step before it is answered each time. */
#include "test_session.h"

#include "lib/base/mem.h"
#include "lib/machine/machine_internal.h"
#include "lib/machine/rows.h"

enum { ASKING, DONE, ENDED, STATES };
enum { STEPS = 3, MOST = 40 };

static struct asker {
    struct evzk__machine m;
    struct evzk__step steps[STEPS];
    int heard; /* The rc of the last part that the row was told; 1: none. */
} * the;

static struct asker *asker_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct asker, m);
}

static void ask(struct evzk__machine *m)
{
    evzk__ask(m, asker_of(m)->steps, STEPS, EVZK__EACH);
}

static int answered(struct evzk__machine *m, const struct evzk__event *e)
{
    if (!e->reply->last)
        return EVZK_OK;
    asker_of(m)->heard = e->reply->first_rc;
    return evzk__machine_move(m, DONE);
}

static void rest(struct evzk__machine *m) { (void)m; }

static int rested(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)m;
    (void)e;
    return EVZK_OK;
}

static void destroy(struct evzk__machine *m)
{
    machine_destroyed(m);
    evzk__free(asker_of(m));
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
ROW(ASKING, ask,  answered, DONE,  ENDED, ASKING, RETRY, ON(REPLY, DONE, HERE)),
ROW(DONE,   rest, rested,   ENDED, ENDED, DONE,   0,     ON(USER_EVENT, HERE)),
END(ENDED,  rest),
};
/* clang-format on */

static const struct evzk__kind kind = {
    .name = "asker", .rows = rows, .n_rows = STATES, .destroy = destroy};

static void set_up(void)
{
    const struct process_config cfg = {.timeout_ms = 10000};
    int before;

    begin_with_a();
    session_open(&cfg);
    before = sim_enter(0);
    the = evzk__zalloc(sizeof *the);
    the->heard = 1;
    for (int i = 0; i < STEPS; i++)
        the->steps[i] =
            (struct evzk__step){.verb = EVZK__STEP_EXISTS, .name = ""};
    add_machine(0, &the->m, &kind);
    sim_leave(before);
    pass(100);
}

/* One answer to the whole: the steps from this one on are refused, or what
 * comes behind such a step. */
static void answer(int refused)
{
    static const struct evzk__result none;
    int before = sim_enter(0);

    for (int i = 0; i < STEPS && the->heard == 1; i++) {
        const struct evzk__reply reply = {
            .rc = i == refused ? EVZK_ERR_SERVER : EVZK_OK,
            .first_rc = i >= refused ? EVZK_ERR_SERVER : EVZK_OK,
            .part = (uint32_t)i,
            .last = i == STEPS - 1,
            .res = &none};

        evzk__machine_answered(&the->m.place.req, &reply);
    }
    sim_leave(before);
}

static void refuse(int step)
{
    int rounds = 0;

    set_up();
    while (the->heard == 1 && rounds < MOST) {
        answer(step);
        rounds++;
    }
    ck_assert_int_eq(the->heard, EVZK_ERR_SERVER);
    ck_assert_int_eq(rounds, 9);
    pass(1000 * MS); /* For what was sent. */
    let_machines_go();
    session_close();
}

START_TEST(first) { refuse(0); }
END_TEST

START_TEST(middle) { refuse(1); }
END_TEST

START_TEST(last) { refuse(2); }
END_TEST

UNIT_MAIN("refused", first, middle, last)
