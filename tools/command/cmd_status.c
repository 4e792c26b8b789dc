/* evzk status [SERVERS]: what the servers say of themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "output.h"
#include "words.h"

#define CELL_MAX 200
#define WHITELIST "4lw.commands.whitelist=srvr,mntr,ruok,conf"

static const char *const headings[] = {"SERVER", "MODE",   "VERSION",
                                       "CONNS",  "MS",     "WAITING",
                                       "ZXID",   "ZNODES", "WATCHES"};
static const char *const keys[] = {"server",      "mode",    "version",
                                   "connections", "latency", "outstanding",
                                   "zxid",        "znodes",  "watches"};
#define COLUMNS (sizeof(headings) / sizeof(headings[0]))

enum {
    SERVER,
    MODE,
    VERSION,
    CONNS,
    LATENCY,
    OUTSTANDING,
    ZXID,
    ZNODES,
    WATCHES
};

typedef char row[COLUMNS][CELL_MAX];

static void cell(row cells, int column, const struct server *s, enum word word,
                 const char *key)
{
    if (!server_value(s, word, key, cells[column], CELL_MAX))
        strcpy(cells[column], "-");
}

/* A server that does not serve answers each word with a sentence. */
static bool serves(const struct server *s)
{
    char text[CELL_MAX];

    return server_value(s, WORD_SRVR, "Zookeeper version", text, sizeof(text));
}

static void fill(row cells, const struct server *s)
{
    int v[3];

    snprintf(cells[SERVER], CELL_MAX, "%s", s->name);
    cell(cells, MODE, s, WORD_SRVR, "Mode");
    if (!server_version(s, cells[VERSION], CELL_MAX, v))
        strcpy(cells[VERSION], "-");
    cell(cells, CONNS, s, WORD_SRVR, "Connections");
    cell(cells, LATENCY, s, WORD_SRVR, "Latency min/avg/max");
    cell(cells, OUTSTANDING, s, WORD_SRVR, "Outstanding");
    cell(cells, ZXID, s, WORD_SRVR, "Zxid");
    cell(cells, ZNODES, s, WORD_SRVR, "Node count");
    cell(cells, WATCHES, s, WORD_MNTR, "zk_watch_count");
    if (server_error(s))
        strcpy(cells[MODE], "unreachable");
    else if (server_refuses(s, WORD_SRVR))
        strcpy(cells[MODE], "silent");
    else if (server_waits(s))
        strcpy(cells[MODE], "not serving");
    else if (!serves(s))
        strcpy(cells[MODE], "no ZooKeeper");
}

/* Says what a server lacks, and what helps.  Returns an exit status. */
static int judge(const struct server *s)
{
    const char *error = server_error(s);

    if (error) {
        complain("%s: %s", s->name, error);
        return STATUS_FAILED;
    }
    if (server_refuses(s, WORD_SRVR) || server_refuses(s, WORD_MNTR) ||
        server_refuses(s, WORD_RUOK)) {
        complain("%s: does not tell all: put \"" WHITELIST
                 "\" into its zoo.cfg, and start it again",
                 s->name);
        return STATUS_OK;
    }
    if (serves(s))
        return STATUS_OK;
    if (server_waits(s))
        complain("%s: does not serve: is a majority of the servers up, and "
                 "can they reach each other?",
                 s->name);
    else
        complain("%s: is no server of ZooKeeper: \"%.*s\"", s->name, 60,
                 server_said(s));
    return STATUS_FAILED;
}

static struct json_object *to_json(row cells, const struct server *s)
{
    struct json_object *o = json_object_new_object();
    int64_t number;

    for (size_t i = 0; i < COLUMNS; i++) {
        char *end;

        number = strtoll(cells[i], &end, 10);
        if (*end == '\0' && end != cells[i])
            json_object_object_add(o, keys[i], json_object_new_int64(number));
        else if (strcmp(cells[i], "-") != 0)
            json_object_object_add(o, keys[i],
                                   json_object_new_string(cells[i]));
    }
    if (s->said[WORD_RUOK] && !server_refuses(s, WORD_RUOK))
        json_object_object_add(
            o, "ok",
            json_object_new_boolean(strcmp(s->said[WORD_RUOK], "imok") == 0));
    if (server_error(s))
        json_object_object_add(o, "error",
                               json_object_new_string(server_error(s)));
    return o;
}

static int print(const struct servers *s)
{
    struct json_object *list = settings.json ? json_object_new_array() : NULL;
    struct libscols_table *table =
        list ? NULL : output_columns(headings, COLUMNS);

    for (size_t i = 0; i < s->n; i++) {
        const char *cells[COLUMNS];
        row texts;

        fill(texts, &s->v[i]);
        for (size_t k = 0; k < COLUMNS; k++)
            cells[k] = texts[k];
        if (list)
            json_object_array_add(list, to_json(texts, &s->v[i]));
        else if (table)
            output_row(table, cells, COLUMNS);
    }
    return list ? output_json(list) : output_table(table);
}

static int run(const struct arguments *arguments)
{
    struct servers s = {0};
    int status = settings_servers(arguments->words[0], arguments->count);
    size_t errors = 0;

    if (!status)
        status = servers_read(&s);
    if (!status)
        status = servers_ask(&s, WORD_RUOK);
    if (!status)
        status = print(&s);
    for (size_t i = 0; i < s.n && (status == 0 || errors); i++) {
        if (judge(&s.v[i])) {
            status = STATUS_FAILED;
            errors++;
        }
    }
    if (errors && errors == s.n)
        status = STATUS_NO_SERVER;
    servers_free(&s);
    return status;
}

const struct command cmd_status = {
    .name = "status",
    .summary = "show what the servers say of themselves",
    .arguments = "[HOST:PORT,...]",
    .about =
        "Asks each server for its mode (leader, follower, observer or\n"
        "standalone), version, connections, latency (least/average/most), and\n"
        "so on.  No session is made.  Without an argument the servers are\n"
        "those of --servers.\n"
        "\n"
        "  evzk status zk1:2181,zk2:2181,zk3:2181\n"
        "\n"
        "The exit status is 0 if all serve, 1 if some do not, 69 if none "
        "does.\n",
    .max = 1,
    .run = run,
};
