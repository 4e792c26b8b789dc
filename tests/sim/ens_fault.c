/* What faults do to the servers, and what tests may see of them. */
#include "ens_internal.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/name.h"

enum { COPIES = 4, COPY_PATH = 256 };

/* Persistent znodes that an operator has put where a process's own were. */
static struct {
    struct ens_copy {
        int64_t czxid, proc, serial; /* The newest connection then. */
        int64_t struck, read;        /* Its process has read of it. */
        char path[COPY_PATH];
    } v[COPIES];
    int64_t n;
} copies;
SIM_KEEP(copies)

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

bool ens_expire(int64_t session)
{
    const struct ens_session *s = ens_session_find(session);

    if (s == NULL || s->closing)
        return false;
    ens_session_close(session);
    return true;
}

bool ens_close_unheard(int64_t session, int conn)
{
    const struct ens_session *s = ens_session_find(session);
    struct ens_origin gone = {.conn = conn}; /* None has the serial 0. */
    struct wire_msg *m;

    if (s == NULL || s->closing || s->owner != 0)
        return false;
    m = wire_msg_new(WIRE_CLOSE, 0);
    ens_propose(&gone, session, m, NULL);
    wire_msg_free(m);
    return true;
}

void ens_throttle(int proc) { ens.throttle[proc] = 1; }

void ens_throttle_writes(int proc, uint8_t n)
{
    ens.throttle_writes[proc] = n;
    ens.throttled_at[proc] = sim_now();
}

void ens_throttle_reads(int proc, uint8_t n)
{
    ens.throttle_reads[proc] = n;
    ens.throttled_at[proc] = sim_now();
}

void ens_fill(int64_t until) { ens.full_until = later(ens.full_until, until); }

int64_t ens_full_at(void) { return ens.full_at; }

void ens_deny(int proc) { ens.deny[proc] = true; }

bool ens_denied(int proc) { return ens.denied[proc] != 0; }

int64_t ens_denials(void)
{
    int64_t n = 0;

    for (int p = 0; p < SIM_PROCS; p++)
        n += ens_denied(p);
    return n;
}

/* Five connections that end by chance look alike: see lib/request/suspect.c. */
enum { BY_CHANCE = 5 };

bool ens_shut(int proc)
{
    return ens.shut_at[proc] != 0 || ens.greeted[proc] > BY_CHANCE - 1;
}

bool ens_shut_otherwise(int proc)
{
    int too_long = ens.long_at[proc];

    return ens.shut_at[proc] > too_long ||
           ens.greeted[proc] > BY_CHANCE - 1 + too_long;
}

int64_t ens_hang_ups(int proc) { return ens.shut_at[proc]; }

bool ens_shut_read(int proc) { return ens.shut_read[proc]; }

int64_t ens_shuts(void)
{
    int64_t n = 0;

    for (int p = 0; p < SIM_PROCS; p++)
        n += ens_shut(p);
    return n;
}

bool ens_refused(int proc)
{
    return ens_throttled(proc) || ens_denied(proc) || ens_shut(proc);
}

bool ens_throttled(int proc) { return ens.throttled[proc] != 0; }

int64_t ens_throttled_at(int proc) { return ens.throttled_at[proc]; }

bool ens_throttled_read(int proc) { return ens.throttled_read[proc]; }

int ens_throttles(int proc) { return ens.throttled[proc]; }

void ens_hold_commits(int64_t until)
{
    ens.hold_until = later(ens.hold_until, until);
}

int64_t ens_crawl(int64_t until)
{
    ens.crawl_until = later(ens.crawl_until, until);
    return ens.crawl_until + CRAWL_US;
}

void ens_lag(int server, int64_t until)
{
    struct ens_link *down = &ens.server[server].down;

    down->held = later(down->held, until);
}

void ens_cut(int server, int64_t until)
{
    struct ens_server *s = &ens.server[server];

    if (until <= sim_now() || server == 0)
        return;
    if (s->cut_until <= sim_now() && !s->dropped)
        s->cut_since = sim_now();
    s->cut_until = later(s->cut_until, until);
}

