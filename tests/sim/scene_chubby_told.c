/* The rules of Chubby's interface that speak of what is told.
 *
 * A get tells a state that the file had, of the handle's instance, and never an
 * older one after a newer one; the latest one is no older than the call.  A set
 * and a delete tell what became of them in the tree.  INVALID, and a sequencer
 * that is not valid, are told only if that is so; and a sequencer that is valid
 * was so at some time of the call.
 *
 * A lock is acquired only when the lock-delay is over of each holder that has
 * not given it back, and its mark stands then.
 *
 * How it can fail: what is excused too freely hides a defect. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene.h"
#include "scene_chubby.h"

bool chubby_session_ended(int proc)
{
    return process_any_session(proc, session_over);
}

bool chubby_rc_ok(int i, int rc)
{
    int proc = chubby_plan_of(i)->proc;
    const struct chubby_handle *h = &chubbies.of[i];

    switch (rc) {
    case EVZK_ERR_EXPIRED:
        return chubby_session_ended(proc);
    case EVZK_ERR_CLOSED:
        return process_of(proc)->closing;
    case EVZK_ERR_SERVER:
        return ens_throttled(proc);
    case EVZK_ERR_TOOLARGE:
        return ens_shut(proc);
    case EVZK_ERR_QUOTA:
        return ens_full_at() != 0;
    case EVZK_ERR_NOMEM:
        return process_lacked_memory(proc);
    case EVZK_ERR_CANCELED:
        return h->poisoned || h->closes;
    case EVZK_ERR_NODEGONE:
        return chubby_gone(h->instance) != 0 || chubby_meddled(h->instance);
    case EVZK_ERR_NOAUTH:
        return ens_denied(proc) ||
               (chubbies.hidden_at && chubby_plan_of(i)->file == 0);
    default:
        return false;
    }
}

/* ---- Events. ---- */

/* The file that is there now has the contents that this handle was to give it.
 */
static bool has_made(int i)
{
    const struct chubby_state *now = chubby_now(chubby_plan_of(i)->file);

    return now && now->version == 0 && now->len == 2 && now->data[0] == 'h' &&
           now->data[1] == '0' + i &&
           !chubby_plan_of(i)->ephemeral; /* Else a copy of it may be there. */
}

static bool is_good_end(int i, int rc)
{
    const struct chubby_plan *plan = chubby_plan_of(i);
    const struct chubby_handle *h = &chubbies.of[i];

    if (chubbies.own->rootless && rc != EVZK_OK && !chubby_rc_ok(i, rc))
        return rc == EVZK_ERR_NOCHROOT && !h->opened;
    switch (rc) {
    case EVZK_ERR_NONODE:
        return !h->opened && h->missed &&
               (plan->create != EVZK_CHUBBY_MAY_CREATE ||
                operator_deleted_any());
    case EVZK_ERR_NODEEXISTS:
        /* Without its anchor, the handle cannot know that it made the file. */
        return !h->opened && h->met &&
               plan->create == EVZK_CHUBBY_MUST_CREATE &&
               (!has_made(i) || operator_deleted_any());
    case EVZK_ERR_TIMEOUT:
        return !h->opened && plan->timeout_ms > 0 &&
               sim_now() - h->begun_at >= plan->timeout_ms * INT64_C(1000);
    case EVZK_ERR_NOAUTH:
        return ens_denied(chubby_plan_of(i)->proc) ||
               (!h->opened && (chubbies.own->denied || chubby_rc_ok(i, rc)));
    case EVZK_OK:
        return h->closes;
    default:
        return chubby_rc_ok(i, rc);
    }
}

