/* A member leaves: deletes what is its own.
 *
 *   CHECKING <--> LEAVING --> ENDED
 *       `-----------------------^
 *
 * CHECKING looks, behind a write that changes nothing, unless the present
 * session has seen its name, and has written nothing since; LEAVING deletes
 * guard, claim and name in one transaction, as far as the look has shown each
 * of them to be the member's own.
 *
 * How it can fail.  What became of the deletes may be unknown, and another
 * process may have the identity by then: so each delete follows a look, also
 * where it had to wait for memory, and is done only while the guard stands. See
 * group/member.c for what remains.  Where the servers refuse to say what is
 * there, or to delete it, the rest is left to the session, which goes on
 * deleting.
 */
#include <string.h>

#include "recipes/group/group_internal.h"

/* Else znodes of an earlier session may still show, and be gone soon. */
static bool has_joined_in_this_session(const struct evzk_member *d)
{
    const struct evzk__stat stat = {.owner = d->session};

    return d->reported == REPORTED_JOINED && evzk__machine_owns(&d->m, &stat);
}

void evzk__member_check(struct evzk__machine *m)
{
    struct evzk_member *d = evzk__member_of(m);

    if (!has_joined_in_this_session(d))
        d->unsettled = true;
    evzk__member_ask_sight(d, false);
}

int evzk__member_checked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_member *d = evzk__member_of(m);
    const struct evzk__sight *s = &d->sight;

    if (!evzk__member_note_sight(d, e->reply))
        return EVZK_OK;
    if (d->look_rc != EVZK_OK)
        return evzk__machine_finish(m, d->look_rc);
    if (s->guard == GROUP_OWN || s->claim == GROUP_OWN || s->name == GROUP_OWN)
        return evzk__machine_move(m, LEAVING);
    d->may_stand = false;
    return evzk__machine_finish(m, m->rc);
}

static void add(struct evzk_member *d, uint32_t *n, uint8_t whose,
                const char *name)
{
    if (whose == GROUP_OWN)
        d->step[(*n)++] =
            (struct evzk__step){.verb = EVZK__STEP_DELETE, .name = name};
}

void evzk__member_leave(struct evzk__machine *m)
{
    struct evzk_member *d = evzk__member_of(m);
    uint32_t n = 0;

    if (!evzk__member_may_write(d)) {
        evzk__machine_move(m, CHECKING);
        return;
    }
    add(d, &n, d->sight.guard, d->guard);
    add(d, &n, d->sight.claim, d->name);
    add(d, &n, d->sight.name, d->path);
    evzk__ask(m, d->step, n, EVZK__COMMIT | EVZK__JOIN | EVZK__PROVED);
}

int evzk__member_left(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = e->reply->rc;

    if (rc == EVZK_OK) {
        evzk__member_of(m)->may_stand = false;
        return evzk__machine_finish(m, m->rc);
    }
    rc = evzk__member_not_written(evzk__member_of(m), rc);
    return rc != EVZK_OK ? evzk__machine_finish(m, rc)
                         : evzk__machine_move(m, CHECKING);
}

static bool is_twin(struct evzk__machine *m, struct evzk__machine *other)
{
    return strcmp(evzk__member_of(m)->path, evzk__member_of(other)->path) == 0;
}

/* The guard has a GUID.  A claim, or a name, of the session is the member's if
 * no other member of the session wants that name; else, if it has the czxid
 * that was seen. */
bool evzk__member_leaves(struct evzk__machine *m, unsigned i,
                         struct evzk__left *out)
{
    struct evzk_member *d = evzk__member_of(m);
    char *const name[] = {d->guard, d->name, d->path};
    const int64_t czxid[] = {0, d->claim_czxid, d->czxid};

    if (!d->may_stand || i >= sizeof name / sizeof name[0])
        return false;
    out->name = name[i];
    if (i == 0 || !evzk__machine_has_like(m, is_twin))
        return true;
    out->czxid = czxid[i];
    if (out->czxid == 0)
        out->name = NULL;
    return true;
}

void evzk__member_end(struct evzk__machine *m)
{
    struct evzk_member *d = evzk__member_of(m);
    bool well = d->leaves && m->rc == EVZK_ERR_CANCELED;

    evzk__member_tell(d, d->leaves ? EVZK_MEMBER_LEFT : EVZK_MEMBER_FAILED,
                      well ? EVZK_OK : m->rc);
}
