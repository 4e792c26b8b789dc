/* Tells which candidate leads an election, to a process that does not stand in
 * it.
 *
 *   LOOKING --> CHECKING --> WATCHING
 *      |            ^  |        |
 *      |            |  |        |
 *      `------------+--'--------'      (to the end: ENDED)
 *
 * If there is no leader's znode at the first look, the session's chroot may be
 * missing: that is an error, so it is looked for (ROOTING, from LOOKING).
 *
 * The `leader` znode is read, and watched, whether it exists or not.  Then the
 * znode of the candidate that it names is looked for, and watched, too.  The
 * leader is told when both exist: if another client has deleted the candidate's
 * own znode, the candidate leads no more, whatever `leader` says.
 *
 * How it can fail.  The next server may know less than the last one: so each
 * look is as new as the ensemble's leader (a sync goes before it), and an epoch
 * whose end was seen is not told again, nor an earlier one, unless history has
 * begun anew (parts/history.h).  Data in `leader` that is not of this
 * form counts as no leader.  A candidate's znode that may not be read is taken
 * to exist.
 */
#include "evzk/election.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "lib/machine/rows.h"
#include "recipes/election/leader.h"
#include "recipes/kinds.h"
#include "recipes/lock/lock_internal.h"
#include "recipes/parts/history.h"
#include "recipes/parts/rooted.h"

struct evzk_observer {
    struct evzk__machine m;
    evzk_leader seen; /* Found by the last look; epoch 0: none. */
    char *text;       /* Owned: `seen` points into it. */
    size_t len;       /* Of the text. */
    struct {
        uint64_t epoch; /* 0: nobody. */
        char *text;     /* Owned, or `text`. */
        size_t len;
    } told;         /* The last leader told. */
    bool told_any;  /* Anything was told. */
    uint64_t ended; /* The last epoch whose end was seen. */
    struct evzk__history history;
    evzk_observer_cb *cb;
    void *arg;
};

enum { LOOKING, ROOTING, CHECKING, WATCHING, ENDED, STATES };

static struct evzk_observer *observer_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_observer, m);
}

/* May free the observer: touch nothing after. */
static void tell(struct evzk_observer *o, int rc, const evzk_leader *leader)
{
    evzk_session *s = evzk__machine_session(&o->m);
    int64_t begun = evzk__machine_call_out(s);

    if (o->cb && (rc != EVZK_OK || evzk__may_tell(s)))
        o->cb(o, rc, leader, o->arg);
    evzk__machine_called(s, begun);
}

/* Was exactly this told last?  The `leader` znode may have been made anew with
 * the same data. */
static bool is_told(const struct evzk_observer *o, bool leads)
{
    if (!o->told_any || !leads || o->told.epoch != o->seen.epoch)
        return o->told_any && !leads && o->told.epoch == 0;
    return o->told.len == o->len && memcmp(o->told.text, o->text, o->len) == 0;
}

/* The same leader is no news, unless its data is new. */
static int tell_seen(struct evzk_observer *o, bool leads)
{
    if (is_told(o, leads))
        return EVZK_OK;
    o->told_any = true;
    o->told.epoch = leads ? o->seen.epoch : 0;
    if (o->told.text != o->text)
        evzk__free(o->told.text);
    o->told.text = o->text;
    o->told.len = o->len;
    tell(o, EVZK_OK, leads ? &o->seen : NULL);
    return EVZK_OK;
}

static int nobody(struct evzk_observer *o)
{
    evzk__machine_move(&o->m, WATCHING);
    return tell_seen(o, false);
}

/* The leader's own znode is gone: its epoch has ended, if it was told. */
static int over(struct evzk_observer *o)
{
    if (o->told.epoch == o->seen.epoch && o->seen.epoch > o->ended)
        o->ended = o->seen.epoch;
    return tell_seen(o, false);
}

static void look(struct evzk__machine *m)
{
    evzk__unwatch_pred(m);
    evzk__read_and_watch(m, EVZK__LEADER);
}

static int take_leader(struct evzk_observer *o, const struct evzk__result *res)
{
    char *text = evzk__memdup(res->data, res->len);

    if (!text)
        return EVZK_ERR_NOMEM;
    if (o->told.text != o->text)
        evzk__free(o->text);
    o->text = text;
    o->len = res->len;
    memset(&o->seen, 0, sizeof o->seen);
    if (!evzk__leader_parse(text, res->len, &o->seen) ||
        o->seen.epoch > (uint64_t)res->stat.czxid) /* Older than its epoch. */
        memset(&o->seen, 0, sizeof o->seen);
    o->seen.session = res->stat.owner;
    return EVZK_OK;
}

/* Has this epoch ended, or is there none?  In another session the same number
 * may be of another history. */
static bool has_ended(const struct evzk_observer *o)
{
    return o->seen.epoch == 0 ||
           (o->seen.epoch == o->ended &&
            !evzk__history_is_another(&o->history, &o->m));
}