static void check_opened(int i)
{
    struct chubby_handle *h = &chubbies.of[i];

    if (h->opened)
        sim_violation("handle %d is opened twice", i);
    h->opened = true;
    h->opened_at = sim_now();
    h->child = chubbies.child;
    h->instance = evzk_chubby_instance(h->h);
    for (int k = 0; k < HANDLES; k++) {
        if (k != i && chubbies.of[k].instance == h->instance &&
            evzk_chubby_created(chubbies.of[k].h) && evzk_chubby_created(h->h))
            sim_violation("handles %d and %d have both made the file", i, k);
    }
    if (chubby_plan_of(i)->create == EVZK_CHUBBY_MUST_CREATE &&
        !evzk_chubby_created(h->h))
        sim_violation("handle %d was to make the file, and has not", i);
}

static void check_invalid(int i, int rc)
{
    struct chubby_handle *h = &chubbies.of[i];

    if (h->invalid)
        sim_violation("handle %d is invalid twice", i);
    h->invalid = true;
    if (rc == EVZK_ERR_NODEGONE && !chubby_gone(h->instance) &&
        !chubby_meddled(h->instance))
        sim_violation("handle %d is invalid, and its file is there", i);
    else if (rc == EVZK_ERR_STATE &&
             (!h->sequenced || !chubbies.of[h->sequenced - 1].sequencer_gone))
        sim_violation("handle %d is invalid, and its sequencer is valid", i);
    else if (rc != EVZK_ERR_NODEGONE && rc != EVZK_ERR_STATE &&
             !chubby_rc_ok(i, rc))
        sim_violation("handle %d is invalid with %s", i, evzk_errname(rc));
}

static void check_lost(int i, int rc)
{
    struct chubby_handle *h = &chubbies.of[i];

    if (!h->hold.token || h->hold.lost || evzk_chubby_held(h->h))
        sim_violation("handle %d: LOCK_LOST out of turn", i);
    h->hold.lost = chubbies.unclean = true;
    if (rc != EVZK_ERR_LEASE && rc != EVZK_ERR_EXPIRED &&
        !(rc == EVZK_ERR_TOOLARGE && ens_shut(chubby_plan_of(i)->proc)) &&
        !(rc == EVZK_ERR_SERVER &&
          ens_throttles(chubby_plan_of(i)->proc) > REFUSALS) &&
        !(rc == EVZK_ERR_NODEGONE &&
          (operator_deleted((int64_t)h->hold.token) ||
           operator_copied((int64_t)h->hold.token) ||
           chubby_session_ended(chubby_plan_of(i)->proc))))
        sim_violation("handle %d: LOCK_LOST with %s", i, evzk_errname(rc));
}

static void check_doubt(int i, bool doubt)
{
    struct chubby_handle *h = &chubbies.of[i];

    if (h->jeopardy == doubt)
        sim_violation("handle %d: JEOPARDY or SAFE twice", i);
    if (doubt == process_is_sure(chubby_plan_of(i)->proc))
        sim_violation("handle %d: %s out of turn", i,
                      doubt ? "JEOPARDY" : "SAFE");
    h->jeopardy = doubt;
}

/* Each change of the contents is told once at most. */
static void check_contents(int i)
{
    const struct chubby_state *now = chubby_now(chubby_plan_of(i)->file);
    struct chubby_handle *h = &chubbies.of[i];

    h->contents++;
    h->contents_at = sim_now();
    if (now && now->czxid == h->instance && h->contents > now->version)
        sim_violation("handle %d: CONTENTS_CHANGED of nothing", i);
}

static void check_conflict(int i)
{
    struct chubby_handle *h = &chubbies.of[i];

    if (!evzk_chubby_held(h->h))
        sim_violation("handle %d: CONFLICT, and it is not held", i);
    if (++h->hold.conflicts > chubby_behind(i, false) &&
        !operator_deleted_any())
        sim_violation("handle %d: CONFLICT with nobody", i);
}

