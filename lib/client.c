/* One connection of the ZooKeeper C client. */
#include "client.h"

#include <errno.h>
#include <string.h>
#include <sys/queue.h>
#include <zookeeper/zookeeper.h>

#include "config.h"
#include "loop.h"
#include "mem.h"
#include "net.h"
#include "os.h"

/* Of a sequential znode's name: eleven characters at most, and the end. */
enum { SUFFIX = 12 };

/* Before the client would call a connection dead. */
enum { EARLY_US = 2000 };

struct evzk__client {
    zhandle_t *zh;
    int fd; /* As last told; see evzk__client_fd(). */
    /* Ours, for the same socket: the loop watches it, and lets go of it before
     * it is closed.  And the one of the attempt before. */
    int own, old;
    int64_t begun;
    uint32_t attempts;
    int64_t heard; /* When it last had something to read. */
    bool dead;
    bool lost; /* The connection is, and the handle is not told. */
    struct evzk__client_hooks hooks;
    void *arg;
    struct evzk__slot *free;
    LIST_HEAD(, evzk__multi) multis; /* It may yet write to them. */
    unsigned slots;
    struct evzk__slot slot[];
};

struct evzk__multi {
    LIST_ENTRY(evzk__multi) link;
    struct evzk__slot *slot; /* NULL: refused, and yet it may be answered. */
    bool sent, orphan; /* The client has it; its owner does not want it. */
    zoo_op_t *op;
    zoo_op_result_t *result;
    unsigned n;
    int rc; /* Of it all. */
    char *text, *next;
    struct Stat stamp;
    struct ACL entries[EVZK_ACL_MAX];
    struct ACL_vector acl, open;
};

/* The client's log callback has no context: this is who is talking to it. */
static _Thread_local struct evzk__client *talking;

static void return_multi(struct evzk__multi *m)
{
    LIST_REMOVE(m, link);
    m->sent = false;
    if (m->orphan)
        evzk__free(m);
}

static struct evzk__client *enter(struct evzk__client *c)
{
    struct evzk__client *before = talking;

    talking = c;
    return before;
}

static void leave(struct evzk__client *before) { talking = before; }

/* What the client calls an error is normal life for us: one level less. */
static evzk_log_level level_of(const char *line)
{
    if (strstr(line, ":ZOO_ERROR@"))
        return EVZK_LOG_WARN;
    return strstr(line, ":ZOO_WARN@") ? EVZK_LOG_INFO : EVZK_LOG_DEBUG;
}

static void logged(const char *line)
{
    if (talking && talking->hooks.log)
        talking->hooks.log(talking->arg, level_of(line), line);
}

static int error_of(int zrc)
{
    switch (zrc) {
    case ZOK:
        return EVZK_OK;
    case ZNONODE:
    case ZNOWATCHER: /* It has just fired. */
        return EVZK_ERR_NONODE;
    case ZNODEEXISTS:
        return EVZK_ERR_NODEEXISTS;
    case ZNOTEMPTY:
        return EVZK_ERR_NOTEMPTY;
    case ZBADVERSION:
        return EVZK_ERR_BADVERSION;
    case ZNOAUTH:
        return EVZK_ERR_NOAUTH;
    case ZINVALIDACL:
        return EVZK_ERR_BADACL;
    case ZNOCHILDRENFOREPHEMERALS:
        return EVZK_ERR_EPHEMERAL;
    case ZUNIMPLEMENTED:
        return EVZK_ERR_UNSUPPORTED;
    case ZBADARGUMENTS:
        return EVZK_ERR_INVAL;
    case ZMARSHALLINGERROR:
    case ZSYSTEMERROR:
        return EVZK_ERR_NOMEM;
    case ZRUNTIMEINCONSISTENCY: /* Out of order after a silent loss. */
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZINVALIDSTATE:
    case ZCLOSING:
    case ZSESSIONEXPIRED:
    case ZSESSIONMOVED:
    case ZAUTHFAILED:
        return EVZK_ERR_CONNLOSS;
    }
    return EVZK_ERR_SERVER;
}

