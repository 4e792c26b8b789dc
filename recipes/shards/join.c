/* Joining: the arguments are checked and copied, and the member begins to stand
 * and to watch the plan.
 *
 * How it can fail.  Bad arguments are refused first, whatever the state of the
 * session.  Two equal names show when the names are sorted, so that takes
 * memory: without it the call says so, and not whether they were good.
 */
#include "recipes/shards/shards_internal.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/name.h"
#include "lib/machine/refuse.h"

static bool broken_names(const struct evzk__call *c,
                         const evzk_shards_options *o)
{
    const char *rule = NULL;

    for (uint32_t i = 0; o->names && !rule && i < o->count; i++)
        rule = evzk__shard_name_fault(o->names[i]);
    return evzk__broken(c, !rule, "names", rule);
}

static bool broken_options(const struct evzk__call *c,
                           const evzk_shards_options *o)
{
    return evzk__broken(c, o, "opt", EVZK__NOT_NULL) ||
           evzk__broken_reserved(c, o->reserved) ||
           evzk__broken(c, o->count > 0 && o->count <= EVZK_SHARDS_MAX, "count",
                        "must be 1 to EVZK_SHARDS_MAX") ||
           broken_names(c, o) ||
           evzk__broken_data(c, o->data, o->data_len, EVZK_SHARDS_DATA_MAX);
}

/* Called when the options are known to be good. */
static bool broken_room(const struct evzk__call *c, const char *path,
                        const evzk_shards_options *o)
{
    static const char longest[] = "/" EVZK__SHARDS_SHARD "65535";
    size_t room = o->names
                      ? strlen("/" EVZK__SHARDS_TASK) + EVZK_SHARDS_NAME_MAX
                      : strlen(longest);

    return evzk__broken(c, strlen(path) + room <= EVZK__PATH_MAX, "path",
                        "must leave room for the shards' own names");
}

static int take_options(struct evzk_shards *a, const char *path,
                        const evzk_shards_options *o)
{
    a->count = o->count;
    a->self.names = a->names ? evzk__shard_names_print(a->names, a->count) : 0;
    a->acknowledge = o->acknowledge;
    a->self.weight = o->observer ? 0 : o->weight ? o->weight : 1;
    a->self.most = o->most;
    a->self.len = o->data_len;
    a->self.data = evzk__memdup(o->data, o->data_len);
    a->path = evzk__strdup(path);
    a->members = evzk__concat(path, "/" EVZK__SHARDS_MEMBERS);
    a->step_timer = evzk__session_timer(a->s, evzk__shards_step, a);
    a->mend_timer = evzk__session_timer(a->s, evzk__shards_mend, a);
    return a->self.data && a->path && a->members && a->step_timer &&
                   a->mend_timer
               ? EVZK_OK
               : EVZK_ERR_NOMEM;
}

/* Sorted, equal names stand side by side. */
static int sort_names(const struct evzk__call *c, const evzk_shards_options *o,
                      char ***out)
{
    *out = NULL;
    if (!o->names)
        return EVZK_OK;
    *out = evzk__shard_names_copy(o->names, o->count);
    if (!*out)
        return EVZK_ERR_NOMEM;
    if (!evzk__broken(c, evzk__shard_names_differ(*out, o->count), "names",
                      "must all be different"))
        return EVZK_OK;
    evzk__free(*out);
    return EVZK_ERR_INVAL;
}

/* Takes the names, whatever comes of it.  NULL: no memory. */
static struct evzk_shards *new_shards(evzk_session *s, const char *path,
                                      const evzk_shards_options *o,
                                      char **names)
{
    struct evzk_shards *a =
        evzk__zalloc(sizeof *a + o->count * sizeof a->shard[0]);

    if (!a) {
        evzk__free(names);
        return NULL;
    }
    a->s = s;
    evzk__session_keep(s);
    a->me = EVZK__NOBODY;
    a->names = names;
    for (uint32_t i = 0; i < o->count; i++)
        a->shard[i].all = a;
    if (take_options(a, path, o) == EVZK_OK)
        return a;
    evzk__shards_destroy(a);
    return NULL;
}

static int begin(struct evzk_shards *a)
{
    int rc = evzk__shards_watch_plan(a);

    if (rc == EVZK_OK)
        rc = evzk__shards_stand(a);
    if (rc != EVZK_OK) {
        evzk__node_watch_free(a->plan_watch);
        return rc;
    }
    evzk__resident_enter(a->s, &a->in_session, evzk__shards_closed);
    return EVZK_OK;
}

int evzk_shards_join(evzk_session *s, const char *path,
                     const evzk_shards_options *opt, evzk_shard_cb *shard,
                     evzk_shards_cb *cb, void *arg, evzk_shards **out)
{
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_shards *a;
    char **names;
    int rc;

    if (evzk__broken_start(&call, s, path, cb, out) ||
        broken_options(&call, opt) || broken_room(&call, path, opt))
        return EVZK_ERR_INVAL;
    rc = sort_names(&call, opt, &names);
    if (rc != EVZK_OK)
        return rc;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK) {
        evzk__free(names);
        return rc;
    }
    a = new_shards(s, path, opt, names);
    if (!a)
        return EVZK_ERR_NOMEM;
    a->cb = cb;
    a->shard_cb = shard;
    a->arg = arg;
    rc = begin(a);
    if (rc == EVZK_OK)
        *out = a;
    else
        evzk__shards_destroy(a);
    return rc;
}
