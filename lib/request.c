/* The request layer. */
#include "request.h"

#include <string.h>

#include "os.h"
#include "parents.h"
#include "session.h"

enum { PAUSE_US = 100000 };

void evzk__requests_init(struct evzk__requests *q)
{
    for (unsigned i = 0; i < EVZK__OPS; i++)
        TAILQ_INIT(&q->queue[i]);
}

/* Is there a part before those of the request itself? */
static uint32_t lead(const struct evzk__request *r)
{
    return r->unwatch ? 1 : 0;
}

static uint32_t parts_of(const struct evzk__request *r)
{
    switch ((enum evzk__op)r->op) {
    case EVZK__SYNC:
    case EVZK__DELETE:
    case EVZK__UNWATCH:
    case EVZK__PARENTS:
    case EVZK__MKDIR:
    case EVZK__LOOK:
    case EVZK__LIST:
        return 1;
    case EVZK__SYNC_LIST:
    case EVZK__SETTLE_LIST:
    case EVZK__CREATE_LIST:
        return 2;
    case EVZK__WATCH:
        return (r->name ? 1u : 0u) + (r->pred ? 1u : 0u);
    case EVZK__GETS:
        return r->n;
    case EVZK__OPS:
        break;
    }
    return 1;
}

void evzk__request_submit(evzk_session *s, struct evzk__request *r)
{
    r->state = EVZK__QUEUED;
    r->parts = parts_of(r) + lead(r);
    r->sent = r->answered = 0;
    r->first_rc = r->last_rc = EVZK_ERR_CONNLOSS;
    TAILQ_INSERT_TAIL(&s->requests.queue[r->op], r, link);
    s->requests.queued++;
    evzk__session_kick(s);
}

static void unqueue(evzk_session *s, struct evzk__request *r)
{
    TAILQ_REMOVE(&s->requests.queue[r->op], r, link);
    s->requests.queued--;
}

bool evzk__request_cancel(evzk_session *s, struct evzk__request *r)
{
    if (r->state == EVZK__QUEUED)
        unqueue(s, r);
    else if (r->state == EVZK__WAITING)
        evzk__parents_leave(s, r);
    else {
        if (r->state == EVZK__SENT && r->sent < r->parts) {
            unqueue(s, r); /* What is left of it need not be sent. */
            r->parts = r->sent;
        }
        return false;
    }
    r->state = EVZK__IDLE;
    return true;
}

void evzk__request_no_unwatch(struct evzk__request *r)
{
    if (!r->unwatch || (r->state != EVZK__IDLE && r->sent > 0))
        return;
    r->unwatch = NULL;
    if (r->state != EVZK__IDLE)
        r->parts--;
}

static const char *join(char *buf, const char *dir, const char *name)
{
    size_t n = strlen(dir);

    memcpy(buf, dir, n);
    buf[n] = '/';
    strcpy(buf + n + 1, name); /* Lengths are limited where paths come in. */
    return buf;
}

static const char *path_of(evzk_session *s, struct evzk__request *r,
                           const char *name)
{
    return join(s->requests.path[0], r->dir, name);
}

/* One that could not be sent leaves the table, and the old watch, as they are.
 */
static int send_watch(evzk_session *s, struct evzk__request *r, bool own,
                      struct evzk__slot *slot)
{
    struct evzk__watch *w = own ? r->own : r->pred;
    const char *name = own ? r->name : r->pred_name;
    int rc = evzk__client_get(slot, path_of(s, r, name), w != NULL);

    if (w && rc == EVZK_OK) {
        evzk__watch_remove(&s->watches, w);
        evzk__watch_add(&s->watches, w, r->dir, name);
    }
    return rc;
}

static int send_unwatch(evzk_session *s, struct evzk__request *r,
                        const char *name, struct evzk__slot *slot)
{
    /* Somebody may have come to use the watch again: then only ask. */
    if (evzk__watch_find(&s->watches, r->dir, name))
        return evzk__client_sync(slot, r->dir);
    return evzk__client_unwatch(slot, path_of(s, r, name));
}

static int send_part(evzk_session *s, struct evzk__request *r,
                     struct evzk__slot *slot)
{
    enum evzk__create dir =
        r->plain ? EVZK__CREATE_DIR : EVZK__CREATE_CONTAINER;
    bool first = slot->part == lead(r);