/* What the client calls its own want of memory is, in an answer, the server's.
 */
static int answer_of(int zrc)
{
    return zrc == ZMARSHALLINGERROR || zrc == ZSYSTEMERROR ? EVZK_ERR_SERVER
                                                           : error_of(zrc);
}

/* The one watcher of the session; who watches what is known by path.  Session
 * events are not listened to: the client does not always send them. */
static void watcher(zhandle_t *zh, int type, int state, const char *path,
                    void *arg)
{
    struct evzk__client *c = arg;

    (void)zh;
    (void)state;
    if (c->dead || type == ZOO_SESSION_EVENT)
        return;
    if (type == ZOO_DELETED_EVENT)
        c->hooks.watched(c->arg, path, EVZK__DELETED);
    else if (type == ZOO_CHANGED_EVENT || type == ZOO_CREATED_EVENT)
        c->hooks.watched(c->arg, path, EVZK__CHANGED);
    else if (type == ZOO_CHILD_EVENT)
        c->hooks.watched(c->arg, path, EVZK__CHILDREN);
}

static void free_slots(struct evzk__client *c)
{
    for (unsigned i = c->slots; i-- > 0;) {
        c->slot[i].client = c;
        c->slot[i].next = c->free;
        c->free = &c->slot[i];
    }
}

static zhandle_t *open_handle(struct evzk__client *c,
                              const struct evzk__client_config *cfg)
{
    struct evzk__client *before = enter(c);
    clientid_t id = {.client_id = cfg->id};
    zhandle_t *zh;

    memcpy(id.passwd, cfg->passwd, sizeof id.passwd);
    zh = zookeeper_init2(cfg->servers, watcher, (int)cfg->timeout_ms,
                         cfg->id ? &id : NULL, c, ZOO_NO_LOG_CLIENTENV, logged);
#ifdef HAVE_ZOO_SET_SERVERS_RESOLUTION_DELAY
    if (zh) /* Or it would look its addresses up at every question. */
        zoo_set_servers_resolution_delay(zh, -1);
#endif
    leave(before);
    return zh;
}

struct evzk__client *evzk__client_new(const struct evzk__client_config *cfg,
                                      int *rc)
{
    struct evzk__client *c =
        evzk__zalloc(sizeof *c + cfg->slots * sizeof c->slot[0]);

    *rc = EVZK_ERR_NOMEM;
    if (!c)
        return NULL;
    c->fd = c->own = c->old = -1;
    c->hooks = cfg->hooks;
    c->arg = cfg->arg;
    c->slots = cfg->slots;
    free_slots(c);
    errno = 0;
    c->zh = open_handle(c, cfg);
    if (!c->zh) {
        *rc = errno == EINVAL ? EVZK_ERR_INVAL : EVZK_ERR_NOMEM;
        evzk__free(c);
        return NULL;
    }
    *rc = EVZK_OK;
    return c;
}

/* Told of a loss, the client goes through all of its watches at once, to tell
 * them; and nobody listens.  So what it would notice is noticed before it, as a
 * rule: that the server has hung up, and that it is silent for so long.  The
 * handle is then left as it is. */
static bool is_up(const struct evzk__client *c)
{
    return !c->lost && zoo_state(c->zh) == ZOO_CONNECTED_STATE;
}

static int64_t silent_at(const struct evzk__client *c)
{
    return c->heard + zoo_recv_timeout(c->zh) * INT64_C(1000) * 2 / 3 -
           EARLY_US;
}

static int socket_of(const struct evzk__client *c)
{
    int state = zoo_state(c->zh);

    /* In every other state the client has closed it, told or not. */
    return state == ZOO_CONNECTED_STATE || state == ZOO_CONNECTING_STATE ||
                   state == ZOO_ASSOCIATING_STATE
               ? c->fd
               : -1;
}

