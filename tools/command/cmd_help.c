/* evzk help [COMMAND] */
#include "command.h"
#include "output.h"

static int run(const struct arguments *arguments)
{
    const struct command *command = NULL;

    if (arguments->count) {
        command = command_find(arguments->words[0]);
        if (!command)
            return complain_usage("there is no command '%s'",
                                  arguments->words[0]);
    }
    command_help(command);
    return output_flush();
}

const struct command cmd_help = {
    .name = "help",
    .summary = "say what evzk can do, or what a command does",
    .arguments = "[COMMAND]",
    .about = "Says what evzk can do, or what COMMAND does.\n",
    .max = 1,
    .run = run,
};
