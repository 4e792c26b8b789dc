/* What every recipe is: a state machine, written down as one table
 * (lib/machine/kind.h).
 *
 * The core handles all that recipes have in common: connection loss, doubt,
 * expiry, cancel, time-out, free, late replies and illegal moves.  It never
 * calls itself from inside a call of the API: calls post events, and the
 * session's turn hands them out. */
#ifndef EVZK_MACHINE_H
#define EVZK_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "evzk/session.h"
#include "lib/base/acl.h"
#include "lib/base/loop.h"
#include "lib/base/name.h"
#include "lib/base/order.h"
#include "lib/base/util.h"
#include "lib/machine/kind.h"
#include "lib/request/path_watch.h"
#include "lib/request/place.h"
#include "lib/request/request.h"

/* Why the core is to look at a machine, besides the news of its place. */
enum {
    EVZK__P_START = 1,
    EVZK__P_STOP = 2,
    EVZK__P_ON_DEADLINE = 4,
    EVZK__P_STAYED = 8,
    EVZK__P_ASKED = 16,
    EVZK__P_LEFT = 32, /* Ended: was asked what it may have left. */
    EVZK__P_ALL = 63
};

/* Which list a machine is in, with its `run`. */
enum { EVZK__L_NONE, EVZK__L_RUNNING, EVZK__L_LATER, EVZK__L_LEFT };

/* Ten thousand of these wait at once: keep it at 272 bytes. */
struct evzk__machine {
    /* Identity. */
    const struct evzk__kind *kind;

    /* Place: the session, the directory, the request, the watches. */
    struct evzk__place place;

    /* The session as last seen. */
    struct evzk__changes seen;

    /* Run. */
    int rc; /* The result; final once it has ended. */
    uint16_t refs;
    uint16_t epoch;            /* Counts entries into states. */
    int16_t event_rc;          /* The result that `event` carried. */
    uint8_t event;             /* evzk__cause: the event being handled. */
    uint8_t state;             /* A row, once it has started. */
    uint8_t refused : 4;       /* Refusals in a row, for no reason we know. */
    uint8_t tries : 4;         /* Counted by the recipe. */
    bool started : 1;          /* Has entered its first state. */
    bool stopping : 1;         /* Was asked to stop, or has failed. */
    bool no_requeue : 1;       /* Ends with its session. */
    bool stayed : 1;           /* Has heard STAYED in this row. */
    bool is_left : 1;          /* Ended, and in the session's list of
                                  left-overs. */
    bool refused_for_good : 1; /* The row is about to hear so: it does not ask
                                  again first. */
    bool in_doubt : 1; /* Has heard SUSPENDED in a HOLDS row, and the doubt
                          has not ended: evzk__machine_end_doubt(). */

    /* Schedule. */
    uint8_t listed : 2;  /* EVZK__L_*: where `run` is. */
    uint8_t pending : 6; /* EVZK__P_* */
    uint8_t tick;        /* LATER: since when. */
    TAILQ_ENTRY(evzk__machine) all, run;
    struct evzk__timer *timer; /* NULL: no deadline. */
};

static inline struct evzk__machine *evzk__machine_of(struct evzk__place *p)
{
    return evzk__container_of(p, struct evzk__machine, place);
}

/* The machine's session; NULL once the session keeps nothing of the machine. */
static inline evzk_session *evzk__machine_session(const struct evzk__machine *m)
{
    return (evzk_session *)(void *)m->place.s;
}

/* `dir` is below the session's chroot, and is copied.  The machine starts in
 * state 0 in the next turn of the loop.  Two references: the caller's, and the
 * core's, which ends with the machine.  On error nothing is to be undone. */
int evzk__machine_init(struct evzk__machine *m, evzk_session *s,
                       const struct evzk__kind *kind, const char *dir,
                       uint32_t timeout_ms);

/* The same.  On error the kind's `destroy` frees the object, so that a public
 * function can return the error at once. */
int evzk__machine_begin(struct evzk__machine *m, evzk_session *s,
                        const struct evzk__kind *kind, const char *dir,
                        uint32_t timeout_ms);

/* What a public function that cancels does.  EVZK_OK; EVZK_ERR_FORKED; or
 * EVZK_ERR_STATE: the machine has ended, or was asked to stop before. */