/* A clean end leaves no mark. */
static void check_clean(int i)
{
    const struct chubby_hold *hold = &chubbies.of[i].hold;
    const struct chubby_plan *plan = chubby_plan_of(i);
    struct ens_seen seen;
    char path[240];

    if (!hold->node[0] || hold->lost || !hold->mark || ens_denied(plan->proc) ||
        chubby_session_ended(plan->proc) ||
        operator_deleted((int64_t)hold->token)) /* No clean end. */
        return;
    snprintf(path, sizeof path, "%s/%s-%u-delay", chubby_side(plan->file),
             hold->node, (unsigned)plan->delay_ms);
    if (ens_look(path, &seen) && !operator_copied(hold->mark))
        sim_violation("handle %d has given its lock back, and its mark stands",
                      i);
}

/* Each operation ends in a callback, before its handle does. */
static void check_all_told(int i)
{
    for (int k = 0; k < chubbies.n_ops; k++) {
        if (chubbies.op[k].handle == i + 1 && !chubbies.op[k].told)
            sim_violation("handle %d: ended, and operation %d has not", i, k);
    }
}

void chubby_told(int i, evzk_chubby_event event, int rc)
{
    struct chubby_handle *h = &chubbies.of[i];

    if (!h->opened && event != EVZK_CHUBBY_OPENED &&
        !evzk_chubby_event_is_final(event))
        sim_violation("handle %d: %s before OPENED", i,
                      evzk_chubby_event_name(event));
    if (h->invalid && event != EVZK_CHUBBY_LOCK_LOST &&
        event != EVZK_CHUBBY_JEOPARDY && event != EVZK_CHUBBY_SAFE &&
        !evzk_chubby_event_is_final(event))
        sim_violation("handle %d: %s behind INVALID", i,
                      evzk_chubby_event_name(event));
    switch ((int)event) {
    case EVZK_CHUBBY_OPENED:
        check_opened(i);
        return;
    case EVZK_CHUBBY_INVALID:
        check_invalid(i, rc);
        return;
    case EVZK_CHUBBY_LOCK_LOST:
        check_lost(i, rc);
        return;
    case EVZK_CHUBBY_JEOPARDY:
    case EVZK_CHUBBY_SAFE:
        check_doubt(i, event == EVZK_CHUBBY_JEOPARDY);
        return;
    case EVZK_CHUBBY_LOCK_ACQUIRED:
        h->acquired++;
        h->front_at = sim_now();
        if (h->acquired >
                chubbies.fronts[chubby_plan_of(i)->file] - h->fronts &&
            !chubbies.foreign && !chubbies.forged && !operator_deleted_any())
            sim_violation("handle %d: LOCK_ACQUIRED of nobody", i);
        return;
    case EVZK_CHUBBY_CONFLICT:
        check_conflict(i);
        return;
    case EVZK_CHUBBY_CONTENTS_CHANGED:
        check_contents(i);
        return;
    case EVZK_CHUBBY_CHILD_ADDED:
    case EVZK_CHUBBY_CHILD_REMOVED:
    case EVZK_CHUBBY_CHILD_CHANGED:
        h->child = event != EVZK_CHUBBY_CHILD_REMOVED;
        return;
    case EVZK_CHUBBY_CLOSED:
    case EVZK_CHUBBY_ENDED:
        h->ended = true;
        if (!is_good_end(i, rc) || (event == EVZK_CHUBBY_CLOSED && !h->closes))
            sim_violation("handle %d: %s with %s", i,
                          evzk_chubby_event_name(event), evzk_errname(rc));
        if (evzk_chubby_outstanding(h->h) > 0)
            sim_violation("handle %d: ended, with operations", i);
        check_all_told(i);
        if (rc == EVZK_OK)
            check_clean(i);
        chubbies.unclean = chubbies.unclean || event == EVZK_CHUBBY_ENDED;
        return;
    default:
        return;
    }
}

/* The SetSequencer before it has failed. */
static bool has_no_sequencer(const struct chubby_op *op)
{
    for (int k = 0; op->by && k < chubbies.n_ops; k++) {
        const struct chubby_op *set = &chubbies.op[k];

        if (set->act == ACT_SET_SEQUENCER && set->handle == op->handle &&
            set->told && set->rc != EVZK_OK)
            return true;
    }
    return false;
}

