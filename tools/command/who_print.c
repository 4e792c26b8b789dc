/* What `who` prints: the rows are objects of JSON; a table shows the same. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "contender.h"
#include "output.h"
#include "who.h"

static const char *const headings[] = {"STATE", "HOST", "PID",     "AGE",
                                       "MODE",  "PRIO", "SESSION", "TOKEN"};
#define COLUMNS (sizeof(headings) / sizeof(headings[0]))

void who_clear(struct who_answer *a)
{
    json_object_put(a->rows);
    json_object_put(a->leader);
    *a = (struct who_answer){0};
}

static void add_text(struct json_object *to, const char *key, const char *text)
{
    json_object_object_add(to, key, json_object_new_string(text));
}

static const char *text_of(struct json_object *row, const char *key)
{
    return json_object_get_string(json_object_object_get(row, key));
}

void who_leads(struct who_answer *a, const evzk_leader *leader)
{
    struct identity who;

    identity_read(&who, leader->data ? leader->data : "", leader->data_len);
    a->leader = json_object_new_object();
    add_text(a->leader, "znode", leader->node);
    add_text(a->leader, "address", who.text);
    json_object_object_add(a->leader, "epoch",
                           json_object_new_uint64(leader->epoch));
}

/* Whether another library's contender holds or waits is not known. */
static const char *state_of(const struct who_answer *a, const evzk_contender *c,
                            bool queue)
{
    if (contender_is_lease(c))
        return "holds";
    if (c->foreign)
        return "there";
    if (!c->holder || queue)
        return "waits";
    if (a->leader && strcmp(text_of(a->leader, "znode"), c->node) == 0)
        return "leads";
    return strcmp(contender_mode(c), "candidate") == 0 ? "elected" : "holds";
}

void who_add(struct who_answer *a, const evzk_contender *c, int64_t token,
             bool queue)
{
    struct json_object *row = json_object_new_object();
    struct identity who;
    char session[SESSION_MAX];

    identity_read(&who, c->hidden ? NULL : c->data ? c->data : "", c->data_len);
    session_text(session, c->session);
    add_text(row, "state", state_of(a, c, queue));
    identity_json(row, &who);
    add_text(row, "mode", queue ? "lease" : contender_mode(c));
    if (strstr(c->node, "-p"))
        json_object_object_add(row, "priority",
                               json_object_new_int(c->priority));
    if (!c->hidden) {
        add_text(row, "session", session);
        if (c->age_ms >= 0)
            json_object_object_add(row, "age_ms",
                                   json_object_new_int64(c->age_ms));
    }
    if (token && !queue)
        json_object_object_add(row, "token", json_object_new_int64(token));
    if (c->library && !contender_is_lease(c))
        add_text(row, "library", c->library);
    add_text(row, "znode", c->node);
    if (!a->rows)
        a->rows = json_object_new_array();
    json_object_array_add(a->rows, row);
}

static int print_json(const struct who_answer *a, const char *path)
{
    struct json_object *all = json_object_new_object();

    add_text(all, "path", path);
    if (a->leader)
        json_object_object_add(all, "leader", json_object_get(a->leader));
    json_object_object_add(all, "contenders",
                           a->rows ? json_object_get(a->rows)
                                   : json_object_new_array());
    return output_json(all);
}

/* A host, or what is known instead. */
static const char *host_of(struct json_object *row)
{
    if (json_object_object_get(row, "hidden"))
        return "(hidden)";
    if (json_object_object_get(row, "asked"))
        return "(asked to let go)";
    return text_of(row, json_object_object_get(row, "host") ? "host" : "data");
}

static void print_row(struct libscols_table *table, struct json_object *row)
{
    char age[AGE_MAX] = "";
    struct json_object *ms = json_object_object_get(row, "age_ms");
    const char *cells[COLUMNS] = {
        text_of(row, "state"),   host_of(row),
        text_of(row, "pid"),     age,
        text_of(row, "mode"),    text_of(row, "priority"),
        text_of(row, "session"), text_of(row, "token"),
    };

    if (ms)
        age_text(age, json_object_get_int64(ms));
    for (size_t i = 0; i < COLUMNS; i++)
        cells[i] = cells[i] && cells[i][0] ? cells[i] : "-";
    output_row(table, cells, COLUMNS);
}

/* A screen is wiped; other readers get a block for each change. */
static void print_head(bool again)
{
    time_t now = time(NULL);
    struct tm tm;
    char text[32] = "";

    if (isatty(STDOUT_FILENO))
        fputs("\033[H\033[2J", stdout);
    else if (again)
        putchar('\n');
    if (localtime_r(&now, &tm))
        strftime(text, sizeof(text), "%T", &tm);
    puts(text);
}

int who_print(const struct who_answer *a, const char *path, bool watch,
              bool again)
{
    struct libscols_table *table;
    size_t n = a->rows ? json_object_array_length(a->rows) : 0;

    if (settings.json)
        return print_json(a, path);
    if (watch)
        print_head(again);
    if (n == 0) {
        printf("nobody holds %s or waits for it\n", path);
        return output_flush();
    }
    table = output_columns(headings, COLUMNS);
    for (size_t i = 0; table && i < n; i++)
        print_row(table, json_object_array_get_idx(a->rows, i));
    if (a->leader) {
        int status = output_table(table);

        if (status)
            return status;
        printf("leader: %s\n", text_of(a->leader, "address"));
        return output_flush();
    }
    return output_table(table);
}
