/* A writer of a value: the table.
 *
 *   IDLE --> CREATING --> IDLE --> FINDING --> IDLE --> WRITING --> IDLE ...
 *
 * IDLE chooses what comes next: it waits for a write, or goes on without
 * waiting.  CREATING makes the receipt, with RESOLVING and ADOPTING
 * (parts/make.h); FINDING reads the value; WRITING is the transaction, with a
 * write to the receipt (parts/receipt.h).  A value that does not exist is made
 * together with its receipt (value/make.c).
 *
 * How it can fail.
 *
 * - Somebody deletes the value, and makes it anew: the receipt is gone with it,
 *   and the transaction is refused.  What became of one that was sent before
 *   nobody knows: the caller hears so.  DISCARDING deletes what may be left of
 *   the receipt, so that an earlier transaction does not come behind later
 *   ones.
 * - The session ends while a transaction is under way: it is sent again in the
 *   next session, with the same receipt.
 * - The writer's process is killed: its receipt stays until another writer
 *   tidies (parts/tidy.h), and the value cannot be deleted before it.
 */
#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "recipes/kinds.h"
#include "recipes/value/value_internal.h"

enum {
    IDLE = EVZK__VALUE_IDLE,
    FINDING = EVZK__VALUE_FINDING,
    MAKING = EVZK__VALUE_MAKING,
    SETTLING = EVZK__VALUE_SETTLING,
    MAKING_PARENTS = EVZK__VALUE_MAKING_PARENTS,
    CREATING = EVZK__VALUE_CREATING,
    RESOLVING = EVZK__VALUE_RESOLVING,
    ADOPTING = EVZK__VALUE_ADOPTING,
    WRITING = EVZK__VALUE_WRITING,
    DISCARDING = EVZK__VALUE_DISCARDING,
    CLOSING = EVZK__VALUE_CLOSING,
    ENDED = EVZK__VALUE_ENDED,
    STATES = EVZK__VALUE_STATES
};

/* The receipt. */

static struct evzk__make *make_of(struct evzk__machine *m)
{
    return &evzk__writer_of(m)->make;
}

MAKE_ACTION(make_of, create, created)
MAKE_ACTION(make_of, resolve, resolved)
MAKE_ACTION(make_of, adopt, adopted)

/* A value that was read before the receipt was made may be of another znode. */
static int made(struct evzk__machine *m, int rc)
{
    struct evzk_value_writer *w = evzk__writer_of(m);

    if (rc == EVZK_OK)
        evzk__receipt_init(&w->receipt, w->make.name);
    w->fresh = w->known = false;
    return evzk__machine_move(m, IDLE);
}

/* Where the value is missing, nothing is made above the receipt: FINDING looks.
 */
const struct evzk__make_rows evzk__value_make_rows = {
    CREATING, FINDING, RESOLVING, ADOPTING, made};

/* The choice. */

static void choose(struct evzk__machine *m)
{
    static const int state[] = {[EVZK__NEXT_CLOSE] = CLOSING,
                                [EVZK__NEXT_LOOK] = FINDING,
                                [EVZK__NEXT_MAKE] = MAKING,
                                [EVZK__NEXT_MAKE_PARENTS] = MAKING_PARENTS,
                                [EVZK__NEXT_RECEIPT] = CREATING,
                                [EVZK__NEXT_WRITE] = WRITING};
    enum evzk__next next = evzk__writer_choose(evzk__writer_of(m));

    if (next != EVZK__NEXT_WAIT)
        evzk__machine_move(m, state[next]);
}

static int woken(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_move(m, IDLE);
}

/* The transaction. */

static void send(struct evzk__machine *m)
{
    struct evzk_value_writer *w = evzk__writer_of(m);
    const struct evzk__write *op = TAILQ_FIRST(&w->writes);

    w->steps[0] = evzk__receipt_step(&w->receipt);
    w->steps[1] = (struct evzk__step){.verb = EVZK__STEP_SET,
                                      .name = "",
                                      .versioned = op->kind != EVZK__WRITE_SET,
                                      .version = w->stamp.version,
                                      .data = op->data,
                                      .len = op->len};
    if (op->kind == EVZK__WRITE_ADD) {
        w->steps[1].data = w->text;
        w->steps[1].len = evzk__number_print(w->text, w->sum);
    }
    evzk__ask(m, w->steps, 2, EVZK__COMMIT);
}

