/* Settings: the common options, from three places. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "settings.h"

#define COMMON_MAX 16

struct settings settings = {.connect_ms = 10000};

/* clang-format off */
const struct option_row common_options[] = {
    OPTION_TEXT_ROW("servers", 'S', "HOST:PORT,...[/CHROOT]",
        &settings.servers, "the servers of ZooKeeper"),
    OPTION_TEXT_ROW("auth-file", 0, "FILE",
        &settings.auth_file, "credentials, \"user:password\" a line"),
    OPTION_NUMBER_ROW("session-timeout", 0, "MS",
        &settings.session_timeout, 100, 86400000, "ask for this time-out"),
    OPTION_SECONDS_ROW("connect-timeout", 0, "SECONDS",
        &settings.connect_ms, "give up without an answer (10); 0: never"),
    OPTION_TEXT_ROW("config", 0, "FILE",
        &settings.config, "read settings from here"),
    OPTION_FLAG_ROW("json", 0,
        &settings.json, 1, "print JSON"),
    OPTION_COUNT_ROW("verbose", 'v',
        &settings.verbose, "log to stderr; twice: more"),
    OPTION_FLAG_ROW("help", 'h', &settings.help, 1, "print help"),
    OPTION_FLAG_ROW("version", 0, &settings.version, 1, "print the version"),
    OPTION_END
};

static const struct {
    const char *name, *option;
} environment[] = {
    {"EVZK_SERVERS", "servers"},
    {"EVZK_AUTH_FILE", "auth-file"},
    {"EVZK_CONFIG", "config"},
};
/* clang-format on */

static bool given[COMMON_MAX];

void settings_given(const struct option_row *row)
{
    for (int i = 0; common_options[i].name; i++) {
        if (row == &common_options[i])
            given[i] = true;
    }
}

/* The common option of this name that has a value; -1: none. */
static int find(const char *name)
{
    for (int i = 0; common_options[i].name; i++) {
        if (common_options[i].value &&
            strcmp(common_options[i].name, name) == 0)
            return i;
    }
    return -1;
}

/* Sets an option that no better place has set. */
static int fill(int i, const char *value)
{
    if (given[i])
        return 0;
    given[i] = true;
    return option_set(&common_options[i], value);
}

static int from_environment(void)
{
    size_t n = sizeof(environment) / sizeof(environment[0]);
    int status = 0;

    if (!given[find("auth-file")])
        settings.auth = getenv("EVZK_AUTH");
    for (size_t i = 0; i < n && !status; i++) {
        const char *value = getenv(environment[i].name);

        if (value && *value)
            status = fill(find(environment[i].option), value);
    }
    return status;
}

static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text + strspn(text, " \t");
}

/* A line "key = value".  A text is kept: it lives as long as the process. */
static int take_line(const char *file, int number, char *line)
{
    char *text = trim(line), *equals = strchr(text, '='), *value;
    int i;

    if (!*text || *text == '#')
        return 0;
    if (equals)
        *equals = '\0';
    i = equals ? find(trim(text)) : -1;
    if (i < 0) {
        complain("%s:%d: wanted \"servers = ...\", \"auth-file = ...\", "
                 "\"session-timeout = ...\" or \"connect-timeout = ...\"",
                 file, number);
        return STATUS_USAGE;
    }
    value = trim(equals + 1);
    if (!given[i] && common_options[i].type == OPTION_TEXT)
        value = strdup(value);
    return value ? fill(i, value) : STATUS_INTERNAL;
}

/* A file that `must` be there, or may be missing. */
static int from_file(const char *name, bool must)
{
    FILE *file = fopen(name, "re");
    char *line = NULL;
    size_t size = 0;
    int status = 0;

    if (!file && (must || errno != ENOENT)) {
        complain("cannot read the settings in %s: %s", name, strerror(errno));
        return STATUS_USAGE;
    }
    for (int n = 1; file && !status && getline(&line, &size, file) > 0; n++)
        status = take_line(name, n, line);
    free(line);
    if (file)
        fclose(file);
    return status;
}

static int from_files(void)
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char name[4096];
    int status;

    if (settings.config)
        return from_file(settings.config, true);
    if (folder && *folder)
        snprintf(name, sizeof(name), "%s/evzk.conf", folder);
    else
        snprintf(name, sizeof(name), "%s/.config/evzk.conf", home ? home : "");
    status = from_file(name, false);
    return status ? status : from_file("/etc/evzk.conf", false);
}

int settings_complete(void)
{
    int status = from_environment();

    if (!status)
        status = from_files();
    if (status || settings.servers)
        return status;
    complain("no servers: give --servers HOST:PORT,..., or set EVZK_SERVERS, "
             "or write \"servers = HOST:PORT,...\" into ~/.config/evzk.conf "
             "or /etc/evzk.conf");
    return STATUS_USAGE;
}

int settings_servers(const char *servers, int count)
{
    if (count) {
        settings.servers = servers;
        given[find("servers")] = true;
    }
    return settings_complete();
}