/* The whole transaction's, or that of the operation that failed in it. */
static int error_of(const struct ens_txn *t)
{
    int rc = t->err;

    for (const struct ens_op *o = t->ops; o != NULL && rc == ZOK; o = o->next)
        rc = o->err;
    return rc;
}

/* Somebody's who may do everything, and needs no session, but to own what is
 * ephemeral.  An error takes no zxid. */
static int operate(const struct wire_msg *m)
{
    struct ens_txn *t = ens_txn_new(m->op, m->session, &ens_nobody);
    int rc;

    ens_prep(t, m, NULL, -1);
    rc = error_of(t);
    if (rc != ZOK) {
        ens.proposed--;
        ens_txn_free(t);
        return rc;
    }
    ens_txn_propose(t);
    return ZOK;
}

static struct wire_msg *order(int32_t op, const char *path)
{
    struct wire_msg *m = wire_msg_new(op, 0);

    m->path = sim_strdup(SIM_OUTSIDE, path);
    m->version = -1;
    return m;
}

static int carry_out(struct wire_msg *m)
{
    int rc = operate(m);

    wire_msg_free(m);
    return rc;
}

static void put_data(struct wire_msg *m, const void *data, size_t len)
{
    m->len = data != NULL ? (int32_t)len : -1;
    if (data != NULL && len > 0)
        m->data = sim_memdup(SIM_OUTSIDE, data, len);
}

enum { MODE_EPHEMERAL = 1, MODE_CONTAINER = 4 };

int ens_create(const char *path, const void *data, size_t len, int mode)
{
    struct wire_msg *m =
        order(mode == MODE_CONTAINER ? ENS_CREATE_CONTAINER : ENS_CREATE, path);

    m->flags = mode;
    m->session = mode == MODE_EPHEMERAL ? ENS_STRANGER : 0;
    put_data(m, data, len);
    return carry_out(m);
}

int ens_delete(const char *path) { return carry_out(order(ENS_DELETE, path)); }

int ens_delete_together(const char *const paths[], size_t n)
{
    struct wire_msg *m = wire_msg_new(ENS_MULTI, 0);

    while (n-- > 0) {
        struct wire_msg *one = order(ENS_DELETE, paths[n]);

        one->next = m->ops;
        m->ops = one;
    }
    return carry_out(m);
}

bool (*ens_removes)(int proc, const char *path);

/* A persistent one with the data of one that is there. */
static struct wire_msg *again(const char *path)
{
    const struct ens_rev *r = ens_prep_look(path);
    struct wire_msg *m = order(ENS_CREATE, path);

    if (r != NULL && r->data != NULL)
        put_data(m, r->data->bytes, (size_t)r->data->len);
    return m;
}

/* Of one transaction: of a process's znode, and of what it is in. */
static bool note_copy(const char *path, int proc, struct wire_msg *m)
{
    struct ens_copy *c = &copies.v[copies.n];
    const struct ens_rev *r = ens_prep_look(path);
    bool is =
        r != NULL && copies.n < COPIES && r->children == 0 && operate(m) == ZOK;

    wire_msg_free(m);
    if (!is)
        return false;
    c->czxid = ens_number(ens.proposed);
    c->proc = proc;
    c->serial = INT64_MAX; /* Until it is committed. */
    snprintf(c->path, sizeof c->path, "%s", path);
    copies.n++;
    return true;
}

bool ens_copy(const char *path, int proc)
{
    struct wire_msg *m = wire_msg_new(ENS_MULTI, 0);

    m->ops = order(ENS_DELETE, path);
    m->ops->next = again(path);
    return note_copy(path, proc, m);
}

bool ens_seize(const char *path, int proc)
{
    struct wire_msg *m = wire_msg_new(ENS_MULTI, 0);

    m->session = ENS_STRANGER;
    m->ops = order(ENS_DELETE, path);
    m->ops->next = again(path);
    m->ops->next->flags = MODE_EPHEMERAL;
    return note_copy(path, proc, m);
}

