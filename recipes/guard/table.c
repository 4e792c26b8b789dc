/* A guarded write.
 *
 *   MARKING --> WRITING --> CLEANING --> ENDED
 *      ^         |  ^          ^  |
 *      |         v  |          |  v
 *      |        SETTLING ------' CHECKING
 *      `--- WRITING, if somebody has deleted the receipt before
 *
 * MARKING makes the receipt; and so does MARKING_AGAIN, when the answer was
 * lost: then the receipt may exist.  WRITING is the transaction.  Receipts that
 * are due in one loop step are made in one transaction, and so are the writes.
 * The outcome is told as soon as it is known; CLEANING then deletes the receipt
 * in the background.
 *
 * How it can fail.  The answer of the transaction may be lost: SETTLING finds
 * out what became of it.  If the session ends before that, the outcome is told
 * as unknown, since the receipt ends with the session.
 */
#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "recipes/guard/guard_internal.h"
#include "recipes/kinds.h"

static void end(struct evzk__machine *m)
{
    evzk__guard_tell(evzk__guard_of(m));
}

/* The stop is taken in the same turn. */
static void on_deadline(struct evzk__machine *m)
{
    evzk__machine_stop(m, EVZK_ERR_TIMEOUT);
}

/* Was the answer itself lost?  Then the receipt was not read. */
static bool is_lost(const struct evzk__reply *reply)
{
    return reply->rc == EVZK_ERR_CONNLOSS || reply->rc == EVZK_ERR_NOMEM ||
           reply->first_rc == EVZK_ERR_CONNLOSS ||
           reply->first_rc == EVZK_ERR_NOMEM;
}

/* An answer that came before the stop was told is no worse for it. */
static void learn_first(struct evzk__machine *m,
                        const struct evzk__reply *reply)
{
    if (m->state == WRITING)
        evzk__guard_learn(evzk__guard_of(m), reply);
    else if (m->state == SETTLING && !is_lost(reply))
        evzk__guard_learn_late(evzk__guard_of(m), reply);
}

static void on_stop(struct evzk__machine *m, const struct evzk__reply *reply)
{
    struct evzk_guard *g = evzk__guard_of(m);

    if (!reply)
        evzk__guard_tell(g);
    else if (!g->told)
        learn_first(m, reply);
}

void evzk__guard_destroy(struct evzk__machine *m)
{
    struct evzk_guard *g = evzk__guard_of(m);

    for (size_t i = 0; g->acls && i < g->n; i++)
        evzk__acl_free(&g->acls[i]);
    for (size_t i = 0; i < g->n; i++) {
        evzk__free((void *)(uintptr_t)g->step[EVZK__GUARD_OPS + i].name);
        evzk__free((void *)(uintptr_t)g->step[EVZK__GUARD_OPS + i].data);
    }
    evzk__free(g->acls);
    evzk__free(g->versions);
    evzk__free(g->guard);
    evzk__acl_free(&g->acl);
    evzk__free(g);
}

/* NEVER: a session's end comes behind the loss of a connection, which leads to
 * CHECKING. */
/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state          entry              reaction              main      on stop   on expiry  flags */
ROW(MARKING,       evzk__guard_mark,  evzk__guard_marked,   WRITING,  CHECKING, MARKING,   NOTHING_SENT,
    ON(REPLY, WRITING, MARKING_AGAIN, ENDED, FAIL), RARELY(REPLY, MARKING)),
ROW(MARKING_AGAIN, evzk__guard_mark,  evzk__guard_marked,   ASIDE,    CHECKING, MARKING,   RETRY,
    ON(REPLY, WRITING, ENDED, FAIL)),
ROW(WRITING,       evzk__guard_write, evzk__guard_written,  CLEANING, CLEANING, ENDED,     0,
    ON(REPLY, CLEANING, SETTLING, MARKING),
    RARELY(REPLY, WRITING)),
ROW(SETTLING,      evzk__guard_look,  evzk__guard_settled,  ASIDE,    CLEANING, ENDED,     RETRY,
    ON(REPLY, WRITING, CLEANING)),
ROW(CLEANING,      evzk__guard_clean, evzk__guard_cleaned,  ENDED,    STAY,     ENDED,     RETRY,
    ON(ENTRY, CHECKING),
    ON(REPLY, ENDED),
    ON(STOP,  ENDED),
    ON(EXPIRED, NEVER)),
ROW(CHECKING,      evzk__guard_check, evzk__guard_checked,  ASIDE,    STAY,     ENDED,     RETRY,
    ON(REPLY, CLEANING, ENDED),
    ON(STOP,  CLEANING, ENDED)),
END(ENDED,         end),
};
/* clang-format on */

const struct evzk__kind evzk__guard_kind = {.name = "guard",
                                            .rows = rows,
                                            .n_rows = STATES,
                                            .on_deadline = on_deadline,
                                            .on_stop = on_stop,
                                            .destroy = evzk__guard_destroy,
                                            .left = evzk__guard_left};
