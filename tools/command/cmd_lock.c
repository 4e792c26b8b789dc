/* evzk lock PATH -- CMD... */
#include <string.h>

#include "command.h"
#include "hold.h"

static struct {
    int mode; /* enum evzk_lock_mode */
    uint32_t priority, ageing;
} own = {.mode = EVZK_LOCK_EXCLUSIVE, .priority = HOLD_UNSET};

/* clang-format off */
static const struct option_row options[] = {
    OPTION_FLAG_ROW("shared", 's', &own.mode, EVZK_LOCK_READ,
        "others may hold it with -s too"),
    OPTION_FLAG_ROW("exclusive", 'x', &own.mode, EVZK_LOCK_EXCLUSIVE,
        "one holder at a time (the default)"),
    OPTION_NUMBER_ROW("priority", 'p', "NUMBER", &own.priority, 0, 255,
        "the lower number goes first"),
    OPTION_NUMBER_ROW("ageing", 0, "NUMBER", &own.ageing, 0, 1000000,
        "so many may pass it for each step of priority; 0: any"),
    HOLD_WAIT_ROW,
    HOLD_TRY_ROW,
    HOLD_ROWS,
    OPTION_END
};
/* clang-format on */

static void on_lock(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    struct hold *h = arg;

    switch (event) {
    case EVZK_LOCK_GRANTED:
        hold_granted(h, evzk_lock_token(lock));
        break;
    case EVZK_LOCK_SUSPENDED:
        hold_suspended(h);
        break;
    case EVZK_LOCK_RESUMED:
        hold_resumed(h);
        break;
    case EVZK_LOCK_REVOKE_REQUESTED:
        hold_asked(h);
        break;
    case EVZK_LOCK_RELEASED:
        hold_released(h, rc);
        break;
    case EVZK_LOCK_LOST:
        hold_lost(h, rc);
        break;
    case EVZK_LOCK_FAILED:
        hold_failed(h, rc);
        break;
    case EVZK_LOCK_REQUEUED:
    case EVZK_LOCK_DOWNGRADED:
        break;
    }
}

/* Only locks of mode WRITE or READ have priorities. */
static int start(struct hold *h)
{
    evzk_lock_priority priority = {.priority = (uint8_t)own.priority,
                                   .ageing = own.ageing};
    evzk_lock_options opt = {.mode = (evzk_lock_mode)own.mode,
                             .try_once = hold_options.try_once,
                             .revocable = true,
                             .dialect = hold_options.dialect};

    if (own.priority != HOLD_UNSET) {
        opt.priority = &priority;
        if (opt.mode == EVZK_LOCK_EXCLUSIVE)
            opt.mode = EVZK_LOCK_WRITE;
    }
    opt.timeout_ms = hold_timeout_ms();
    return evzk_lock_acquire(h->connection.session, h->path, &opt, on_lock, h,
                             (evzk_lock **)&h->object);
}

static int cancel(struct hold *h) { return evzk_lock_cancel(h->object); }

static int release(struct hold *h) { return evzk_lock_release(h->object); }

static int lease(struct hold *h, evzk_lease **out)
{
    return evzk_lock_lease(h->object, out);
}

static const char *node(struct hold *h) { return evzk_lock_node(h->object); }

static void free_lock(struct hold *h) { evzk_lock_free(h->object); }

static const struct hold_kind kind = {
    .held = "GRANTED",
    .released = "RELEASED",
    .start = start,
    .cancel = cancel,
    .release = release,
    .lease = lease,
    .node = node,
    .free = free_lock,
    .contenders = "",
};

static int run(const struct arguments *arguments)
{
    if (own.ageing && own.priority == HOLD_UNSET)
        return complain_usage("--ageing is for locks with a priority: give -p, "
                              "too");
    return hold_run(&kind, arguments);
}

const struct command cmd_lock = {
    .name = "lock",
    .summary = "run a command while a lock is held",
    .arguments = "PATH [--] CMD [ARG...]",
    .about =
        "Waits for the lock at PATH, runs CMD, and gives the lock back.  CMD\n"
        "has EVZK_TOKEN, EVZK_PATH and EVZK_NODE in its environment.  When "
        "the\n"
        "servers are silent for too long CMD is ended, before another process\n"
        "can have the lock.\n"
        "\n"
        "  evzk lock /backup -- tar -cf backup.tar .\n"
        "  evzk lock -n /cron/report -- ./report   # only on one machine\n",
    .options = options,
    .min = 1,
    .max = 1,
    .runs = RUNS_CMD,
    .run = run,
};