int evzk__client_fd(const struct evzk__client *c)
{
    if (c->lost || socket_of(c) < 0)
        return -1;
    return c->own >= 0 ? c->own : c->fd;
}

int64_t evzk__client_begun(const struct evzk__client *c) { return c->begun; }

uint32_t evzk__client_attempts(const struct evzk__client *c)
{
    return c->attempts;
}

static void close_old(struct evzk__client *c)
{
    evzk__net_close(c->old);
    c->old = -1;
}

/* The loop still watches it: it is closed in the next turn. */
static void give_up_own(struct evzk__client *c)
{
    close_old(c);
    c->old = c->own;
    c->own = -1;
}

void evzk__client_hang_up(struct evzk__client *c)
{
    evzk__net_deaden(socket_of(c));
    close_old(c);
    evzk__net_close(c->own);
    c->own = -1;
}

void evzk__client_deaden(struct evzk__client *c)
{
    evzk__net_deaden(socket_of(c));
    evzk__net_deaden(c->own);
    evzk__net_deaden(c->old);
}

void evzk__client_free(struct evzk__client *c)
{
    struct evzk__client *before;

    if (!c)
        return;
    before = enter(NULL);
    c->dead = true;
    /* A connected handle would send and wait.  With a dead socket it cannot. */
    evzk__client_hang_up(c);
    zookeeper_close(c->zh);
    leave(before);
    while (!LIST_EMPTY(&c->multis))
        return_multi(LIST_FIRST(&c->multis));
    evzk__free(c);
}

enum evzk__client_state evzk__client_state(const struct evzk__client *c)
{
    int state = zoo_state(c->zh);

    if (c->lost)
        return EVZK__CLIENT_DOWN;
    if (state == ZOO_CONNECTED_STATE)
        return EVZK__CLIENT_UP;
    if (state == ZOO_EXPIRED_SESSION_STATE)
        return EVZK__CLIENT_EXPIRED;
    if (state == ZOO_AUTH_FAILED_STATE)
        return EVZK__CLIENT_AUTH_FAILED;
    return EVZK__CLIENT_DOWN;
}

void evzk__client_interest(struct evzk__client *c, int *fd, int *what,
                           int64_t *wait_us)
{
    struct evzk__client *before;
    struct timeval tv = {0, 0};
    int64_t now = evzk__now_us();
    bool open = evzk__client_fd(c) >= 0;
    int interest = 0, rc;

    *fd = -1;
    *what = 0;
    *wait_us = 0;
    if (is_up(c) && now >= silent_at(c))
        c->lost = true;
    if (c->lost)
        return;
    close_old(c);
    before = enter(c);
    rc = zookeeper_interest(c->zh, fd, &interest, &tv);
    leave(before);
    c->fd = *fd;
    *fd = evzk__client_fd(c);
    if (!open && *fd >= 0) {
        c->begun = now;
        c->attempts++;
        give_up_own(c);
        c->own = evzk__net_own(c->fd);
        *fd = evzk__client_fd(c);
    }
    *what = (interest & ZOOKEEPER_READ ? EVZK__READ : 0) |
            (interest & ZOOKEEPER_WRITE ? EVZK__WRITE : 0);
    if (socket_of(c) < 0 && c->own >= 0)
        give_up_own(c);
    *wait_us = (int64_t)tv.tv_sec * 1000000 + tv.tv_usec;
    if (rc != ZOK && *wait_us < 10000)
        *wait_us = 10000; /* Errors are normal life, but not to spin on. */
    if (is_up(c) && silent_at(c) - now < *wait_us)
        *wait_us = silent_at(c) - now;
}

