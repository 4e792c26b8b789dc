/* Reads credentials. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "auth.h"
#include "command.h"
#include "connect.h"

static const char *const schemes[] = {"digest", "auth", "ip",
                                      "sasl",   "x509", "super"};

/* "scheme:credentials", or credentials of the scheme "digest". */
static int add(evzk_session *session, const char *text)
{
    const char *scheme = "digest", *rest = strchr(text, ':');
    size_t len = rest ? (size_t)(rest - text) : 0;
    int rc;

    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        if (strlen(schemes[i]) == len && strncmp(schemes[i], text, len) == 0) {
            scheme = schemes[i];
            text = rest + 1;
            break;
        }
    }
    rc = evzk_session_add_auth(session, scheme, text, strlen(text));
    return rc ? complain_error(rc, "credentials") : 0;
}

static int refuse(const char *why)
{
    complain("%s: %s", settings.auth_file, why);
    return STATUS_USAGE;
}

/* A line each; empty lines and lines with "#" in front are left out. */
static int add_lines(evzk_session *session, FILE *file)
{
    char *line = NULL;
    size_t size = 0;
    int status = 0;

    while (!status && getline(&line, &size, file) > 0) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] && line[0] != '#')
            status = add(session, line);
    }
    if (line)
        explicit_bzero(line, size);
    free(line);
    return status;
}

static int add_file(evzk_session *session)
{
    FILE *file = fopen(settings.auth_file, "re");
    struct stat about;
    int status;

    if (!file)
        return refuse(strerror(errno));
    if (fstat(fileno(file), &about) || (about.st_mode & (S_IRWXG | S_IRWXO)))
        status = refuse("others may read it: chmod 600 this file");
    else
        status = add_lines(session, file);
    fclose(file);
    return status;
}

int auth_add(evzk_session *session)
{
    int status = settings.auth ? add(session, settings.auth) : 0;

    if (!status && settings.auth_file)
        status = add_file(session);
    return status;
}
