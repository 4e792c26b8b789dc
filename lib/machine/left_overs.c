/* What ended machines may have left on the server: the session's one list.
 *
 * A machine ends when its user is to know, whatever the servers say.  If they
 * refused to tell what became of a create, or to delete a znode, the znode may
 * stand, or may still come, and others would wait behind it as long as the
 * session lives.  So the machine stays in this list.  Its kind says what it may
 * have left (`left` in lib/machine/kind.h); that is looked for, behind a write
 * that changes nothing, and deleted, until a server has answered.
 *
 * An entry is the ended machine itself: its request, its directory, and the
 * name in the recipe's struct.  So the list takes no memory of its own, and the
 * user's free does not touch it.
 *
 *   settling   a listing behind a write that changes nothing, where the number
 *              of the znode is not known
 *   looking    the znode of this name, behind the same
 *   deleting
 *
 * A sighting proves existence, whatever was refused before it.  What a server
 * refuses for the moment is asked again, all of it at once, in pauses that grow
 * from a tenth of a second to some 13 seconds, and are short again after each
 * success.  An ephemeral znode is left to its session's end; for one that
 * stays, the session's close waits for half of its time.  A look at which the
 * servers hang up, each time, is not repeated: it would end the connection of
 * the whole session, again and again.  If that is the listing, a contender of
 * ours may know the znode's name, since it waits behind it.
 *
 * How it can fail.  A session that may not delete a znode is told so.  No event
 * tells when it may: what is ephemeral is asked for in pauses like all else,
 * and what stays is left, so that it holds up no close.  Between the look and
 * the delete an operator can put a copy there: a delete names a znode, and
 * cannot name its czxid.
 */
#include "lib/machine/machine_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/os.h"
#include "lib/request/core.h"
#include "lib/request/own_queue.h"
#include "lib/request/watch.h"

enum { FIRST_PAUSE_US = 100000, PAUSES = 8 };

/* A delete that must fail, by its version, and what is there behind it. */
static const struct evzk__step looking[] = {
    {.verb = EVZK__STEP_DELETE, .versioned = true, .version = EVZK__NO_VERSION},
    {.verb = EVZK__STEP_EXISTS}};
static const struct evzk__step deleting[] = {{.verb = EVZK__STEP_DELETE}};

/* What the machine may have left, and has not been answered yet. */
static bool next_left(struct evzk__machine *m, struct evzk__left *left)
{
    bool same = m->seen.session_no == m->place.s->now.session_no;

    for (; m->kind->left; m->tries++) {
        memset(left, 0, sizeof *left);
        if (m->tries == EVZK__LEFT_MAX || !m->kind->left(m, m->tries, left))
            return false;
        if (left->name && (same || left->stays))
            return true;
    }
    return false;
}

static bool has_number(const struct evzk__left *left)
{
    return left->prefix == 0 || left->name[left->prefix] != '\0';
}

static void look(struct evzk__machine *m, const struct evzk__left *left)
{
    evzk__ask_about(m, left->name, looking, 2, EVZK__LEFT);
}

/* False: there is nothing more to do. */
static bool ask(struct evzk__machine *m)
{
    struct evzk__left left;

    if (!next_left(m, &left))
        return false;
    if (has_number(&left))
        look(m, &left);
    else
        evzk__settle_list(m, left.name);
    return true;
}

static void wait(struct evzk__machine *m)
{
    struct evzk__core *s = m->place.s;

    TAILQ_INSERT_TAIL(&s->left.waiting, m, run);
    m->listed = EVZK__L_LEFT;
    if (s->left.at != 0)
        return;
    s->left.at = evzk__now_us() + ((int64_t)FIRST_PAUSE_US << s->left.pauses);
    if (s->left.pauses < PAUSES - 1)
        s->left.pauses++;
}

static void unwait(struct evzk__machine *m)
{
    if (m->listed == EVZK__L_LEFT)
        TAILQ_REMOVE(&m->place.s->left.waiting, m, run);
    m->listed = EVZK__L_NONE;
}

/* This is answered: the next one. */
static bool go_on(struct evzk__machine *m)
{
    m->place.s->left.pauses = 0;
    m->tries++;
    return ask(m);
}

static bool is_own(const struct evzk__machine *m, const struct evzk__left *left,
                   const struct evzk__stat *stat)
{
    return (left->stays || stat->owner == m->place.s->id) &&
           (left->czxid == 0 || left->czxid == stat->czxid);
}

