/* One shard: this member's candidate in the shard's election, from its start to
 * its end.
 *
 * How it can fail.  The election may refuse the candidate: then the member
 * stands again with the next plan, or in a few seconds.  Where servers hang up
 * at what the election asks for, it stands again with the next plan alone.  An
 * operator may delete its znode: then it stands again at once.
 */
#include "recipes/shards/shards_internal.h"

#include "lib/base/mem.h"
#include "recipes/kinds.h"

void evzk__shard_forget(struct shard *d)
{
    struct evzk_shards *a = d->all;

    a->unplaced -= d->l && !d->placed;
    a->candidates -= d->l != NULL;
    a->elected -= evzk__shard_elected(d);
    a->leading -= d->led;
    a->resigning -= d->state == SHARD_RESIGNING;
    evzk_lock_free(d->l);
    *d = (struct shard){
        .all = a, .refused = d->refused, .refusal_told = d->refusal_told};
}

/* Makes the `leader` znode.  For want of memory the step tries it again soon;
 * when it was refused, the next plan does, or the mend timer.  False: there was
 * no memory. */
bool evzk__shard_say(struct shard *d)
{
    struct evzk_shards *a = d->all;
    int rc;

    if (a->acknowledge || d->state != SHARD_ELECTED ||
        d->refused != SHARD_TRIED || d->l->user_asked)
        return true;
    rc = evzk__election_say(d->l, __func__, a->self.data, a->self.len);
    if (rc == EVZK_ERR_NOMEM)
        evzk__shards_step_again(a, EVZK__SHARDS_RETRY_US);
    return rc != EVZK_ERR_NOMEM;
}

void evzk__shard_try(struct shard *d)
{
    d->refused = SHARD_TRIED;
    d->refusal_told = false;
}

/* Notes whether the shard was refused.  Each try that servers hang up at would
 * end the connection of all that the session has. */
static void refuse(struct shard *d, bool refused, int rc)
{
    evzk__shard_try(d);
    d->refusal_told = refused;
    if (refused)
        d->refused = rc == EVZK_ERR_TOOLARGE ? SHARD_BARRED : SHARD_REFUSED;
    if (d->refused == SHARD_REFUSED)
        evzk__shards_mend_soon(d->all);
}

static void placed(struct shard *d)
{
    d->all->unplaced -= !d->placed;
    d->placed = true;
    d->refusal_told = false;
    if (d->all->unplaced == 0)
        evzk__shards_begin_step(d->all); /* The member may be ready now. */
}

static void is_elected(struct shard *d)
{
    struct evzk_shards *a = d->all;

    d->state = SHARD_ELECTED;
    a->elected++;
    if (!evzk__shard_tell(d, EVZK_ELECTION_ELECTED, EVZK_OK))
        return;
    if (!evzk__shard_say(d))
        evzk__shards_begin_step(a);
}

/* The outcome of the `leader` znode.  A refusal is told once for each plan: the
 * shards try again by themselves. */
static void is_leading(struct shard *d, int rc)
{
    struct evzk_shards *a = d->all;
    bool quiet = d->refusal_told && rc != EVZK_OK && !a->acknowledge;

    if (rc == EVZK_OK && d->state == SHARD_ELECTED) {
        d->state = SHARD_LEADING;
        d->led = true;
        a->leading++;
    }
    refuse(d, !d->led, rc);
    if (quiet)
        evzk__shards_begin_step(a);
    else if (evzk__shard_tell(d, EVZK_ELECTION_LEADING, rc))
        evzk__shards_begin_step(a);
}

/* The candidate has ended, for whatever reason.  When the session was closed,
 * the object reports that, and each shard that was led reports LOST.  A shard
 * that was not led does not report FAILED then: that would mean that the member
 * tries again (see evzk__shard_tell). */
