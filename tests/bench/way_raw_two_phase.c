/*
 * Two-phase commit by the C client without any library, as the recipes page has
 * it, with a coordinator that alone is told of the votes:
 *
 *   coordinator  creates the transaction's znode, and one for each site; reads
 *                each site's, and sets a watch on it
 *   site         reads the question in the transaction's znode, and sets a
 *                watch on it; writes its vote to its own
 *   coordinator  is told of each vote, reads it; writes the decision
 *   site         is told of the decision, reads it; deletes its own znode
 *   coordinator  deletes the transaction's
 *
 * The page has no deletions; without them the server would fill up.  How the
 * sites hear of a transaction, and the coordinator of the deletions, costs
 * nothing here: they are in one process.  As many requests are in flight as the
 * library's default.  A begun transaction comes before a new one.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "plain.h"

enum { SESSION_MS = 10000, OPENING = 10, SITES = TWO_PHASE_SITES };

/* The next request of a transaction. */
enum step { VOTE, READ_VOTE, DECIDE, LEARN, LEAVE, REMOVE };

enum { STEPS = 8, SLOTS = 4 }; /* More than there are steps, and sites. */

static const char committed[] = "commit";

static struct {
    struct plain p;
    struct run *run;
    struct plain_todo begins, steps;
    int flying; /* Requests. */
    char dir[PATH_SIZE];
    struct {
        uint8_t votes, left;
    } * tx;
} self;

static const void *as_data(int code) { return (const void *)(intptr_t)code; }
static void *as_context(int code) { return (void *)(intptr_t)code; }
static int tx_of(int code) { return code / STEPS / SLOTS; }
static int site_of(int code) { return code % SLOTS; }

static void next(int tx, enum step step, int site)
{
    plain_push(&self.p, &self.steps, (tx * STEPS + (int)step) * SLOTS + site);
}

static void path_of(int tx, int site, char path[PATH_SIZE])
{
    if (site < 0)
        snprintf(path, PATH_SIZE, "%.100s/tx-%06d", self.dir, tx);
    else
        snprintf(path, PATH_SIZE, "%.100s/tx-%06d/s%d", self.dir, tx, site);
}

/* ---- What the server says ---- */

static void sent(int rc, const char *what)
{
    plain_check(rc, what);
    self.flying++;
}

static void answered(int rc, const char *what)
{
    plain_check(rc, what);
    self.flying--;
}

static void on_created(int rc, const char *path, const void *data)
{
    (void)path, (void)data;
    answered(rc, "create");
}

static void on_watched(int rc, const char *value, int len,
                       const struct Stat *stat, const void *data)
{
    (void)value, (void)len, (void)stat, (void)data;
    answered(rc, "get");
}

static void on_question(int rc, const char *value, int len,
                        const struct Stat *stat, const void *data)
{
    int code = (int)(intptr_t)data;

    (void)value, (void)len, (void)stat;
    answered(rc, "get");
    next(tx_of(code), VOTE, site_of(code));
}

static void on_set(int rc, const struct Stat *stat, const void *data)
{
    (void)stat, (void)data;
    answered(rc, "set");
}

static void require_commit(const char *value, int len)
{
    if (len != (int)sizeof committed - 1 ||
        memcmp(value, committed, sizeof committed - 1) != 0)
        fail("raw: a transaction was aborted");
}

static void on_vote(int rc, const char *value, int len, const struct Stat *stat,
                    const void *data)
{
    int tx = tx_of((int)(intptr_t)data);

    (void)stat;
    answered(rc, "get");
    require_commit(value, len);
    if (++self.tx[tx].votes == SITES)
        next(tx, DECIDE, 0);
}

static void on_decision(int rc, const char *value, int len,
                        const struct Stat *stat, const void *data)
{
    int code = (int)(intptr_t)data;

    (void)stat;
    answered(rc, "get");
    require_commit(value, len);
    next(tx_of(code), LEAVE, site_of(code));
}

static void on_left(int rc, const void *data)
{
    int tx = tx_of((int)(intptr_t)data);

    answered(rc, "delete");
    if (++self.tx[tx].left == SITES)
        next(tx, REMOVE, 0);
}

static void on_removed(int rc, const void *data)
{
    int tx = tx_of((int)(intptr_t)data);

    answered(rc, "delete");
    run_granted(self.run, tx);
    run_released(self.run, tx);
}

