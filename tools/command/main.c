/* The command `evzk`: its subcommands, and the help on them.  command.h says
 * how to add one. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "action.h"
#include "command.h"
#include "output.h"

const struct command *const commands[] = {
#define X(name) &cmd_##name,
    COMMANDS(X)
#undef X
        NULL};

const struct command *command_find(const char *name)
{
    for (const struct command *const *c = commands; *c; c++) {
        if (strcmp((*c)->name, name) == 0)
            return *c;
    }
    return NULL;
}

static void help_on_all(void)
{
    printf("usage: evzk [OPTION...] COMMAND [OPTION...] [ARGUMENT...]\n\n"
           "Locks, elections and other recipes on ZooKeeper servers.\n\n"
           "Commands:\n");
    for (const struct command *const *c = commands; *c; c++)
        printf("  %-10s  %s\n", (*c)->name, (*c)->summary);
    printf("\nOptions of all commands:\n");
    options_print(common_options, stdout);
    printf("\n\"evzk help COMMAND\" says more, and so does evzk(1).\n");
}

void command_help(const struct command *c)
{
    if (!c) {
        help_on_all();
        return;
    }
    if (c->actions)
        action_print(c);
    else
        printf("usage: evzk %s [OPTION...] %s\n", c->name, c->arguments);
    printf("\n%s", c->about);
    if (c->options) {
        printf("\nOptions:\n");
        options_print(c->options, stdout);
    }
    printf("\nOptions of all commands:\n");
    options_print(common_options, stdout);
}

/* For the completion of bash: the names, or the actions and options of one. */
static void print_words(const struct option_row *rows)
{
    for (; rows && rows->name; rows++) {
        printf("--%s%s\n", rows->name, rows->value ? "=" : "");
        if (rows->letter)
            printf("-%c\n", rows->letter);
    }
}

/* evzk --complete [COMMAND] */
static int complete(const char *name)
{
    const struct command *command = name ? command_find(name) : NULL;

    for (const struct command *const *c = commands; !name && *c; c++)
        puts((*c)->name);
    for (const struct action *a = command ? command->actions : NULL;
         a && a->name; a++)
        puts(a->name);
    print_words(command ? command->options : NULL);
    print_words(common_options);
    return output_flush();
}

static int help(const struct command *command)
{
    command_help(command);
    return output_flush();
}

static int run(int argc, char **argv, const struct command *command)
{
    struct arguments arguments = {.command = command};
    int status;

    complaining = command;
    status = options_behind(argc, argv, command, &arguments);
    if (status)
        return status;
    return settings.help ? help(command) : command->run(&arguments);
}

/* Where evzk is started without a standard descriptor, a socket or the
 * watchdog's pipe would get its number, and what is printed would go there.
 * Each is opened the wrong way round, so that its use is an error still. */
static bool fill_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    const struct command *command;
    int at = 0, status;

    if (!fill_descriptors()) {
        complain("cannot open /dev/null: %s", strerror(errno));
        return STATUS_FAILED;
    }
    setlocale(LC_CTYPE, ""); /* For the width of columns. */
    if (argc > 1 && strcmp(argv[1], "--complete") == 0)
        return complete(argv[2]);
    status = options_before(argc, argv, &at);
    if (status)
        return status;
    if (settings.version)
        return cmd_version.run(NULL);
    if (settings.help)
        return help(NULL);
    if (at >= argc)
        return complain_usage("which command?");
    command = command_find(argv[at]);
    if (!command)
        return complain_usage("there is no command '%s'", argv[at]);
    return run(argc - at, argv + at, command);
}
