/* Finds an action, checks its arguments, and runs it. */
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "action.h"

const struct action *action_find(const struct action *actions,
                                 const struct arguments *arguments)
{
    const char *name = arguments->count > 1 ? arguments->words[1] : "";

    for (const struct action *a = actions; a->name; a++) {
        if (strcmp(a->name, name) == 0 ||
            (strcmp(a->name, "N") == 0 && isdigit((unsigned char)name[0])))
            return a;
    }
    return NULL;
}

static bool has_word(const char *words, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");

        if (n == len && memcmp(at, word, len) == 0)
            return true;
        at += n;
    }
    return false;
}

/* An option of another action would be left out in silence. */
static int judge_options(const struct action *action,
                         const struct command *command)
{
    const struct option_row *row = command->options;

    for (; row && row->name; row++) {
        if (option_given(row) && !has_word(action->options, row->name))
            return complain_usage("--%s is no option of '%s'", row->name,
                                  action->name);
    }
    return 0;
}

static int refuse(const struct action *action, const char *why)
{
    return complain_usage("%s: wanted: PATH %s%s%s", why, action->name,
                          action->arguments[0] ? " " : "", action->arguments);
}

static int refuse_word(const struct action *action, const char *word)
{
    char why[100];

    snprintf(why, sizeof(why), "'%s' is too much", word);
    return refuse(action, why);
}

static int judge(const struct action *action, const struct arguments *a)
{
    if (a->count < action->min)
        return refuse(action, "something is missing");
    if (action->max >= 0 && a->count > action->max)
        return refuse_word(action, a->words[action->max + 2]);
    if (action->runs == RUNS_NOTHING && a->run)
        return refuse_word(action, a->run[0]);
    if (action->runs == RUNS_CMD && !a->run)
        return refuse(action, "no command to run");
    return judge_options(action, a->command);
}

int action_start(const struct action *action, const struct arguments *arguments)
{
    struct arguments own = *arguments;
    int status;

    own.count = arguments->count - 2;
    status = judge(action, &own);
    if (status)
        return status;
    /* PATH takes the place of the action's name. */
    own.words = arguments->words + 1;
    own.words[0] = arguments->words[0];
    return action->run(&own);
}

static int complain_action(const struct arguments *arguments)
{
    char names[200] = "";

    for (const struct action *a = arguments->command->actions; a->name; a++) {
        size_t len = strlen(names);

        snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "",
                 a->name);
    }
    if (arguments->count < 2)
        return complain_usage("what to do at %s?  One of: %s",
                              arguments->words[0], names);
    return complain_usage("there is no action '%s': wanted one of: %s",
                          arguments->words[1], names);
}

int action_run(const struct arguments *arguments)
{
    const struct action *action =
        action_find(arguments->command->actions, arguments);

    return action ? action_start(action, arguments)
                  : complain_action(arguments);
}

void action_print(const struct command *command)
{
    const char *lead = "usage:";

    for (const struct action *a = command->actions; a->name; a++) {
        printf("%-6s evzk %s [OPTION...] PATH %s%s%s\n", lead, command->name,
               a->name, a->arguments[0] ? " " : "", a->arguments);
        lead = "";
    }
}

int complain_waited(const struct connection *c, const char *format, ...)
{
    char text[600];
    va_list list;

    if (!c->connected) {
        complain("no server answered in time: %s: is the address right, and "
                 "does a server run there? (-v says more, a longer -w waits "
                 "longer)",
                 settings.servers);
        return STATUS_NO_SERVER;
    }
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    complain("%s", text);
    return STATUS_NOT_GOT;
}

int action_number(const char *word, const char *name, uint32_t min,
                  uint32_t max, uint32_t *out)
{
    const struct option_row row =
        OPTION_NUMBER_ROW(name, 0, name, out, min, max, "");

    return option_set(&row, word);
}
