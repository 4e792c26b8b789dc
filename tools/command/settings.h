/* What the common options say.  The command line comes first, then the
 * environment, then a file. */
#ifndef EVZK_COMMAND_SETTINGS_H
#define EVZK_COMMAND_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

/* What every subcommand takes.  options_settle() fills in what the command line
 * left open. */
struct settings {
    const char *servers;      /* As given: "host:port,...[/chroot]". */
    const char *auth_file;    /* NULL: none. */
    const char *auth;         /* From EVZK_AUTH; NULL: none. */
    const char *config;       /* A file of settings; NULL: the usual ones. */
    uint32_t session_timeout; /* Milliseconds; 0: the library's. */
    uint32_t connect_ms;      /* How long to wait for a first server. */
    int json, verbose, help, version;
};

extern struct settings settings;
extern const struct option_row common_options[];

/* Notes that the command line has this option. */
void settings_given(const struct option_row *row);

/* Fills in from the environment and the file: 0, or an exit status with a
 * message, also when no servers are named. */
int settings_complete(void);

/* The same for a subcommand with servers as its argument: `servers` counts more
 * than --servers, if there is one (`count` 1). */
int settings_servers(const char *servers, int count);

#endif
