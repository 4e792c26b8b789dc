/* The calls of one operation. */
#include <string.h>

#include "world.h"
#include "zoo.h"

/* What a call is, in a function with the usual parameters: its operation, and
 * which completion it has. */
#define CALL(operation, completed, member)                                     \
    .op = ZOO_##operation##_OP, .path = path, .kind = ZOO__##completed,        \
    .fn.member = completion, .data = data

/* A call that reads and may set a watch: with a watcher of its own, and with
 * the handle's. */
#define READING(own, plain, completion_fn, operation, completed, member,       \
                watches)                                                       \
    int own(zhandle_t *zh, const char *path, watcher_fn watcher,               \
            void *watcherCtx, completion_fn completion, const void *data)      \
    {                                                                          \
        return ask(zh,                                                         \
                   &(struct zoo__call){CALL(operation, completed, member),     \
                                       .watcher = watcher, .ctx = watcherCtx,  \
                                       .table = ZOO__##watches});              \
    }                                                                          \
                                                                               \
    int plain(zhandle_t *zh, const char *path, int watch,                      \
              completion_fn completion, const void *data)                      \
    {                                                                          \
        return own(zh, path, watch ? zh->watcher : NULL, zh->context,          \
                   completion, data);                                          \
    }

/* The path is good, and the handle can be used: begin, and fill in. */
static int start(zhandle_t *zh, int mode, const struct zoo__call *c,
                 struct wire_msg **m)
{
    struct zoo__entry *e;
    int rc = zoo__check(zh, c->path, mode);

    return rc == ZOK ? zoo__begin(zh, c, m, &e) : rc;
}

static int ask(zhandle_t *zh, const struct zoo__call *c)
{
    struct wire_msg *m;
    int rc = start(zh, 0, c, &m);

    return rc == ZOK ? zoo__launch(zh, m) : rc;
}

static bool with_ttl(int mode)
{
    return mode == ZOO_PERSISTENT_WITH_TTL ||
           mode == ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL;
}

static int create(zhandle_t *zh, struct zoo__call c, const char *value, int len,
                  const struct ACL_vector *acl, int mode)
{
    struct wire_msg *m;
    int rc;

    if (with_ttl(mode))
        return ZBADARGUMENTS;
    if (mode == ZOO_CONTAINER)
        c.op = ZOO_CREATE_CONTAINER_OP;
    rc = start(zh, mode, &c, &m);
    if (rc != ZOK)
        return rc;
    zoo__set_data(m, value, len);
    if (acl)
        wire_msg_acl(m, acl);
    m->flags = mode;
    return zoo__launch(zh, m);
}

int zoo_acreate(zhandle_t *zh, const char *path, const char *value,
                int valuelen, const struct ACL_vector *acl, int mode,
                string_completion_t completion, const void *data)
{
    return create(zh, (struct zoo__call){CALL(CREATE, STRING, string)}, value,
                  valuelen, acl, mode);
}

int zoo_acreate2(zhandle_t *zh, const char *path, const char *value,
                 int valuelen, const struct ACL_vector *acl, int mode,
                 string_stat_completion_t completion, const void *data)
{
    return create(zh,
                  (struct zoo__call){CALL(CREATE2, STRING_STAT, string_stat)},
                  value, valuelen, acl, mode);
}

int zoo_adelete(zhandle_t *zh, const char *path, int version,
                void_completion_t completion, const void *data)
{
    struct wire_msg *m;
    int rc = start(zh, 0, &(struct zoo__call){CALL(DELETE, VOID, done)}, &m);

    if (rc != ZOK)
        return rc;
    m->version = version;
    return zoo__launch(zh, m);
}

int zoo_aset(zhandle_t *zh, const char *path, const char *buffer, int buflen,
             int version, stat_completion_t completion, const void *data)
{
    struct wire_msg *m;
    int rc = start(zh, 0, &(struct zoo__call){CALL(SETDATA, STAT, stat)}, &m);

    if (rc != ZOK)
        return rc;
    zoo__set_data(m, buffer, buflen);
    m->version = version;
    return zoo__launch(zh, m);
}

READING(zoo_awget, zoo_aget, data_completion_t, GETDATA, DATA, data, NODES)
READING(zoo_awexists, zoo_aexists, stat_completion_t, EXISTS, STAT, stat,
        MISSING)
READING(zoo_awget_children, zoo_aget_children, strings_completion_t,
        GETCHILDREN, STRINGS, strings, CHILDREN)
READING(zoo_awget_children2, zoo_aget_children2, strings_stat_completion_t,
        GETCHILDREN2, STRINGS_STAT, strings_stat, CHILDREN)

int zoo_async(zhandle_t *zh, const char *path, string_completion_t completion,
              const void *data)
{
    return ask(zh, &(struct zoo__call){CALL(SYNC, STRING, string)});
}

int zoo_aget_acl(zhandle_t *zh, const char *path, acl_completion_t completion,
                 const void *data)
{
    return ask(zh, &(struct zoo__call){CALL(GETACL, ACL, acl)});
}

int zoo_aset_acl(zhandle_t *zh, const char *path, int version,
                 struct ACL_vector *acl, void_completion_t completion,
                 const void *data)
{
    struct wire_msg *m;
    int rc = start(zh, 0, &(struct zoo__call){CALL(SETACL, VOID, done)}, &m);

    if (rc != ZOK)
        return rc;
    wire_msg_acl(m, acl);
    m->version = version;
    return zoo__launch(zh, m);
}

/* Without `fn` all go, and the server is asked to let go of its own; with it,
 * the server is only asked whether it has one. */
static int unwatch(zhandle_t *zh, const struct zoo__call *c,
                   ZooWatcherType type, int local)
{
    struct zoo__call plain = *c;
    struct zoo__entry *e;
    struct wire_msg *m;
    int rc = zoo__check(zh, c->path, 0);

    if (rc != ZOK && !(rc == ZINVALIDSTATE && local))
        return rc;
    if (!zoo__watch_has(zh, c->path, type, c->watcher, c->ctx))
        return ZNOWATCHER;
    if (local) {
        zoo__watch_remove(zh, c->path, type, c->watcher, c->ctx);
        return ZOK;
    }
    plain.watcher = NULL; /* There is none to be set. */
    plain.tail = strlen(c->path) + 1;
    rc = zoo__begin(zh, &plain, &m, &e);
    if (rc != ZOK)
        return ZSYSTEMERROR;
    strcpy(e->tail, c->path);
    e->unwatch = type;
    e->unwatch_fn = c->watcher;
    e->unwatch_ctx = c->ctx;
    m->type = (int32_t)type;
    return zoo__launch(zh, m);
}

/* The header says a pointer to the function's type; it is the function. */
static void_completion_t function_of(void_completion_t *completion)
{
    return (void_completion_t)(uintptr_t)completion;
}

int zoo_aremove_watches(zhandle_t *zh, const char *path, ZooWatcherType wtype,
                        watcher_fn watcher, void *watcherCtx, int local,
                        void_completion_t *completion, const void *data)
{
    return unwatch(zh,
                   &(struct zoo__call){.op = ZOO_CHECK_WATCHES,
                                       .path = path,
                                       .kind = ZOO__VOID,
                                       .fn.done = function_of(completion),
                                       .data = data,
                                       .watcher = watcher,
                                       .ctx = watcherCtx},
                   wtype, local);
}

int zoo_aremove_all_watches(zhandle_t *zh, const char *path,
                            ZooWatcherType wtype, int local,
                            void_completion_t *completion, const void *data)
{
    return unwatch(zh,
                   &(struct zoo__call){.op = ZOO_REMOVE_WATCHES,
                                       .path = path,
                                       .kind = ZOO__VOID,
                                       .fn.done = function_of(completion),
                                       .data = data},
                   wtype, local);
}