/* An operation that is outstanding when the handle becomes invalid ends so. */
static bool is_invalid(const struct chubby_op *op, int rc)
{
    int32_t by = chubbies.of[op->handle - 1].sequenced;

    if (rc != EVZK_ERR_STATE)
        return false;
    return (by && chubbies.of[by - 1].sequencer_gone) || has_no_sequencer(op) ||
           (op->by && chubbies.of[op->by - 1].sequencer_gone);
}

/* ---- Reads. ---- */

static bool was_so(const evzk_chubby_answer *a, bool with_data)
{
    for (int k = 0; k < chubbies.n_states; k++) {
        const struct chubby_state *s = &chubbies.state[k];

        if (s->czxid == a->stat.instance && s->mzxid == a->stat.modified &&
            s->version == a->stat.content_gen && s->len == (int32_t)a->stat.len)
            return !with_data || s->hash == sim_hash(a->data, a->stat.len);
    }
    return chubbies.n_states == STATES_SEEN;
}

static void check_read(int i, const struct chubby_op *op,
                       const evzk_chubby_answer *a)
{
    struct chubby_handle *h = &chubbies.of[i];

    if (a->stat.instance != h->instance)
        sim_violation("handle %d reads another file", i);
    if (!was_so(a, op->act != ACT_STAT))
        sim_violation("handle %d reads what was never there", i);
    if (op->act == ACT_GET && a->stat.modified < h->newest)
        sim_violation("handle %d goes back in time", i);
    if (op->act != ACT_GET && a->stat.modified < op->sure)
        sim_violation("handle %d: the latest is older than the call", i);
    if (op->act == ACT_GET && h->newest < a->stat.modified)
        h->newest = a->stat.modified;
    h->gen = a->stat.content_gen;
}

static void check_dir(int i, const evzk_chubby_answer *a)
{
    for (size_t k = 0; k < a->n; k++) {
        if (strcmp(a->children[k].name, "c") != 0 &&
            strcmp(a->children[k].name, "k") != 0)
            sim_violation("handle %d: a child %s", i, a->children[k].name);
        if (a->children[k].hidden && !chubbies.veiled_at)
            sim_violation("handle %d: a child is hidden, and may be read", i);
    }
}

/* ---- Writes. ---- */

static bool write_rc_ok(int i, const struct chubby_op *op, int rc)
{
    const struct chubby_handle *h = &chubbies.of[i];

    switch (rc) {
    case EVZK_ERR_BADVERSION:
        return op->gen >= 0 || operator_deleted_any();
    case EVZK_ERR_NOTEMPTY:
        return op->act == ACT_DELETE &&
               (chubbies.own->child || chubbies.own->child_ms ||
                chubbies.own->plan[1].file == 2);
    case EVZK_ERR_LEASE:
        return op->under && (h->hold.gone || h->hold.token != op->under);
    case EVZK_ERR_STATE:
        return is_invalid(op, rc);
    case EVZK_ERR_NONODE:
        return operator_deleted_any();
    default:
        return chubby_rc_ok(i, rc);
    }
}

static void check_write(int i, int k, int rc, const evzk_chubby_answer *a)
{
    struct chubby_op *op = &chubbies.op[k];

    op->unknown = a->unknown;
    if (rc == EVZK_OK) {
        if (!op->landed && !op->maybe)
            sim_violation("operation %d is told as done, and is not", k);
        else if (op->landed && op->act != ACT_DELETE &&
                 a->stat.content_gen != (op->gen < 0 ? -1 : op->landed_gen))
            sim_violation("operation %d tells another generation", k);
        return;
    }
    /* When an outcome may be unknown, the scenes of guarded writes say. */
    if (!write_rc_ok(i, op, rc) && !(a->unknown && rc == EVZK_ERR_CONNLOSS))
        sim_violation("operation %d: %s", k, evzk_errname(rc));
    if (op->landed && !a->unknown)
        sim_violation("operation %d has failed, and is done", k);
}

/* ---- The lock. ---- */