bool ens_remake(const char *const paths[], size_t n, const char *path, int proc)
{
    const char *dir = paths[n - 1];
    struct wire_msg *m = wire_msg_new(ENS_MULTI, 0), **end = &m->ops;

    for (size_t i = 0; i < n; i++, end = &(*end)->next)
        *end = order(ENS_DELETE, paths[i]);
    *end = order(ENS_CREATE, dir); /* Without the mark of the library. */
    (*end)->next = again(path);
    return note_copy(path, proc, m);
}

void ens_copies(void (*have)(const char *path))
{
    struct ens_seen seen;

    for (const struct ens_copy *c = copies.v; c < copies.v + copies.n; c++) {
        if (ens_look_ahead(c->path, &seen) && seen.czxid == c->czxid)
            have(c->path);
    }
}

void ens_copy_committed(int64_t zxid)
{
    for (struct ens_copy *c = copies.v; c < copies.v + copies.n; c++) {
        if (c->czxid == zxid)
            c->serial = ens.serial;
    }
}

void ens_copy_read(int proc, int64_t czxid)
{
    for (struct ens_copy *c = copies.v; c < copies.v + copies.n; c++) {
        if (ens_reads_own && c->proc == proc && c->czxid == czxid)
            c->read = true;
    }
}

bool ens_reads_own;

uint8_t ens_copies_read(int proc)
{
    unsigned read = 0;

    for (int i = 0; i < (int)copies.n; i++) {
        if (copies.v[i].proc == proc && copies.v[i].read)
            read |= 1U << i;
    }
    return (uint8_t)read;
}

bool ens_is_copy(int proc, int64_t czxid)
{
    for (const struct ens_copy *c = copies.v; c < copies.v + copies.n; c++) {
        if (c->proc == proc && c->czxid == czxid)
            return true;
    }
    return false;
}

/* By a connection that was made since, and by a process that has heard of what
 * is as new: there it should have been looked at.  If what was on its way has
 * struck one copy, the process cannot know that the others are copies; nor can
 * it look where servers hang up at that. */
static bool should_know(const struct ens_copy *c, const struct ens_origin *from)
{
    return !c->struck && from->serial > c->serial &&
           wire_heard((int)c->proc) >= c->czxid && !ens_shut((int)c->proc);
}

void ens_copy_deleted(const char *path, int64_t czxid,
                      const struct ens_origin *from, uint8_t knows)
{
    for (struct ens_copy *c = copies.v; c < copies.v + copies.n; c++) {
        bool known = knows & 1U << (c - copies.v);

        if (c->czxid != czxid)
            continue;
        if (from->serial <= c->serial && !known)
            c->struck = true;
        else if ((known || should_know(c, from)) &&
                 wire_proc(from->conn) == c->proc &&
                 !(ens_removes && ens_removes((int)c->proc, path)))
            sim_violation("p%d deletes %s, or what it is in, which an operator "
                          "has put there%s",
                          (int)c->proc, c->path,
                          known ? ", and it has read that" : "");
    }
}

/* Its process had read what is as new before it asked: then it could know, and
 * what it changes may be another's by right. */
void ens_copy_trusted(int64_t czxid, const struct ens_origin *from,
                      int64_t heard)
{
    for (const struct ens_copy *c = copies.v; c < copies.v + copies.n; c++) {
        if (c->czxid == czxid && heard >= czxid &&
            wire_proc(from->conn) == c->proc)
            sim_violation("p%d takes %s for its own, and changes another "
                          "znode",
                          (int)c->proc, c->path);
    }
}

bool (*ens_same_process)(int64_t a, int64_t b);

void ens_day(void) { ens.day++; }

int64_t ens_tidied(void) { return ens.tidied; }

bool ens_tidied_of(int64_t session)
{
    for (size_t i = 0; i < TIDIED; i++) {
        if (session && ens.tidied_of[i] == session)
            return true;
    }
    return false;
}

static bool ends_in(const char *text, const char *tail)
{
    size_t n = strlen(text), m = strlen(tail);

    return n >= m && strcmp(text + n - m, tail) == 0;
}

