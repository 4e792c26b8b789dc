/* Reads the command line with getopt_long(). */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "action.h"
#include "command.h"
#include "settings.h"

#define ROWS_MAX 40   /* Options of one subcommand, the common ones included. */
#define LONG_BASE 256 /* Numbers of getopt_long() that are no letters. */

const struct command *complaining;

/* Options that the command line has. */
static const struct option_row *seen[ROWS_MAX];
static int n_seen;

/* The options that are valid at a place, for getopt_long(). */
struct known {
    const struct option_row *row[ROWS_MAX];
    struct option options[ROWS_MAX + 1];
    char letters[3 * ROWS_MAX + 3];
    int n;
};

static void say(const char *format, va_list list)
{
    fprintf(stderr, "evzk%s%s: ", complaining ? " " : "",
            complaining ? complaining->name : "");
    vfprintf(stderr, format, list);
}

void complain(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say(format, list);
    va_end(list);
    putc('\n', stderr);
}

int complain_usage(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say(format, list);
    va_end(list);
    fprintf(stderr, "\n\"evzk help%s%s\" says how to call it.\n",
            complaining ? " " : "", complaining ? complaining->name : "");
    return STATUS_USAGE;
}

static void know(struct known *k, const struct option_row *rows)
{
    char *letter = k->letters + strlen(k->letters);

    for (; rows && rows->name && k->n < ROWS_MAX; rows++, k->n++) {
        k->row[k->n] = rows;
        k->options[k->n] = (struct option){
            rows->name, rows->value ? required_argument : no_argument, NULL,
            LONG_BASE + k->n};
        if (rows->letter) {
            *letter++ = rows->letter;
            if (rows->value)
                *letter++ = ':';
        }
    }
    *letter = '\0';
}

static const struct option_row *row_of(const struct known *k, int code)
{
    if (code >= LONG_BASE && code < LONG_BASE + k->n)
        return k->row[code - LONG_BASE];
    for (int i = 0; i < k->n; i++) {
        if (k->row[i]->letter == code)
            return k->row[i];
    }
    return NULL;
}

static int set_number(const struct option_row *row, const char *value)
{
    char *end;
    unsigned long number;

    errno = 0;
    number = strtoul(value, &end, 10);
    if (errno || *end || end == value || strchr(value, '-') ||
        number < row->min || number > row->max)
        return complain_usage("%s%s takes a number from %u to %u, not '%s'",
                              row->help[0] ? "--" : "", row->name, row->min,
                              row->max, value);
    *(uint32_t *)row->to = (uint32_t)number;
    return 0;
}

static int set_seconds(const struct option_row *row, const char *value)
{
    char *end;
    double seconds = strtod(value, &end);

    if (*end || end == value || !(seconds >= 0) || seconds > row->max)
        return complain_usage("--%s takes seconds from 0 to %u, not '%s'",
                              row->name, row->max, value);
    *(uint32_t *)row->to = (uint32_t)ceil(seconds * 1000);
    return 0;
}

int option_set(const struct option_row *row, const char *value)
{
    switch (row->type) {
    case OPTION_FLAG:
        *(int *)row->to = row->set;
        break;
    case OPTION_COUNT:
        ++*(int *)row->to;
        break;
    case OPTION_TEXT:
        *(const char **)row->to = value;
        break;
    case OPTION_NUMBER:
        return set_number(row, value);
    case OPTION_SECONDS:
        return set_seconds(row, value);
    }
    return 0;
}

bool option_given(const struct option_row *row)
{
    for (int i = 0; i < n_seen; i++) {
        if (seen[i] == row)
            return true;
    }
    return false;
}

/* Handles an answer of getopt_long() that is an option. */
static int take(const struct known *k, int code, char **argv)
{
    const struct option_row *row = row_of(k, code);

    if (code == ':') {
        row = row_of(k, optopt);
        return complain_usage("--%s needs a value: %s", row ? row->name : "?",
                              row ? row->value : "");
    }
    if (!row && optopt && optopt < LONG_BASE)
        return complain_usage("there is no option '-%c'", optopt);
    if (!row)
        return complain_usage("'%s' is no option here", argv[optind - 1]);
    settings_given(row);
    if (!option_given(row))
        seen[n_seen++] = row;
    return option_set(row, optarg);
}

int options_before(int argc, char **argv, int *next)
{
    struct known k = {.letters = "+:"};
    int code, status = 0;

    know(&k, common_options);
    opterr = 0;
    while (!status &&
           (code = getopt_long(argc, argv, k.letters, k.options, NULL)) != -1)
        status = take(&k, code, argv);
    *next = optind;
    return status;
}

/* How many arguments, and is there a CMD? */
static int judge(const struct arguments *a)
{
    const struct command *c = a->command;

    if (settings.help)
        return 0;
    if (a->count < c->min || (c->max >= 0 && a->count > c->max))
        return complain_usage("%s: wanted: %s",
                              a->count < c->min ? "something is missing"
                                                : "too many arguments",
                              c->arguments);
    if (c->runs == RUNS_CMD && !a->run)
        return complain_usage("no command to run: wanted: %s", c->arguments);
    return 0;
}

/* So many words are arguments, and CMD is behind them; -1: all are. */
static int most(const struct arguments *a)
{
    const struct command *c = a->command;
    const struct action *action =
        c->actions ? action_find(c->actions, a) : NULL;

    if (!c->actions)
        return c->runs == RUNS_NOTHING ? -1 : c->max;
    return !action || action->runs == RUNS_NOTHING ? -1 : 2 + action->max;
}

/* Takes the words behind "--": arguments that are missing, then CMD. */
static void take_rest(int argc, char **argv, struct arguments *a)
{
    const struct command *c = a->command;

    while (optind < argc && (most(a) < 0 || a->count < c->min))
        a->words[a->count++] = argv[optind++];
    if (optind < argc)
        a->run = argv + optind;
}

int options_behind(int argc, char **argv, const struct command *command,
                   struct arguments *a)
{
    struct known k = {.letters = "-:"};
    int code = 0, status = 0;

    know(&k, command->options);
    know(&k, common_options);
    a->words = argv; /* Written only where it has been read. */
    optind = 0;
    while (!status && !a->run &&
           (code = getopt_long(argc, argv, k.letters, k.options, NULL)) != -1) {
        if (code != 1)
            status = take(&k, code, argv);
        else if (most(a) < 0 || a->count < most(a))
            a->words[a->count++] = optarg;
        else
            a->run = argv + optind - 1;
    }
    if (!status && code == -1)
        take_rest(argc, argv, a);
    return status ? status : judge(a);
}

void options_print(const struct option_row *rows, FILE *to)
{
    char name[64], letter[8];

    for (; rows->name; rows++) {
        snprintf(name, sizeof(name), "%s%s%s", rows->name,
                 rows->value ? "=" : "", rows->value ? rows->value : "");
        snprintf(letter, sizeof(letter), rows->letter ? "-%c," : "   ",
                 rows->letter);
        fprintf(to, "  %s --%-24s %s\n", letter, name, rows->help);
    }
}

int dialect_read(const char *name, evzk_dialect *to)
{
    for (int d = EVZK_DIALECT_EVZK; d <= EVZK_DIALECT_KAZOO; d++) {
        *to = (evzk_dialect)d;
        if (strcmp(evzk_dialect_name(*to), name) == 0)
            return 0;
    }
    return complain_usage("--dialect takes evzk, curator or kazoo, not '%s'",
                          name);
}