bool evzk__client_process(struct evzk__client *c, int what)
{
    enum evzk__look look = is_up(c) ? evzk__net_look(c->fd) : EVZK__DATA;
    struct evzk__client *before;
    int rc;

    if (look == EVZK__HUNG_UP) {
        c->lost = true;
        return false;
    }
    if (look == EVZK__DATA)
        c->heard = evzk__now_us();
    before = enter(c);
    rc = zookeeper_process(c->zh,
                           (what & EVZK__READ ? ZOOKEEPER_READ : 0) |
                               (what & EVZK__WRITE ? ZOOKEEPER_WRITE : 0));

    leave(before);
    return rc == ZOK;
}

int64_t evzk__client_id(const struct evzk__client *c, unsigned char passwd[16])
{
    const clientid_t *id = zoo_client_id(c->zh);

    memcpy(passwd, id->passwd, sizeof id->passwd);
    return id->client_id;
}

uint32_t evzk__client_timeout_ms(const struct evzk__client *c)
{
    return (uint32_t)zoo_recv_timeout(c->zh);
}

struct evzk__slot *evzk__client_slot(struct evzk__client *c)
{
    struct evzk__slot *slot = c->free;

    if (slot)
        c->free = slot->next;
    return slot;
}

void evzk__client_slot_free(struct evzk__slot *slot)
{
    slot->owner = NULL;
    slot->next = slot->client->free;
    slot->client->free = slot;
}

struct evzk__slot *evzk__client_next_slot(struct evzk__client *c,
                                          struct evzk__slot *after)
{
    struct evzk__slot *slot = after ? after + 1 : c->slot;

    while (slot < c->slot + c->slots && !slot->owner)
        slot++;
    return slot < c->slot + c->slots ? slot : NULL;
}

static void complete(const void *tag, struct evzk__result *res)
{
    /* The tag is ours: the client's API only has no way to say so. */
    struct evzk__slot *slot = (struct evzk__slot *)(uintptr_t)tag;

    if (slot->client->dead)
        return;
    /* Of a lost connection the session is to hear first, then its requests:
     * the slot stays in flight, and is answered with the others. */
    if (res->rc == EVZK_ERR_CONNLOSS &&
        evzk__client_state(slot->client) != EVZK__CLIENT_UP)
        return;
    if (slot->owner) /* Not one that was given up meanwhile. */
        slot->client->hooks.completed(slot->client->arg, slot, res);
    evzk__client_slot_free(slot);
}

static void set_stat(struct evzk__result *res, const struct Stat *stat)
{
    if (stat) {
        res->stat.czxid = stat->czxid;
        res->stat.owner = stat->ephemeralOwner;
        res->stat.ctime_ms = stat->ctime;
        res->stat.version = stat->version;
        res->stat.cversion = stat->cversion;
        res->stat.children = stat->numChildren;
        res->stat.data_len = stat->dataLength;
    }
}

/* Out of memory while it reads a reply, the client says "fine" and leaves out
 * what it had no memory for; the rest is no better. */
static void created(int rc, const char *path, const struct Stat *stat,
                    const void *tag)
{
    struct evzk__result res = {.rc = answer_of(rc), .path = path};

    if (rc == ZOK && !path)
        res.rc = EVZK_ERR_CONNLOSS; /* Made, and we do not know what. */
    else
        set_stat(&res, stat);
    complete(tag, &res);
}

static void got(int rc, const char *data, int len, const struct Stat *stat,
                const void *tag)
{
    struct evzk__result res = {.rc = answer_of(rc), .data = data};

    if (len > 0)
        res.len = (size_t)len;
    set_stat(&res, stat);
    if (rc == ZOK && len >= 0 && !data)
        res = (struct evzk__result){.rc = EVZK_ERR_NOMEM};
    complete(tag, &res);
}