int evzk__machine_cancel(struct evzk__machine *m);

/* Was the machine's grant got in the session's present lease, and is that lease
 * valid? */
bool evzk__machine_sure(const struct evzk__machine *m);

/* Moves to another state; the entry action runs before this returns.  Returns
 * 0, so that a reaction can end with it. */
int evzk__machine_move(struct evzk__machine *m, int state);

/* Moves to the final state, with a result. */
int evzk__machine_finish(struct evzk__machine *m, int rc);

/* Fails with an error, by way of a state that cleans up. */
int evzk__machine_give_up(struct evzk__machine *m, int rc, int state);

/* Enters the present state once more: a move that the row must allow. */
int evzk__machine_again(struct evzk__machine *m);

/* The same in a while: memory, or something else that the entry needs, was
 * missing. */
int evzk__machine_again_later(struct evzk__machine *m);

/* In a row with SIGHTS: the settling write was refused, and nothing was seen
 * behind it.  Asks again, some times, as after other refusals; then an error.
 */
int evzk__machine_refused(struct evzk__machine *m,
                          const struct evzk__reply *reply);

/* The `on_stop` of kinds that have nothing to find out when they are to stop:
 * the machine ends, and does not wait for the answer to what was sent. */
void evzk__machine_stop_at_once(struct evzk__machine *m,
                                const struct evzk__reply *reply);

/* Asks it to stop, with a result; the first one counts.  Takes effect in the
 * next turn of the loop, and takes no memory. */
void evzk__machine_stop(struct evzk__machine *m, int rc);

/* Posts a user event: a row that hears of it does what the user wants, in a
 * later turn of the loop. */
void evzk__machine_ask(struct evzk__machine *m);

/* Takes the deadline off: the machine got in time what it waited for. */
void evzk__machine_no_deadline(struct evzk__machine *m);

/* For a kind that keeps its timer: from now on the machine's time is over after
 * `timeout_ms`; 0: never.  The deadline before does not count any more, even if
 * it has passed and `on_deadline` was not called yet.  Takes no memory.  After
 * the machine's end it does nothing. */
void evzk__machine_set_deadline(struct evzk__machine *m, uint32_t timeout_ms);

/* As if this watch had fired. */
void evzk__machine_fired(struct evzk__machine *m, enum evzk__which which,
                         enum evzk__watch_event ev);

/* The time that a state may take in a turn of the loop, if it does many things:
 * until_us() says when that is over, and time_spent() after step n, from 0,
 * whether it is.  Then the state asks (evzk__machine_ask()), and goes on in a
 * later turn. */
int64_t evzk__machine_until_us(void);
bool evzk__machine_time_spent(unsigned n, int64_t until_us);

/* Has the core look at the machine in the next turn of the loop. */
void evzk__machine_post(struct evzk__machine *m);

/* Machines that have been in a row for a while: the session asks once a turn,
 * and counts the time. */
struct evzk__machine *evzk__machine_next_late(struct evzk__core *s);

void evzk__machine_unref(struct evzk__machine *m);

/* The user is done with the machine: asks it to stop, and gives the user's
 * reference back.
 */
void evzk__machine_let_go(struct evzk__machine *m);

const char *evzk__machine_state(const struct evzk__machine *m);

/* EVZK_OK, or why no operation of the session may be started or changed. */
int evzk__may_begin(const evzk_session *s);

/* EVZK_OK; or the refusal: a machine below this path fails since servers
 * refused something, or has left something there, and that is not proved gone
 * yet. */
int evzk__unproved_below(const evzk_session *s, const char *path);

/* Did the servers refuse, for whatever reason, to say or to do something? */
bool evzk__is_refusal(int rc);

/* Is news told?  Once the session is closed only final events are. */
bool evzk__may_tell(const evzk_session *s);

/* Keeps the session's memory, which its application may free; and gives that
 * back. */
void evzk__session_keep(evzk_session *s);
void evzk__session_let_go(evzk_session *s);

/* An object that is put together of machines, and may have none for a while:
 * it hears when the session is closed, behind its machines, and before CLOSED
 * is told.  By then it is no resident any more. */