/* Does the writer of this receipt say, since the day before, that it lives? */
static bool says_alive(const char *path)
{
    const struct ens_node *dir = ens_tree_parent(path);
    const char *name = strrchr(path, '/') + 1;

    for (const struct ens_node *n = dir->first; n != NULL; n = n->next) {
        const char *other = strrchr(n->path, '/') + 1;

        if (n->newest->gone == 0 && ends_in(other, "-alive") &&
            strncmp(name, other, EVZK__GUID_LEN) == 0 &&
            n->newest->day < ens.day)
            return true;
    }
    return false;
}

/* Not that of a guarded write, which is ephemeral: an operator's copy is as
 * that was. */
static bool is_receipt(const char *path)
{
    const struct ens_node *dir = ens_tree_parent(path);

    return dir && ends_in(path, "-receipt") &&
           (ends_in(dir->path, "/receipts") || ends_in(dir->path, "/clients") ||
            strcmp(dir->path, "/v") == 0);
}

/* A receipt (recipes/parts/tidy.h) is its writer's, unless nobody has written
 * to it for a day. */
static void check_receipt(const char *path, const struct ens_rev *node,
                          const struct ens_txn *t)
{
    if (!ens_same_process || t->session == 0 || t->session == ENS_STRANGER ||
        node->owner != 0 || !is_receipt(path) ||
        ens_same_process(t->session, node->maker))
        return;
    ens.tidied_of[ens.tidied++ % TIDIED] = node->maker;
    if (node->day == ens.day)
        sim_violation("%s is deleted by another process, and is not old", path);
    if (says_alive(path))
        sim_violation("%s is deleted by another process, and its writer lives",
                      path);
}

bool (*ens_takes)(int64_t session, const char *path);
void (*ens_on_delete)(const char *path, int64_t heard);

/* The session of an operator is in no list, and does not end. */
static bool lives(int64_t session)
{
    const struct ens_session *s = ens_session_find(session);

    return session == ENS_STRANGER || (s != NULL && !s->closing);
}

/* What the connection's server could have said before the request. */
static int64_t could_hear(const struct ens_txn *t, int64_t heard)
{
    const struct ens_conn *c = &ens.conn[t->origin.conn];

    return ens_number(c->serial == t->origin.serial ? later(heard, c->greeted)
                                                    : heard);
}

/* No request deletes what another process's live session owns, unless it was
 * sent before its process could hear of that znode, or in the step of the loop
 * in which the process heard: a delete names a path, and cannot name a czxid. A
 * new connection can tell of all that stood when it was made.  What a session
 * owned that went before is no excuse: a znode of the same path is another one.
 */
void ens_deleted(const char *path, const struct ens_rev *node,
                 const struct ens_txn *t, int64_t heard)
{
    check_receipt(path, node, t);
    if (ens_on_delete && t->session != 0 && t->session != ENS_STRANGER)
        ens_on_delete(path, could_hear(t, heard));
    if (node->owner == 0 || node->owner == ENS_CONTAINER_OWNER ||
        node->owner == t->session || !lives(node->owner))
        return;
    if (could_hear(t, heard) < node->czxid ||
        (ens_takes && ens_takes(t->session, path)))
        return;
    sim_violation("session %llx deletes %s, which the live session %llx owns, "
                  "and could know that",
                  (unsigned long long)t->session, path,
                  (unsigned long long)node->owner);
}

int ens_set_data(const char *path, const void *data, size_t len)
{
    struct wire_msg *m = order(ENS_SET_DATA, path);

    put_data(m, data, len);
    return carry_out(m);
}

int ens_set_perms(const char *path, int perms)
{
    static char world[] = "world", anyone[] = "anyone";
    struct ACL one = {perms, {world, anyone}};
    struct ACL_vector v = {1, &one};
    struct wire_msg *m = order(ENS_SET_ACL, path);

    wire_msg_acl(m, &v);
    return carry_out(m);
}

void ens_set_sequence(const char *dir, int32_t next)
{
    struct wire_msg *m = order(ENS_SET_SEQUENCE, dir);

    m->version = next;
    if (carry_out(m) != ZOK)
        sim_violation("ens: no %s whose sequence could be set", dir);
}

void ens_set_version(const char *path, int32_t version)
{
    struct wire_msg *m = order(ENS_SET_VERSION, path);

    m->version = version;
    if (carry_out(m) != ZOK)
        sim_violation("ens: no %s whose version could be set", path);
}

