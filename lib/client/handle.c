/* One handle of the ZooKeeper C client: its life, its answers and events.  Its
 * socket is in client/socket.c, its log in client/log.c. */
#include "lib/client/handle.h"

#include <errno.h>
#include <string.h>

#include "config.h"
#include "lib/base/mem.h"

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
    struct evzk__client *before = evzk__client_enter(c);
    clientid_t id = {.client_id = cfg->id};
    zhandle_t *zh;

    memcpy(id.passwd, cfg->passwd, sizeof id.passwd);
    zh = zookeeper_init2(cfg->servers, evzk__client_watcher,
                         (int)cfg->timeout_ms, cfg->id ? &id : NULL, c,
                         ZOO_NO_LOG_CLIENTENV, evzk__client_logged);
#ifdef HAVE_ZOO_SET_SERVERS_RESOLUTION_DELAY
    if (zh) /* Or the client would look its addresses up at every call. */
        zoo_set_servers_resolution_delay(zh, -1);
#endif
    evzk__client_leave(before);
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
    c->greeting.id = cfg->id;
    c->greeting.timeout_ms = cfg->timeout_ms;
    c->patience = cfg->patience_ms * INT64_C(1000);
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

void evzk__client_free(struct evzk__client *c)
{
    struct evzk__client *before;

    if (!c)
        return;
    before = evzk__client_enter(NULL);
    c->dead = true;
    /* A connected handle would send and wait.  With a dead socket it cannot. */
    evzk__client_hang_up(c);
    zookeeper_close(c->zh);
    evzk__client_leave(before);
    while (!LIST_EMPTY(&c->multis))
        evzk__multi_return(LIST_FIRST(&c->multis));
    evzk__free(c);
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

/* The request layer finds watchers by path.  Session events are ignored: the
 * client does not always send them. */
void evzk__client_watcher(zhandle_t *zh, int type, int state, const char *path,
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

void evzk__client_complete(const void *tag, struct evzk__result *res)
{
    /* The tag is our slot; the client's API wants it const. */
    struct evzk__slot *slot = (struct evzk__slot *)(uintptr_t)tag;

    if (slot->client->dead)
        return;
    /* The session must hear of a lost connection before its requests do: the
     * slot stays in flight, and is answered with the others. */
    if (res->rc == EVZK_ERR_CONNLOSS &&
        evzk__client_state(slot->client) != EVZK__CLIENT_UP)
        return;
    if (slot->owner) /* NULL: the request was given up meanwhile. */
        slot->client->hooks.completed(slot->client->arg, slot, res);
    evzk__client_slot_free(slot);
}

void evzk__multi_destroy(struct evzk__multi *m)
{
    evzk__free(m->pairs);
    evzk__free(m);
}

void evzk__multi_return(struct evzk__multi *m)
{
    LIST_REMOVE(m, link);
    m->sent = false;
    if (m->orphan)
        evzk__multi_destroy(m);
}
