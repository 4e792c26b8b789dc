/* A member, and servers that refuse.
 *
 *   LOOKING <--> REFUSED
 *
 * A first join that is refused fails: so its user learns of a wrong ACL.  A
 * member that has once joined ends with no refusal that may pass
 * (parts/passing.h).  If its name stands, it stays a member, and what could not
 * be written waits for a while.  If not, it tells why it is no member, and
 * rests in REFUSED.  Then it looks, and tries again.
 *
 * Data that are too large for the servers are given up at once: each try would
 * cost the session its connection.  The member keeps the data that stood
 * before, and the update is told so.
 *
 * How it can fail.  It does not hear that the refusal has passed: it asks again
 * when its time has come, and so is late.
 */
#include "recipes/group/group_internal.h"

#include "recipes/parts/passing.h"

static void say(struct evzk_member *d)
{
    if (d->logged_rc == d->refused_rc)
        return;
    d->logged_rc = d->refused_rc;
    evzk__log(evzk__machine_session(&d->m), EVZK_LOG_WARN,
              "member %s: the servers refuse to write or read it: %s; it tries "
              "again until they do not",
              d->path, evzk_errname(d->refused_rc));
}

static bool has_sent_data(const struct evzk_member *d)
{
    switch (d->m.state) {
    case UPDATING:
        return true;
    case JOINING:
    case REPAIRING:
        return d->sight.name == GROUP_ABSENT;
    default:
        return false;
    }
}

/* The look that comes next decides: is it a member, or does it rest? */
static bool has_name(const struct evzk_member *d)
{
    switch (d->m.state) {
    case UPDATING:
    case REPAIRING:
    case REMAKING_DIR:
        return true;
    default:
        return false;
    }
}

int evzk__member_refused(struct evzk_member *d, int rc)
{
    if (rc == EVZK_ERR_TOOLARGE && has_sent_data(d) &&
        evzk__member_drop_data(d))
        return evzk__machine_move(&d->m, LOOKING);
    if (d->told_token == 0 || !evzk__refusal_may_pass(rc))
        return rc;
    if (rc != EVZK_ERR_SERVER && d->m.state != LOOKING)
        d->unsettled = false; /* The write was not done. */
    d->m.tries = 0;
    d->waits = true;
    d->refused_rc = rc;
    say(d);
    evzk__machine_set_deadline(&d->m, evzk__machine_round_ms(&d->m));
    return evzk__machine_move(&d->m, has_name(d) ? LOOKING : REFUSED);
}

void evzk__member_try_again(struct evzk__machine *m)
{
    evzk__member_of(m)->waits = false;
    evzk__machine_ask(m);
}

void evzk__member_content(struct evzk_member *d)
{
    d->refused_rc = d->logged_rc = d->told_rc = EVZK_OK;
}

void evzk__member_rest(struct evzk__machine *m)
{
    struct evzk_member *d = evzk__member_of(m);

    if (d->reported != REPORTED_JOINED && d->told_rc == d->refused_rc)
        return;
    evzk__member_over(m);
    d->reported = REPORTED_REJOINING;
    d->told_rc = d->refused_rc;
    evzk__member_tell(d, EVZK_MEMBER_REJOINING, d->refused_rc);
}

/* The user has other data, or the time has come. */
int evzk__member_rested(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__member_of(m)->waits ? EVZK_OK : evzk__machine_move(m, LOOKING);
}
