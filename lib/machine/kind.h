/* How a recipe is written down: the rows of its table, the events, and the kind
 * of machine that the rows make.
 *
 * A row says for each event where it may lead.  Every other move is a
 * fault, and is logged: see move.c.  The traces, the diagrams in doc/ and the
 * tests' counts are made from the same rows.  How a table is written:
 * lib/machine/rows.h. */
#ifndef EVZK_KIND_H
#define EVZK_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/request/place.h"

struct evzk__machine;
struct evzk__mark;
struct evzk__reply;

/* What a reaction hears. */
enum evzk__event_type {
    EVZK__EV_REPLY,    /* To the request that the state's entry made. */
    EVZK__EV_DELETED,  /* A watched znode is gone. */
    EVZK__EV_CHANGED,  /* A watched znode's data has changed. */
    EVZK__EV_LINGERED, /* The machine has been in this row for a while. */
    EVZK__EV_USER, /* The user wants something that only some rows can do. */
    EVZK__EV_SUSPENDED, /* The session is in doubt. HOLDS rows only. */
    EVZK__EV_LEASE_END  /* The lease has ended.  HOLDS rows only. */
};

struct evzk__event {
    enum evzk__event_type type;
    enum evzk__which which; /* DELETED, CHANGED: which watch. */
    bool by_ours; /* DELETED: our own session says so, and no server yet. */
    bool first;   /* SUSPENDED: the machine was in no doubt before. */
    const struct evzk__reply *reply; /* REPLY. Borrowed. */
};

/* The events, as a table has them: those that a reaction hears, each watch's
 * for itself, and those that the core alone deals with. */
enum evzk__cause {
    EVZK__ON_REPLY,
    EVZK__ON_OWN_DELETED, /* The own watch: of the machine's own znode. */
    EVZK__ON_OWN_CHANGED,
    EVZK__ON_PRED_DELETED, /* The other watch: of the znode it waits for. */
    EVZK__ON_PRED_CHANGED,
    EVZK__ON_PATH_DELETED, /* One of its path watches: `which` says which. */
    EVZK__ON_PATH_CHANGED,
    EVZK__ON_LINGERED,
    EVZK__ON_USER_EVENT,
    EVZK__ON_SUSPENDED,
    EVZK__ON_LEASE_END,
    EVZK__ON_ENTRY,       /* The entry action itself moves on. */
    EVZK__ON_DEADLINE,    /* The machine's time is over. */
    EVZK__ON_STOP,        /* Its user, or the deadline, asks it to stop. */
    EVZK__ON_RECONNECTED, /* The row is entered once more. */
    EVZK__ON_EXPIRED,     /* The session has ended: the machine has another. */
    EVZK__ON_CLOSED,
    EVZK__ON_START, /* Given to no row; enters the first. */
    EVZK__CAUSES
};

/* The same as words. */
extern const char *const evzk__cause_name[EVZK__CAUSES];

/* Flags of a row. */
enum {
    EVZK__RETRY = 1, /* Entering it again is harmless: done after a loss of the
                        connection, and instead of a reply that was lost. */
    EVZK__HOLDS = 2, /* Hears of doubt and of the lease's end; entered again
                        when the doubt is over. */
    EVZK__NOTHING_SENT = 4, /* While its request is unsent, nothing is on the
                        server: a stop ends the machine at once. */
    EVZK__FINAL = 8,
    EVZK__UNSENT = 16, /* Entered again after a loss of the connection, but only
                          while its request is not sent. */
    EVZK__SIGHTS = 32  /* Its request begins with a write that changes nothing,
                          and what is read behind it may show a znode: that
                          proves existence, whatever became of the write.  So
                          the row hears of a refused write at once; if nothing
                          was seen, it returns evzk__machine_refused(). */
};

/* In the columns `main`, `stop` and `expiry`, instead of a state. */
enum {
    EVZK__STAY = -1, /* stop: the row itself looks at `stopping`. */
    EVZK__ASIDE = -1 /* main: the straight way does not pass here. */
};

/* In a list of states, besides states. */
enum {
    EVZK__NEVER = 29, /* As far as we know the event does not come here.  If it
                         does, the columns and flags hold. */
    EVZK__FAIL = 30,  /* The reaction may return an error: then the machine goes
                         where a stop leads, or to its end if that is STAY. */
    EVZK__HERE = 31,  /* No move: the row is not entered again. */
    EVZK__NONE = 32,  /* Nothing at all. */
    EVZK__ROWS_MAX = EVZK__NEVER
};

/* A set of states: EVZK__TO(A, B, C), up to twelve. */
#define EVZK__TO(...)                                                          \
    EVZK__SET(__VA_ARGS__, EVZK__NONE, EVZK__NONE, EVZK__NONE, EVZK__NONE,     \
              EVZK__NONE, EVZK__NONE, EVZK__NONE, EVZK__NONE, EVZK__NONE,      \
              EVZK__NONE, EVZK__NONE, EVZK__NONE)
