/* evzk queue PATH put|take|claim|size */
#include <string.h>

#include "queue.h"

struct queue_options queue_options = {.count = QUEUE_UNSET,
                                      .wait_ms = QUEUE_UNSET};

static const char *const layouts[] = {[EVZK_QUEUE_SEGMENTS] = "segments",
                                      [EVZK_QUEUE_PLAIN] = "plain",
                                      [EVZK_QUEUE_PLAIN_PRIORITY] =
                                          "plain-priority"};

/* clang-format off */
static const struct option_row options[] = {
    OPTION_NUMBER_ROW("priority", 'p', "NUMBER", &queue_options.priority,
        0, EVZK_QUEUE_PRIORITIES - 1, "put: 0 (first, the default) to 99"),
    OPTION_FLAG_ROW("lines", 'l', &queue_options.lines, 1,
        "put: each line of stdin is an item"),
    OPTION_NUMBER_ROW("count", 'n', "NUMBER", &queue_options.count,
        0, 1000000000, "take: so many at most (1); claim: so many"),
    OPTION_SECONDS_ROW("wait", 'w', "SECONDS", &queue_options.wait_ms,
        "take, claim: wait so long for an item; 0: do not"),
    OPTION_FLAG_ROW("null", '0', &queue_options.null, 1,
        "take: a zero byte behind each item"),
    OPTION_NUMBER_ROW("max-deliveries", 'd', "NUMBER",
        &queue_options.max_deliveries, 0, 1000000,
        "claim: then set the item aside, as dead"),
    OPTION_TEXT_ROW("layout", 0, "NAME", &queue_options.layout,
        "segments (default), plain, plain-priority"),
    OPTION_END
};
/* clang-format on */

int queue_layout(evzk_queue_layout *out)
{
    const char *name = queue_options.layout;

    *out = EVZK_QUEUE_SEGMENTS;
    if (!name)
        return 0;
    for (int i = 0; i <= EVZK_QUEUE_PLAIN_PRIORITY; i++) {
        if (strcmp(layouts[i], name) == 0) {
            *out = (evzk_queue_layout)i;
            return 0;
        }
    }
    return complain_usage("there is no layout '%s': wanted segments, plain or "
                          "plain-priority",
                          name);
}

static const struct action actions[] = {
    {"put", "[DATA|-]", "priority lines layout", 0, 1, RUNS_NOTHING, queue_put},
    {"take", "", "count wait null layout", 0, 0, RUNS_NOTHING, queue_take},
    {"claim", "[--] CMD [ARG...]", "count wait max-deliveries layout", 0, 0,
     RUNS_CMD, queue_claim},
    {"size", "", "layout", 0, 0, RUNS_NOTHING, queue_size},
    ACTION_END};

const struct command cmd_queue = {
    .name = "queue",
    .summary = "put items into a queue, and take them out",
    .arguments = "PATH put|take|claim|size",
    .about =
        "put    puts DATA, or what stdin has, as an item.  With -l each line\n"
        "       of stdin is an item.\n"
        "take   waits for an item, removes it, and prints it.  If evzk dies "
        "in\n"
        "       between, the item is lost: claim does better.\n"
        "claim  waits for an item, and runs CMD with the item on its stdin.\n"
        "       When CMD ends with 0 the item is done, and is removed; else "
        "it\n"
        "       goes back, and another process may have it.  So it does when\n"
        "       CMD, evzk or the machine dies.  -n 0 goes on for ever.\n"
        "size   prints how many items the queue has.\n"
        "\n"
        "  evzk queue /jobs put 'resize 17.jpg'\n"
        "  evzk queue /jobs claim -n 0 -d 5 -- ./work\n"
        "  evzk queue /jobs take -w 0 || echo 'nothing to do'\n",
    .options = options,
    .actions = actions,
    .min = 1,
    .max = -1,
    .runs = RUNS_MAYBE,
    .run = action_run,
};
