/* How a member makes its znodes, and what is missing of them.
 *
 *   MAKING_DIR <--> JOINING --> LOOKING <--> REPAIRING --> REMAKING_DIR
 *                      ^          |  ^                          |
 *                      `----------'  `--------------------------'
 *
 * JOINING makes all three znodes, where none of them stands.  LOOKING is where
 * every way comes together: it looks what stands, and chooses.  REPAIRING makes
 * what is missing beside znodes that are the member's own.
 *
 * How it can fail.  Nothing is deleted here.  Each znode is made only where it
 * is missing, so that a znode that came in between has the transaction refused.
 */
#include "recipes/group/group_internal.h"

#include <string.h>

#include "lib/base/name.h"

void evzk__member_make_dir(struct evzk__machine *m)
{
    struct evzk_member *d = evzk__member_of(m);

    evzk__own_dir(m, d->acl, d->acl_count);
}

int evzk__member_dir_made(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->reply->rc != EVZK_OK)
        return evzk__member_refused(evzk__member_of(m), e->reply->rc);
    evzk__member_of(m)->looked = true; /* Still nothing stands. */
    return evzk__machine_move(m, JOINING);
}

static struct evzk__step create(const struct evzk_member *d, const char *name,
                                const void *data, size_t len)
{
    return (struct evzk__step){.verb = EVZK__STEP_CREATE,
                               .mode = EVZK__EPHEMERAL,
                               .name = name,
                               .data = data,
                               .len = (uint32_t)len,
                               .acl = d->acl,
                               .acl_count = d->acl_count};
}

/* A GUID is used for one attempt, and as long as a guard of that name stands.
 */
static int new_guard(struct evzk_member *d)
{
    if (d->sight.guard == GROUP_OWN)
        return EVZK_OK;
    d->guard[0] = '.';
    return evzk__guid(d->guard + 1);
}

/* Makes the znodes that are missing.  The write to the guard is done only if
 * the guard stands; and with it the answer has the czxid of the new znodes. */
static void ask_missing(struct evzk_member *d)
{
    const struct evzk__sight *s = &d->sight;
    struct evzk__member_data data = evzk__member_take_data(d);
    uint32_t n = 0;

    if (s->guard != GROUP_OWN)
        d->step[n++] = create(d, d->guard, NULL, 0);
    d->step[n++] = (struct evzk__step){.verb = EVZK__STEP_SET,
                                       .name = d->guard,
                                       .data = d->name,
                                       .len = (uint32_t)strlen(d->name)};
    if (s->claim == GROUP_ABSENT)
        d->step[n++] = create(d, d->name, d->guard, strlen(d->guard));
    else if (s->name == GROUP_ABSENT)
        d->step[n++] =
            (struct evzk__step){.verb = EVZK__STEP_CHECK, .name = d->name};
    if (s->name == GROUP_ABSENT)
        d->step[n++] = create(d, d->path, data.v, data.len);
    /* A member that is to stop does not look at the answer. */
    d->may_be_own = s->name == GROUP_ABSENT;
    d->may_stand = true;
    evzk__ask(&d->m, d->step, n, EVZK__COMMIT | EVZK__JOIN);
}

static void make(struct evzk_member *d)
{
    if (!evzk__member_may_write(d))
        evzk__machine_move(&d->m, LOOKING);
    else if (new_guard(d) != EVZK_OK)
        evzk__machine_give_up(&d->m, EVZK_ERR_INTERNAL, CHECKING);
    else
        ask_missing(d);
}

void evzk__member_join(struct evzk__machine *m) { make(evzk__member_of(m)); }

/* The same while it may be told that it is a member. */
void evzk__member_repair(struct evzk__machine *m) { make(evzk__member_of(m)); }

static void note_made(struct evzk_member *d, int64_t zxid)
{
    if (d->sight.claim == GROUP_ABSENT)
        d->claim_czxid = zxid;
    if (d->sight.name == GROUP_ABSENT)
        d->czxid = zxid;
    d->unsettled = false;
    if (d->sight.name == GROUP_ABSENT)
        evzk__member_data_stand(d);
}

/* The answer to a transaction that makes znodes.  `dir`: where a directory that
 * is missing leads. */