static void listed(int rc, const struct String_vector *v,
                   const struct Stat *stat, const void *tag)
{
    struct evzk__result res = {.rc = answer_of(rc)};

    set_stat(&res, stat);
    if (v && v->count > 0) {
        res.names.n = (size_t)v->count;
        res.names.v = v->data;
    }
    for (size_t i = 0; i < res.names.n; i++) {
        if (!v->data[i]) { /* Out of memory inside the client. */
            res = (struct evzk__result){.rc = EVZK_ERR_NOMEM};
            break;
        }
    }
    complete(tag, &res);
}

static void guarded(int rc, const struct String_vector *v, const void *tag)
{
    struct evzk__result res = {.rc = answer_of(rc)};

    (void)v;
    complete(tag, &res);
}

static void looked(int rc, const struct Stat *stat, const void *tag)
{
    struct evzk__result res = {.rc = answer_of(rc)};

    set_stat(&res, stat);
    complete(tag, &res);
}

static void done(int rc, const void *tag)
{
    struct evzk__result res = {.rc = answer_of(rc)};

    complete(tag, &res);
}

static void synced(int rc, const char *path, const void *tag)
{
    (void)path;
    done(rc, tag);
}

static struct ACL_vector acl_of(const evzk_acl *acl, size_t n,
                                struct ACL entries[])
{
    struct ACL_vector v = {(int32_t)n, entries};

    if (n == 0)
        return ZOO_OPEN_ACL_UNSAFE;
    for (size_t i = 0; i < n; i++) {
        entries[i].perms = (int32_t)acl[i].perms;
        /* Not written to: the client's structs only lack the const. */
        entries[i].id.scheme = (char *)(uintptr_t)acl[i].scheme;
        entries[i].id.id = (char *)(uintptr_t)acl[i].id;
    }
    return v;
}

int evzk__client_create(struct evzk__slot *slot, const char *path,
                        const void *data, size_t len, const evzk_acl *acl,
                        size_t acl_count, enum evzk__create mode)
{
    struct evzk__client *before = enter(slot->client);
    struct ACL entries[EVZK_ACL_MAX];
    struct ACL_vector v = acl_of(acl, acl_count, entries);
    int flags = 0, rc;

    switch (mode) {
    case EVZK__CREATE_SEQ:
        flags = ZOO_EPHEMERAL_SEQUENTIAL;
        break;
    case EVZK__CREATE_CONTAINER:
        flags = ZOO_CONTAINER;
        break;
    case EVZK__CREATE_DIR:
        flags = ZOO_PERSISTENT;
        break;
    }
    rc = zoo_acreate2(slot->client->zh, path, data, (int)len, &v, flags,
                      created, slot);
    leave(before);
    return error_of(rc);
}

int evzk__client_get(struct evzk__slot *slot, const char *path, bool watch)
{
    struct evzk__client *before = enter(slot->client);
    int rc = zoo_awget(slot->client->zh, path, watch ? watcher : NULL,
                       slot->client, got, slot);

    leave(before);
    return error_of(rc);
}

int evzk__client_exists(struct evzk__slot *slot, const char *path, bool watch)
{
    struct evzk__client *before = enter(slot->client);
    int rc = zoo_awexists(slot->client->zh, path, watch ? watcher : NULL,
                          slot->client, looked, slot);

    leave(before);
    return error_of(rc);
}

int evzk__client_children(struct evzk__slot *slot, const char *path)
{
    struct evzk__client *before = enter(slot->client);
    int rc = zoo_aget_children2(slot->client->zh, path, 0, listed, slot);

    leave(before);
    return error_of(rc);
}

int evzk__client_guard(struct evzk__slot *slot, const char *path)
{
    struct evzk__client *before = enter(slot->client);
    int rc = zoo_awget_children(slot->client->zh, path, watcher, slot->client,
                                guarded, slot);

    leave(before);
    return error_of(rc);
}

int evzk__client_roster(struct evzk__slot *slot, const char *path)
{
    struct evzk__client *before = enter(slot->client);
    int rc = zoo_awget_children2(slot->client->zh, path, watcher, slot->client,
                                 listed, slot);

    leave(before);
    return error_of(rc);
}

