/* Options: the tables of them, and the command line. */
#ifndef EVZK_COMMAND_OPTIONS_H
#define EVZK_COMMAND_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <evzk/evzk.h>

struct arguments;
struct command;

enum option_type {
    OPTION_FLAG,    /* `to` is an int, and becomes `set`. */
    OPTION_COUNT,   /* `to` is an int, and grows by 1. */
    OPTION_TEXT,    /* `to` is a const char *. */
    OPTION_NUMBER,  /* `to` is a uint32_t, from `min` to `max`. */
    OPTION_SECONDS, /* `to` is a uint32_t of milliseconds: "-w 0.5". */
};

/* An option.  A table of options ends with a row without a name. */
struct option_row {
    const char *name;  /* The long name. */
    char letter;       /* The short name, or 0. */
    const char *value; /* What the help calls its value; NULL: it has none. */
    const char *help;
    enum option_type type;
    void *to;
    int set;
    uint32_t min, max;
};

#define OPTION_FLAG_ROW(name, letter, to, set, help)                           \
    {                                                                          \
        name, letter, NULL, help, OPTION_FLAG, to, set, 0, 0                   \
    }
#define OPTION_COUNT_ROW(name, letter, to, help)                               \
    {                                                                          \
        name, letter, NULL, help, OPTION_COUNT, to, 0, 0, 0                    \
    }
#define OPTION_TEXT_ROW(name, letter, value, to, help)                         \
    {                                                                          \
        name, letter, value, help, OPTION_TEXT, to, 0, 0, 0                    \
    }
#define OPTION_NUMBER_ROW(name, letter, value, to, min, max, help)             \
    {                                                                          \
        name, letter, value, help, OPTION_NUMBER, to, 0, min, max              \
    }
#define OPTION_SECONDS_ROW(name, letter, value, to, help)                      \
    {                                                                          \
        name, letter, value, help, OPTION_SECONDS, to, 0, 0, 4000000           \
    }
#define OPTION_END                                                             \
    {                                                                          \
        NULL, 0, NULL, NULL, OPTION_FLAG, NULL, 0, 0, 0                        \
    }

/* Reads the options before the subcommand's name: 0, or an exit status.
 * `*next` becomes the index of the name in `argv`. */
int options_before(int argc, char **argv, int *next);

/* Reads what stands behind the name: its options, the common ones, arguments
 * and CMD.  0, or an exit status. */
int options_behind(int argc, char **argv, const struct command *command,
                   struct arguments *out);

/* Gives an option its value: 0, or an exit status with a message. */
int option_set(const struct option_row *row, const char *value);

/* Does the command line have this option? */
bool option_given(const struct option_row *row);

/* Prints a table for the help. */
void options_print(const struct option_row *rows, FILE *to);

/* The dialect of a name: 0, or an exit status with a message. */
int dialect_read(const char *name, evzk_dialect *to);

/* "evzk NAME: " and a message, with a newline.  evzk's only way to stderr but
 * for the log. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, and where help is to be found.  Returns STATUS_USAGE. */
int complain_usage(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* The subcommand that complains: NULL at first. */
extern const struct command *complaining;

#endif
