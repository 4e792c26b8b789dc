/* The requests of a connection, and its answers.
 *
 * How it can fail.  When the C client is out of memory it reports success, and
 * leaves out what it had no memory for: see created(), got() and listed().  A
 * path may be put together of what other processes wrote: what is no path never
 * comes to the C client, and names that are none never come from it.
 */
#include "lib/client/handle.h"

/* When the client is out of memory while it reads a reply, it reports success
 * and leaves out strings; the rest of the reply cannot be trusted either. */
static void created(int rc, const char *path, const struct Stat *stat,
                    const void *tag)
{
    struct evzk__result res = {.rc = evzk__client_answer(rc), .path = path};

    if (rc == ZOK && !path)
        res.rc = EVZK_ERR_CONNLOSS; /* Created, under an unknown name. */
    else
        evzk__client_set_stat(&res, stat);
    evzk__client_complete(tag, &res);
}

static void got(int rc, const char *data, int len, const struct Stat *stat,
                const void *tag)
{
    struct evzk__result res = {.rc = evzk__client_answer(rc), .data = data};

    if (len > 0)
        res.len = (size_t)len;
    evzk__client_set_stat(&res, stat);
    if (rc == ZOK && len >= 0 && !data)
        res = (struct evzk__result){.rc = EVZK_ERR_NOMEM};
    evzk__client_complete(tag, &res);
}

/* Or was the client out of memory for a name? */
static bool is_whole(const struct String_vector *v)
{
    for (int32_t i = 0; v && i < v->count; i++) {
        if (!v->data[i])
            return false;
    }
    return true;
}

static void listed(int rc, const struct String_vector *v,
                   const struct Stat *stat, const void *tag)
{
    struct evzk__result res = {.rc = evzk__client_answer(rc)};

    evzk__client_set_stat(&res, stat);
    if (!is_whole(v))
        res = (struct evzk__result){.rc = EVZK_ERR_NOMEM};
    else if (v && v->count > 0) {
        res.names.n = evzk__names_keep(v->data, (size_t)v->count);
        res.names.v = v->data;
    }
    evzk__client_complete(tag, &res);
}

static void guarded(int rc, const struct String_vector *v,
                    const struct Stat *stat, const void *tag)
{
    struct evzk__result res = {.rc = evzk__client_answer(rc)};

    (void)v;
    evzk__client_set_stat(&res, stat);
    evzk__client_complete(tag, &res);
}

static void looked(int rc, const struct Stat *stat, const void *tag)
{
    struct evzk__result res = {.rc = evzk__client_answer(rc)};

    evzk__client_set_stat(&res, stat);
    evzk__client_complete(tag, &res);
}

void evzk__client_done(int rc, const void *tag)
{
    struct evzk__result res = {.rc = evzk__client_answer(rc)};

    evzk__client_complete(tag, &res);
}

static void synced(int rc, const char *path, const void *tag)
{
    (void)path;
    evzk__client_done(rc, tag);
}

static bool is_bad(const char *path)
{
    return !evzk__path_sendable(path, false);
}

int evzk__client_create(struct evzk__slot *slot, const char *path,
                        const void *data, size_t len, const evzk_acl *acl,
                        size_t acl_count, enum evzk__mode mode)
{
    struct evzk__client *before = evzk__client_enter(slot->client);
    struct ACL entries[EVZK_ACL_MAX];
    struct ACL_vector v = evzk__client_acl(acl, acl_count, entries);
    int flags = evzk__client_mode(mode), rc = ZBADARGUMENTS;

    if (evzk__path_sendable(path, flags & ZOO_SEQUENCE))
        rc = zoo_acreate2(slot->client->zh, path, data, (int)len, &v, flags,
                          created, slot);
    evzk__client_leave(before);
    return evzk__client_error(rc);
}

int evzk__client_get(struct evzk__slot *slot, const char *path, bool watch)
{
    struct evzk__client *before = evzk__client_enter(slot->client);
    int rc = is_bad(path) ? ZBADARGUMENTS
                          : zoo_awget(slot->client->zh, path,
                                      watch ? evzk__client_watcher : NULL,
                                      slot->client, got, slot);

    evzk__client_leave(before);
    return evzk__client_error(rc);
}