static bool tell(const struct ens_rev *r, struct ens_seen *out)
{
    if (r == NULL)
        return false;
    out->czxid = r->czxid;
    out->mzxid = r->mzxid;
    out->owner = r->owner == ENS_CONTAINER_OWNER ? 0 : r->owner;
    out->data = r->data != NULL ? r->data->bytes : NULL;
    out->len = r->data != NULL ? r->data->len : -1;
    out->version = r->version;
    out->aversion = r->aversion;
    return true;
}

bool ens_look(const char *path, struct ens_seen *out)
{
    return tell(ens_tree_look(path, ens.committed), out);
}

int ens_perms(const char *path)
{
    const struct ens_rev *r = ens_tree_look(path, ens.committed);

    if (r == NULL)
        return -1;
    return r->acl == NULL ? 31 : r->acl->v.data[0].perms;
}

bool ens_look_ahead(const char *path, struct ens_seen *out)
{
    return tell(ens_prep_look(path), out);
}

size_t ens_children(const char *path, const char *names[], size_t max)
{
    const struct ens_node *dir = ens_tree_find(path);
    size_t n = 0;

    if (dir == NULL)
        return 0;
    for (const struct ens_node *c = dir->first; c != NULL; c = c->next) {
        if (ens_tree_at(c, ens.committed) == NULL)
            continue;
        if (n < max)
            names[n] = strrchr(c->path, '/') + 1;
        n++;
    }
    return n;
}

bool ens_alive(int64_t session) { return ens_session_find(session) != NULL; }

size_t ens_sessions(void)
{
    size_t n = 0;

    for (const struct ens_session *s = ens.sessions; s != NULL; s = s->next)
        n++;
    return n;
}

static size_t watches_at(const struct ens_conn *c)
{
    size_t n = 0;

    for (const struct ens_watch *w = c->watches; w != NULL; w = w->next)
        n++;
    return n;
}

size_t ens_watches(void)
{
    size_t n = 0;

    for (int i = 0; i < WIRE_CONNS; i++)
        n += watches_at(&ens.conn[i]);
    return n;
}

size_t ens_watches_of(int64_t session)
{
    size_t n = 0;

    for (int i = 0; i < WIRE_CONNS; i++)
        if (ens.conn[i].session == session)
            n += watches_at(&ens.conn[i]);
    return n;
}

size_t ens_watches_on(int conn)
{
    return conn < 0 ? 0 : watches_at(&ens.conn[conn]);
}

const char *ens_watched(int conn, unsigned nth, bool *children)
{
    const struct ens_watch *w = conn < 0 ? NULL : ens.conn[conn].watches;

    while (w != NULL && nth-- > 0)
        w = w->next;
    *children = w != NULL && w->children;
    return w != NULL ? w->path : NULL;
}

/* The next numbers, in order: a znode is older than those below it.  A znode
 * that is ephemeral keeps its numbers. */
static int64_t renumber(struct ens_node *n, int64_t last)
{
    for (; n != NULL; n = n->next) {
        if (n->newest->owner == 0 || n->newest->owner == ENS_CONTAINER_OWNER)
            n->newest->czxid = n->newest->mzxid = ++last;
        last = renumber(n->first, last);
    }
    return last;
}

static void settle_children(struct ens_node *n, int64_t last)
{
    for (; n != NULL; n = n->next) {
        n->newest->pzxid = last;
        settle_children(n->first, last);
    }
}

void ens_begin_anew(void)
{
    struct ens_node *root = ens_tree_find("/");
    int64_t last = renumber(root, 0);

    settle_children(root, last);
    ens.anew = ens.proposed;
    ens.anew_from = last;
    ens_set_data("/zookeeper/quota", "", 0); /* So that all look. */
}

int64_t ens_proposed(void) { return ens.proposed; }

int64_t ens_committed(void) { return ens.committed; }

bool ens_has_changed(int64_t *looked)
{
    bool changed = *looked != ens.committed;

    *looked = ens.committed;
    return changed;
}

int64_t ens_applied(int server) { return ens.server[server].applied; }
