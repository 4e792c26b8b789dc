/* How a recipe asks: the steps that a request is put together from.
 *
 * A request is an array of steps.  They are sent back to back, in one trip, and
 * the server does them in this order.  The answer is one event, EVZK__EV_REPLY,
 * with the result of the last step and the error of the first one; or, if
 * asked for (EVZK__EACH), an event for each step.
 *
 *     static const struct evzk__step look[] = {
 *         {.verb = EVZK__STEP_SYNC},
 *         {.verb = EVZK__STEP_GET, .name = "ready", .watch =
 * EVZK__WITH(EVZK__OWN)}};
 *
 *     evzk__ask(m, look, 2, 0);
 *
 * With EVZK__COMMIT the same steps are one transaction, of creates, sets,
 * deletes and checks: all are done, or none.
 *
 * A step says where: `name` is
 *
 *     ""             the machine's own directory;
 *     "/some/path"   a path below the session's chroot ("/" is the chroot);
 *     "name"         a znode in the own directory; it may have slashes;
 *     NULL           the name that is given beside the steps, or each of the
 *                    names: evzk__ask_about(), evzk__ask_each().
 *
 * The array, and what it points to, is borrowed until the last reply: so
 * constant steps are static, and others are a member of the recipe's struct.
 * Asking takes no memory.  A machine has one request under way at a time.
 *
 * What the answers mean.  EVZK_ERR_CONNLOSS: the outcome is unknown; in a row
 * with EVZK__RETRY the machine asks again by itself.  EVZK_ERR_NOMEM, of a
 * write: it was not done.  With EVZK__EACH the replies come in the order of the
 * steps, but for a step that could not be sent, which comes at once; `first_rc`
 * of the last reply tells of a step that was lost on the way, and `part` of
 * every reply says which step it is about.  With EVZK__COMMIT, and an error,
 * `part` says which step failed; it is the number of steps when nobody knows.
 */
#ifndef EVZK_STEP_H
#define EVZK_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/client/client.h"

struct evzk__core;
struct evzk__request;

enum evzk__verb {                    /* First those that read. */
                  EVZK__STEP_SYNC,   /* What follows is as new as the ensemble's
                                        leader. */
                  EVZK__STEP_EXISTS, /* Stat.  Takes no permission.  Watch:
                                        there or not. */
                  EVZK__STEP_GET,    /* Data, and stat.  Watch: only if it is
                                        there. */
                  EVZK__STEP_UNWATCH,  /* Takes this watch off the server,
                            wherever it is; an  event of it that is still to come
                            is dropped. */
                  EVZK__STEP_CHILDREN, /* Names, and stat.  Watch: who comes and
                                                        goes. */
                  EVZK__STEP_CREATE,
                  EVZK__STEP_SET,
                  EVZK__STEP_DELETE,
                  EVZK__STEP_CHECK /* Does nothing, but fails without it: in a
                                      commit only. */
};

struct evzk__step {
    uint8_t verb; /* enum evzk__verb */
    uint8_t mode; /* CREATE: enum evzk__mode; no container in a commit. */
    /* Reads, and UNWATCH: with this watch of the machine, EVZK__WITH(); 0:
     * without.  The own watch is on a znode itself, that on the one before on
     * the children of one, both in the own directory or on that.  Any other
     * place takes a watch of request/path_watch.h. */
    uint8_t watch;
    /* SYNC: none is sent if another machine's, in this turn, does as well.
     * Of the first step only. */
    bool shared : 1;
    /* GET, with a watch, as the last step: what is not there is waited for with
     * a watch as well; what has come by then is read. */
    bool or_absent : 1;
    bool versioned : 1;  /* SET, DELETE, CHECK: if it has this version; .. */
    int32_t version;     /* .. else whatever it has. */
    const char *name;    /* See above. */
    const void *data;    /* CREATE, SET */
    const evzk_acl *acl; /* CREATE: NULL, or none: open to all. */
    uint32_t len, acl_count;
    /* CREATE, sequential: gets the number added, if it is this name; room for
     * twelve more characters.  Or NULL. */
    char *made;
};

/* How steps are asked. */
enum {
    EVZK__EACH = 1,   /* A reply for each, as it comes.  As many at a time are
                         sent as the window has room for. */
    EVZK__COMMIT = 2, /* One transaction. */
    EVZK__STAMP = 4, /* COMMIT: the reply's czxid is that of what it made: three
                        operations more, on a znode that nobody sees. */
    EVZK__SOON = 8   /* Before what is read in bulk: a holder waits for it. */
};

/* The request layer's own. */

/* Is the request put together from steps? */
bool evzk__request_is_steps(const struct evzk__request *r);

/* How many parts the request has, if nothing is left out. */
uint32_t evzk__steps_parts(const struct evzk__request *r);

/* Sends the so-many-th of the parts that are left. */
int evzk__steps_send(struct evzk__core *s, struct evzk__request *r,
                     struct evzk__slot *slot, uint32_t part);

/* Notes the watch that was set, the name that was given, and a sync. */
void evzk__steps_answered(struct evzk__core *s, struct evzk__request *r,
                          uint32_t part, const struct evzk__result *res);

/* Which step a part is. */
uint32_t evzk__steps_index(const struct evzk__request *r, uint32_t part);

/* Another's sync went out in this turn: leaves its own out.  False: it has none
 * to share. */
bool evzk__steps_share_sync(struct evzk__request *r);

/* The last step was answered: is it to go once more, to wait for what is not
 * there, or to read what has come? */
bool evzk__steps_go_on(struct evzk__request *r);

/* COMMIT: the step that failed. */
uint32_t evzk__steps_culprit(const struct evzk__request *r,
                             const struct evzk__result *res);

#endif
