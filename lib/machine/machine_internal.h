/* What the files of the machine share, and no recipe sees.  The files from the
 * ground up; no file calls one above it:
 *
 *   machine/table.c      what can be read off a recipe's table
 *   machine/trace.c      the event that moves a machine; its trace
 *   machine/schedule.c   when the loop looks at a machine
 *   machine/ask.c        the machine's requests and watches
 *   machine/hosted.c     what a recipe may know of its session
 *   machine/left_overs.c what an ended machine may have left on the server
 *   machine/end.c        the end of a machine
 *   machine/move.c       entering a state
 *   machine/stop.c       being asked to stop
 *   machine/dispatch.c   giving an event to the present row
 *   machine/catch_up.c   changes of the session
 *   machine/reply.c      the answer to the machine's request
 *   machine/run.c        one look at a machine
 *   machine/wake.c       what the request layer asks of a machine
 *   machine/machine.c    beginning; being closed with the session
 *   machine/rounds.c     looking at what machines watch, now and then
 *   machine/refuse.c     refusing a bad argument
 *   machine/begin.c      what all public start and cancel calls share
 */
#ifndef EVZK_MACHINE_INTERNAL_H
#define EVZK_MACHINE_INTERNAL_H

#include "lib/machine/machine.h"

static inline const struct evzk__row *
evzk__machine_row(const struct evzk__machine *m)
{
    return &m->kind->rows[m->state];
}

static inline int evzk__machine_final_state(const struct evzk__machine *m)
{
    return m->kind->n_rows - 1;
}

/* ---- machine/trace.c ---- */

/* All that happens to the machine from here on is the effect of this event,
 * which carried this result. */
void evzk__machine_set_event(struct evzk__machine *m, enum evzk__cause event,
                             int rc);

/* Traces the event: it led from the state `from` (NULL: the machine had not
 * started) to the present one, which was entered, or stays as it is. */
void evzk__machine_trace(struct evzk__machine *m, const char *from,
                         bool entered);

/* Traces the event if the machine has entered no state since `epoch`. */
void evzk__machine_trace_idle(struct evzk__machine *m, uint16_t epoch);

/* ---- machine/schedule.c ---- */

/* Takes the machine out of the lists from which the loop looks at it. */
void evzk__machine_unlist(struct evzk__machine *m);

/* Tells the machine in a while that it lingers in its row, if the row hears
 * that, and if nothing happens to the machine before. */
void evzk__machine_linger(struct evzk__machine *m);

/* Makes the timer of a new machine, and sets the deadline: the kind's
 * `on_deadline` is called after this time; 0: never, and then only a kind that
 * keeps its timer gets one.  0 or EVZK_ERR_NOMEM. */
int evzk__machine_make_timer(struct evzk__machine *m, uint32_t timeout_ms);

/* ---- machine/left_overs.c ---- */

/* The machine has ended, and awaits no answer: if it may have left something on
 * the server, it stays until that is answered.  True: it stays. */
bool evzk__left_over_begin(struct evzk__machine *m);

/* The answer to an ended machine's request.  True: the machine stays. */
bool evzk__left_over_answered(struct evzk__machine *m,
                              const struct evzk__reply *reply);

/* ---- machine/end.c ---- */

/* The machine holds nothing any more: tells its kind. */
void evzk__machine_over(struct evzk__machine *m);

/* The machine has ended: takes it out of the lists that events come from. */
void evzk__machine_detach(struct evzk__machine *m);

/* Gives the core's reference to an ended machine back, unless the machine
 * awaits an answer, may have left something, or one of its watches is to be
 * taken off first. */
void evzk__machine_wind_up(struct evzk__machine *m);

/* ---- machine/move.c ---- */

/* Enters a state, whatever the table says. */
void evzk__machine_set_state(struct evzk__machine *m, int state);

/* Enters the present state once more, whatever the table says. */
void evzk__machine_repeat(struct evzk__machine *m);

/* ---- machine/stop.c ---- */

/* Was the machine asked to stop, and does its row leave that to the core? */
bool evzk__machine_leaves(const struct evzk__machine *m);

/* The stop that was posted. */
void evzk__machine_take_stop(struct evzk__machine *m);

/* ---- machine/run.c ---- */

/* The request that was not sent yet, if it rests on an own znode that went. */
void evzk__machine_take_back(struct evzk__machine *m);

/* ---- machine/dispatch.c ---- */

/* Has the present row react to the event. */
void evzk__machine_dispatch(struct evzk__machine *m,
                            const struct evzk__event *e);

/* ---- machine/catch_up.c ---- */

/* Brings a machine up to date with its session.  Comes before anything else
 * that is done with the machine. */
void evzk__machine_catch_up(struct evzk__machine *m);

/* ---- machine/reply.c ---- */

/* The `done` of a machine's request. */
void evzk__machine_answered(struct evzk__request *r,
                            const struct evzk__reply *reply);

#endif
