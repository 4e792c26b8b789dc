/* evzk semaphore PATH N -- CMD... */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "hold.h"

static uint32_t leases;

/* clang-format off */
static const struct option_row options[] = {
    HOLD_WAIT_ROW,
    HOLD_TRY_ROW,
    HOLD_ROWS,
    OPTION_END
};

/* N is read as an option is. */
static const struct option_row count =
    OPTION_NUMBER_ROW("N", 0, "N", &leases, 1, 1000000, "");
/* clang-format on */

static void on_semaphore(evzk_semaphore *semaphore, evzk_semaphore_event event,
                         int rc, void *arg)
{
    struct hold *h = arg;

    switch (event) {
    case EVZK_SEMAPHORE_ACQUIRED:
        hold_granted(h, evzk_semaphore_token(semaphore));
        break;
    case EVZK_SEMAPHORE_SUSPENDED:
        hold_suspended(h);
        break;
    case EVZK_SEMAPHORE_RESUMED:
        hold_resumed(h);
        break;
    case EVZK_SEMAPHORE_RELEASED:
        hold_released(h, rc);
        break;
    case EVZK_SEMAPHORE_LOST:
        hold_lost(h, rc);
        break;
    case EVZK_SEMAPHORE_FAILED:
        hold_failed(h, rc);
        break;
    case EVZK_SEMAPHORE_REQUEUED:
        break;
    }
}

static int start(struct hold *h)
{
    evzk_semaphore_options opt = {.leases = leases,
                                  .timeout_ms = hold_timeout_ms(),
                                  .try_once = hold_options.try_once,
                                  .dialect = hold_options.dialect};

    return evzk_semaphore_acquire(h->connection.session, h->path, &opt,
                                  on_semaphore, h,
                                  (evzk_semaphore **)&h->object);
}

static int cancel(struct hold *h) { return evzk_semaphore_cancel(h->object); }

static int release(struct hold *h) { return evzk_semaphore_release(h->object); }

static int lease(struct hold *h, evzk_lease **out)
{
    return evzk_semaphore_lease(h->object, out);
}

static const char *node(struct hold *h)
{
    return evzk_semaphore_node(h->object);
}

static void free_semaphore(struct hold *h) { evzk_semaphore_free(h->object); }

static const struct hold_kind kind = {
    .held = "ACQUIRED",
    .released = "RELEASED",
    .start = start,
    .cancel = cancel,
    .release = release,
    .lease = lease,
    .node = node,
    .free = free_semaphore,
};

static int run(const struct arguments *arguments)
{
    int status = option_set(&count, arguments->words[1]);

    return status ? status : hold_run(&kind, arguments);
}

const struct command cmd_semaphore = {
    .name = "semaphore",
    .summary = "run a command, at most N at a time",
    .arguments = "PATH N [--] CMD [ARG...]",
    .about =
        "Waits until fewer than N leases of the semaphore at PATH are held,\n"
        "takes one, runs CMD, and gives the lease back.  All users of a path\n"
        "should give the same N.  What \"evzk help lock\" says of CMD holds\n"
        "here.\n"
        "\n"
        "  evzk semaphore /encoders 3 -- ./encode film\n",
    .options = options,
    .min = 2,
    .max = 2,
    .runs = RUNS_CMD,
    .run = run,
};