static bool conflicts(const struct chubby_hold *a, const struct chubby_hold *b)
{
    return !(a->shared && b->shared);
}

static void check_delays(int i)
{
    struct chubby_hold *own = &chubbies.of[i].hold;

    for (int k = 0; k < HANDLES; k++) {
        const struct chubby_hold *other = &chubbies.of[k].hold;
        const struct chubby_plan *plan = chubby_plan_of(k);

        if (k == i || !other->token || !other->gone || other->clean ||
            !other->mark || plan->file != chubby_plan_of(i)->file ||
            operator_deleted(other->mark) || operator_copied(other->mark) ||
            operator_copied((int64_t)other->token) ||
            other->token > own->token || !conflicts(own, other))
            continue;
        if (sim_now() - other->gone < plan->delay_ms * INT64_C(1000))
            sim_violation("handle %d has the lock within the delay of %d", i,
                          k);
    }
}

/* Finds the own znode and the mark by the token. */
static void find_nodes(int i)
{
    struct chubby_hold *own = &chubbies.of[i].hold;
    const char *side = chubby_side(chubby_plan_of(i)->file), *names[64];
    size_t n = ens_children(side, names, 64);
    struct ens_seen seen;
    char path[240];

    own->node[0] = '\0';
    for (size_t k = 0; k < n && k < 64; k++) {
        snprintf(path, sizeof path, "%s/%s", side, names[k]);
        if (ens_look(path, &seen) && (uint64_t)seen.czxid == own->token)
            snprintf(own->node, sizeof own->node, "%s", names[k]);
    }
    if (!own->node[0] || !chubby_plan_of(i)->delay_ms)
        return;
    snprintf(path, sizeof path, "%s/%s-%u-delay", side, own->node,
             (unsigned)chubby_plan_of(i)->delay_ms);
    if (ens_look(path, &seen))
        own->mark = seen.czxid;
    else if (!operator_deleted_any())
        sim_violation("handle %d has the lock, and no mark", i);
}

static void check_acquired(int i, const struct chubby_op *op)
{
    struct chubby_handle *h = &chubbies.of[i];
    int file = chubby_plan_of(i)->file;

    if (!evzk_chubby_held(h->h)) {
        sim_violation("handle %d has acquired the lock, and not held", i);
        return;
    }
    h->hold = (struct chubby_hold){.token = evzk_chubby_token(h->h),
                                   .shared = op->act == ACT_SHARE,
                                   .clean = h->closes};
    if (h->hold.token <= chubbies.last_alone[file] && !operator_deleted_any())
        sim_violation("handle %d has an old token", i);
    if (!h->hold.shared && h->hold.token > chubbies.last_alone[file])
        chubbies.last_alone[file] = h->hold.token;
    find_nodes(i);
    if (!h->hold.node[0]) {
        h->hold.gone = sim_now();
        if (!operator_deleted((int64_t)h->hold.token) &&
            !operator_copied((int64_t)h->hold.token) &&
            !chubby_session_ended(chubby_plan_of(i)->proc))
            sim_violation("handle %d has the lock, and no znode", i);
    }
    check_delays(i);
    if (!h->hold.shared && chubby_has_marks(file) &&
        !(chubbies.own->mark_child && chubby_has_waited(file)))
        sim_violation("handle %d has the lock, and an old mark stands", i);
}

static bool acquire_rc_ok(int i, const struct chubby_op *op, int rc)
{
    int proc = chubby_plan_of(i)->proc;

    switch (rc) {
    case EVZK_ERR_BUSY:
        return op->act == ACT_TRY && op->rival;
    case EVZK_ERR_LEASE: /* Lost in its lock-delay, or as it is given back. */
        return process_has_lapsed(proc) &&
               (op->in_doubt || process_doubts(proc) > op->doubts);
    case EVZK_ERR_FOREIGN:
        return op->act != ACT_RELEASE && chubbies.foreign;
    case EVZK_ERR_NODEGONE: /* Also a lock that was lost before its release. */
        return operator_deletions() > op->forced || chubby_rc_ok(i, rc) ||
               chubby_session_ended(proc) ||
               (op->act == ACT_RELEASE &&
                operator_deleted((int64_t)chubbies.of[i].hold.token));
    case EVZK_ERR_STATE:
        return is_invalid(op, rc);
    default:
        return chubby_rc_ok(i, rc);
    }
}

