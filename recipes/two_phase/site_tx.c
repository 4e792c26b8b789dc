/* A transaction at a site.
 *
 *   LOOKING (two_phase/cast.c) --> ASKED --> VOTING
 *       --> VOTED (two_phase/settle.c)
 *       --> APPLYING (two_phase/finish.c) --> ACKNOWLEDGING --> LINGERING
 *       --> ENDED
 *
 * The site machine begins one for each entry of its inbox.  It has one watch,
 * on the transaction's znode: the decision is a write to that.  Where the
 * coordinator is gone, LISTING and OUTLASTING watch that znode's children.
 *
 * How it can fail.  The site may die at any moment: the entry of its inbox
 * stands until it is done, and its own znode says how far it has come.
 */
#include "recipes/two_phase/site_tx_internal.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "lib/machine/rows.h"
#include "recipes/kinds.h"

/* clang-format off */
#define STATE(state, enter, react, ...) \
    ROW(state, evzk__site_tx_##enter, evzk__site_tx_##react, __VA_ARGS__)

static const struct evzk__row rows[STATES] = {
/*    state          entry        reaction      main           on stop  on expiry      flags */
STATE(LOOKING,       look,        looked,       ASKED,         LEAVING, LOOKING,       RETRY,
      ON(REPLY,        ENTERING, ASKED, VOTED, DECIDING, APPLYING, ACKNOWLEDGING, DROPPING, DENIED, LOOKING, HERE, FAIL)),
STATE(DENIED,        be_denied,   denied,       ASIDE,         LEAVING, LOOKING,       RETRY,
      ON(ENTRY,        LOOKING),
      ON(PATH_DELETED, LOOKING),
      ON(PATH_CHANGED, LOOKING),
      ON(USER_EVENT,   LOOKING),
      RARELY(EXPIRED,  LOOKING)), /* The lost connection leads there first. */
STATE(ENTERING,      enter,       entered,      ASIDE,         LEAVING, LOOKING,       RETRY,
      ON(REPLY,        ASKED, LOOKING, DENIED, FAIL)),
STATE(ASKED,         ask,         answered,     VOTING,        LEAVING, LOOKING,       RETRY,
      ON(ENTRY,        LOOKING, VOTING, DECIDING),
      ON(PATH_DELETED, READING),
      ON(PATH_CHANGED, READING),
      ON(USER_EVENT,   VOTING, DECIDING, HERE),
      ON(EXPIRED,      NEVER)),
STATE(VOTING,        cast,        was_cast,     VOTED,         LEAVING, LOOKING,       RETRY,
      ON(ENTRY,        LOOKING),
      ON(REPLY,        VOTED, LOOKING, DENIED, FAIL)),
STATE(VOTED,         wait,        waited,       READING,       ENDED,   LOOKING,       RETRY,
      ON(ENTRY,        LOOKING, LISTING, DECIDING),
      ON(PATH_DELETED, READING), RARELY(PATH_DELETED, LISTING),
      ON(PATH_CHANGED, READING, LISTING),
      ON(USER_EVENT,   LISTING, DECIDING, HERE),
      ON(EXPIRED,      NEVER)),
STATE(LISTING,       list,        listed,       ASIDE,         ENDED,   LOOKING,       RETRY,
      ON(REPLY,        VOTED, DECIDING, READING, DENIED), RARELY(REPLY, FAIL)),
STATE(DECIDING,      decide,      decided,      ASIDE,         LEAVING, LOOKING,       RETRY,
      ON(ENTRY,        READING),
      ON(REPLY,        APPLYING, READING, DECIDING, DENIED, FAIL), RARELY(REPLY, LOOKING, ACKNOWLEDGING)),
STATE(READING,       read,        was_read,     APPLYING,      LEAVING, LOOKING,       RETRY,
      ON(REPLY,        APPLYING, LOOKING, DECIDING, DROPPING, DENIED), RARELY(REPLY, ACKNOWLEDGING, FAIL)),
STATE(APPLYING,      apply,       applied,      ACKNOWLEDGING, LEAVING,  APPLYING,      0,
      ON(USER_EVENT,   ACKNOWLEDGING, HERE)),
STATE(ACKNOWLEDGING, acknowledge, acknowledged, LINGERING,     STAY,    ACKNOWLEDGING, RETRY,
      ON(ENTRY,        DROPPING),
      ON(REPLY,        REMOVING, DROPPING, LINGERING, FAIL),
      ON(STOP,         REMOVING, DROPPING, ENDED)),
STATE(DROPPING,      drop,        dropped,      ASIDE,         STAY,    DROPPING,      RETRY,
      ON(ENTRY,        LOOKING),
      ON(REPLY,        REMOVING, LINGERING, ENDED, HERE, FAIL),
      ON(STOP,         REMOVING, ENDED, HERE)),
STATE(LINGERING,     linger,      lingered,     ENDED,         ENDED,   LINGERING,     RETRY,
      ON(ENTRY,        REMOVING),
      ON(REPLY,        ENDED, HERE),
      ON(PATH_DELETED, ENDED),
      ON(PATH_CHANGED, LINGERING),
      ON(USER_EVENT,   LINGERING)),
STATE(REMOVING,      remove,      removed,      ASIDE,         STAY,    REMOVING,      RETRY,
      ON(REPLY,        ENDED, OUTLASTING, HERE),
      ON(STOP,         ENDED)),
STATE(OUTLASTING,    outlast,     outlasted,    ASIDE,         ENDED,   OUTLASTING,    RETRY,
      ON(REPLY,        REMOVING, ENDED, HERE),
      ON(PATH_DELETED, ENDED),
      ON(PATH_CHANGED, OUTLASTING, HERE)),
STATE(LEAVING,       leave,       left,         ASIDE,         STAY,    ENDED,         RETRY,
      ON(ENTRY,        ENDED),
      ON(STOP,         TAKING_BACK, ENDED), RARELY(STOP, HERE)),
STATE(TAKING_BACK,   take_back,   taken_back,   ASIDE,         STAY,    ENDED,         RETRY,
      ON(ENTRY,        LEAVING),
      ON(STOP,         ENDED), RARELY(STOP, HERE),
      ON(EXPIRED,      NEVER)),
END(ENDED,           evzk__site_tx_end),
};
/* clang-format on */

const struct evzk__kind evzk__site_tx_kind = {
    .name = "site-tx",
    .rows = rows,
    .n_rows = STATES,
    .destroy = evzk__site_tx_destroy,
    .left = evzk__site_tx_leaves,
    .outlives_session = true,
    EVZK__PATH_WATCHES(struct evzk_site_tx, m, watch)};

int evzk__site_tx_new(struct evzk_site *site, const char *id)
{
    struct evzk_site_tx *t = evzk__zalloc(sizeof *t);
    int rc;

    if (!t)
        return EVZK_ERR_NOMEM;
    t->site = site;
    strcpy(t->name, site->name);
    t->standing = EVZK__OPEN;
    t->sure = site->entries == EVZK__ENTRIES_NEW;
    rc = evzk__tx_steps_init(&t->steps, &t->text, id);
    if (rc == EVZK_OK)
        rc = evzk__machine_init(&t->m, evzk__machine_session(&site->m),
                                &evzk__site_tx_kind,
                                evzk__machine_path(&site->m), 0);
    if (rc != EVZK_OK) {
        evzk__site_tx_destroy(&t->m);
        return rc;
    }
    t->lender = site;
    site->m.refs++;
    RB_INSERT(evzk__site_txs, &site->txs, t);
    return EVZK_OK;
}

/* The calls of evzk/two_phase.h on it. */

/* Why a call is refused now, or EVZK_OK. */
static int state_of(const struct evzk_site_tx *t)
{
    if (evzk__machine_in_child(&t->m))
        return EVZK_ERR_FORKED;
    return t->m.place.ended || t->m.stopping || t->over || t->denied ||
                   !t->site || !t->site->cb
               ? EVZK_ERR_STATE
               : EVZK_OK;
}

int evzk_site_tx_vote(evzk_site_tx *tx, evzk_tx_verdict verdict,
                      const void *data, size_t len)
{
    struct evzk__call call =
        evzk__call_of(tx ? evzk__machine_session(&tx->m) : NULL, __func__);
    int rc;

    if (!tx ||
        evzk__broken(&call,
                     verdict == EVZK_TX_COMMIT || verdict == EVZK_TX_ABORT,
                     "verdict", "must be EVZK_TX_COMMIT or EVZK_TX_ABORT") ||
        evzk__broken_data(&call, data, len, EVZK_TX_DATA_MAX))
        return EVZK_ERR_INVAL;
    rc = state_of(tx);
    if (rc != EVZK_OK)
        return rc;
    if (!tx->asked || tx->wish != EVZK_TX_NONE || tx->told_vote ||
        tx->told_decision)
        return EVZK_ERR_STATE;
    tx->data = evzk__memdup(data ? data : "", len);
    if (!tx->data)
        return EVZK_ERR_NOMEM;
    tx->data_len = (uint32_t)len;
    tx->wish = verdict;
    evzk__machine_ask(&tx->m);
    return EVZK_OK;
}

int evzk_site_tx_abort(evzk_site_tx *tx)
{
    int rc = tx ? state_of(tx) : EVZK_ERR_INVAL;

    if (rc != EVZK_OK)
        return rc;
    if (tx->wants_abort || tx->told_decision)
        return EVZK_ERR_STATE;
    tx->wants_abort = true;
    evzk__machine_ask(&tx->m);
    return EVZK_OK;
}

int evzk_site_tx_done(evzk_site_tx *tx)
{
    int rc = tx ? state_of(tx) : EVZK_ERR_INVAL;

    if (rc != EVZK_OK)
        return rc;
    if (!tx->told_decision || tx->done)
        return EVZK_ERR_STATE;
    tx->done = true;
    evzk__machine_ask(&tx->m);
    return EVZK_OK;
}

const char *evzk_site_tx_id(const evzk_site_tx *tx)
{
    return tx ? evzk__tx_steps_id(&tx->steps) : "";
}

const void *evzk_site_tx_question(const evzk_site_tx *tx, size_t *len)
{
    if (len)
        *len = tx ? tx->text.question_len : 0;
    return tx ? tx->text.question : NULL;
}

evzk_tx_verdict evzk_site_tx_own_vote(const evzk_site_tx *tx)
{
    return tx ? evzk__standing_vote((enum evzk__standing)tx->standing)
              : EVZK_TX_NONE;
}

evzk_tx_verdict evzk_site_tx_decision(const evzk_site_tx *tx)
{
    return tx ? tx->decision : EVZK_TX_NONE;
}

int64_t evzk_site_tx_token(const evzk_site_tx *tx)
{
    return tx ? tx->token : 0;
}

void evzk_site_tx_set_arg(evzk_site_tx *tx, void *arg)
{
    if (tx)
        tx->arg = arg;
}

void *evzk_site_tx_arg(const evzk_site_tx *tx) { return tx ? tx->arg : NULL; }

const char *evzk_site_tx_state(const evzk_site_tx *tx)
{
    return tx ? evzk__machine_state(&tx->m) : "";
}
