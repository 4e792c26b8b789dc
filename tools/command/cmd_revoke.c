/* evzk revoke PATH: asks holders and waiters to let go.
 *
 * The request takes the place of the data of a contender.  So all contenders
 * are looked up before, to say afterwards which processes they were. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "connect.h"
#include "contender.h"
#include "output.h"

#define UNSET UINT32_MAX

/* A contender, as it was before it was asked. */
struct before {
    char *node;
    struct identity who;
};

struct revoke {
    struct connection connection;
    const char *path;
    evzk_lock_query *query;
    evzk_lock_revoke *revoke;
    struct before *before;
    size_t n;
    int signo; /* Which ended the wait, or 0. */
};

static int take_away, shared;
static const char *dialect_name = "evzk";
static evzk_dialect dialect;
static uint32_t grace_ms = UNSET, wait_ms = UNSET, priority;

static const struct option_row options[] = {
    OPTION_FLAG_ROW("remove", 'r', &take_away, 1,
                    "delete the znodes of those that stay"),
    OPTION_NUMBER_ROW("grace", 'g', "MS", &grace_ms, 0, 86400000,
                      "but not before this time (10000)"),
    OPTION_FLAG_ROW("shared", 's', &shared, 1,
                    "ask those alone that keep readers out"),
    OPTION_NUMBER_ROW("priority", 'p', "NUMBER", &priority, 0, 255,
                      "ask those of this priority and less urgent ones"),
    OPTION_TEXT_ROW("dialect", 0, "evzk|curator|kazoo", &dialect_name,
                    "ask the contenders of this library"),
    OPTION_SECONDS_ROW("wait", 'w', "SECONDS", &wait_ms,
                       "wait no longer for them to go"),
    OPTION_END};

static const char *const headings[] = {"HOST", "PID", "NOW", "ZNODE"};
#define COLUMNS (sizeof(headings) / sizeof(headings[0]))

static void give_up(struct revoke *r, int rc)
{
    if (connection_finished(&r->connection) || rc == EVZK_ERR_CLOSED)
        return;
    connection_finish(&r->connection, complain_error(rc, r->path));
}

static const char *how_text(evzk_revoked_how how)
{
    switch (how) {
    case EVZK_REVOKED_YIELDED:
        return "gone";
    case EVZK_REVOKED_REMOVED:
        return "removed";
    case EVZK_REVOKED_STAYS:
        break;
    }
    return "stays";
}

static void read_before(const struct revoke *r, const char *node,
                        struct identity *out)
{
    identity_read(out, NULL, 0);
    for (size_t i = 0; i < r->n; i++) {
        if (strcmp(r->before[i].node, node) == 0)
            *out = r->before[i].who;
    }
}

static int print_json(const struct revoke *r, const evzk_revoked *v, size_t n)
{
    struct json_object *all = json_object_new_object();
    struct json_object *list = json_object_new_array();
    struct identity who;

    for (size_t i = 0; i < n; i++) {
        struct json_object *o = json_object_new_object();

        read_before(r, v[i].node, &who);
        identity_json(o, &who);
        json_object_object_add(o, "now",
                               json_object_new_string(how_text(v[i].how)));
        json_object_object_add(o, "znode", json_object_new_string(v[i].node));
        json_object_array_add(list, o);
    }
    json_object_object_add(all, "path", json_object_new_string(r->path));
    json_object_object_add(all, "asked", list);
    return output_json(all);
}

static int print_table(const struct revoke *r, const evzk_revoked *v, size_t n)
{
    struct libscols_table *table;
    struct identity who;

    if (n == 0) {
        printf("nobody to ask at %s\n", r->path);
        return output_flush();
    }
    table = output_columns(headings, COLUMNS);
    for (size_t i = 0; table && i < n; i++) {
        const char *cells[COLUMNS] = {who.host, who.pid, how_text(v[i].how),
                                      v[i].node};

        read_before(r, v[i].node, &who);
        if (who.hidden || who.asked || !who.text[0])
            cells[0] = identity_text(&who);
        if (!who.pid[0])
            cells[1] = "-";
        output_row(table, cells, COLUMNS);
    }
    return output_table(table);
}

/* Some stay: says what can be done. */
static int complain_stay(const struct revoke *r)
{
    if (r->signo)
        return 128 + r->signo;
    complain("%s: some stay (they were asked; --remove takes the lock from "
             "them)",
             r->path);
    return STATUS_NOT_GOT;
}