/* Where nobody has the lock, a handle that tries again and again gets it when
 * the longest lock-delay is over since it was first refused without company: it
 * learns of a mark when it is in front. */
static void check_busy(int i, const struct chubby_op *op, int rc)
{
    enum { LONGEST_US = 300000 };
    struct chubby_handle *h = &chubbies.of[i];
    const struct chubby_plan *plan = chubby_plan_of(i);
    int64_t company_at = chubbies.company_at[plan->file][plan->proc];

    if (rc != EVZK_ERR_BUSY || !op->bare || company_at >= op->begun ||
        chubby_has_contender(plan->file))
        h->busy_since = 0;
    else if (!h->busy_since || h->busy_since < company_at)
        h->busy_since = sim_now();
    else if (op->begun - h->busy_since > LONGEST_US)
        sim_violation("handle %d is BUSY behind the lock-delay", i);
}

static void check_lock(int i, const struct chubby_op *op, int rc)
{
    struct chubby_handle *h = &chubbies.of[i];

    if (op->act == ACT_RELEASE) {
        h->releasing = false;
        if (rc == EVZK_OK)
            check_clean(i);
        if (rc == EVZK_OK && h->hold.token && !h->hold.gone &&
            !chubby_session_ended(chubby_plan_of(i)->proc) &&
            !operator_copied((int64_t)h->hold.token))
            sim_violation("handle %d is told RELEASED, and its znode stands",
                          i);
    } else {
        h->acquiring = false;
        check_busy(i, op, rc);
    }
    if (rc == EVZK_OK && op->act != ACT_RELEASE &&
        (h->invalid || has_no_sequencer(op))) /* Else it knows a bit later. */
        sim_violation("handle %d has the lock without its sequencer", i);
    if (rc == EVZK_OK && op->act != ACT_RELEASE)
        check_acquired(i, op);
    else if (rc != EVZK_OK && !acquire_rc_ok(i, op, rc))
        sim_violation("handle %d: its lock: %s", i, evzk_errname(rc));
}

/* ---- Sequencers. ---- */

/* A znode that could not be deleted may stand before the holder's. */
static void check_sequencer(int i, const struct chubby_op *op, int rc)
{
    const struct chubby_handle *from = &chubbies.of[op->of];

    if (rc == EVZK_OK && from->sequencer_gone &&
        from->sequencer_gone < op->begun)
        sim_violation("handle %d: a sequencer is valid, and was not", i);
    if (rc == EVZK_ERR_NODEGONE && !from->sequencer_gone && !chubbies.forged &&
        !ens_denials() && !chubby_rc_ok(i, rc))
        sim_violation("handle %d: a sequencer is not valid, and is", i);
    if (rc != EVZK_OK && rc != EVZK_ERR_NODEGONE && !chubby_rc_ok(i, rc) &&
        !is_invalid(op, rc))
        sim_violation("handle %d: a sequencer: %s", i, evzk_errname(rc));
    if (rc == EVZK_OK && op->act == ACT_SET_SEQUENCER)
        chubbies.of[i].sequenced = op->of + 1;
}