/* The znode with the GUID, and a number above that of the last look. */
static const char *find(const struct evzk__left *left,
                        const struct evzk__names *names)
{
    char *number = left->name + left->prefix;
    int64_t tried = *number ? strtol(number, NULL, 10) : INT64_MIN;

    *number = '\0';
    return evzk__find_prefix(names, left->name, &tried);
}

/* Nobody can find out, or delete it: it goes with its session, or stays. */
static bool leave_it(struct evzk__machine *m, const struct evzk__left *left,
                     int rc)
{
    evzk__session_log(m->place.s, EVZK_LOG_WARN, "%s %s: %s is left: %s",
                      m->kind->name, m->place.dir->path, left->name,
                      evzk_strerror(rc));
    return go_on(m);
}

/* The znode before its own: it is watched, or about to be; or NULL. */
static const char *waits_for(const struct evzk__place *p)
{
    const struct evzk__request *r = &p->req;

    if (evzk__watch_listed(&p->pred_watch))
        return p->pred_watch.name;
    return r->state != EVZK__IDLE && r->op == EVZK__WATCH ? r->pred_name : NULL;
}

/* The name of a znode that begins so, and for which a contender of ours waits;
 * NULL: there is none. */
static const char *awaited(struct evzk__dir *d, const char *prefix)
{
    size_t n = strlen(prefix);

    for (struct evzk__place *p = evzk__queue_first(d); p;
         p = evzk__queue_next(p)) {
        const char *name = waits_for(p);

        if (name && strncmp(name, prefix, n) == 0)
            return name;
    }
    return NULL;
}

/* The servers hang up at the listing.  A contender of ours may have seen the
 * znode, and wait behind it. */
static bool unlisted(struct evzk__machine *m, const struct evzk__left *left)
{
    const char *name = NULL;

    if (!has_number(left))
        name = awaited(m->place.dir, left->name);
    if (!name || strlen(name) >= EVZK__NAME_MAX)
        return leave_it(m, left, EVZK_ERR_TOOLARGE);
    strcpy(left->name, name);
    look(m, left);
    return true;
}

static bool gave_too_large(const struct evzk__reply *reply)
{
    return reply->rc == EVZK_ERR_TOOLARGE ||
           reply->first_rc == EVZK_ERR_TOOLARGE;
}

/* Nothing was seen.  If the write before was done, nothing comes any more. */
static bool nothing_seen(struct evzk__machine *m,
                         const struct evzk__reply *reply)
{
    if (reply->first_rc != EVZK_ERR_SERVER &&
        reply->first_rc != EVZK_ERR_NOMEM && reply->rc != EVZK_ERR_NOMEM)
        return go_on(m);
    wait(m);
    return true;
}

static bool listed(struct evzk__machine *m, const struct evzk__left *left,
                   const struct evzk__reply *reply)
{
    const char *name = NULL;

    if (reply->rc == EVZK_OK)
        name = find(left, &reply->res->names);
    else if (reply->rc != EVZK_ERR_NONODE) {
        wait(m);
        return true;
    }
    if (!name || strlen(name) >= EVZK__NAME_MAX)
        return nothing_seen(m, reply);
    strcpy(left->name, name);
    look(m, left);
    return true;
}

/* A znode of that name that is not the machine's own is a copy: another one
 * with its GUID may be. */
static bool looked(struct evzk__machine *m, const struct evzk__left *left,
                   const struct evzk__reply *reply)
{
    if (reply->rc == EVZK_OK && is_own(m, left, &reply->res->stat)) {
        evzk__ask_about(m, left->name, deleting, 1, EVZK__LEFT);
        return true;
    }
    if (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NONODE) {
        wait(m);
        return true;
    }
    if (left->prefix == 0 || left->czxid != 0)
        return nothing_seen(m, reply);
    evzk__settle_list(m, left->name);
    return true;
}

static bool deleted(struct evzk__machine *m, const struct evzk__left *left,
                    int rc)
{
    if (rc == EVZK_ERR_SERVER || rc == EVZK_ERR_NOMEM ||
        (rc == EVZK_ERR_NOAUTH && !left->stays)) {
        wait(m);
        return true;
    }
    return rc == EVZK_OK || rc == EVZK_ERR_NONODE ? go_on(m)
                                                  : leave_it(m, left, rc);
}

/* The machine is in the list, and has its answer.  False: all is answered. */
static bool take(struct evzk__machine *m, const struct evzk__reply *reply)
{
    struct evzk__left left;

    if (reply->rc == EVZK_ERR_CONNLOSS || reply->first_rc == EVZK_ERR_CONNLOSS)
        return ask(m);
    if (!next_left(m, &left))
        return false;
    if (gave_too_large(reply))
        return unlisted(m, &left);
    if (m->place.req.op == EVZK__SETTLE_LIST)
        return listed(m, &left, reply);
    return m->place.req.steps == looking ? looked(m, &left, reply)
                                         : deleted(m, &left, reply->rc);
}

