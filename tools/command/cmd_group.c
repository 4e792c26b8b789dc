/* evzk group PATH join|list|watch */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "action.h"
#include "bytes.h"
#include "member.h"
#include "output.h"

static struct {
    const char *id, *data;
    uint32_t wait_ms;
} own = {.wait_ms = UINT32_MAX};

/* clang-format off */
static const struct option_row options[] = {
    OPTION_TEXT_ROW("id", 'i', "ID", &own.id,
        "join: the name of the member (host:pid)"),
    OPTION_TEXT_ROW("data", 'd', "TEXT", &own.data,
        "join: what others read of the member (host:pid)"),
    OPTION_SECONDS_ROW("wait", 'w', "SECONDS", &own.wait_ms,
        "join: if another has ID, wait so long at most"),
    OPTION_END
};
/* clang-format on */

/* ---- join ---- */

static const char *host_and_pid(void)
{
    static char text[EVZK_MEMBER_NAME_MAX + 1];
    char host[100] = "?";

    gethostname(host, sizeof(host) - 1);
    snprintf(text, sizeof(text), "%s:%ld", host, (long)getpid());
    return text;
}

static int join_group(struct member *m)
{
    evzk_member_options opt = {.data = own.data,
                               .data_len = own.data ? strlen(own.data) : 0,
                               .no_wait = own.wait_ms == 0};

    return evzk_group_join(m->connection.session, m->path, m->id, &opt,
                           member_hear, m, &m->object);
}

static int join(const struct arguments *a)
{
    struct member m = {.path = a->words[0],
                       .id = own.id ? own.id : host_and_pid(),
                       .run = a->run,
                       .wait = own.wait_ms ? own.wait_ms : UINT32_MAX,
                       .joined = "joined",
                       .join = join_group};

    return member_run(&m);
}

/* ---- list, watch ---- */

struct view {
    struct connection connection;
    const char *path;
    evzk_group_view *object;
    bool once;
};

static void finish(struct view *v, int status)
{
    connection_finish(&v->connection, status);
}

static void describe(struct json_object *object, const evzk_group_member *m)
{
    json_object_object_add(object, "name", json_object_new_string(m->name));
    if (m->hidden) {
        json_object_object_add(object, "hidden", json_object_new_boolean(1));
        return;
    }
    bytes_add(object, "data", m->data, m->data_len);
    json_object_object_add(object, "token", json_object_new_uint64(m->token));
}

static int list_json(const struct view *v)
{
    struct json_object *all = json_object_new_array(), *one;
    evzk_group_member m;

    for (bool more = evzk_group_view_first(v->object, &m); more;
         more = evzk_group_view_next(v->object, &m)) {
        one = json_object_new_object();
        describe(one, &m);
        json_object_array_add(all, one);
    }
    return output_json(all);
}

/* Data as one line of text; NULL without memory. */
static char *data_line(const evzk_group_member *m)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    if (!to)
        return NULL;
    if (m->hidden)
        fputs("(hidden)", to);
    else
        bytes_print(to, m->data, m->data_len);
    fclose(to);
    return text;
}

static int list_table(const struct view *v)
{
    static const char *const headings[] = {"NAME", "DATA"};
    struct libscols_table *table = output_columns(headings, 2);
    evzk_group_member m;

    for (bool more = table && evzk_group_view_first(v->object, &m); more;
         more = evzk_group_view_next(v->object, &m)) {
        char *data = data_line(&m);

        output_row(table, (const char *const[]){m.name, data}, 2);
        free(data);
    }
    return output_table(table);
}

static int print_json(const struct view *v, const char *event,
                      const evzk_group_member *m)
{
    struct json_object *object = json_object_new_object();

    json_object_object_add(object, "event", json_object_new_string(event));
    if (m)
        describe(object, m);
    else
        json_object_object_add(
            object, "members",
            json_object_new_uint64(evzk_group_view_count(v->object)));
    return output_json(object);
}

static int print(const struct view *v, const char *event,
                 const evzk_group_member *m)
{
    char *data;

    if (settings.json)
        return print_json(v, event, m);
    if (!m) {
        printf("%s %zu\n", event, evzk_group_view_count(v->object));
        return output_flush();
    }
    data = data_line(m);
    printf("%s %s %s\n", event, m->name, data ? data : "");
    free(data);
    return output_flush();
}

static void tell(struct view *v, const char *event, const evzk_group_member *m)
{
    int status =
        v->once || connection_finished(&v->connection) ? 0 : print(v, event, m);

    if (status)
        finish(v, status);
}

static void ready(struct view *v)
{
    if (!v->once)
        tell(v, "ready", NULL);
    else if (!connection_finished(&v->connection))
        finish(v, settings.json ? list_json(v) : list_table(v));
}

static void on_view(evzk_group_view *object, evzk_group_event event, int rc,
                    const evzk_group_member *m, void *arg)
{
    struct view *v = arg;

    (void)object;
    switch (event) {
    case EVZK_GROUP_JOINED:
        tell(v, "joined", m);
        break;
    case EVZK_GROUP_LEFT:
        tell(v, "left", m);
        break;
    case EVZK_GROUP_CHANGED:
        tell(v, "changed", m);
        break;
    case EVZK_GROUP_READY:
        ready(v);
        break;
    case EVZK_GROUP_ENDED:
        if (!connection_finished(&v->connection))
            finish(v, complain_error(rc, v->path));
        break;
    }
}

static int run_view(const char *path, bool once)
{
    struct view v = {.path = path, .once = once};
    int rc, status = connection_open(&v.connection);

    if (!status) {
        rc = evzk_group_watch(v.connection.session, path, NULL, on_view, &v,
                              &v.object);
        status = rc ? complain_error(rc, path) : connection_run(&v.connection);
    }
    evzk_group_view_free(v.object);
    connection_free(&v.connection);
    return status;
}

static int list(const struct arguments *a)
{
    return run_view(a->words[0], true);
}

static int watch(const struct arguments *a)
{
    return run_view(a->words[0], false);
}

static const struct action actions[] = {
    {"join", "[-- CMD [ARG...]]", "id data wait", 0, 0, RUNS_MAYBE, join},
    {"list", "", "", 0, 0, RUNS_NOTHING, list},
    {"watch", "", "", 0, 0, RUNS_NOTHING, watch},
    ACTION_END};

const struct command cmd_group = {
    .name = "group",
    .summary = "be a member of a group, and see who else is",
    .arguments = "PATH join|list|watch",
    .about =
        "join   is a member of the group at PATH while CMD runs; without CMD,\n"
        "       until a signal ends it.  Only one process at a time has an "
        "ID.\n"
        "       A member that the servers have lost joins again by itself.\n"
        "list   prints who is a member now.\n"
        "watch  prints a line for each that joined, left, or changed its "
        "data,\n"
        "       until a signal ends it.  \"ready N\" says that all N members\n"
        "       have been told.\n"
        "\n"
        "  evzk group /workers join -i w1 -d 10.0.0.5 -- ./worker\n"
        "  evzk group /workers watch\n",
    .options = options,
    .actions = actions,
    .min = 1,
    .max = -1,
    .runs = RUNS_MAYBE,
    .run = action_run,
};