struct evzk__resident {
    LIST_ENTRY(evzk__resident) link;
    void (*closed)(struct evzk__resident *r); /* NULL: it is no resident. */
};
void evzk__resident_enter(evzk_session *s, struct evzk__resident *r,
                          void (*closed)(struct evzk__resident *r));
void evzk__resident_leave(struct evzk__resident *r); /* Or it has left. */

/* A timer on the session's loop; NULL: no memory. */
struct evzk__timer *evzk__session_timer(evzk_session *s, void (*fire)(void *),
                                        void *arg);

/* The directory's path as the application gave it: below the chroot. */
const char *evzk__machine_path(const struct evzk__machine *m);

/* The most bytes of a request, with all its paths, data and ACLs.  Servers take
 * 1,048,575, if their jute.maxbuffer is the default. */
enum { EVZK__REQUEST_BYTES = 1047000 };

/* How long the path is at the servers, with the session's chroot before it: for
 * the bounds of a request that names it, before a machine exists. */
size_t evzk__path_bytes(const evzk_session *s, const char *path);

/* How long a list of permissions is in a request; NULL: the session's. */
size_t evzk__acl_bytes(const evzk_session *s, const evzk_acl *acl, size_t n);

/* Does the present session own the znode with this stat? */
bool evzk__machine_owns(const struct evzk__machine *m,
                        const struct evzk__stat *stat);

/* Has the session ended that the machine has seen last?  Then its ephemeral
 * znodes are gone. */
bool evzk__machine_outlives(const struct evzk__machine *m);

/* Writes a text that is another one for each session, of whatever process: a
 * name for what all machines of a session share.  It is known before the first
 * connection.  0 or EVZK_ERR_INTERNAL. */
enum { EVZK__TAG_LEN = EVZK__GUID_LEN + 6 };
int evzk__machine_session_tag(const struct evzk__machine *m,
                              char out[EVZK__TAG_LEN + 1]);

/* Something that a recipe's machines in this directory share is known to be so,
 * in the present session: one of them notes it, the others need not ask; and
 * takes it back.  Of one recipe in a directory. */
void evzk__machine_note(struct evzk__machine *m, bool known);
bool evzk__machine_noted(const struct evzk__machine *m);

/* Is this process the child of a fork?  There the machine still belongs to the
 * parent. */
bool evzk__machine_in_child(const struct evzk__machine *m);

/* Is the lease of the session valid, and is there no doubt?  Only then may
 * something begin. */
bool evzk__machine_certain(const struct evzk__machine *m);

/* How many requests the session has under way at most. */
uint32_t evzk__machine_window(const struct evzk__machine *m);

/* How long the session takes to look at all that its machines watch
 * (machine/rounds.h): so rarely may be asked again what was refused, or what
 * nobody may tell. */
uint32_t evzk__machine_round_ms(const struct evzk__machine *m);

/* Has the machine still to see the last change of its session? */
bool evzk__machine_is_behind(const struct evzk__machine *m);

/* The machine runs before all that are posted to from now on. */
void evzk__machine_hasten(struct evzk__machine *m);

/* Is this the number of the session's present connection?  The machine itself
 * may not have heard of it yet. */
bool evzk__machine_is_on(const struct evzk__machine *m, uint16_t connection_no);

/* The machine has looked after what it holds: is the session certain, so that
 * its doubt ends here?  True: it was in doubt. */
bool evzk__machine_end_doubt(struct evzk__machine *m);

/* Of the lease that is valid now, for views; NULL: no memory. */
struct evzk__term *evzk__machine_term(struct evzk__machine *m);

/* No memory: nothing of the session is sent for a while. */
void evzk__machine_pause(struct evzk__machine *m);