static void leave(struct evzk__machine *m)
{
    struct evzk__core *s = m->place.s;

    unwait(m);
    TAILQ_REMOVE(&s->left.all, m, all);
    TAILQ_INSERT_TAIL(&s->awaiting_reply, m, all);
    s->stats.left_overs--;
    m->is_left = false;
}

bool evzk__left_over_begin(struct evzk__machine *m)
{
    struct evzk__core *s = m->place.s;

    if (m->is_left || (m->pending & EVZK__P_LEFT) || s->phase > EVZK__DRAINING)
        return m->is_left;
    m->pending |= EVZK__P_LEFT;
    m->tries = 0;
    if (!ask(m))
        return false;
    m->is_left = true;
    TAILQ_REMOVE(&s->awaiting_reply, m, all);
    TAILQ_INSERT_TAIL(&s->left.all, m, all);
    s->stats.left_overs++;
    return true;
}

bool evzk__left_over_answered(struct evzk__machine *m,
                              const struct evzk__reply *reply)
{
    if (!m->is_left || take(m, reply))
        return m->is_left;
    leave(m);
    return false;
}

/* For the session. */

void evzk__left_overs_step(struct evzk__core *s)
{
    int64_t until = evzk__now_us() + EVZK__BUDGET_US;
    struct evzk__machine *m;

    if (s->left.at == 0 || evzk__now_us() < s->left.at)
        return;
    for (unsigned n = 0; (m = TAILQ_FIRST(&s->left.waiting)) != NULL; n++) {
        unwait(m);
        ask(m);
        if (evzk__budget_spent(n, until)) {
            s->more = true;
            return;
        }
    }
    s->left.at = 0;
}

/* A delete that was not sent yet rests on a look on the connection before, and
 * an operator may have put a copy there since. */
static bool looks_anew(struct evzk__machine *m)
{
    struct evzk__request *r = &m->place.req;

    if (r->steps != deleting || r->state == EVZK__IDLE ||
        r->state == EVZK__SENT)
        return true;
    evzk__request_cancel(m->place.s, r);
    return ask(m);
}

void evzk__left_overs_cut(struct evzk__core *s)
{
    struct evzk__machine *m, *next;

    for (m = TAILQ_FIRST(&s->left.all); m; m = next) {
        next = TAILQ_NEXT(m, all);
        evzk__watches_lost(m);
        if (!looks_anew(m))
            leave(m);
    }
}

void evzk__left_overs_expired(struct evzk__core *s)
{
    struct evzk__machine *m, *next;

    for (m = TAILQ_FIRST(&s->left.all); m; m = next) {
        next = TAILQ_NEXT(m, all);
        evzk__request_cancel(s, &m->place.req);
        unwait(m);
        if (!ask(m))
            leave(m);
    }
}

bool evzk__left_overs_stay(struct evzk__core *s)
{
    struct evzk__machine *m;
    struct evzk__left left;

    TAILQ_FOREACH(m, &s->left.all, all)
    {
        if (next_left(m, &left) && left.stays)
            return true;
    }
    return false;
}

static bool is_below(const struct evzk__machine *m, const char *path)
{
    size_t n = strlen(path);

    return strncmp(m->place.dir->path, path, n) == 0 &&
           m->place.dir->path[n] == '/';
}

bool evzk__is_refusal(int rc)
{
    return rc == EVZK_ERR_NOAUTH || rc == EVZK_ERR_SERVER ||
           rc == EVZK_ERR_TOOLARGE;
}

/* Machines that are about to end are asked, too: what they have goes next. */
int evzk__unproved_below(const evzk_session *session, const char *path)
{
    const struct evzk__core *s = evzk__core_of(session);
    const struct evzk__machine *m;

    TAILQ_FOREACH(m, &s->left.all, all)
    {
        if (is_below(m, path))
            return EVZK_ERR_SERVER;
    }
    TAILQ_FOREACH(m, &s->machines, all)
    {
        if (m->stopping && evzk__is_refusal(m->rc) && is_below(m, path))
            return m->rc;
    }
    return EVZK_OK;
}

void evzk__left_overs_drop(struct evzk__core *s)
{
    struct evzk__machine *m;

    while ((m = TAILQ_FIRST(&s->left.all)) != NULL)
        leave(m); /* To those that await a reply, and are dropped next. */
}
