/* Makes one znode, once.
 *
 * How it can fail.  If another client deletes the new znode before the machine
 * can look, the znode is not found.  An ephemeral znode is then made again.  So
 * is a persistent znode that another process took and deleted before the look:
 * it counts as never made.  A recipe whose znodes are deleted at once by other
 * processes has to leave a trace of them.
 */
#include "recipes/parts/make.h"

#include <string.h>

#include "lib/base/name.h"

/* How often to try again, if the server deletes the empty container before the
 * create.
 */
enum { DIR_TRIES = 8 };

static bool is_sequential(const struct evzk__make *k)
{
    return k->step.mode == EVZK__PERSISTENT_SEQUENTIAL ||
           k->step.mode == EVZK__EPHEMERAL_SEQUENTIAL;
}

static bool is_ephemeral(const struct evzk__make *k)
{
    return k->step.mode == EVZK__EPHEMERAL ||
           k->step.mode == EVZK__EPHEMERAL_SEQUENTIAL;
}

void evzk__make_init(struct evzk__make *k, const struct evzk__make_rows *rows,
                     const char *tag, enum evzk__mode mode)
{
    k->rows = rows;
    k->tag = tag;
    k->step.verb = EVZK__STEP_CREATE;
    k->step.mode = (uint8_t)mode;
}

int evzk__make_new_name(struct evzk__make *k)
{
    int rc = evzk__guid(k->name);

    strcpy(k->name + EVZK__GUID_LEN, k->tag);
    return rc;
}

static size_t prefix_of(const struct evzk__make *k)
{
    return EVZK__GUID_LEN + strlen(k->tag);
}

bool evzk__make_left(struct evzk__make *k, struct evzk__left *out)
{
    out->name = k->name;
    out->prefix = is_sequential(k) ? (uint32_t)prefix_of(k) : 0;
    out->czxid = k->czxid;
    out->stays = !is_ephemeral(k);
    return k->may_stand;
}

/* No znode was made, and none will be. */
static int end_or_go_on(struct evzk__machine *m, int state)
{
    return m->stopping ? evzk__machine_finish(m, m->rc)
                       : evzk__machine_move(m, state);
}

static int found(struct evzk__machine *m, struct evzk__make *k, int rc,
                 int64_t czxid)
{
    k->czxid = czxid;
    k->may_stand = rc == EVZK_OK;
    m->tries = 0;
    return k->rows->made(m, rc);
}

/* A GUID is used for one attempt: a name that was sent is never sent again. */
void evzk__make_create(struct evzk__machine *m, struct evzk__make *k)
{
    if (evzk__make_new_name(k) != EVZK_OK) {
        evzk__machine_finish(m, EVZK_ERR_INTERNAL);
        return;
    }
    k->czxid = 0;
    k->may_stand = false;
    k->step.name = k->name;
    k->step.made = k->name;
    evzk__ask(m, &k->step, 1, 0);
}

static int not_made(struct evzk__machine *m, const struct evzk__make *k, int rc)
{
    if (m->stopping)
        return evzk__machine_finish(m, m->rc);
    if (rc == EVZK_ERR_NOMEM) /* Not sent. */
        return evzk__machine_again_later(m);
    if (rc == EVZK_ERR_NODEEXISTS && is_sequential(k))
        return EVZK_ERR_SEQUENCE; /* No other contender has our GUID. */
    if (rc != EVZK_ERR_NONODE || m->tries++ == DIR_TRIES)
        return rc;
    return evzk__machine_move(m, k->rows->making_dir);
}

int evzk__make_created(struct evzk__machine *m, struct evzk__make *k,
                       const struct evzk__event *e)
{
    if (e->reply->rc == EVZK_OK)
        return found(m, k, EVZK_OK, e->reply->first.czxid);
    if (e->reply->rc == EVZK_ERR_CONNLOSS)
        return evzk__machine_move(m, k->rows->resolving);
    return not_made(m, k, e->reply->rc);
}

void evzk__make_dir(struct evzk__machine *m, struct evzk__make *k)
{
    evzk__own_dir(m, k->step.acl, k->step.acl_count);
}

int evzk__make_dir_made(struct evzk__machine *m, struct evzk__make *k,
                        const struct evzk__event *e)
{
    if (e->reply->rc != EVZK_OK)
        return e->reply->rc;
    return end_or_go_on(m, k->rows->creating);
}

/* A delete that must fail, by its version, and because the name has no number.
 * When it is answered, all that the session ever wrote is done. */
void evzk__make_resolve(struct evzk__machine *m, struct evzk__make *k)
{
    k->may_stand = true;
    evzk__settle_list(m, k->name);
}

/* The znode, with a number above the one that an earlier look has added; takes
 * that off. */
static const char *find_numbered(struct evzk__make *k,
                                 const struct evzk__names *names)
{
    int64_t tried = INT64_MIN;
    int32_t seq;

    if (evzk__seq_parse(k->name, k->tag, &seq)) {
        k->name[prefix_of(k)] = '\0';
        tried = seq;
    }
    return evzk__find_prefix(names, k->name, &tried);
}

static const char *find(struct evzk__make *k, const struct evzk__names *names)
{
    if (is_sequential(k))
        return find_numbered(k, names);
    for (size_t i = 0; i < names->n; i++) {
        if (strcmp(names->v[i], k->name) == 0)
            return names->v[i];
    }
    return NULL;
}

int evzk__make_resolved(struct evzk__machine *m, struct evzk__make *k,
                        const struct evzk__event *e)
{
    const struct evzk__reply *reply = e->reply;
    const char *name = NULL;

    if (reply->rc == EVZK_OK)
        name = find(k, &reply->res->names);
    if (name && strlen(name) < sizeof k->name) {
        strcpy(k->name, name);
        return evzk__machine_move(m, k->rows->adopting);
    }
    if (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NONODE)
        return reply->rc;
    if (reply->first_rc == EVZK_ERR_SERVER)
        return evzk__machine_refused(m, reply);
    k->may_stand = false;
    return end_or_go_on(m, k->rows->creating);
}

/* By exists: the ACL may forbid a read even to the znode's maker. */
void evzk__make_adopt(struct evzk__machine *m, struct evzk__make *k)
{
    evzk__exists(m, k->name);
}

/* An ephemeral znode of an older session goes with that session; a copy is not
 * ours. */
int evzk__make_adopted(struct evzk__machine *m, struct evzk__make *k,
                       const struct evzk__event *e)
{
    const struct evzk__reply *reply = e->reply;

    if (reply->rc == EVZK_OK && (!is_ephemeral(k) || reply->first.ours))
        return found(m, k, EVZK_OK, reply->first.czxid);
    if (reply->rc == EVZK_ERR_NONODE && !is_ephemeral(k))
        return found(m, k, EVZK_ERR_NODEGONE, 0);
    if (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NONODE)
        return reply->rc;
    if (is_sequential(k)) /* Another znode of our GUID may be ours. */
        return evzk__machine_move(m, k->rows->resolving);
    k->may_stand = false;
    return end_or_go_on(m, k->rows->creating);
}