static int was_made(struct evzk_member *d, const struct evzk__reply *reply,
                    int dir)
{
    bool no_dir = reply->rc == EVZK_ERR_NONODE && d->sight.guard != GROUP_OWN &&
                  d->sight.claim == GROUP_ABSENT;
    int rc = EVZK_OK;

    if (reply->rc == EVZK_OK)
        note_made(d, reply->first.czxid);
    else
        rc = evzk__member_not_written(d, reply->rc);
    d->may_be_own = d->unsettled && d->sight.name == GROUP_ABSENT;
    if (rc != EVZK_OK)
        return evzk__member_refused(d, rc);
    if (!no_dir)
        return evzk__machine_move(&d->m, LOOKING);
    return d->m.tries++ < MEMBER_TRIES
               ? evzk__machine_move(&d->m, dir)
               : evzk__member_refused(d, EVZK_ERR_NONODE);
}

int evzk__member_was_joined(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    return was_made(evzk__member_of(m), e->reply, MAKING_DIR);
}

int evzk__member_repaired(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_member *d = evzk__member_of(m);

    return e->type == EVZK__EV_REPLY ? was_made(d, e->reply, REMAKING_DIR)
                                     : evzk__member_doubt(d, e);
}

int evzk__member_dir_remade(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    struct evzk_member *d = evzk__member_of(m);

    if (e->type != EVZK__EV_REPLY)
        return evzk__member_doubt(d, e);
    return e->reply->rc != EVZK_OK ? evzk__member_refused(d, e->reply->rc)
                                   : evzk__machine_move(m, LOOKING);
}

/* The look. */

/* The session that had the name is over. */
static bool has_expired(const struct evzk_member *d)
{
    const struct evzk__stat stat = {.owner = d->session};

    return d->reported == REPORTED_JOINED && !evzk__machine_owns(&d->m, &stat);
}

void evzk__member_look(struct evzk__machine *m)
{
    struct evzk_member *d = evzk__member_of(m);

    if (has_expired(d))
        evzk__member_lose(d, EVZK_ERR_EXPIRED);
    if (!m->place.ended)
        evzk__member_ask_sight(d, true);
}

/* The member's own name stands.  While the session is in doubt the row is
 * entered again by and by. */
static int go_on(struct evzk_member *d)
{
    uint32_t seen = d->updates; /* RESUMED may have the user ask for more. */

    if ((d->sight.guard != GROUP_OWN || d->sight.claim == GROUP_ABSENT) &&
        !d->waits)
        return evzk__machine_move(&d->m, REPAIRING);
    if (!evzk__machine_certain(&d->m))
        return EVZK_OK;
    if (evzk__machine_end_doubt(&d->m) && d->reported == REPORTED_JOINED)
        evzk__member_tell(d, EVZK_MEMBER_RESUMED, EVZK_OK);
    if (d->m.stopping)
        return EVZK_OK;
    if ((!d->sight.as_wanted || d->updates != seen) && !d->waits)
        return evzk__machine_move(&d->m, UPDATING);
    if (d->sight.as_wanted)
        d->seen = seen;
    return evzk__machine_move(&d->m, JOINED);
}

/* The member's own name does not stand. */
static int begin_anew(struct evzk_member *d)
{
    const struct evzk__sight *s = &d->sight;

    evzk__member_lose(d, EVZK_ERR_NODEGONE);
    if (d->m.stopping)
        return EVZK_OK;
    if (s->name == GROUP_OTHERS || s->claim == GROUP_OTHERS)
        return d->no_wait ? EVZK_ERR_BUSY : evzk__machine_move(&d->m, WAITING);
    if (d->waits)
        return evzk__machine_move(&d->m, REFUSED);
    return evzk__machine_move(
        &d->m,
        s->guard == GROUP_OWN || s->claim == GROUP_OWN ? REPAIRING : JOINING);
}

int evzk__member_looked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_member *d = evzk__member_of(m);

    if (e->type != EVZK__EV_REPLY)
        return evzk__member_doubt(d, e);
    if (!evzk__member_note_sight(d, e->reply))
        return EVZK_OK;
    if (d->look_rc != EVZK_OK)
        return evzk__member_refused(d, d->look_rc);
    if (d->sight.early && !d->behind_write) {
        d->unsettled = true;
        return evzk__machine_again(m);
    }
    return d->sight.name == GROUP_OWN ? go_on(d) : begin_anew(d);
}