#define EVZK__SET(a, b, c, d, e, f, g, h, i, j, k, l, ...)                     \
    (EVZK__BIT(a) | EVZK__BIT(b) | EVZK__BIT(c) | EVZK__BIT(d) |               \
     EVZK__BIT(e) | EVZK__BIT(f) | EVZK__BIT(g) | EVZK__BIT(h) |               \
     EVZK__BIT(i) | EVZK__BIT(j) | EVZK__BIT(k) | EVZK__BIT(l))
#define EVZK__BIT(state) ((uint32_t)(UINT64_C(1) << (state)))

struct evzk__row {
    const char *name;
    void (*enter)(struct evzk__machine *m);
    /* 0, or an error that the machine fails with: see FAIL. */
    int (*react)(struct evzk__machine *m, const struct evzk__event *e);
    int8_t main;   /* The next row when nothing is in the way; or ASIDE. */
    int8_t stop;   /* Where a stop leads; or STAY. */
    int8_t expiry; /* Where the end of the session leads. */
    uint8_t flags;
    /* Where each event may lead, as sets; an event without a set is not heard.
     * STOP has one in rows that look at `stopping` themselves: where the reply
     * leads then. */
    uint32_t on[EVZK__CAUSES];
    /* The same, of what no run of the explorer brings about, moves that follow
     * from the columns included.  A state in both sets counts as rare, but
     * tests/unit/test_tables.c lets no recipe have one.  The move of a
     * failure is rare only if FAIL is in this set. */
    uint32_t rarely[EVZK__CAUSES];
};

/* What a machine may have left when it has ended.  The name is that of a znode
 * in the machine's directory, or, without a number, a path, and stays where it
 * is until all is answered. */
struct evzk__left {
    char *name;      /* Belongs to the machine.  NULL: not this time. */
    uint32_t prefix; /* Behind so many characters the name has a number, which
                        may be missing: then `name` has room for it, of
                        EVZK__NAME_MAX in all.  0: it has none. */
    int64_t czxid;   /* Of the znode; 0: not known. */
    bool stays;      /* The znode does not go with its session. */
};
enum { EVZK__LEFT_MAX = 8 };

/* One kind of machine.  `on_deadline` is called when the deadline passes. */
struct evzk__kind {
    const char *name;
    const struct evzk__mark *marks; /* Of contenders' names, or NULL. */
    const struct evzk__row *rows;   /* The last one is the FINAL one. */
    int n_rows;
    void (*on_deadline)(struct evzk__machine *m);
    /* The machine takes a stop, in a turn of the loop, before its row does: the
     * user may be told at once.  May be called twice: with `reply`, borrowed,
     * for an answer that came before the machine could move on; else NULL.  A
     * request that was not sent is still in its queue.  NULL: the row's column
     * says all. */
    void (*on_stop)(struct evzk__machine *m, const struct evzk__reply *reply);
    void (*destroy)(struct evzk__machine *m);
    /* The machine has ended: frees its timers.  NULL: there are none. */
    void (*detach)(struct evzk__machine *m);
    /* The machine is to stop, or has ended: its grant ends here, before the
     * user is told anything.  May be called twice.  NULL: other threads see
     * nothing of the grant. */
    void (*over)(struct evzk__machine *m);
    /* The machine has ended: what may it have left on the server, because the
     * servers refused to say, or to delete it?  Number i of that, from 0;
     * false: there is no number i.  The session deletes it in the background
     * (machine/left_overs.c), in this order, and asks again and again, also
     * when the user has let go.  NULL: nothing is ever left. */
    bool (*left)(struct evzk__machine *m, unsigned i, struct evzk__left *out);
    /* The recipe's znode outlives the session: when the session ends, a machine
     * that is to stop goes on as its rows say. */
    bool outlives_session;
    /* The machine has a timer until it ends, so that a deadline can be set
     * again without memory: evzk__machine_set_deadline(). */
    bool keeps_timer;
    /* The recipe's array of struct evzk__path_watch: how many, and at which
     * offset from the machine.  See EVZK__PATH_WATCHES(). */
    uint16_t n_watches, watches_at;
};

/* In a kind: the recipe's struct, its machine, and its array of watches (struct
 * evzk__path_watch). */
#define EVZK__PATH_WATCHES(type, machine, array)                               \
    .n_watches =                                                               \
        sizeof(((type *)NULL)->array) / sizeof(struct evzk__path_watch),       \
    .watches_at = offsetof(type, array) - offsetof(type, machine)

/* Where an event may lead from a row: a set of states, and HERE.  0: the row is
 * not given this event. */
uint32_t evzk__row_may(const struct evzk__kind *kind, int state,
                       enum evzk__cause cause);

/* The same without what the table calls rare. */
uint32_t evzk__row_next(const struct evzk__kind *kind, int state,
                        enum evzk__cause cause);

/* All states that a row may lead to. */
uint32_t evzk__row_reach(const struct evzk__kind *kind, int state);

/* Does the row hear this event, or, below, any event of a watch? */
static inline bool evzk__row_hears(const struct evzk__row *r,
                                   enum evzk__cause cause)
{
    return (r->on[cause] | r->rarely[cause]) != 0;
}
bool evzk__row_watches(const struct evzk__row *r);

#endif