static void on_end(evzk_lock_revoke *revoke, int rc, const evzk_revoked *v,
                   size_t n, void *arg)
{
    struct revoke *r = arg;
    int status;

    (void)revoke;
    if (connection_finished(&r->connection))
        return;
    if (rc && rc != EVZK_ERR_TIMEOUT && rc != EVZK_ERR_CANCELED) {
        give_up(r, rc);
        return;
    }
    if (rc == EVZK_ERR_TIMEOUT && !r->connection.connected) {
        complain("%s: no server answered in time: %s", r->path,
                 settings.servers);
        connection_finish(&r->connection, STATUS_NO_SERVER);
        return;
    }
    status = settings.json ? print_json(r, v, n) : print_table(r, v, n);
    if (!status && rc)
        status = complain_stay(r);
    connection_finish(&r->connection, status);
}

static int ask(struct revoke *r)
{
    evzk_lock_revoke_options opt = {
        .mode = shared ? EVZK_LOCK_READ : EVZK_LOCK_EXCLUSIVE,
        .priority = (uint8_t)priority,
        .dialect = dialect,
        .remove = take_away,
        .grace_ms = grace_ms == UNSET ? 10000 : grace_ms,
        .timeout_ms = wait_ms == UNSET ? 0 : wait_ms};

    if (!take_away)
        opt.grace_ms = 0;
    return evzk_lock_revoke_start(r->connection.session, r->path, &opt, on_end,
                                  r, &r->revoke);
}

static int keep(struct revoke *r, const evzk_contender *v, size_t n)
{
    r->before = calloc(n ? n : 1, sizeof(*r->before));
    for (size_t i = 0; r->before && i < n; i++) {
        struct before *one = &r->before[i];

        one->node = strdup(v[i].node);
        if (!one->node)
            return EVZK_ERR_NOMEM;
        identity_read(&one->who,
                      v[i].hidden ? NULL
                      : v[i].data ? v[i].data
                                  : "",
                      v[i].data_len);
        r->n++;
    }
    return r->before ? EVZK_OK : EVZK_ERR_NOMEM;
}

static void on_answer(evzk_lock_query *query, int rc, const evzk_contender *v,
                      size_t n, void *arg)
{
    struct revoke *r = arg;

    evzk_lock_query_free(query);
    r->query = NULL;
    if (!rc)
        rc = keep(r, v, n);
    if (!rc)
        rc = ask(r);
    if (rc)
        give_up(r, rc);
}

/* The first signal ends the wait, and what became of all is printed. */
static void on_stop(int signo, void *arg)
{
    struct revoke *r = arg;

    if (!r->signo && r->revoke && !evzk_lock_revoke_cancel(r->revoke))
        r->signo = signo;
    else
        connection_finish(&r->connection, 128 + signo);
}

static int run(const struct arguments *arguments)
{
    struct revoke r = {.path = arguments->words[0],
                       .connection = {.stop = on_stop, .arg = &r}};
    int status, rc;

    if (grace_ms != UNSET && !take_away)
        return complain_usage("--grace says when --remove may delete znodes: "
                              "give both");
    if (wait_ms == 0)
        return complain_usage("--wait takes more than 0 seconds");
    status = dialect_read(dialect_name, &dialect);
    if (!status)
        status = connection_open(&r.connection);
    if (!status) {
        rc = evzk_lock_query_start(r.connection.session, r.path, on_answer, &r,
                                   &r.query);
        status =
            rc ? complain_error(rc, r.path) : connection_run(&r.connection);
    }
    evzk_lock_query_free(r.query);
    evzk_lock_revoke_free(r.revoke);
    for (size_t i = 0; i < r.n; i++)
        free(r.before[i].node);
    free(r.before);
    connection_free(&r.connection);
    return status;
}

const struct command cmd_revoke = {
    .name = "revoke",
    .summary = "ask the holders of a lock to let go",
    .arguments = "PATH",
    .about =
        "Asks all that hold the lock at PATH, or wait for it, to let go, and\n"
        "waits until they have gone.  PATH may be an election, too.  A\n"
        "program that was asked goes on working until it heeds the request:\n"
        "`evzk lock` sends SIGTERM to its CMD.  With --remove the lock is\n"
        "taken from those that stay longer than --grace: CMD is killed.\n"
        "\n"
        "  evzk revoke /cron/backup\n"
        "  evzk revoke --remove --grace 30000 /cron/backup\n"
        "\n"
        "The exit status is 73 when some stay longer than --wait.\n",
    .options = options,
    .min = 1,
    .max = 1,
    .run = run,
};
