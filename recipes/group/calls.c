/* The calls of evzk/group.h on a member. */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/name.h"
#include "lib/machine/refuse.h"
#include "recipes/group/group_internal.h"
#include "recipes/kinds.h"
#include "recipes/parts/lease_of.h"

/* To join. */

/* The rule that an identity breaks; or NULL. */
static const char *name_fault(const char *name)
{
    char path[EVZK_MEMBER_NAME_MAX + 2] = "/";

    if (!name)
        return EVZK__NOT_NULL;
    if (!name[0] || strlen(name) > EVZK_MEMBER_NAME_MAX)
        return "must have 1 to EVZK_MEMBER_NAME_MAX bytes";
    if (name[0] == '.' || strchr(name, '/'))
        return "must not begin with a dot, and have no slash";
    strcpy(path + 1, name);
    return evzk__path_fault(path);
}

static bool is_bad_start(const struct evzk__call *call, const char *path,
                         const char *name, const evzk_member_options *opt)
{
    const char *rule = name_fault(name);
    size_t room = sizeof EVZK__GROUP_DIR + EVZK_MEMBER_NAME_MAX + 1;

    return evzk__broken(call, path[1], "path", "must not be the root") ||
           evzk__broken(call, strlen(path) + room <= EVZK__PATH_MAX, "path",
                        "must leave room for the names of members") ||
           evzk__broken(call, !rule, "name", rule) ||
           evzk__broken_data(call, opt->data, opt->data_len,
                             EVZK_MEMBER_DATA_MAX) ||
           evzk__broken_acl(call, opt->acl, opt->acl_count) ||
           evzk__broken_reserved(call, opt->reserved);
}

static int set_data(struct evzk__member_data *to, const void *data, size_t len)
{
    void *copy = evzk__memdup(len ? data : "", len);

    if (!copy)
        return EVZK_ERR_NOMEM;
    evzk__free(to->v);
    to->v = copy;
    to->len = (uint32_t)len;
    return EVZK_OK;
}

/* The znodes have the ACL of the options, or the session's. */
static void choose_acl(struct evzk_member *d)
{
    struct evzk__create_args a = evzk__args_with_acl(&d->m, NULL, &d->own_acl);

    d->acl = a.acl;
    d->acl_count = a.acl_count;
}

/* The names of the znodes. */
static int name_all(struct evzk_member *d, const char *path, char **dir)
{
    *dir = evzk__concat(path, EVZK__GROUP_DIR);
    d->path = evzk__join(path, d->name);
    return *dir && d->path ? EVZK_OK : EVZK_ERR_NOMEM;
}

static int take_options(struct evzk_member *d, const char *path,
                        const evzk_member_options *opt, char **dir)
{
    int rc = name_all(d, path, dir);

    d->no_wait = opt->no_wait;
    d->looked = true; /* Nothing stands. */
    d->guard[0] = '.';
    if (rc == EVZK_OK)
        rc = evzk__guid(d->guard + 1);
    if (rc == EVZK_OK && opt->data)
        rc = set_data(&d->data, opt->data, opt->data_len);
    if (rc == EVZK_OK)
        rc = evzk__acl_copy(&d->own_acl, opt->acl, opt->acl_count);
    return rc;
}

int evzk__group_join(const struct evzk__call *call, evzk_session *s,
                     const char *path, const char *name,
                     const evzk_member_options *opt, evzk_member_cb *cb,
                     void *arg, evzk_member **out)
{
    struct evzk_member *d;
    char *dir = NULL;
    int rc;

    if (evzk__broken_start(call, s, path, cb != NULL, out != NULL) ||
        is_bad_start(call, path, name, opt))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    d = evzk__zalloc(sizeof *d);
    if (!d)
        return EVZK_ERR_NOMEM;
    d->cb = cb;
    d->arg = arg;
    strcpy(d->name, name);
    rc = take_options(d, path, opt, &dir);
    if (rc == EVZK_OK)
        rc = evzk__machine_init(&d->m, s, &evzk__member_kind, dir, 0);
    evzk__free(dir);
    if (rc != EVZK_OK) {
        evzk__member_destroy(&d->m);
        return rc;
    }
    choose_acl(d);
    *out = d;
    return EVZK_OK;
}

int evzk_group_join(evzk_session *s, const char *path, const char *name,
                    const evzk_member_options *opt, evzk_member_cb *cb,
                    void *arg, evzk_member **out)
{
    static const evzk_member_options none;
    struct evzk__call call = evzk__call_of(s, __func__);

    return evzk__group_join(&call, s, path, name, opt ? opt : &none, cb, arg,
                            out);
}

/* The rest. */

/* EVZK_OK, or why the member takes no orders any more. */
static int may_change(const struct evzk_member *d)
{
    if (evzk__machine_in_child(&d->m))
        return EVZK_ERR_FORKED;
    return d->m.place.ended || d->m.stopping ? EVZK_ERR_STATE : EVZK_OK;
}

int evzk_member_update(evzk_member *d, const void *data, size_t len)
{
    struct evzk__call call =
        evzk__call_of(d ? evzk__machine_session(&d->m) : NULL, __func__);
    int rc;

    if (evzk__broken(&call, d, "member", EVZK__NOT_NULL) ||
        evzk__broken_data(&call, data, len, EVZK_MEMBER_DATA_MAX))
        return EVZK_ERR_INVAL;
    rc = may_change(d);
    if (rc == EVZK_OK)
        rc = set_data(&d->next, data, len);
    if (rc != EVZK_OK)
        return rc;
    d->updates++;
    evzk__machine_ask(&d->m);
    return EVZK_OK;
}

int evzk_member_leave(evzk_member *d)
{
    int rc = d ? evzk__machine_cancel(&d->m) : EVZK_ERR_INVAL;

    if (rc == EVZK_OK)
        d->leaves = true;
    return rc;
}

void evzk_member_free(evzk_member *d)
{
    if (d) {
        d->cb = NULL;
        evzk__machine_let_go(&d->m);
    }
}

bool evzk_member_joined(const evzk_member *d)
{
    return d && d->reported == REPORTED_JOINED && evzk__machine_sure(&d->m);
}

int evzk_member_lease(evzk_member *d, evzk_lease **out)
{
    return evzk__lease_of(d ? &d->m : NULL, __func__, evzk_member_joined(d),
                          evzk_member_token(d), d ? &d->lease : NULL, out);
}

uint32_t evzk_member_lease_ms(const evzk_member *d)
{
    return evzk_member_joined(d)
               ? evzk_session_lease_ms(evzk__machine_session(&d->m))
               : 0;
}

uint64_t evzk_member_token(const evzk_member *d)
{
    return d ? (uint64_t)d->told_token : 0;
}

const char *evzk_member_name(const evzk_member *d) { return d ? d->name : ""; }

const char *evzk_member_state(const evzk_member *d)
{
    return d ? evzk__machine_state(&d->m) : "";
}