/* Its receipt has just been written to: that tells the servers' time. */
static void tidy(struct evzk_value_writer *w)
{
    struct evzk__tidy_what what = {.base = evzk__machine_path(&w->m),
                                   .dir = {""},
                                   .clock = {w->make.name},
                                   .lot = w->lot};

    evzk__tidier_may(&w->tidier, evzk__machine_session(&w->m), &what);
}

static int done(struct evzk__machine *m)
{
    struct evzk_value_writer *w = evzk__writer_of(m);

    tidy(w);
    evzk__writer_note_done(w, false);
    evzk__writes_done(w);
    return evzk__machine_move(m, IDLE);
}

/* An addition is not refused by another writer's: it looks again. */
static int refused(struct evzk__machine *m, int rc)
{
    struct evzk_value_writer *w = evzk__writer_of(m);
    bool adds = TAILQ_FIRST(&w->writes)->kind == EVZK__WRITE_ADD;

    w->known = false;
    if (rc == EVZK_ERR_BADVERSION && adds)
        w->batch = 0;
    else
        evzk__writes_failed(w, rc);
    return evzk__machine_move(m, IDLE);
}

/* The receipt was not written, and nothing is on its way.  A receipt that is as
 * it should be, and may not be written, no other will better. */
static int lack_receipt(struct evzk__machine *m, int rc)
{
    evzk__writer_of(m)->batch = 0;
    return rc == EVZK_ERR_NONODE || rc == EVZK_ERR_BADVERSION
               ? evzk__machine_move(m, DISCARDING)
               : evzk__machine_give_up(m, rc, CLOSING);
}

static int written(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_value_writer *w = evzk__writer_of(m);
    const struct evzk__reply *reply = e->reply;

    switch (evzk__receipt_answered(&w->receipt, reply, 2)) {
    case EVZK__DONE:
    case EVZK__DONE_BEFORE:
        return done(m);
    case EVZK__REFUSED:
        return reply->part > 0 ? refused(m, reply->rc)
                               : lack_receipt(m, reply->rc);
    case EVZK__UNKNOWN:
        evzk__writes_failed(w, evzk__receipt_why_unknown(reply));
        break;
    }
    return evzk__machine_move(m, DISCARDING);
}

/* The end of a receipt. */

static void remove_receipt(struct evzk__machine *m)
{
    static const struct evzk__step step[] = {{.verb = EVZK__STEP_DELETE}};

    evzk__ask_about(m, evzk__writer_of(m)->make.name, step, 1, 0);
}

/* Where a server refuses, the receipt may stand. */
static void note_removed(struct evzk__machine *m, int rc)
{
    evzk__writer_of(m)->receipt.name = NULL;
    if (rc == EVZK_OK || rc == EVZK_ERR_NONODE)
        evzk__writer_of(m)->make.may_stand = false;
}

/* No other receipt is made before this one is gone, or may not be deleted. */
static int discarded(struct evzk__machine *m, const struct evzk__event *e)
{
    note_removed(m, e->reply->rc);
    evzk__writer_of(m)->fresh = evzk__writer_of(m)->known = false;
    if (m->stopping)
        return evzk__machine_finish(m, m->rc);
    return e->reply->rc == EVZK_ERR_SERVER ? evzk__machine_again_later(m)
                                           : evzk__machine_move(m, IDLE);
}

static void close_down(struct evzk__machine *m)
{
    if (evzk__writer_has_receipt(evzk__writer_of(m)))
        remove_receipt(m);
    else
        evzk__machine_finish(m, m->rc);
}

static int closed(struct evzk__machine *m, const struct evzk__event *e)
{
    note_removed(m, e->reply->rc);
    return evzk__machine_finish(m, m->rc);
}

static bool left(struct evzk__machine *m, unsigned i, struct evzk__left *out)
{
    return i == 0 && evzk__make_left(&evzk__writer_of(m)->make, out);
}

