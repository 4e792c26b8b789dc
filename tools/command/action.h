/* Actions: the word behind PATH that says what a subcommand is to do, as in
 * "evzk queue PATH take".  Each has its own arguments, and takes some of the
 * subcommand's options.  Such a subcommand has .min 1, .max -1, RUNS_MAYBE and
 * .run = action_run. */
#ifndef EVZK_COMMAND_ACTION_H
#define EVZK_COMMAND_ACTION_H

#include "command.h"
#include "connect.h"

struct action {
    const char *name;
    const char *arguments; /* Behind the name, as in "[DATA|-]". */
    const char *options; /* Long names of those that it takes: "wait count". */
    int min, max;        /* How many arguments; max -1: any number. */
    enum runs runs;
    /* Of `arguments`, words[0] is PATH and words[1] the first one of the
     * action's own; `count` counts these alone. */
    int (*run)(const struct arguments *arguments);
};

#define ACTION_END                                                             \
    {                                                                          \
        NULL, NULL, NULL, 0, 0, RUNS_NOTHING, NULL                             \
    }

/* The action that the words name; NULL: there is none.  An action "N" is named
 * by every number. */
const struct action *action_find(const struct action *actions,
                                 const struct arguments *arguments);

/* Runs the action that the words name: an exit status. */
int action_run(const struct arguments *arguments);

/* Checks the arguments and options of an action that was found, and runs it. */
int action_start(const struct action *action,
                 const struct arguments *arguments);

/* The lines of the help on them. */
void action_print(const struct command *command);

/* A wait has ended in vain: says so, or that no server answered.  Returns what
 * to exit with. */
int complain_waited(const struct connection *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads a word as the row's option is read: 0, or an exit status. */
int action_number(const char *word, const char *name, uint32_t min,
                  uint32_t max, uint32_t *out);

#endif
