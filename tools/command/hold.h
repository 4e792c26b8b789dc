/* What `lock`, `elect` and `semaphore` have in common: CMD runs while something
 * is held, and is gone before the lease ends.
 *
 * The rule of the deadline.  The lease says until when the grant stands.
 *   deadline - grace    SIGTERM, if the session is in doubt
 *   deadline - margin   SIGKILL
 * grace is a third of the session time-out, at most 2 s, or --grace; margin is
 * a twentieth of the time-out, at least 100 ms.  The watchdog kills at the same
 * moment.  Each word of the leader moves the deadline on. */
#ifndef EVZK_COMMAND_HOLD_H
#define EVZK_COMMAND_HOLD_H

#include <evzk/evzk.h>

#include "child.h"
#include "connect.h"
#include "options.h"

struct command;
struct hold;

/* How a recipe is started, asked and ended. */
struct hold_kind {
    const char *held; /* For messages, as in "GRANTED". */
    const char *released;
    /* Starts; `h->object` is set on success. */
    int (*start)(struct hold *h);
    int (*cancel)(struct hold *h);
    int (*release)(struct hold *h);
    int (*lease)(struct hold *h, evzk_lease **out);
    const char *(*node)(struct hold *h);
    void (*free)(struct hold *h);
    /* Where its contenders are, below its path; NULL: not to be asked for. */
    const char *contenders;
    /* The recipe has no try_once: hold_try() looks whether it waits. */
    bool tries;
};

/* The options of all of them: rows for a table. */
struct hold_options {
    uint32_t wait_ms, conflict, grace_ms;
    int try_once;
    const char *on_lost, *dialect_name;
    evzk_dialect dialect; /* Of that name. */
};
extern struct hold_options hold_options;

#define HOLD_UNSET UINT32_MAX
/* clang-format off */
#define HOLD_WAIT_ROW \
    OPTION_SECONDS_ROW("wait", 'w', "SECONDS", &hold_options.wait_ms, \
        "wait so long at most; 0: do not wait")
#define HOLD_TRY_ROW \
    OPTION_FLAG_ROW("nonblock", 'n', &hold_options.try_once, 1, \
        "do not wait")
#define HOLD_ROWS \
    OPTION_TEXT_ROW("dialect", 0, "evzk|curator|kazoo", \
        &hold_options.dialect_name, "share PATH with this library"), \
    OPTION_NUMBER_ROW("conflict-exit-code", 'E', "STATUS", \
        &hold_options.conflict, 0, 255, "exit so when not acquired (73)"), \
    OPTION_NUMBER_ROW("grace", 0, "MS", &hold_options.grace_ms, 0, 86400000, \
        "SIGTERM so long before the lease ends"), \
    OPTION_TEXT_ROW("on-lost", 0, "term|kill|COMMAND", &hold_options.on_lost, \
        "what to do to CMD before the SIGKILL (term)")
/* clang-format on */

struct hold {
    struct connection connection;
    const struct hold_kind *kind;
    const struct arguments *arguments;
    const char *path;
    void *object; /* The lock, the election, ...; NULL: ended. */

    /* For hold.c alone. */
    struct watchdog watchdog;
    struct child child;
    struct event *look, *reaped;
    evzk_lease *lease; /* Of the grant, while CMD runs. */
    int64_t deadline_us, margin_us, grace_us;
    evzk_lock_query *query;
    enum { HOLD_WAITS, HOLD_RUNS, HOLD_GIVES_BACK } state;
    bool doubt;  /* Between SUSPENDED and RESUMED. */
    bool warned; /* CMD was asked to end. */
    bool lost;   /* CMD did not end by itself. */
    int signo;   /* The signal that ended the wait, or 0. */
};

/* How long to wait, for the options of a recipe: 0 is for ever. */
uint32_t hold_timeout_ms(void);

/* Does all: returns the exit status. */
int hold_run(const struct hold_kind *kind, const struct arguments *arguments);

/* For the callback of the recipe. */
void hold_granted(struct hold *h, uint64_t token);
void hold_suspended(struct hold *h);
void hold_resumed(struct hold *h);
void hold_asked(struct hold *h); /* Another process wants it. */
void hold_released(struct hold *h, int rc);
void hold_lost(struct hold *h, int rc);
void hold_failed(struct hold *h, int rc);

/* Granted, but of no use: says why, gives back, and ends. */
void hold_refused(struct hold *h, int rc);

/* Looks who is in the queue, again and again; as soon as another is ahead, it
 * says who holds it, and ends with the status for that. */
void hold_try(struct hold *h);

/* Says who holds it, then ends with the status for that. */
void hold_complain_held(struct hold *h);

#endif