static void end(struct evzk__machine *m)
{
    struct evzk_value_writer *w = evzk__writer_of(m);
    evzk_session *s = evzk__machine_session(m);
    bool well = m->rc == EVZK_OK || m->rc == EVZK_ERR_CANCELED;
    int64_t begun;

    evzk__writes_end(w, m->rc);
    begun = evzk__machine_call_out(s);
    if (w->cb)
        w->cb(w, well ? EVZK_VALUE_WRITER_CLOSED : EVZK_VALUE_WRITER_FAILED,
              well ? EVZK_OK : m->rc, w->arg);
    evzk__machine_called(s, begun);
}

static void detach(struct evzk__machine *m)
{
    evzk__tidier_end(&evzk__writer_of(m)->tidier);
}

void evzk__writer_destroy(struct evzk_value_writer *w)
{
    evzk__writes_free(w);
    evzk__acl_free(&w->own_acl);
    evzk__free(w->above);
    evzk__free(w);
}

static void destroy(struct evzk__machine *m)
{
    evzk__writer_destroy(evzk__writer_of(m));
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state           entry                     reaction                  main     on stop  on expiry   flags */
ROW(IDLE,           choose,                   woken,                    WRITING, CLOSING, IDLE,       0,
    ON(ENTRY,      FINDING, MAKING, MAKING_PARENTS, CREATING, WRITING, CLOSING),
    ON(USER_EVENT, IDLE)),
ROW(FINDING,        evzk__value_find,         evzk__value_found,        ASIDE,   CLOSING, FINDING,    RETRY,
    ON(REPLY,      IDLE, HERE)),
ROW(MAKING,         evzk__value_make,         evzk__value_made,         ASIDE,   STAY,    SETTLING,   0,
    ON(REPLY,      IDLE, SETTLING),
    RARELY(REPLY,  MAKING),
    ON(STOP,       IDLE, SETTLING),
    RARELY(ENTRY,  ENDED)),
ROW(SETTLING,       evzk__value_settle,       evzk__value_settled,      ASIDE,   STAY,    SETTLING,   RETRY|SIGHTS,
    ON(REPLY,      IDLE, DISCARDING, HERE),
    ON(STOP,       IDLE, HERE),
    RARELY(STOP,   DISCARDING)),
ROW(MAKING_PARENTS, evzk__value_make_parents, evzk__value_parents_made, ASIDE,   CLOSING, FINDING,    RETRY,
    ON(REPLY,      IDLE)),
ROW(CREATING,       make_create,              make_created,             ASIDE,   STAY,    RESOLVING,  NOTHING_SENT,
    ON(REPLY,      IDLE, FINDING, RESOLVING, FAIL),
    RARELY(REPLY,  CREATING),
    ON(STOP,       IDLE, RESOLVING, ENDED),
    RARELY(ENTRY,  ENDED)),
ROW(RESOLVING,      make_resolve,             make_resolved,            ASIDE,   STAY,    RESOLVING,  RETRY|SIGHTS,
    ON(REPLY,      CREATING, ADOPTING, FAIL),
    ON(STOP,       ADOPTING, ENDED)),
ROW(ADOPTING,       make_adopt,               make_adopted,             ASIDE,   STAY,    ADOPTING,   RETRY,
    ON(REPLY,      IDLE),
    RARELY(REPLY,  CREATING, RESOLVING, FAIL),
    ON(STOP,       IDLE),
    RARELY(STOP,   RESOLVING, ENDED)),
ROW(WRITING,        send,                     written,                  CLOSING, STAY,    WRITING,    RETRY,
    ON(REPLY,      IDLE, CLOSING, DISCARDING),
    ON(STOP,       IDLE, CLOSING, DISCARDING)),
ROW(DISCARDING,     remove_receipt,           discarded,                ASIDE,   STAY,    DISCARDING, RETRY,
    ON(REPLY,      IDLE),
    ON(STOP,       ENDED)),
ROW(CLOSING,        close_down,               closed,                   ENDED,   STAY,    CLOSING,    RETRY,
    ON(ENTRY,      ENDED),
    ON(REPLY,      ENDED),
    ON(STOP,       ENDED)),
END(ENDED,          end),
};
/* clang-format on */

const struct evzk__kind evzk__value_writer_kind = {.name = "value-writer",
                                                   .rows = rows,
                                                   .n_rows = STATES,
                                                   .destroy = destroy,
                                                   .detach = detach,
                                                   .left = left,
                                                   .outlives_session = true};
