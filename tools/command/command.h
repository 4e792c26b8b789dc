/* The command `evzk`: what main.c and the subcommands have in common.
 *
 * To add a subcommand `foo`:
 *  1. A file cmd_FOO.c here defines `const struct command cmd_foo`.  Take
 *     cmd_version.c for its shape; connect.h says how to have a session.
 *  2. A line X(foo) in the list COMMANDS below, in the order of the alphabet.
 *  3. tools/manifest: it adds the file to lists.mk.
 *  4. doc/evzk.1 gets a section ".Ss foo" with every option of it.
 *  5. tests/command/test_foo runs it against a real server: kit.bash has what
 *     such a test needs.  Then tools/manifest once more.
 * Help, the check of its arguments and the completion of bash are made from
 * `struct command`.  tests/command/test_manual says what a step forgot. */
#ifndef EVZK_COMMAND_H
#define EVZK_COMMAND_H

#include <stdbool.h>

#include "options.h"
#include "settings.h"

struct action;

/* clang-format off */
#define COMMANDS(X) \
    X(barrier) \
    X(bench) \
    X(config) \
    X(doctor) \
    X(elect) \
    X(group) \
    X(help) \
    X(lock) \
    X(name) \
    X(queue) \
    X(revoke) \
    X(semaphore) \
    X(status) \
    X(version) \
    X(who) \
    X(why)
/* clang-format on */

/* What `evzk` exits with; doc/evzk.1 says the same.  Where a CMD is run, its
 * own status is passed on, or 128 + n when signal n ended it. */
enum status {
    STATUS_OK = 0,
    STATUS_FAILED = 1,       /* An error without a number of its own. */
    STATUS_FOUND = 2,        /* A circle of waiters, or a warning. */
    STATUS_UNFIT = 3,        /* The servers lack what evzk relies on. */
    STATUS_USAGE = 64,       /* The command line is wrong. */
    STATUS_NO_SERVER = 69,   /* No server answered, or no session was made. */
    STATUS_INTERNAL = 70,    /* A defect of evzk. */
    STATUS_NOT_GOT = 73,     /* Not acquired: time-out, or held by another. */
    STATUS_LOST = 74,        /* Lost while CMD ran. */
    STATUS_NOT_ALLOWED = 77, /* The servers do not let this user do that. */
    STATUS_NOT_RUN = 126,    /* CMD cannot be run. */
    STATUS_NOT_FOUND = 127,  /* There is no such CMD. */
};

/* The command line without its options. */
struct arguments {
    const struct command *command;
    char **words; /* The arguments, as PATH. */
    int count;
    char **run; /* CMD and its arguments, ends with NULL; NULL: none given. */
};

enum runs {
    RUNS_NOTHING,
    RUNS_MAYBE, /* CMD may be given, behind "--". */
    RUNS_CMD,   /* CMD must be given. */
};

/* A subcommand. */
struct command {
    const char *name;
    const char *summary;   /* A few words, for the list of all. */
    const char *arguments; /* As in "PATH [--] CMD [ARG...]". */
    const char *about;     /* For its own help; ends with a newline. */
    const struct option_row *options; /* NULL: none of its own. */
    const struct action *actions;     /* NULL, or for words[1]: action.h. */
    int min, max; /* How many arguments; max -1: any number. */
    enum runs runs;
    /* Returns what `evzk` exits with. */
    int (*run)(const struct arguments *arguments);
};

#define X(name) extern const struct command cmd_##name;
COMMANDS(X)
#undef X

/* All of them, in order; ends with NULL. */
extern const struct command *const commands[];

/* NULL: there is none of this name. */
const struct command *command_find(const char *name);

/* Prints help on a subcommand, or on evzk when it is NULL. */
void command_help(const struct command *command);

#endif