static void is_over(struct shard *d, evzk_lock_event ev, int rc)
{
    struct evzk_shards *a = d->all;
    bool was = evzk__shard_elected(d), told = evzk__shard_leaves(d);
    bool quiet = d->refusal_told;
    uint64_t epoch = evzk_lock_token(d->l);

    refuse(d, !told && (ev == EVZK_LOCK_FAILED || rc == EVZK_ERR_TOOLARGE), rc);
    evzk__shards_note_left(a, d->l, ev, rc);
    evzk__shard_forget(d);
    evzk__recipient_free_to_take(d);
    evzk__shards_begin_step(a);
    if (told)
        return;
    if (was)
        evzk__shard_tell_lost(d, epoch, rc);
    else if (ev == EVZK_LOCK_FAILED && a->phase != EVZK__SHARDS_ENDED && !quiet)
        evzk__shard_tell(d, EVZK_ELECTION_FAILED, rc);
}

static void take_event(struct shard *d, int ev, int rc)
{
    switch (ev) {
    case LOCK_PLACED:
        placed(d);
        break;
    case EVZK_LOCK_GRANTED:
        is_elected(d);
        break;
    case LOCK_ANNOUNCED:
        is_leading(d, rc);
        break;
    case EVZK_LOCK_SUSPENDED:
        evzk__shard_tell(d, EVZK_ELECTION_SUSPENDED, rc);
        break;
    case EVZK_LOCK_RESUMED:
        evzk__shard_tell(d, EVZK_ELECTION_RESUMED, rc);
        break;
    case EVZK_LOCK_REQUEUED:
        d->all->unplaced += d->placed;
        d->placed = false;
        break;
    case EVZK_LOCK_RELEASED:
    case EVZK_LOCK_LOST:
    case EVZK_LOCK_FAILED:
        is_over(d, (evzk_lock_event)ev, rc);
        break;
    default:
        break;
    }
}

/* The application may free the shards: touches only the session after. */
static void heard(evzk_lock *l, evzk_lock_event ev, int rc, void *arg)
{
    struct shard *d = arg;
    evzk_session *s = d->all->s;
    int64_t begun = evzk__machine_call_in(s);

    (void)l;
    take_event(d, (int)ev, rc);
    evzk__machine_called_in(s, begun);
}

void evzk__shard_start(struct evzk_shards *a, uint32_t i)
{
    struct shard *d = &a->shard[i];
    const evzk_lock_options opt = {0};
    char path[EVZK__PATH_MAX + 1]; /* See broken_room() in join.c. */
    int rc;

    evzk__shard_print_path(a, i, path);
    rc = evzk__lock_begin(a->s, &evzk__election_kind, path, &opt, heard, d,
                          &d->l);
    if (rc == EVZK_OK) {
        d->state = SHARD_CANDIDATE;
        evzk__place_be_one_of_many(&d->l->m.place);
        a->candidates++;
        a->unplaced++;
    } else if (rc == EVZK_ERR_NOMEM)
        evzk__shards_step_again(a, EVZK__SHARDS_RETRY_US);
    else
        d->refused = SHARD_REFUSED;
}

/* Ends when the candidate's znode is proved gone. */
static void withdraw(struct shard *d)
{
    if (d->state != SHARD_WITHDRAWING)
        evzk_lock_cancel(d->l); /* If refused, the candidate ends by itself. */
    d->state = SHARD_WITHDRAWING;
}

/* The shard is led no longer.  RESIGNED is told before the request goes out. */
bool evzk__shard_let_go(struct shard *d)
{
    if (!evzk__shard_elected(d)) {
        withdraw(d);
        return true;
    }
    if (d->state == SHARD_RESIGNING || d->all->resigning >= EVZK__LEAVING)
        return true; /* The end of each begins the step again. */
    evzk__place_keep_dir(&d->l->m.place, evzk__shard_has_recipient(d));
    if (evzk_lock_release(d->l) != EVZK_OK)
        return true; /* The lock ends by itself. */
    d->state = SHARD_RESIGNING;
    d->all->resigning++;
    evzk__recipient_given(d);
    return evzk__shard_tell(d, EVZK_ELECTION_RESIGNED, EVZK_OK);
}
