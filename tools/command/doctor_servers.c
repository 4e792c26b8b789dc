/* Checks of what the servers say of themselves. */
#include <string.h>

#include "command.h"
#include "doctor.h"

#define WORDS_ADVICE                                                           \
    "put \"4lw.commands.whitelist=srvr,mntr,ruok,conf\" into zoo.cfg of the "  \
    "server"
#define CLIENTS_MIN 10

static void check_reachable(struct doctor *d, const struct server *s)
{
    const char *error = server_error(s);

    if (error)
        doctor_report(d, VERDICT_FAIL,
                      "start it, or correct the address, or the firewall",
                      "%s: %s", s->name, error);
    else if (server_waits(s))
        doctor_report(d, VERDICT_FAIL,
                      "start the others, until a majority is up",
                      "%s: does not serve: sees no majority", s->name);
    else if (server_refuses(s, WORD_SRVR))
        doctor_report(d, VERDICT_WARN, WORDS_ADVICE,
                      "%s: tells nothing of itself", s->name);
}

static void check_version(struct doctor *d, const struct server *s)
{
    char text[100];
    int v[3];

    if (!server_version(s, text, sizeof(text), v)) {
        if (!server_error(s) && !server_waits(s) &&
            !server_refuses(s, WORD_SRVR))
            doctor_report(d, VERDICT_FAIL, "correct the address",
                          "%s: is no server of ZooKeeper: \"%s\"", s->name,
                          server_said(s));
        return;
    }
    if (v[0] < 3 || (v[0] == 3 && v[1] < 5))
        doctor_report(d, VERDICT_FAIL, "evzk needs version 3.5 or newer",
                      "%s: version %s", s->name, text);
    else if (strstr(text, "alpha") || strstr(text, "beta"))
        doctor_report(d, VERDICT_WARN,
                      "use a stable release: 3.5.5 is the first of 3.5",
                      "%s: version %s", s->name, text);
    else
        doctor_report(d, VERDICT_OK, NULL, "%s: version %s", s->name, text);
}

/* Do all servers that tell say the same?  `out` becomes the first answer. */
static bool same(const struct doctor *d, enum word word, const char *key,
                 int64_t *out)
{
    bool found = false, agree = true;
    int64_t one;

    for (size_t i = 0; i < d->servers.n; i++) {
        if (!server_number(&d->servers.v[i], word, key, &one))
            continue;
        agree = agree && (!found || one == *out);
        *out = found ? *out : one;
        found = true;
    }
    return agree;
}

static void check_same_version(struct doctor *d)
{
    char first[100] = "", text[100];
    int v[3];

    for (size_t i = 0; i < d->servers.n; i++) {
        if (!server_version(&d->servers.v[i], text, sizeof(text), v))
            continue;
        if (first[0] && strcmp(first, text) != 0) {
            doctor_report(d, VERDICT_WARN, "bring all to the newest of them",
                          "the servers have different versions: %s and %s",
                          first, text);
            return;
        }
        strcpy(first, text);
    }
}

static size_t count_mode(const struct doctor *d, const char *mode)
{
    char text[100];
    size_t n = 0;

    for (size_t i = 0; i < d->servers.n; i++)
        n += server_value(&d->servers.v[i], WORD_SRVR, "Mode", text,
                          sizeof(text)) &&
             strcmp(text, mode) == 0;
    return n;
}

static void check_leader(struct doctor *d)
{
    size_t leaders = count_mode(d, "leader");
    size_t alone = count_mode(d, "standalone");
    size_t followers = count_mode(d, "follower") + count_mode(d, "observer");

    if (leaders + followers + alone == 0)
        return; /* Nobody tells. */
    if (leaders > 1 || (alone && alone + leaders + followers > 1))
        doctor_report(d, VERDICT_FAIL,
                      "name the servers of one ensemble alone in --servers",
                      "more than one leader: these are several ensembles");
    else if (alone)
        doctor_report(d, VERDICT_OK, NULL, "one server, without others");
    else if (leaders == 0)
        doctor_report(d, VERDICT_WARN, "name all servers in --servers",
                      "none of these servers is the leader");
    else
        doctor_report(d, VERDICT_OK, NULL, "one leader, %zu that follow",
                      followers);
}

static void check_clients(struct doctor *d)
{
    int64_t most = -1;

    if (!same(d, WORD_CONF, "maxClientCnxns", &most))
        doctor_report(d, VERDICT_WARN, "give all servers the same number",
                      "maxClientCnxns differs between the servers");
    if (most < 0)
        return;
    if (most > 0 && most < CLIENTS_MIN)
        doctor_report(d, VERDICT_WARN,
                      "raise maxClientCnxns: each process takes one, and one "
                      "more while it changes servers",
                      "%lld connections from one address at most",
                      (long long)most);
    else if (most)
        doctor_report(d, VERDICT_OK, NULL,
                      "%lld connections from one address at most",
                      (long long)most);
    else
        doctor_report(d, VERDICT_OK, NULL,
                      "any number of connections from one address");
}

void doctor_check_servers(struct doctor *d)
{
    for (size_t i = 0; i < d->servers.n; i++) {
        check_reachable(d, &d->servers.v[i]);
        check_version(d, &d->servers.v[i]);
    }
    check_same_version(d);
    check_leader(d);
    check_clients(d);
}

static void check_ticks(struct doctor *d, int64_t granted_ms)
{
    int64_t tick = 0, least = 0, most = 0;

    if (!same(d, WORD_CONF, "tickTime", &tick) ||
        !same(d, WORD_CONF, "minSessionTimeout", &least) ||
        !same(d, WORD_CONF, "maxSessionTimeout", &most))
        doctor_report(d, VERDICT_WARN,
                      "give all servers the same tickTime, minSessionTimeout "
                      "and maxSessionTimeout",
                      "the limits of sessions differ between the servers: a "
                      "lease may seem longer than it is");
    if (tick == 0)
        doctor_report(d, VERDICT_WARN, WORDS_ADVICE,
                      "the tick is unknown: a session time-out has to be two "
                      "ticks at least");
    else if (granted_ms < 2 * tick)
        doctor_report(d, VERDICT_FAIL,
                      "give a longer --session-timeout, or lower tickTime",
                      "the session time-out, %lld ms, is less than two ticks "
                      "of %lld ms: leases are not safe",
                      (long long)granted_ms, (long long)tick);
    else
        doctor_report(d, VERDICT_OK, NULL,
                      "a tick of %lld ms, sessions of %lld to %lld ms",
                      (long long)tick, (long long)least, (long long)most);
}

void doctor_check_timeout(struct doctor *d, int64_t granted_ms)
{
    int64_t asked_ms =
        settings.session_timeout ? settings.session_timeout : 10000;

    if (granted_ms == asked_ms)
        doctor_report(d, VERDICT_OK, NULL, "a session time-out of %lld ms",
                      (long long)granted_ms);
    else
        doctor_report(d, VERDICT_WARN,
                      "give a --session-timeout within the limits, or change "
                      "minSessionTimeout or maxSessionTimeout",
                      "a session time-out of %lld ms was asked for, and %lld "
                      "ms granted",
                      (long long)asked_ms, (long long)granted_ms);
    check_ticks(d, granted_ms);
}
