/* evzk version: the simplest subcommand, and a shape for others. */
#include <stdio.h>

#include <evzk/evzk.h>

#include "command.h"
#include "output.h"

static int run(const struct arguments *arguments)
{
    struct json_object *answer;

    (void)arguments;
    if (!settings.json) {
        printf("evzk %s\n", evzk_version());
        return output_flush();
    }
    answer = json_object_new_object();
    json_object_object_add(answer, "version",
                           json_object_new_string(evzk_version()));
    return output_json(answer);
}

const struct command cmd_version = {
    .name = "version",
    .summary = "say which version of evzk this is",
    .arguments = "",
    .about = "Says which version of evzk this is.\n",
    .run = run,
};