    if (slot->part < lead(r))
        return send_unwatch(s, r, r->unwatch, slot);
    switch ((enum evzk__op)r->op) {
    case EVZK__SYNC:
        return evzk__client_sync(slot, r->dir);
    case EVZK__DELETE:
        return evzk__client_delete(slot, path_of(s, r, r->name));
    case EVZK__UNWATCH:
        return send_unwatch(s, r, r->name, slot);
    case EVZK__MKDIR:
        return evzk__client_create(slot, r->dir, NULL, 0, r->acl, r->acl_count,
                                   dir);
    case EVZK__LOOK:
        return evzk__client_exists(slot, path_of(s, r, r->name));
    case EVZK__LIST:
        return evzk__client_children(slot, r->dir);
    case EVZK__SYNC_LIST:
        return first ? evzk__client_sync(slot, r->dir)
                     : evzk__client_children(slot, r->dir);
    case EVZK__SETTLE_LIST:
        return first ? evzk__client_delete(slot, path_of(s, r, r->name))
                     : evzk__client_children(slot, r->dir);
    case EVZK__WATCH:
        return send_watch(s, r, first && r->name, slot);
    case EVZK__GETS:
        return evzk__client_get(
            slot, path_of(s, r, r->names[slot->part - lead(r)]), false);
    case EVZK__CREATE_LIST:
        if (!first)
            return evzk__client_children(slot, r->dir);
        return evzk__client_create(slot, path_of(s, r, r->name), r->data,
                                   r->len, r->acl, r->acl_count,
                                   EVZK__CREATE_SEQ);
    case EVZK__PARENTS:
    case EVZK__OPS:
        break;
    }
    return EVZK_ERR_INTERNAL;
}

static void note_watch(evzk_session *s, struct evzk__request *r, unsigned part,
                       int rc)
{
    bool own = part == lead(r) && r->name;
    struct evzk__watch *w = own ? r->own : r->pred;

    if (!w)
        return;
    if (rc != EVZK_OK)
        evzk__watch_remove(&s->watches, w);
    else if (!w->listed) /* What fired meanwhile was an earlier one. */
        evzk__watch_add(&s->watches, w, r->dir, own ? r->name : r->pred_name);
    w->armed = rc == EVZK_OK;
}

static void note_name(struct evzk__request *r, const char *path)
{
    const char *name = path ? strrchr(path, '/') : NULL;
    size_t prefix = strlen(r->name);

    /* The prefix, and at most ten digits and a sign. */
    if (name && strncmp(name + 1, r->name, prefix) == 0 &&
        strlen(name + 1) <= prefix + 11)
        strcpy(r->created, name + 1);
}

static void deliver(struct evzk__request *r, unsigned part,
                    const struct evzk__result *res)
{
    struct evzk__reply reply = {.rc = res->rc,
                                .first_rc = r->first_rc,
                                .first = r->first,
                                .part = part - lead(r),
                                .last = r->answered == r->parts,
                                .res = res};

    if (reply.last) {
        r->state = EVZK__IDLE; /* The owner may submit it again at once. */
        r->unwatch = NULL;
    } else if (r->answered == r->sent)
        r->state = EVZK__QUEUED; /* The rest may still be taken back. */
    if (reply.last || r->op == EVZK__GETS)
        r->done(r, &reply);
}

/* No memory, or a server that will not now: whoever asks again does so in a
 * while. */
static void pause_sending(evzk_session *s)
{
    s->send_at = evzk__now_us() + PAUSE_US;
}

/* One part was answered. */
static void answered(evzk_session *s, struct evzk__request *r, unsigned part,
                     const struct evzk__result *res)
{
    struct evzk__result late = {0};

    if (res->rc == EVZK_ERR_NOMEM || res->rc == EVZK_ERR_SERVER)
        pause_sending(s);
    r->answered++;
    if (part == r->parts - 1)
        r->last_rc = res->rc;
    if (part == lead(r)) {
        r->first_rc = res->rc;
        r->first = res->stat;
        if (r->op == EVZK__CREATE_LIST && res->rc == EVZK_OK)
            note_name(r, res->path);
    }
    /* The last answer may be to an earlier part, when a later one could not be
     * sent: what counts is what became of the last part. */
    late.rc = r->last_rc;
    if (r->op != EVZK__GETS && part != r->parts - 1)
        res = &late;
    deliver(r, part, res);
}

void evzk__request_answer(struct evzk__request *r, int rc)
{
    struct evzk__result res = {.rc = rc};

    r->first_rc = rc;
    r->answered = r->parts;
    deliver(r, r->parts - 1, &res);
}

