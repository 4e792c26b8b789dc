/* The calls of replacements. */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "recipes/config/config_internal.h"
#include "recipes/kinds.h"

enum {
    KEY_MAX = 255,
    NAMES_ROOM = 512, /* More than the rest of any path needs. */
    STEP_BYTES = 128, /* Of a step, without its path, data and ACL; or with
                         an ACL that is open to all. */
    WHOLE = 7,        /* Paths in a transaction of one key. */
};

static bool is_name(const char *name)
{
    char path[KEY_MAX + 2] = "/";

    if (!name || strlen(name) > KEY_MAX || strchr(name, '/') ||
        strcmp(name, EVZK__CONFIG_READY) == 0 ||
        strcmp(name, EVZK__CONFIG_READY "-token") == 0)
        return false;
    strcpy(path + 1, name);
    return name[0] != '\0' && evzk__path_ok(path);
}

static size_t item_bytes(const evzk_session *s, const char *path,
                         const evzk_acl *acl, size_t n)
{
    return STEP_BYTES + evzk__path_bytes(s, path) + evzk__acl_bytes(s, acl, n);
}

static bool is_bad_key(const struct evzk__call *call, const evzk_config_key *k,
                       size_t bytes)
{
    return evzk__broken(call, is_name(k->name), "key",
                        "must have a name without slashes, of at most 255 "
                        "bytes, that is not \"ready\" or \"ready-token\"") ||
           evzk__broken_data(call, k->data, k->len, EVZK_CONFIG_DATA_MAX) ||
           evzk__broken(call,
                        WHOLE * (bytes + NAMES_ROOM) + k->len <=
                            EVZK__REQUEST_BYTES,
                        "len", "must leave room for a path so long");
}

static bool are_bad_keys(const struct evzk__call *call, size_t bytes,
                         const evzk_config_key *key, size_t n)
{
    if (evzk__broken(call, key || n == 0, "key", EVZK__NOT_NULL) ||
        evzk__broken(call, n < UINT32_MAX / 2, "n", "must not be so large"))
        return true;
    for (size_t i = 0; i < n; i++) {
        if (is_bad_key(call, &key[i], bytes))
            return true;
    }
    return false;
}

static bool is_bad_start(const struct evzk__call *call, const char *path,
                         const evzk_config_options *opt)
{
    return evzk__broken(call, path[1], "path", "must not be the root") ||
           evzk__broken(call, strlen(path) + NAMES_ROOM <= EVZK__PATH_MAX,
                        "path", "must leave room for the keys' names") ||
           evzk__broken_acl(call, opt->acl, opt->acl_count) ||
           evzk__broken(call, opt->if_number >= EVZK_CONFIG_NONE, "if_number",
                        "must be a number, 0 or EVZK_CONFIG_NONE") ||
           evzk__broken_reserved(call, opt->reserved);
}

static int take_paths(struct evzk_config_update *u, const char *path)
{
    u->lock_path = evzk__concat(path, EVZK__CONFIG_LOCK);
    if (!u->lock_path)
        return EVZK_ERR_NOMEM;
    u->guard = evzk__zalloc(strlen(u->lock_path) + 1 + EVZK__NAME_MAX + 1);
    if (!u->guard)
        return EVZK_ERR_NOMEM;
    strcpy(u->own_mark, EVZK__CONFIG_READY "/");
    return evzk__guid(u->own_mark + strlen(u->own_mark)) != EVZK_OK ||
                   evzk__guid(u->nobody) != EVZK_OK
               ? EVZK_ERR_INTERNAL
               : EVZK_OK;
}

static void choose_acl(struct evzk_config_update *u)
{
    struct evzk__create_args a = evzk__args_with_acl(&u->m, NULL, &u->own_acl);

    u->acl = a.acl;
    u->acl_count = a.acl_count;
}

static int init(struct evzk_config_update *u, evzk_session *s, const char *path,
                const evzk_config_options *opt)
{
    int rc = take_paths(u, path);

    if (rc == EVZK_OK)
        rc = evzk__acl_copy(&u->own_acl, opt->acl, opt->acl_count);
    if (rc == EVZK_OK)
        rc = evzk__chunk_allocate(u);
    if (rc == EVZK_OK)
        rc = evzk__machine_init(&u->m, s, &evzk__config_write_kind, path,
                                opt->timeout_ms);
    if (rc != EVZK_OK)
        return rc;
    choose_acl(u);
    u->item_bytes = item_bytes(s, path, u->acl, u->acl_count);
    return EVZK_OK;
}

static int start(evzk_session *s, const struct evzk__call *call,
                 const char *path, const evzk_config_key *key, size_t n,
                 const evzk_config_options *opt, evzk_config_update_cb *cb,
                 void *arg, evzk_config_update **out)
{
    struct evzk_config_update *u = evzk__zalloc(sizeof *u);
    int rc = EVZK_ERR_NOMEM;

    if (!u)
        return rc;
    u->cb = cb;
    u->arg = arg;
    u->n_keys = (uint32_t)n;
    u->if_number = opt->if_number;
    u->key = evzk__config_copy(key, n);
    if (u->key)
        rc = evzk__broken(call, !evzk__config_has_twice(u->key, n), "key",
                          "must have each name once")
                 ? EVZK_ERR_INVAL
                 : init(u, s, path, opt);
    if (rc == EVZK_OK)
        *out = u;
    else
        evzk__update_destroy(u);
    return rc;
}

int evzk_config_set(evzk_session *s, const char *path,
                    const evzk_config_key *key, size_t n,
                    const evzk_config_options *opt, evzk_config_update_cb *cb,
                    void *arg, evzk_config_update **out)
{
    static const evzk_config_options none;
    struct evzk__call call = evzk__call_of(s, __func__);
    int rc;

    if (!opt)
        opt = &none;
    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL) ||
        is_bad_start(&call, path, opt) ||
        are_bad_keys(&call, item_bytes(s, path, opt->acl, opt->acl_count), key,
                     n))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    return rc != EVZK_OK ? rc
                         : start(s, &call, path, key, n, opt, cb, arg, out);
}

int evzk_config_update_cancel(evzk_config_update *u)
{
    return u ? evzk__machine_cancel(&u->m) : EVZK_ERR_INVAL;
}

void evzk_config_update_free(evzk_config_update *u)
{
    if (u) {
        u->cb = NULL;
        evzk__machine_let_go(&u->m);
    }
}

const char *evzk_config_update_state(const evzk_config_update *u)
{
    return u ? evzk__machine_state(&u->m) : "";
}
