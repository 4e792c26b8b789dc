/* How a recipe asks the server: the steps that a request consists of.
 *
 * A request is an array of steps.  They are sent back to back, in one trip, and
 * the server does them in this order.  The answer is one event, EVZK__EV_REPLY,
 * with the result of the last step and the error of the first one; or, if
 * asked for (EVZK__EACH), an event for each step.
 *
 *     static const struct evzk__step look[] = {
 *         {.verb = EVZK__STEP_SYNC},
 *         {.verb = EVZK__STEP_GET,
 *          .name = "ready",
 *          .watch = EVZK__WITH(EVZK__OWN)}};
 *
 *     evzk__ask(m, look, 2, 0);
 *
 * With EVZK__COMMIT the same steps are one transaction, of creates, sets,
 * deletes and checks: all are done, or none.
 *
 * `name` says which znode a step is about:
 *
 *     ""             the machine's own directory;
 *     "/some/path"   a path below the session's chroot ("/" is the chroot);
 *     "name"         a znode in the own directory; it may have slashes;
 *     NULL           the name that is given with the steps, or each of the
 *     names: evzk__ask_about(), evzk__ask_each().
 *
 * The array, and all that its steps point to, is borrowed until the last reply:
 * so constant steps are static, and others are a member of the recipe's struct.
 * The name of a step that sets a watch is borrowed for as long as the watch
 * stands.  Asking takes no memory.  A machine has one request under way at a
 * time.
 *
 * What the answers mean.  EVZK_ERR_CONNLOSS: the outcome is unknown; in a row
 * with EVZK__RETRY the machine asks again by itself.  EVZK_ERR_NOMEM, of a
 * write: the write was not done.  With EVZK__EACH the replies come in the order
 * of the steps, but the reply for a step that could not be sent comes at once.
 * `part` of every reply says which step it is about; `first_rc` of the last
 * reply is the error of a step that was lost on the way.  With EVZK__COMMIT,
 * and an error, `part` says which step failed, or is the number of steps if
 * that is not known.
 *
 * All reads of a request are of one connection, since another server may know
 * less.  When the connection is lost, EVZK_ERR_CONNLOSS is the answer not only
 * to what was on its way, but also to the rest of a request that was sent in
 * part, and to an unsent read without EVZK__STEP_SYNC before it.
 */
#ifndef EVZK_STEP_H
#define EVZK_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/client/client.h"

struct evzk__core;
struct evzk__request;

/* The verbs that read come before those that write. */
enum evzk__verb {
    /* Later steps read data as new as the leader's. */
    EVZK__STEP_SYNC,
    /* Stat.  Needs no permission.  Watch: whether the znode exists or not. */
    EVZK__STEP_EXISTS,
    /* Data, and stat.  Watch: only if the znode exists. */
    EVZK__STEP_GET,
    /* Removes this watch from the server, on whatever path.  An event of the
     * watch that the machine has not heard yet is dropped. */
    EVZK__STEP_UNWATCH,
    /* Names, and stat.  Watch: on the list of children. */
    EVZK__STEP_CHILDREN,
    EVZK__STEP_CREATE,
    EVZK__STEP_SET,
    EVZK__STEP_DELETE,
    /* Fails if the znode does not exist; in a commit only. */
    EVZK__STEP_CHECK
};

struct evzk__step {
    uint8_t verb; /* enum evzk__verb */
    uint8_t mode; /* CREATE: enum evzk__mode; no container in a commit. */
    /* Reads, and UNWATCH: a watch of the machine, EVZK__WITH(); 0: none.  The
     * own watch is on a znode itself; the PRED watch is on a znode's children.
     * Both are for znodes of the machine's directory, and for the directory
     * itself.  Any other path needs a watch of request/path_watch.h.  A watch
     * that stands may be set on another znode only after an UNWATCH. */
    uint8_t watch;
    /* SYNC, as the first step only: may use another machine's sync that goes
     * out in this turn, instead of its own. */
    bool shared : 1;
    /* SYNC, shared: is left out where a shared sync was answered on this
     * connection.  The data is not older than any that the session has read,
     * on this or an earlier connection; the data may be older than now. */
    bool once : 1;
    /* GET, with a watch, as the last step: if the znode does not exist, a watch
     * is set all the same; a znode that has come by then is read. */
    bool or_absent : 1;
    bool versioned : 1;  /* SET, DELETE, CHECK: only of this version; .. */
    int32_t version;     /* .. else of any. */
    const char *name;    /* See above. */
    const void *data;    /* CREATE, SET */
    const evzk_acl *acl; /* CREATE: NULL, or none: open to all. */
    uint32_t len, acl_count;
    /* CREATE, sequential: the name of the step, to which the number is added;
     * has room for twelve more characters.  Or NULL. */
    char *made;
};