int evzk__client_set(struct evzk__slot *slot, const char *path,
                     const void *data, size_t len, int32_t version)
{
    struct evzk__client *before = enter(slot->client);
    int rc =
        zoo_aset(slot->client->zh, path, data, (int)len, version, looked, slot);

    leave(before);
    return error_of(rc);
}

static int delete_version(struct evzk__slot *slot, const char *path,
                          int version)
{
    struct evzk__client *before = enter(slot->client);
    int rc = zoo_adelete(slot->client->zh, path, version, done, slot);

    leave(before);
    return error_of(rc);
}

int evzk__client_delete(struct evzk__slot *slot, const char *path)
{
    return delete_version(slot, path, -1);
}

int evzk__client_rmdir(struct evzk__slot *slot, const char *path)
{
    return delete_version(slot, path, 0);
}

int evzk__client_sync(struct evzk__slot *slot, const char *path)
{
    struct evzk__client *before = enter(slot->client);
    int rc = zoo_async(slot->client->zh, path, synced, slot);

    leave(before);
    return error_of(rc);
}

static ZooWatcherType type_of(bool data)
{
    return data ? ZWATCHTYPE_DATA : ZWATCHTYPE_CHILD;
}

int evzk__client_unwatch(struct evzk__slot *slot, const char *path, bool data)
{
    struct evzk__client *before = enter(slot->client);
    /* Declared as a pointer to the function type, and used as the type. */
    int rc =
        zoo_aremove_all_watches(slot->client->zh, path, type_of(data), 0,
                                (void_completion_t *)(uintptr_t)done, slot);

    leave(before);
    return error_of(rc);
}

struct evzk__multi *evzk__multi_new(unsigned ops, size_t text,
                                    const evzk_acl *acl, size_t acl_count)
{
    size_t head = sizeof(struct evzk__multi), all = ops * sizeof(zoo_op_t),
           results = ops * sizeof(zoo_op_result_t);
    char *memory = evzk__zalloc(head + all + results + text);
    struct evzk__multi *m = (void *)memory;

    if (!m)
        return NULL;
    m->op = (void *)(memory + head);
    m->result = (void *)(memory + head + all);
    m->text = m->next = memory + head + all + results;
    m->acl = acl_of(acl, acl_count, m->entries);
    m->open = acl_of(NULL, 0, NULL);
    return m;
}

void evzk__multi_free(struct evzk__multi *m)
{
    if (m->sent)
        m->orphan = true; /* The client still has its address. */
    else
        evzk__free(m);
}

/* Puts a path together, with room behind it for what a server adds. */
static char *path_in(struct evzk__multi *m, const char *dir, const char *name,
                     const char *tag)
{
    char *path = m->next;

    m->next = stpcpy(m->next, dir);
    if (name)
        m->next = stpcpy(stpcpy(m->next, "/"), name);
    m->next = stpcpy(m->next, tag) + 1;
    return path;
}

void evzk__multi_mkdir(struct evzk__multi *m, const char *dir, const char *data,
                       size_t len)
{
    zoo_create_op_init(&m->op[m->n++], path_in(m, dir, NULL, ""), data,
                       (int)len, &m->acl, ZOO_PERSISTENT, NULL, 0);
}

static void add_ephemeral(struct evzk__multi *m, const char *dir,
                          const char *name, const void *data, size_t len,
                          int mode)
{
    char *path = path_in(m, dir, name, "");

    m->next += SUFFIX;
    zoo_create_op_init(&m->op[m->n++], path, data, (int)len, &m->acl, mode,
                       path, (int)(m->next - path));
}

void evzk__multi_create_seq(struct evzk__multi *m, const char *dir,
                            const char *name, const void *data, size_t len)
{
    add_ephemeral(m, dir, name, data, len, ZOO_EPHEMERAL_SEQUENTIAL);
}