void evzk__request_completed(void *session, struct evzk__slot *slot,
                             const struct evzk__result *res)
{
    struct evzk__request *r = slot->owner;
    evzk_session *s = session;

    slot->owner = NULL;
    s->requests.in_flight--;
    if (r->op == EVZK__WATCH && slot->part >= lead(r))
        note_watch(s, r, slot->part, res->rc);
    answered(s, r, slot->part, res);
}

/* No memory to send it with: try again in a while. */
static void take_back(evzk_session *s, struct evzk__request *r)
{
    if (r->sent == r->parts) { /* It has left its queue: to the head again. */
        TAILQ_INSERT_HEAD(&s->requests.queue[r->op], r, link);
        s->requests.queued++;
    }
    r->sent = 0;
    r->state = EVZK__QUEUED;
    pause_sending(s);
}

/* Sends one part.  An error of the call comes back like an answer; false when
 * the request waits for memory. */
static bool send_one(evzk_session *s, struct evzk__request *r)
{
    struct evzk__slot *slot = evzk__client_slot(s->client);
    struct evzk__result res = {.rc = EVZK_OK};
    unsigned part = r->sent++;

    if (r->sent == r->parts)
        unqueue(s, r);
    r->state = EVZK__SENT;
    slot->owner = r;
    slot->part = part;
    s->stats.requests++;
    s->requests.in_flight++;
    res.rc = send_part(s, r, slot);
    if (res.rc == EVZK_OK)
        return true;
    evzk__client_slot_free(slot);
    s->requests.in_flight--;
    if (res.rc == EVZK_ERR_NOMEM && part == 0) {
        take_back(s, r);
        return false;
    }
    answered(s, r, part, &res);
    return true;
}

/* Has room for all parts of a request; only GETS goes out bit by bit. */
static bool room_for(const evzk_session *s, const struct evzk__request *r)
{
    uint32_t room = s->window > s->requests.in_flight
                        ? s->window - s->requests.in_flight
                        : 0;

    if (r->op == EVZK__SYNC)
        return true; /* The lease does not wait: it has a slot of its own. */
    return room >= (r->op == EVZK__GETS ? 1 : r->parts);
}

static void send_all(evzk_session *s, struct evzk__request *r)
{
    uint32_t parts = r->parts;

    if (r->op == EVZK__PARENTS) {
        unqueue(s, r);
        evzk__parents_join(s, r);
        return;
    }
    if (r->op == EVZK__GETS)
        parts = 1; /* It may be answered, and changed, while it is sent. */
    while (parts-- > 0 && send_one(s, r))
        ;
}

/* While a sweep is under way only the lease's question goes out: what a machine
 * asked before it knew of the change may not be what it wants to ask now. */
static struct evzk__request *next_request(evzk_session *s)
{
    unsigned ops = s->cursor ? EVZK__SYNC + 1 : EVZK__OPS;

    for (unsigned i = 0; i < ops; i++) {
        if (!TAILQ_EMPTY(&s->requests.queue[i]))
            return TAILQ_FIRST(&s->requests.queue[i]);
    }
    return NULL;
}

bool evzk__requests_flush(evzk_session *s, int64_t deadline_us)
{
    struct evzk__request *r;
    unsigned n = 0;

    if (evzk__now_us() >= s->send_at)
        s->send_at = 0;
    while ((r = next_request(s)) != NULL) {
        if (!evzk__session_usable(s) || !room_for(s, r) || s->send_at)
            return false;
        if (n++ % 16 == 15 && evzk__now_us() >= deadline_us)
            return true;
        send_all(s, r);
    }
    return false;
}

/* The last part of a request that was cut: what was not answered is unknown. */
static void lost(evzk_session *s, struct evzk__request *r, unsigned part)
{
    struct evzk__result res = {.rc = EVZK_ERR_CONNLOSS};

    if (r->answered + 1 == r->sent && r->sent < r->parts) {
        unqueue(s, r); /* Cut in the middle: the rest is not sent either. */
        r->parts = r->sent;
    }
    answered(s, r, part, &res);
}

void evzk__requests_lost(evzk_session *s, struct evzk__client *c)
{
    struct evzk__slot *slot = NULL;

    while ((slot = evzk__client_next_slot(c, slot)) != NULL) {
        struct evzk__request *r = slot->owner;

        slot->owner = NULL;
        s->requests.in_flight--;
        lost(s, r, slot->part);
    }
}

void evzk__requests_forget(struct evzk__client *c)
{
    struct evzk__slot *slot = NULL;

    while ((slot = evzk__client_next_slot(c, slot)) != NULL)
        slot->owner = NULL;
}