/* How steps are asked. */
enum {
    EVZK__EACH = 1,   /* A reply for each step, as it comes.  The steps are sent
                         as the window has room. */
    EVZK__COMMIT = 2, /* One transaction. */
    EVZK__STAMP = 4,  /* COMMIT: the reply has the new znodes' czxid: three more
                         operations, on a znode that no client sees. */
    EVZK__SOON = 8,   /* Goes before bulk reads: a holder waits for it. */
    EVZK__JOIN = 16,  /* COMMIT: other machines' commits that are asked so, and
                         fall due at the same time, may go in one transaction
                         with it.  Each is answered as if it had gone alone; the
                         reply has the transaction's zxid as czxid, if a step of
                         its own is a SET.  Not with STAMP. */
    EVZK__LEFT = 32,  /* Writes, of a machine that has ended: sent while the
                         session is being closed, too. */
    EVZK__PROVED = 64, /* Writes: a look has shown that what they delete is the
                         machine's own.  If they have to wait for memory, the
                         row is entered again, and looks again. */
    EVZK__ANEW = 128   /* No earlier request of the machine's was this, however
                          like one: connections that ended during those say
                          nothing of it.  See request/suspect.h. */
};

/* For the request layer itself. */

/* Does the request consist of steps? */
bool evzk__request_is_steps(const struct evzk__request *r);

/* Does it consist of steps that read, and of no other? */
bool evzk__request_only_reads(const struct evzk__request *r);

/* How many parts the request has, if nothing is left out. */
uint32_t evzk__steps_parts(const struct evzk__request *r);

/* Writes the path that step number i is about to `to`, which has `size` bytes;
 * NULL: it is too long. */
const char *evzk__steps_path(const struct evzk__core *s,
                             const struct evzk__request *r, uint32_t i,
                             char *to, size_t size);

/* May the step, of this number, set the watch that it asks for? */
bool evzk__steps_may_watch(struct evzk__request *r, uint32_t i);

/* The step was sent: the watch that it asks for, if any, is asked for. */
void evzk__steps_sent(struct evzk__request *r, uint32_t i);

/* Sends part number `part` of those that are left. */
int evzk__steps_send(struct evzk__core *s, struct evzk__request *r,
                     struct evzk__slot *slot, uint32_t part);

/* Notes the watch that was set, the name of a znode that was made, and the
 * result of a sync. */
void evzk__steps_answered(struct evzk__core *s, struct evzk__request *r,
                          uint32_t part, const struct evzk__result *res);

/* Which step a part is. */
uint32_t evzk__steps_index(const struct evzk__request *r, uint32_t part);

/* The connection is lost, and the request waits in its queue: must what is left
 * of it not be sent by another connection? */
bool evzk__steps_are_of_connection(const struct evzk__request *r);

/* Leaves the request's sync out, if the sync of another request may stand for
 * it. */
void evzk__steps_share_sync(struct evzk__core *s, struct evzk__request *r);

/* The sync of another request stood for this one's: its result.  @rc: that of
 * the step behind it. */
int evzk__steps_sync_rc(const struct evzk__core *s,
                        const struct evzk__request *r, int rc);

/* The last step was answered: is it to be sent once more, to wait for a znode
 * that does not exist, or to read a znode that has come? */
bool evzk__steps_go_on(struct evzk__request *r);

/* COMMIT: how many bytes its operations take, and how many entries of ACLs; and
 * adds them.  Not 0: a step cannot go in a transaction, and would fail. */
void evzk__steps_measure_commit(struct evzk__core *s,
                                const struct evzk__request *r, size_t *bytes,
                                size_t *entries);
int evzk__steps_add_commit(struct evzk__core *s, const struct evzk__request *r,
                           struct evzk__multi *multi);
/* Why step i cannot go in a transaction: EVZK_ERR_INVAL (its path is none),
 * EVZK_ERR_INTERNAL (it is no write); or EVZK_OK. */
int evzk__steps_fault(struct evzk__core *s, const struct evzk__request *r,
                      uint32_t i);

/* COMMIT: does one of the steps write the znode at this path, its parent, or a
 * child of it?  Uses the second room for paths. */
bool evzk__steps_write_near(struct evzk__core *s, const struct evzk__request *r,
                            const char *path);

/* A number that is the same for requests that are alike, whatever numbers and
 * GUIDs are in their names. */
uint32_t evzk__steps_likeness(const struct evzk__request *r);

/* COMMIT: the step that failed. */
uint32_t evzk__steps_culprit(const struct evzk__request *r,
                             const struct evzk__result *res);

#endif