void evzk__multi_create_name(struct evzk__multi *m, const char *dir,
                             const char *name, const void *data, size_t len)
{
    add_ephemeral(m, dir, name, data, len, ZOO_EPHEMERAL);
}

void evzk__multi_check(struct evzk__multi *m, const char *dir, const char *name)
{
    zoo_check_op_init(&m->op[m->n++], path_in(m, dir, name, ""), -1);
}

void evzk__multi_delete(struct evzk__multi *m, const char *dir,
                        const char *name, int32_t version)
{
    zoo_delete_op_init(&m->op[m->n++], path_in(m, dir, name, ""), version);
}

void evzk__multi_rmdir(struct evzk__multi *m, const char *dir)
{
    zoo_delete_op_init(&m->op[m->n++], path_in(m, dir, NULL, ""), 0);
}

void evzk__multi_stamp(struct evzk__multi *m, const char *dir, const char *name,
                       const char *tag)
{
    const char *path = path_in(m, dir, name, tag);

    zoo_create_op_init(&m->op[m->n++], path, NULL, -1, &m->open, ZOO_PERSISTENT,
                       NULL, 0);
    zoo_set_op_init(&m->op[m->n++], path, NULL, -1, -1, &m->stamp);
    zoo_delete_op_init(&m->op[m->n++], path, -1);
}

/* The names that were asked for are no answer. */
static void clear_names(struct evzk__multi *m)
{
    for (unsigned i = 0; i < m->n; i++) {
        if (m->op[i].type == ZOO_CREATE_OP && m->op[i].create_op.buf)
            m->op[i].create_op.buf[0] = '\0';
    }
}

static void multi_done(int rc, const void *tag)
{
    struct evzk__multi *m = (struct evzk__multi *)(uintptr_t)tag;
    const struct evzk__slot *slot = m->slot;

    m->rc = rc;
    return_multi(m);
    if (slot)
        done(rc, slot);
}

int evzk__client_multi(struct evzk__slot *slot, struct evzk__multi *m)
{
    struct evzk__client *before = enter(slot->client);
    int rc;

    m->slot = slot;
    rc = zoo_amulti(slot->client->zh, (int)m->n, m->op, m->result, multi_done,
                    m);
    leave(before);
    m->sent = true;
    LIST_INSERT_HEAD(&slot->client->multis, m, link);
    if (rc != ZOK)
        m->slot = NULL; /* Out of memory, the client may keep half of it. */
    clear_names(m);
    return error_of(rc);
}

/* Behind the culprit all have another error; one that all have is nobody's. */
bool evzk__multi_failed(const struct evzk__multi *m, unsigned *op, int *rc)
{
    unsigned i = 0;

    while (i < m->n && m->result[i].err == ZOK)
        i++;
    if (i == m->n || m->result[i].err != m->rc ||
        (i + 1 < m->n && m->result[i + 1].err != ZRUNTIMEINCONSISTENCY))
        return false;
    *op = i;
    *rc = answer_of(m->rc);
    return *rc != EVZK_ERR_CONNLOSS;
}

int64_t evzk__multi_zxid(const struct evzk__multi *m) { return m->stamp.mzxid; }

const char *evzk__multi_path(const struct evzk__multi *m, unsigned op)
{
    const char *path = m->op[op].create_op.buf;

    return path && path[0] ? path : NULL;
}

void evzk__client_forget(struct evzk__client *c, const char *path, bool data)
{
    struct evzk__client *before = enter(c);

    (void)zoo_aremove_watches(c->zh, path, type_of(data), watcher, c, 1, NULL,
                              NULL);
    leave(before);
}

int evzk__client_auth(struct evzk__client *c, const char *scheme,
                      const char *cert, size_t len)
{
    struct evzk__client *before = enter(c);
    int rc = zoo_add_auth(c->zh, scheme, cert, (int)len, NULL, NULL);

    leave(before);
    return error_of(rc);
}