void evzk__log(evzk_session *s, evzk_log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The nearest contender of the session before this one; NULL: none. */
struct evzk__machine *evzk__place_before(struct evzk__machine *m);

/* The machine waits for this contender of the session, or for none of the
 * session's. */
void evzk__place_follow(struct evzk__machine *m, struct evzk__machine *before);
void evzk__place_unfollow(struct evzk__machine *m);

/* The znode before its own was read: it is that of the contender for which the
 * machine waits. */
void evzk__place_seen(struct evzk__machine *m);

/* Should its own znode go, would the session hear? */
bool evzk__place_guarded(struct evzk__machine *m);

/* Is there another machine of the same kind in the session, not ended, of which
 * `like` says so?  Goes through all machines. */
bool evzk__machine_has_like(struct evzk__machine *m,
                            bool (*like)(struct evzk__machine *m,
                                         struct evzk__machine *other));

/* For the session. */
extern const struct evzk__wake evzk__machine_wake;
void evzk__machine_run(struct evzk__machine *m);
void evzk__machine_forked(struct evzk__machine *m);
void evzk__machine_closed(struct evzk__machine *m, int rc, bool proved);

/* What ended machines may have left: machine/left_overs.c.  step: asks again
 * what was refused, when it is time.  cut: the connection was lost.  expired:
 * so was the session, and what is ephemeral is gone.  drop: the session is
 * over. After the last two, evzk__machines_drop_awaiting_reply() lets those go
 * that have nothing more to do. */
void evzk__left_overs_step(struct evzk__core *s);
void evzk__left_overs_cut(struct evzk__core *s);
void evzk__left_overs_expired(struct evzk__core *s);
void evzk__left_overs_drop(struct evzk__core *s);
/* Is there one that does not go with the session? */
bool evzk__left_overs_stay(struct evzk__core *s);

/* Lets go of the machines that have ended and wait for an answer: no answer
 * comes any more. */
void evzk__machines_drop_awaiting_reply(struct evzk__core *s);

/* Each callback of the application runs between these two: its time is not the
 * library's.  `begun` is what the first of them returned.  The explorer finds a
 * callback that does not. */
int64_t evzk__machine_call_out(evzk_session *s);
void evzk__machine_called(evzk_session *s, int64_t begun);

/* A recipe that another recipe calls back, between those two, does its own work
 * between these: that is the library's time again. */
int64_t evzk__machine_call_in(evzk_session *s);
void evzk__machine_called_in(evzk_session *s, int64_t begun);

/* Asks for steps, which are borrowed until the last reply: see request/step.h,
 * which says how a recipe asks.  `how` is EVZK__EACH and the like, or 0. */
void evzk__ask(struct evzk__machine *m, const struct evzk__step *steps,
               uint32_t n, unsigned how);
/* The same; a step that has no name of its own is about `name`, which is
 * borrowed, too. */
void evzk__ask_about(struct evzk__machine *m, const char *name,
                     const struct evzk__step *steps, uint32_t n, unsigned how);
/* The same step for each of many names: EVZK__EACH. */
void evzk__ask_each(struct evzk__machine *m, const struct evzk__step *step,
                    char *const *names, uint32_t n);

/* The directory of a contender. */
enum evzk__dir_use {
    EVZK__DIR_OURS, /* Made with the first contender, goes with the last. */
    EVZK__DIR_CONTAINER, /* Other libraries use it: the servers delete it. */
    EVZK__DIR_STAYS      /* Other libraries rely on it: no container. */
};

/* Requests that the request layer batches, shares or resolves, and those that
 * most recipes make.  Each has one EV_REPLY, but for `gets`: one for each name.
 */
struct evzk__create_args {
    char *name; /* In: the prefix; out: the name. EVZK__NAME_MAX at most. */
    enum evzk__dir_use dir;
    const void *data;
    uint32_t len, acl_count;
    const evzk_acl *acl;
};
/* `name`, with the data and the ACL that the session was opened with. */
struct evzk__create_args evzk__default_args(const struct evzk__machine *m,
                                            char *name);
/* The same with the ACL `own`, which is borrowed, unless that is empty. */
struct evzk__create_args evzk__args_with_acl(const struct evzk__machine *m,
                                             char *name,
                                             const struct evzk__acl *own);
void evzk__create_list(struct evzk__machine *m,
                       const struct evzk__create_args *args);
/* Replaces the machine's own znode by another, in one transaction; `swap` is
 * borrowed. */
void evzk__swap(struct evzk__machine *m, struct evzk__swap *swap);
void evzk__parents(struct evzk__machine *m,
                   const struct evzk__create_args *args);
/* Makes the machine's directory, as a container, and what is missing above it:
 * once for all machines that ask at the same time.  A directory that exists is
 * no error. */
void evzk__own_dir(struct evzk__machine *m, const evzk_acl *acl,
                   uint32_t acl_count);
/* The same, for what `args` say of the directory. */
void evzk__own_dir_for(struct evzk__machine *m,
                       const struct evzk__create_args *args);
void evzk__exists(struct evzk__machine *m, const char *name);
/* Is the reply that of evzk__exists()?  Then the reply has no data. */
bool evzk__looked(const struct evzk__machine *m);

/* chroot_unsure: may a directory be missing because the session's chroot is?
 * look_chroot: asks whether the chroot exists.  chroot_looked: what the answer
 * means: 0, EVZK_ERR_NOCHROOT or another error. */
bool evzk__chroot_unsure(const struct evzk__machine *m);
void evzk__look_chroot(struct evzk__machine *m);
int evzk__chroot_looked(const struct evzk__event *e);
void evzk__list(struct evzk__machine *m);
void evzk__sync_list(struct evzk__machine *m);
/* Deletes `name`, which cannot exist, and lists: see EVZK__SETTLE_LIST. */
void evzk__settle_list(struct evzk__machine *m, const char *name);
void evzk__read_many(struct evzk__machine *m, char *const *names, uint32_t n);
/* Reads `own`, with a watch if `watch_own`, and `pred` with one; either may be
 * NULL.  The first part of the reply is own's when there are two. */
void evzk__watch(struct evzk__machine *m, const char *own, bool watch_own,
                 const char *pred);
/* Deletes `name`; `also`, if not NULL, in the same transaction.  Then the
 * session's next contender is first only after the answer: it may make `also`
 * anew. */
void evzk__delete(struct evzk__machine *m, const char *name, const char *also);
/* Reads `name`, and sets the own watch on it, whether the znode exists or not.
 */
void evzk__read_and_watch(struct evzk__machine *m, const char *name);
/* Lists the children of `name`, with the other watch: CHANGED comes when a
 * child is made or deleted. */
void evzk__list_and_watch(struct evzk__machine *m, const char *name);
/* Deletes another contender's znode. */
void evzk__remove(struct evzk__machine *m, const char *name);

/* Another client deleted the machine's znode, and perhaps the directory: the
 * directory may be new, and not made by us. */
void evzk__own_gone(struct evzk__machine *m);

/* The machine has a znode of this name from now on; the own watch is on that
 * name. */
void evzk__enter_queue(struct evzk__machine *m, const char *name, int32_t seq);

/* The machine has no znode any more, or will get another. */
void evzk__forget_own(struct evzk__machine *m);

/* The machine's znode was replaced by another, in one transaction: the new name
 * is copied to `own`, where the machine keeps its name. */
void evzk__rename_own(struct evzk__machine *m, char *own, const char *name,
                      int32_t seq);

/* The machine is first: no contender before it matters any more. */
void evzk__lead(struct evzk__machine *m);

/* The answer says that the znode before does not exist.  If a contender of this
 * session owned it, that contender hears so, too. */
void evzk__pred_gone(struct evzk__machine *m);

/* The machine waits for no contender any more.  The watch is removed on the
 * server together with the next request. */
void evzk__unwatch_pred(struct evzk__machine *m);

/* Removes the own watch on the server, by a request of its own. */
void evzk__unwatch_own(struct evzk__machine *m);

/* Is this watch neither set, nor has it fired without being handled yet?  Then
 * it was lost with a connection, or could not be set. */
bool evzk__watch_missing(const struct evzk__machine *m, enum evzk__which which);

/* What the watch is about could not be used, for a reason that no watch tells:
 * another znode may not be read.  The machine hears of a change in the next
 * round (machine/rounds.h), whether there is one or not. */
void evzk__watch_doubt(struct evzk__machine *m, enum evzk__which which);

/* Has this watch fired, and has the machine not handled that yet? */
bool evzk__watch_fires(const struct evzk__machine *m, enum evzk__which which);

/* The machine is about to read what the watch is about: what the watch has told
 * so far is not heard any more. */
void evzk__watch_begins(struct evzk__machine *m, enum evzk__which which);

/* For the core.  The watches were lost with their connection. */
void evzk__watches_lost(struct evzk__machine *m);

/* After the machine's end: asks the server to remove a watch that no machine
 * needs.  False: there is none. */
bool evzk__unwatch_rest(struct evzk__machine *m);

#endif
