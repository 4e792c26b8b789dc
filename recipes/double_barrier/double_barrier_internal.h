/* A participant of a double barrier, as its calls (double_barrier/calls.c) and
 * its states know it.  The table is in double_barrier/table.c; no two of the
 * files of the states use each other. */
#ifndef EVZK_DOUBLE_BARRIER_INTERNAL_H
#define EVZK_DOUBLE_BARRIER_INTERNAL_H

#include "evzk/double_barrier.h"
#include "lib/base/acl.h"
#include "lib/machine/machine.h"
#include "recipes/double_barrier/round.h"
#include "recipes/parts/make.h"

enum {
    CREATING,
    MAKING_DIR,
    RESOLVING,
    ADOPTING,
    LOOKING,
    READING,
    LISTING,
    WAITING,
    BARRED,
    VETTING,
    REREADING,
    FORMING,
    FORGETTING,
    CONFIRMING,
    INSIDE,
    VERIFYING,
    FOLLOWING,
    CHOOSING,
    STAYING,
    CHECKING,
    REMOVING,
    AWAITING,
    LISTING_REST,
    ENDED,
    STATES
};

/* The path watches of a participant: on its own znode, on `ready`, and on the
 * end of another participant's znode. */
enum { ON_OWN = EVZK__PATH, ON_READY, ON_OTHER, WATCHES = 3 };

/* The report to the user; a later value is never followed by an earlier one. */
enum report {
    REPORTED_NOTHING,
    REPORTED_FAILED, /* FAILED was told, ahead of the end. */
    REPORTED_ENTERED,
    REPORTED_LEAVE, /* The user wants to leave: LEFT is to be told. */
    REPORTED_LOST,  /* LOST was told, ahead of the end. */
    REPORTED_LEFT   /* LEFT was told, ahead of the end. */
};

/* The round that a participant wants to form: the `count` participants that are
 * counted, and the transaction; in one block with the texts. */
struct forming {
    char **names; /* Those participants. */
    bool is_void; /* A participant is a copy, or has gone; .. */
    int rc;       /* .. or an error: what VETTING has found. */
    uint32_t n;   /* Steps. */
    char text[EVZK__ROUND_TEXT];
    struct evzk__step step[];
};

/* Znodes that are named like participants and that no session owns: copies, or
 * made by hand.  They are not counted.  Owned; NULL: none was found. */
struct copies {
    uint32_t n;
    char name[][EVZK__NAME_MAX];
};

struct evzk_double_barrier {
    struct evzk__machine m; /* Its directory is the barrier's. */
    struct evzk__path_watch watch[WATCHES];
    struct evzk__make make;    /* Its own znode. */
    struct evzk__step step[4]; /* The request's, until the last answer. */
    int32_t seq;               /* The number of its own znode. */
    uint32_t count;            /* So many enter together. */
    uint32_t children;         /* Of the directory, at the last look. */
    int64_t dir_czxid;         /* Of the directory, at that look. */
    int own_rc;                /* What the last look at its znode gave. */
    uint32_t leave_timeout_ms; /* 0: none. */
    uint8_t reported;          /* enum report */
    bool ready_stands;         /* `ready` existed when it was read last, .. */
    int64_t ready_mzxid;       /* .. was written then, .. */
    int32_t ready_version;     /* .. had this version, .. */
    struct evzk__round round;  /* .. and this text, .. */
    bool ready_is_here;        /* .. which is of this very directory. */
    bool used_up;     /* So were the directory's numbers, at that look. */
    bool others_form; /* Fewer than `count` came up to it. */
    bool is_last;     /* Nobody else of its round is left. */
    char other[2]
              [EVZK__NAME_MAX]; /* Names to watch: one for now, one for next. */
    const char *target;         /* The one that is to be watched. */
    bool looked;                /* At it, since it is the one. */
    /* Of its round, copies are up to the one and from the other on; "": none.
     */
    char past_low[EVZK__NAME_MAX], past_high[EVZK__NAME_MAX];
    struct forming *forming; /* Owned; or NULL. */
    struct copies *copies;
    evzk_double_barrier_cb *cb; /* NULL once the caller freed it. */
    void *arg;
    struct evzk__acl acl; /* Owned; empty: the session's. */
    void *data;           /* Owned; NULL: the session's. */
};

static inline struct evzk_double_barrier *
evzk__double_barrier_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_double_barrier, m);
}

/* double_barrier/table.c */
void evzk__double_barrier_make_init(struct evzk_double_barrier *d);

/* double_barrier/common.c */

/* Tells an event, unless the end was told; may free the participant. */
void evzk__double_barrier_tell(struct evzk_double_barrier *d,
                               evzk_double_barrier_event ev, int rc);
/* Tells the end now; the work on the server goes on. */
void evzk__double_barrier_end_early(struct evzk_double_barrier *d, int rc);
void evzk__double_barrier_end(struct evzk__machine *m);
void evzk__double_barrier_on_deadline(struct evzk__machine *m);
/* What a participant may have left when it has ended. */
bool evzk__double_barrier_left(struct evzk__machine *m, unsigned i,
                               struct evzk__left *out);