int evzk__client_exists(struct evzk__slot *slot, const char *path, bool watch)
{
    struct evzk__client *before = evzk__client_enter(slot->client);
    int rc = is_bad(path) ? ZBADARGUMENTS
                          : zoo_awexists(slot->client->zh, path,
                                         watch ? evzk__client_watcher : NULL,
                                         slot->client, looked, slot);

    evzk__client_leave(before);
    return evzk__client_error(rc);
}

int evzk__client_children(struct evzk__slot *slot, const char *path)
{
    struct evzk__client *before = evzk__client_enter(slot->client);
    int rc = is_bad(path)
                 ? ZBADARGUMENTS
                 : zoo_aget_children2(slot->client->zh, path, 0, listed, slot);

    evzk__client_leave(before);
    return evzk__client_error(rc);
}

int evzk__client_guard(struct evzk__slot *slot, const char *path)
{
    struct evzk__client *before = evzk__client_enter(slot->client);
    int rc = is_bad(path) ? ZBADARGUMENTS
                          : zoo_awget_children2(slot->client->zh, path,
                                                evzk__client_watcher,
                                                slot->client, guarded, slot);

    evzk__client_leave(before);
    return evzk__client_error(rc);
}

int evzk__client_watch_children(struct evzk__slot *slot, const char *path)
{
    struct evzk__client *before = evzk__client_enter(slot->client);
    int rc = is_bad(path) ? ZBADARGUMENTS
                          : zoo_awget_children2(slot->client->zh, path,
                                                evzk__client_watcher,
                                                slot->client, listed, slot);

    evzk__client_leave(before);
    return evzk__client_error(rc);
}

int evzk__client_set(struct evzk__slot *slot, const char *path,
                     const void *data, size_t len, int64_t version)
{
    int sent = version == EVZK__ANY_VERSION ? -1 : (int)version, rc;
    struct evzk__client *before;

    if (version == -1)
        return evzk__client_set_last(slot, path, data, len);
    before = evzk__client_enter(slot->client);
    rc = is_bad(path) ? ZBADARGUMENTS
                      : zoo_aset(slot->client->zh, path, data, (int)len, sent,
                                 looked, slot);

    evzk__client_leave(before);
    return evzk__client_error(rc);
}

int evzk__client_delete(struct evzk__slot *slot, const char *path,
                        int64_t version)
{
    int sent = version == EVZK__ANY_VERSION ? -1 : (int)version, rc;
    struct evzk__client *before;

    if (version == -1)
        return evzk__client_delete_last(slot, path);
    before = evzk__client_enter(slot->client);
    rc = is_bad(path) ? ZBADARGUMENTS
                      : zoo_adelete(slot->client->zh, path, sent,
                                    evzk__client_done, slot);

    evzk__client_leave(before);
    return evzk__client_error(rc);
}

int evzk__client_sync(struct evzk__slot *slot, const char *path)
{
    struct evzk__client *before = evzk__client_enter(slot->client);
    int rc = is_bad(path) ? ZBADARGUMENTS
                          : zoo_async(slot->client->zh, path, synced, slot);

    evzk__client_leave(before);
    return evzk__client_error(rc);
}

static ZooWatcherType type_of(bool data)
{
    return data ? ZWATCHTYPE_DATA : ZWATCHTYPE_CHILD;
}

int evzk__client_unwatch(struct evzk__slot *slot, const char *path, bool data)
{
    struct evzk__client *before = evzk__client_enter(slot->client);
    /* The header declares a pointer to the function type; the client uses the
     * type itself. */
    int rc = is_bad(path)
                 ? ZBADARGUMENTS
                 : zoo_aremove_all_watches(
                       slot->client->zh, path, type_of(data), 0,
                       (void_completion_t *)(uintptr_t)evzk__client_done, slot);

    evzk__client_leave(before);
    return evzk__client_error(rc);
}

void evzk__client_forget(struct evzk__client *c, const char *path, bool data)
{
    struct evzk__client *before = evzk__client_enter(c);

    if (!is_bad(path))
        (void)zoo_aremove_watches(c->zh, path, type_of(data),
                                  evzk__client_watcher, c, 1, NULL, NULL);
    evzk__client_leave(before);
}

int evzk__client_auth(struct evzk__client *c, const char *scheme,
                      const char *cert, size_t len)
{
    struct evzk__client *before = evzk__client_enter(c);
    int rc = zoo_add_auth(c->zh, scheme, cert, (int)len, NULL, NULL);

    evzk__client_leave(before);
    return evzk__client_error(rc);
}