static void on_vote_event(zhandle_t *zh, int type, int state, const char *path,
                          void *context)
{
    int code = (int)(intptr_t)context;

    (void)zh, (void)state, (void)path;
    if (type == ZOO_CHANGED_EVENT)
        next(tx_of(code), READ_VOTE, site_of(code));
}

static void on_decision_event(zhandle_t *zh, int type, int state,
                              const char *path, void *context)
{
    int code = (int)(intptr_t)context;

    (void)zh, (void)state, (void)path;
    if (type == ZOO_CHANGED_EVENT)
        next(tx_of(code), LEARN, site_of(code));
}

/* ---- What is asked ---- */

static void create(const char *path, const char *text, int len)
{
    sent(zoo_acreate(self.p.zh, path, text, len, &ZOO_OPEN_ACL_UNSAFE, 0,
                     on_created, NULL),
         "create");
}

/* All requests are sent at once: the server takes them in this order. */
static void begin(int tx)
{
    char path[PATH_SIZE];

    path_of(tx, -1, path);
    create(path, TWO_PHASE_QUESTION, sizeof TWO_PHASE_QUESTION - 1);
    for (int k = 0; k < SITES; k++) {
        path_of(tx, k, path);
        create(path, NULL, -1);
    }
    for (int k = 0; k < SITES; k++) {
        int code = tx * STEPS * SLOTS + k;

        path_of(tx, k, path);
        sent(zoo_awget(self.p.zh, path, on_vote_event, as_context(code),
                       on_watched, NULL),
             "get");
        path_of(tx, -1, path);
        sent(zoo_awget(self.p.zh, path, on_decision_event, as_context(code),
                       on_question, as_data(code)),
             "get");
    }
}

static void set(int tx, int site)
{
    char path[PATH_SIZE];

    path_of(tx, site, path);
    sent(zoo_aset(self.p.zh, path, committed, sizeof committed - 1, 0, on_set,
                  NULL),
         "set");
}

static void get(int tx, int site, data_completion_t completion, int code)
{
    char path[PATH_SIZE];

    path_of(tx, site, path);
    sent(zoo_aget(self.p.zh, path, 0, completion, as_data(code)), "get");
}

static void drop(int tx, int site, void_completion_t completion, int code)
{
    char path[PATH_SIZE];

    path_of(tx, site, path);
    sent(zoo_adelete(self.p.zh, path, -1, completion, as_data(code)), "delete");
}

static void send_step(int code)
{
    int tx = tx_of(code), site = site_of(code);

    switch ((enum step)(code / SLOTS % STEPS)) {
    case VOTE:
        set(tx, site);
        break;
    case READ_VOTE:
        get(tx, site, on_vote, code);
        break;
    case DECIDE:
        set(tx, -1);
        break;
    case LEARN:
        get(tx, -1, on_decision, code);
        break;
    case LEAVE:
        drop(tx, site, on_left, code);
        break;
    case REMOVE:
        drop(tx, -1, on_removed, code);
        break;
    }
}

static void on_turn(void)
{
    while (plain_has_todo(&self.steps) && self.flying < WINDOW) {
        int code = plain_next(&self.steps);

        self.steps.head++;
        send_step(code);
    }
    while (plain_has_todo(&self.begins) && self.flying + OPENING <= WINDOW) {
        int tx = plain_next(&self.begins);

        self.begins.head++;
        begin(tx);
    }
}

static void ask(int i) { plain_push(&self.p, &self.begins, i); }

static void open_client(struct run *r, const char *servers)
{
    self.run = r;
    self.begins.room = r->w->n;
    self.steps.room = STEPS * SLOTS * r->w->n;
    self.tx = calloc((size_t)r->w->n, sizeof self.tx[0]);
    if (!self.tx)
        fail("raw: out of memory");
    run_path(r, 0, self.dir);
    plain_open(&self.p, r->base, servers, SESSION_MS, on_turn);
}

static bool busy(void)
{
    return self.flying > 0 || plain_has_todo(&self.begins) ||
           plain_has_todo(&self.steps);
}

static bool connected(void)
{
    return zoo_state(self.p.zh) == ZOO_CONNECTED_STATE;
}

static void end(void)
{
    plain_close(&self.p);
    free(self.tx);
    free(self.begins.v);
    free(self.steps.v);
}

const struct way way_raw_two_phase = {.name = "raw",
                                      .open = open_client,
                                      .acquire = ask,
                                      .busy = busy,
                                      .connected = connected,
                                      .close = end};