void evzk__double_barrier_destroy(struct evzk__machine *m);
void evzk__double_barrier_drop_forming(struct evzk_double_barrier *d);

/* Is the znode of this stat the participant's own? */
bool evzk__double_barrier_owns(const struct evzk_double_barrier *d,
                               const struct evzk__stat *stat);

/* Its znode is gone, and it is not inside: joins anew. */
int evzk__double_barrier_rejoin(struct evzk_double_barrier *d);

/* Another participant's znode is to be watched from now on.  watch_target asks
 * for that; the watch tells that znode's end.  False: the watch stands. */
void evzk__double_barrier_aim(struct evzk_double_barrier *d, const char *name);
bool evzk__double_barrier_watch_target(struct evzk_double_barrier *d);

/* double_barrier/vet.c: VETTING */

/* The znode that was looked at stands, and no session owns it: it is a copy, or
 * made by hand, is in no round, and never goes by itself. */
bool evzk__double_barrier_is_copy(const struct evzk__reply *reply);

/* The znode of this name is a copy: it is not counted any more.  EVZK_OK, or
 * EVZK_ERR_NOMEM. */
int evzk__double_barrier_note_copy(struct evzk_double_barrier *d,
                                   const char *name);

/* All participants of a listing in order, without the copies that are known.
 * NULL: no memory. */
struct evzk__contender *
evzk__double_barrier_sort(const struct evzk_double_barrier *d,
                          const struct evzk__names *names, size_t *n);
void evzk__double_barrier_vet(struct evzk__machine *m);
int evzk__double_barrier_vetted(struct evzk__machine *m,
                                const struct evzk__event *e);

/* double_barrier/enter.c: the states from LOOKING to FORGETTING */
void evzk__double_barrier_look(struct evzk__machine *m);
int evzk__double_barrier_looked(struct evzk__machine *m,
                                const struct evzk__event *e);
void evzk__double_barrier_read(struct evzk__machine *m);
int evzk__double_barrier_was_read(struct evzk__machine *m,
                                  const struct evzk__event *e);
void evzk__double_barrier_list(struct evzk__machine *m);
int evzk__double_barrier_listed(struct evzk__machine *m,
                                const struct evzk__event *e);
void evzk__double_barrier_wait(struct evzk__machine *m);
int evzk__double_barrier_waited(struct evzk__machine *m,
                                const struct evzk__event *e);
void evzk__double_barrier_bar(struct evzk__machine *m);
int evzk__double_barrier_barred(struct evzk__machine *m,
                                const struct evzk__event *e);
int evzk__double_barrier_reread(struct evzk__machine *m,
                                const struct evzk__event *e);
void evzk__double_barrier_forget(struct evzk__machine *m);
int evzk__double_barrier_forgotten(struct evzk__machine *m,
                                   const struct evzk__event *e);

/* double_barrier/form.c: FORMING */

/* Prepares the transaction: the first `count` of `v` are there, and the round
 * is said. */
int evzk__double_barrier_prepare(struct evzk_double_barrier *d,
                                 const struct evzk__contender *v);
void evzk__double_barrier_form(struct evzk__machine *m);
int evzk__double_barrier_formed(struct evzk__machine *m,
                                const struct evzk__event *e);

/* double_barrier/inside.c: CONFIRMING, INSIDE and VERIFYING */
int evzk__double_barrier_confirmed(struct evzk__machine *m,
                                   const struct evzk__event *e);
void evzk__double_barrier_stay_inside(struct evzk__machine *m);
int evzk__double_barrier_still_inside(struct evzk__machine *m,
                                      const struct evzk__event *e);
void evzk__double_barrier_verify(struct evzk__machine *m);
int evzk__double_barrier_verified(struct evzk__machine *m,
                                  const struct evzk__event *e);

/* double_barrier/leave.c: the states from FOLLOWING to LISTING_REST */
void evzk__double_barrier_follow(struct evzk__machine *m);
int evzk__double_barrier_followed(struct evzk__machine *m,
                                  const struct evzk__event *e);
int evzk__double_barrier_chosen(struct evzk__machine *m,
                                const struct evzk__event *e);
void evzk__double_barrier_await(struct evzk__machine *m);
int evzk__double_barrier_stayed(struct evzk__machine *m,
                                const struct evzk__event *e);
void evzk__double_barrier_check(struct evzk__machine *m);
int evzk__double_barrier_checked(struct evzk__machine *m,
                                 const struct evzk__event *e);
void evzk__double_barrier_remove(struct evzk__machine *m);
int evzk__double_barrier_removed(struct evzk__machine *m,
                                 const struct evzk__event *e);
int evzk__double_barrier_awaited(struct evzk__machine *m,
                                 const struct evzk__event *e);
int evzk__double_barrier_rest_listed(struct evzk__machine *m,
                                     const struct evzk__event *e);

#endif