void chubby_done_told(int k, int rc, const evzk_chubby_answer *a)
{
    struct chubby_op *op = &chubbies.op[k];
    int i = op->handle - 1;

    if (op->told)
        sim_violation("operation %d ends twice", k);
    op->told = true;
    op->rc = rc;
    switch ((int)op->act) {
    case ACT_GET:
    case ACT_GET_LATEST:
    case ACT_STAT:
    case ACT_READ_DIR:
        if (rc == EVZK_OK && op->act == ACT_READ_DIR)
            check_dir(i, a);
        else if (rc == EVZK_OK)
            check_read(i, op, a);
        else if (!chubby_rc_ok(i, rc) && !is_invalid(op, rc))
            sim_violation("operation %d: %s", k, evzk_errname(rc));
        return;
    case ACT_SET:
    case ACT_SET_GEN:
    case ACT_DELETE:
        check_write(i, k, rc, a);
        return;
    case ACT_SET_SEQUENCER:
    case ACT_CHECK_SEQUENCER:
        check_sequencer(i, op, rc);
        return;
    default:
        check_lock(i, op, rc);
        return;
    }
}

/* ---- What is left. ---- */

/* A process that has let go of all, and has nothing to do any more, has no
 * znode in a lock's directory. */
static bool is_mark_of(int i, const char *name)
{
    const struct chubby_hold *hold = &chubbies.of[i].hold;
    size_t n = strlen(hold->node);

    return n > 0 && hold->clean && !hold->lost && !hold->gone &&
           strncmp(name, hold->node, n) == 0 && strstr(name, "-delay");
}

/* A handle that has given its lock back has left no mark. */
static void check_mark(int proc, const char *name)
{
    if (chubby_session_ended(proc) || chubbies.early[proc])
        return;
    for (int i = 0; i < HANDLES; i++) {
        if (chubby_plan_of(i)->open_ms && chubby_plan_of(i)->proc == proc &&
            is_mark_of(i, name))
            sim_violation("handle %d has given its lock back, and left %s", i,
                          name);
    }
}

/* A file goes together with its anchor, whoever has made the two, and whatever
 * was told of that: an anchor alone is of nobody. */
static void check_anchor_left(int file, const char *path, int64_t czxid)
{
    const struct chubby_state *now = chubby_now(file);

    if ((!now || now->czxid != czxid) && !chubby_meddled(czxid) &&
        !operator_deleted_any() && !chubbies.meddled && !chubbies.own->litter)
        sim_violation("%s is left, and its file has gone", path);
}

void chubby_check_left(int proc)
{
    const struct process *p = process_of(proc);
    int64_t session = p->n_ids > 0 ? p->ids[p->n_ids - 1] : 0;
    const char *names[64];
    struct ens_seen seen;
    char path[240];

    if (!process_is_idle(p) || ens_denied(proc) || session_over(session) ||
        ens_shut(proc)) /* At the look for it, maybe. */
        return;
    for (int file = 0; file < FILES; file++) {
        size_t n = ens_children(chubby_side(file), names, 64);

        for (size_t k = 0; k < n && k < 64; k++) {
            snprintf(path, sizeof path, "%s/%s", chubby_side(file), names[k]);
            check_mark(proc, names[k]);
            if (strstr(names[k], "-file") && ens_look(path, &seen))
                check_anchor_left(file, path, seen.czxid);
            else if (!strstr(names[k], "-file") && ens_look(path, &seen) &&
                     seen.owner == session && !operator_copied(seen.czxid) &&
                     !chubbies.meddled)
                sim_violation("process %d is over, and has %s", proc, path);
        }
    }
}

/* A clean end leaves no mark: where there was no other, there is none. */
void chubby_check_marks(void)
{
    const char *names[64];

    if (chubbies.unclean || operator_deleted_any() || chubbies.own->marks)
        return;
    for (int proc = 0; proc < SIM_PROCS; proc++) {
        if (process_of(proc)->n_ids > 1 || process_of(proc)->expired ||
            (process_of(proc)->n_ids == 1 &&
             session_forced(process_of(proc)->ids[0])))
            return;
    }
    for (int file = 0; file < FILES; file++) {
        size_t n = ens_children(chubby_side(file), names, 64);

        for (size_t k = 0; k < n && k < 64; k++) {
            if (chubby_is_old_mark(file, names[k]) &&
                strncmp(names[k], "00000000", 8) != 0) /* Made before. */
                sim_violation("a clean end has left %s", names[k]);
        }
    }
}
