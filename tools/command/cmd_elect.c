/* evzk elect PATH -- CMD... */
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "hold.h"

static struct {
    const char *address; /* NULL: "host:pid" */
} own;

/* clang-format off */
static const struct option_row options[] = {
    OPTION_TEXT_ROW("address", 'a', "TEXT", &own.address,
        "what observers read of the leader (host:pid)"),
    HOLD_WAIT_ROW,
    HOLD_ROWS,
    OPTION_END
};
/* clang-format on */

static const char *address(void)
{
    static char text[300];
    char host[256] = "?";

    if (own.address)
        return own.address;
    gethostname(host, sizeof(host) - 1);
    snprintf(text, sizeof(text), "%s:%ld", host, (long)getpid());
    return text;
}

/* CMD starts when observers can see the leader. */
static void acknowledge(struct hold *h)
{
    const char *data = address();
    int rc = evzk_election_acknowledge(h->object, data, strlen(data));

    if (rc)
        hold_refused(h, rc);
}

static void on_election(evzk_election *election, evzk_election_event event,
                        int rc, void *arg)
{
    struct hold *h = arg;

    switch (event) {
    case EVZK_ELECTION_ELECTED:
        acknowledge(h);
        break;
    case EVZK_ELECTION_LEADING:
        if (rc)
            hold_refused(h, rc);
        else
            hold_granted(h, evzk_election_epoch(election));
        break;
    case EVZK_ELECTION_SUSPENDED:
        hold_suspended(h);
        break;
    case EVZK_ELECTION_RESUMED:
        hold_resumed(h);
        break;
    case EVZK_ELECTION_RESIGN_REQUESTED:
        hold_asked(h);
        break;
    case EVZK_ELECTION_RESIGNED:
        hold_released(h, rc);
        break;
    case EVZK_ELECTION_LOST:
        hold_lost(h, rc);
        break;
    case EVZK_ELECTION_FAILED:
        hold_failed(h, rc);
        break;
    case EVZK_ELECTION_REQUEUED:
        break;
    }
}

static int start(struct hold *h)
{
    const char *data = address();
    evzk_election_options opt = {.data = data,
                                 .data_len = strlen(data),
                                 .timeout_ms = hold_timeout_ms(),
                                 .revocable = true,
                                 .dialect = hold_options.dialect};

    return evzk_election_volunteer(h->connection.session, h->path, &opt,
                                   on_election, h,
                                   (evzk_election **)&h->object);
}

static int resign(struct hold *h) { return evzk_election_resign(h->object); }

static int lease(struct hold *h, evzk_lease **out)
{
    return evzk_election_lease(h->object, out);
}

static const char *node(struct hold *h)
{
    return evzk_election_node(h->object);
}

static void free_election(struct hold *h) { evzk_election_free(h->object); }

static const struct hold_kind kind = {
    .held = "LEADING",
    .released = "RESIGNED",
    .start = start,
    .cancel = resign,
    .release = resign,
    .lease = lease,
    .node = node,
    .free = free_election,
    .contenders = "",
    .tries = true,
};

static int run(const struct arguments *arguments)
{
    return hold_run(&kind, arguments);
}

const struct command cmd_elect = {
    .name = "elect",
    .summary = "run a command while this process leads",
    .arguments = "PATH [--] CMD [ARG...]",
    .about =
        "Stands in the election at PATH.  When elected, it makes an address\n"
        "known to those that observe the election, and runs CMD; it resigns\n"
        "when CMD has ended.  EVZK_TOKEN is the epoch.  When the servers are\n"
        "silent for too long CMD is ended, before another can be elected.\n"
        "\n"
        "  evzk elect /service -a 10.0.0.5:80 -- ./primary\n",
    .options = options,
    .min = 1,
    .max = 1,
    .runs = RUNS_CMD,
    .run = run,
};