static int looked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_observer *o = observer_of(m);
    int rc = e->reply->rc;

    if (e->reply->first_rc != EVZK_OK)
        return e->reply->first_rc;
    if (rc != EVZK_OK && rc != EVZK_ERR_NONODE)
        return rc;
    if (evzk__watch_missing(m, EVZK__OWN) ||
        (rc == EVZK_OK && take_leader(o, e->reply->res) != EVZK_OK))
        return evzk__machine_again_later(m);
    if (rc == EVZK_ERR_NONODE && !o->told_any && evzk__chroot_unsure(m))
        return evzk__machine_move(m, ROOTING);
    if (rc == EVZK_ERR_NONODE || has_ended(o))
        return nobody(o);
    if (evzk__history_doubts(&o->history, m, o->seen.epoch < o->ended))
        return evzk__machine_again_later(m);
    if (o->seen.epoch < o->ended)
        o->ended = 0; /* Of another history. */
    return evzk__machine_move(m, CHECKING);
}

static int rooted(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = evzk__chroot_looked(e);

    return rc != EVZK_OK ? rc : nobody(observer_of(m));
}

/* If the watch on `leader` was lost with its connection, or has fired, begins
 * again. */
static void check(struct evzk__machine *m)
{
    if (!evzk__watch_listed(&m->place.own_watch))
        evzk__machine_move(m, LOOKING);
    else
        evzk__watch(m, NULL, false, observer_of(m)->seen.node);
}

static int checked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_observer *o = observer_of(m);
    int rc = e->reply->rc;

    if (rc != EVZK_OK && rc != EVZK_ERR_NONODE && rc != EVZK_ERR_NOAUTH)
        return rc;
    evzk__machine_move(m, WATCHING);
    return rc == EVZK_ERR_NONODE ? over(o) : tell_seen(o, true);
}

static void wait_for(struct evzk__machine *m)
{
    if (evzk__watch_missing(m, EVZK__OWN))
        evzk__machine_move(m, LOOKING);
}

static int watched(struct evzk__machine *m, const struct evzk__event *e)
{
    switch (e->type) {
    case EVZK__EV_DELETED:
        if (e->which == EVZK__PRED)
            return over(observer_of(m));
        return evzk__machine_move(m, LOOKING);
    case EVZK__EV_CHANGED: /* Of PRED: the candidate's znode got a child. */
        return evzk__machine_move(m,
                                  e->which == EVZK__PRED ? CHECKING : LOOKING);
    case EVZK__EV_REPLY:
    case EVZK__EV_LINGERED:
    case EVZK__EV_USER:
    case EVZK__EV_SUSPENDED:
    case EVZK__EV_LEASE_END:
        break;
    }
    return EVZK_OK;
}

static void end(struct evzk__machine *m) { tell(observer_of(m), m->rc, NULL); }

static void destroy(struct evzk__machine *m)
{
    struct evzk_observer *o = observer_of(m);

    if (o->told.text != o->text)
        evzk__free(o->told.text);
    evzk__free(o->text);
    evzk__free(o);
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state     entry        reaction  main      on stop  on expiry  flags */
ROW(LOOKING,  look,        looked,   CHECKING, ENDED,   LOOKING,   RETRY|NOTHING_SENT,
    ON(REPLY,        CHECKING, WATCHING, ROOTING, LOOKING),
    RARELY(REPLY,    FAIL)),
ROW(ROOTING,  evzk__look_root, rooted, ASIDE,  ENDED,   LOOKING,   RETRY,
    ON(ENTRY,        LOOKING),
    ON(REPLY,        WATCHING, FAIL),
    ON(EXPIRED,      NEVER)),
ROW(CHECKING, check,       checked,  WATCHING, ENDED,   LOOKING,   RETRY,
    ON(ENTRY,        LOOKING),
    ON(REPLY,        WATCHING),
    RARELY(REPLY,    FAIL),
    ON(EXPIRED,      NEVER)),
ROW(WATCHING, wait_for,    watched,  ENDED,    ENDED,   LOOKING,   RETRY,
    ON(ENTRY,        LOOKING),
    ON(OWN_DELETED,  LOOKING),
    ON(OWN_CHANGED,  LOOKING),
    ON(PRED_DELETED, HERE),
    ON(PRED_CHANGED, CHECKING),
    ON(EXPIRED,      NEVER)),
END(ENDED,    end),
};
/* clang-format on */

const struct evzk__kind evzk__observer_kind = {
    .name = "observer", .rows = rows, .n_rows = STATES, .destroy = destroy};

int evzk_election_observe(evzk_session *s, const char *path,
                          evzk_observer_cb *cb, void *arg, evzk_observer **out)
{
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_observer *o;
    int rc;

    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    o = evzk__zalloc(sizeof *o);
    if (!o)
        return EVZK_ERR_NOMEM;
    o->cb = cb;
    o->arg = arg;
    rc = evzk__machine_begin(&o->m, s, &evzk__observer_kind, path, 0);
    if (rc == EVZK_OK)
        *out = o;
    return rc;
}

void evzk_observer_free(evzk_observer *o)
{
    if (o) {
        o->cb = NULL;
        evzk__machine_let_go(&o->m);
    }
}
