/* evzk doctor [SERVERS]: checks what evzk relies on. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "doctor.h"
#include "output.h"

static const char *path = "/";

static const struct option_row options[] = {
    OPTION_TEXT_ROW("path", 'p', "PATH", &path,
                    "where the programs have their locks (/)"),
    OPTION_END};

static const char *const verdicts[] = {"ok", "warn", "fail"};

void doctor_report(struct doctor *d, enum verdict verdict, const char *advice,
                   const char *format, ...)
{
    char text[1000];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    if (verdict > d->worst)
        d->worst = verdict;
    if (d->checks) {
        struct json_object *o = json_object_new_object();

        json_object_object_add(o, "result",
                               json_object_new_string(verdicts[verdict]));
        json_object_object_add(o, "what", json_object_new_string(text));
        if (advice)
            json_object_object_add(o, "advice", json_object_new_string(advice));
        json_object_array_add(d->checks, o);
        return;
    }
    printf("%-4s  %s%s%s\n", verdicts[verdict], text, advice ? " -- " : "",
           advice ? advice : "");
    fflush(stdout);
}

/* The session has no chroot, since quotas are kept outside of it: so the chroot
 * goes to the path. */
static int move_chroot(struct doctor *d)
{
    const char *chroot = strchr(settings.servers, '/');
    char *servers;
    size_t room;

    if (!chroot || !chroot[1])
        chroot = "";
    d->chroot = strlen(chroot);
    room = d->chroot + strlen(path) + 1;
    d->path = malloc(room);
    servers = strdup(settings.servers);
    if (!d->path || !servers) {
        free(servers);
        return STATUS_FAILED;
    }
    snprintf(d->path, room, "%s%s", chroot,
             d->chroot && strcmp(path, "/") == 0 ? "" : path);
    servers[strcspn(servers, "/")] = '\0';
    settings.servers = servers; /* As long as the process lives. */
    return 0;
}

static int end(struct doctor *d, int status)
{
    static const int statuses[] = {STATUS_OK, STATUS_FOUND, STATUS_UNFIT};

    if (d->checks) {
        struct json_object *all = json_object_new_object();

        json_object_object_add(all, "result",
                               json_object_new_string(verdicts[d->worst]));
        json_object_object_add(all, "checks", d->checks);
        if (output_json(all))
            return STATUS_FAILED;
    }
    if (!status)
        status = output_flush();
    return status ? status : statuses[d->worst];
}

static bool any_answers(const struct doctor *d)
{
    for (size_t i = 0; i < d->servers.n; i++) {
        if (!server_error(&d->servers.v[i]))
            return true;
    }
    return false;
}

static int examine(struct doctor *d)
{
    int status = servers_ask(&d->servers, WORD_CONF);

    if (status)
        return status;
    if (settings.json)
        d->checks = json_object_new_array();
    doctor_check_servers(d);
    if (any_answers(d))
        status = doctor_check_session(d);
    return end(d, status);
}

static int run(const struct arguments *arguments)
{
    struct doctor d = {0};
    int status = settings_servers(arguments->words[0], arguments->count);

    if (!status && path[0] != '/')
        status = complain_usage("--path: '%s' must begin with '/'", path);
    if (!status)
        status = servers_read(&d.servers);
    if (!status)
        status = move_chroot(&d);
    if (!status)
        status = examine(&d);
    servers_free(&d.servers);
    free(d.path);
    return status;
}

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "check that the servers are fit for evzk",
    .arguments = "[HOST:PORT,...]",
    .about =
        "Checks what evzk relies on: that all servers can be reached and are\n"
        "new enough, that one leads, the limits of sessions, containers, the\n"
        "size of requests, clocks, quotas, and whether PATH can be used.\n"
        "Each line says ok, warn or fail, what was found, and behind \"--\"\n"
        "what to change.  Znodes that are made for it, named evzk-doctor-...,\n"
        "are removed again; what cannot be removed is named.\n"
        "\n"
        "  evzk doctor zk1:2181,zk2:2181,zk3:2181 --path /app\n"
        "\n"
        "The exit status is 0 if all is ok, 2 after a warning, 3 after a "
        "failure.\n",
    .options = options,
    .max = 1,
    .run = run,
};
