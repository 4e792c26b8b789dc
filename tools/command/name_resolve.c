/* evzk name PATH resolve, list, follow */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "name.h"
#include "output.h"

enum what { RESOLVE, LIST, FOLLOW };

struct resolve {
    struct connection connection;
    const char *path;
    const char *name; /* NULL: any. */
    enum what what;
    evzk_resolver *object;
    struct event *patience;
    bool late; /* The time to wait is over. */
};

static void finish(struct resolve *r, int status)
{
    connection_finish(&r->connection, status);
}

static void address(const evzk_resolved *e, char *text, size_t size)
{
    if (e->hidden || e->malformed)
        snprintf(text, size, e->hidden ? "(hidden)" : "(no address)");
    else
        snprintf(text, size,
                 strchr(e->endpoint.host, ':') ? "[%s]:%u" : "%s:%u",
                 e->endpoint.host, e->endpoint.port);
}

static void describe(struct json_object *object, const evzk_resolved *e)
{
    char text[300];

    json_object_object_add(object, "name", json_object_new_string(e->name));
    if (e->hidden) {
        json_object_object_add(object, "hidden", json_object_new_boolean(1));
    } else if (e->malformed) {
        bytes_add(object, "malformed", e->text, e->text_len);
    } else {
        address(e, text, sizeof(text));
        json_object_object_add(object, "address", json_object_new_string(text));
        json_object_object_add(object, "host",
                               json_object_new_string(e->endpoint.host));
        json_object_object_add(object, "port",
                               json_object_new_int(e->endpoint.port));
        json_object_object_add(object, "weight",
                               json_object_new_int64(e->endpoint.weight));
        bytes_add(object, "data", e->endpoint.data, e->endpoint.data_len);
    }
}

/* ---- resolve ---- */

static int print_one(const evzk_resolved *e)
{
    struct json_object *object;
    char text[300];

    if (settings.json) {
        object = json_object_new_object();
        describe(object, e);
        return output_json(object);
    }
    address(e, text, sizeof(text));
    puts(text);
    return output_flush();
}

static bool any_is_hidden(const struct resolve *r)
{
    evzk_resolved e;

    for (bool more = evzk_resolver_first(r->object, &e); more;
         more = evzk_resolver_next(r->object, &e)) {
        if (e.hidden)
            return true;
    }
    return false;
}

static int complain_none(const struct resolve *r)
{
    evzk_resolved e;

    if (r->name && evzk_resolver_find(r->object, r->name, &e)) {
        complain("%s: '%s' %s", r->path, r->name,
                 e.hidden ? "may not be read: give credentials with "
                            "--auth-file or EVZK_AUTH"
                          : "has no address: was it made by another program?");
        return e.hidden ? STATUS_NOT_ALLOWED : STATUS_FAILED;
    }
    if (r->name)
        return complain_waited(&r->connection,
                               "%s: nobody has registered '%s' (-w 10 waits, "
                               "`evzk name %s list` shows who has)",
                               r->path, r->name, r->path);
    if (any_is_hidden(r)) {
        complain("%s: no address may be read: give credentials with "
                 "--auth-file or EVZK_AUTH",
                 r->path);
        return STATUS_NOT_ALLOWED;
    }
    return complain_waited(&r->connection,
                           "%s: no address is registered, or all have weight 0 "
                           "(-w 10 waits for one)",
                           r->path);
}

/* Prints it if it is there, or says that it is not if nobody waits. */
static void try(struct resolve *r)
{
    evzk_resolved e;
    bool found = r->name ? evzk_resolver_find(r->object, r->name, &e) &&
                               !e.hidden && !e.malformed
                         : evzk_resolver_pick(r->object, &e);

    if (connection_finished(&r->connection))
        return;
    if (found)
        finish(r, print_one(&e));
    else if (r->late)
        finish(r, complain_none(r));
}

static void on_patience(evutil_socket_t fd, short what, void *arg)
{
    struct resolve *r = arg;

    (void)fd, (void)what;
    r->late = true;
    try(r);
}

/* ---- list ---- */

static int list_json(const struct resolve *r)
{
    struct json_object *all = json_object_new_array(), *one;
    evzk_resolved e;

    for (bool more = evzk_resolver_first(r->object, &e); more;
         more = evzk_resolver_next(r->object, &e)) {
        one = json_object_new_object();
        describe(one, &e);
        json_object_array_add(all, one);
    }
    return output_json(all);
}

static void add_row(struct libscols_table *table, const evzk_resolved *e)
{
    char where[300], weight[24], *data = NULL;
    size_t size;
    FILE *to = open_memstream(&data, &size);

    address(e, where, sizeof(where));
    snprintf(weight, sizeof(weight), "%u", e->endpoint.weight);
    if (to) {
        bytes_print(to, e->endpoint.data, e->endpoint.data_len);
        fclose(to);
    }
    output_row(table, (const char *const[]){e->name, where, weight, data}, 4);
    free(data);
}

static int list_table(const struct resolve *r)
{
    static const char *const headings[] = {"NAME", "ADDRESS", "WEIGHT", "DATA"};
    struct libscols_table *table = output_columns(headings, 4);
    evzk_resolved e;

    for (bool more = table && evzk_resolver_first(r->object, &e); more;
         more = evzk_resolver_next(r->object, &e))
        add_row(table, &e);
    return output_table(table);
}

/* ---- follow ---- */

static int print_change(const char *event, const evzk_resolved *e)
{
    struct json_object *object;
    char text[300];

    if (settings.json) {
        object = json_object_new_object();
        json_object_object_add(object, "event", json_object_new_string(event));
        if (e)
            describe(object, e);
        return output_json(object);
    }
    if (e)
        address(e, text, sizeof(text));
    printf("%s%s%s%s%s\n", event, e ? " " : "", e ? e->name : "", e ? " " : "",
           e ? text : "");
    return output_flush();
}

static void tell(struct resolve *r, const char *event, const evzk_resolved *e)
{
    int status;

    if (connection_finished(&r->connection))
        return;
    if (r->what == RESOLVE && evzk_resolver_ready(r->object))
        try(r);
    if (r->what != FOLLOW || (e && r->name && strcmp(r->name, e->name) != 0))
        return;
    status = print_change(event, e);
    if (status)
        finish(r, status);
}

static void ready(struct resolve *r)
{
    if (connection_finished(&r->connection))
        return;
    if (r->what == LIST) {
        finish(r, settings.json ? list_json(r) : list_table(r));
    } else if (r->what == RESOLVE) {
        r->late = r->late || name_options.wait_ms == NAME_UNSET ||
                  name_options.wait_ms == 0;
        try(r);
    } else {
        tell(r, "ready", NULL);
    }
}

static void on_resolver(evzk_resolver *object, evzk_resolver_event event,
                        int rc, const evzk_resolved *e, void *arg)
{
    struct resolve *r = arg;

    (void)object;
    switch (event) {
    case EVZK_RESOLVER_ADDED:
        tell(r, "added", e);
        break;
    case EVZK_RESOLVER_CHANGED:
        tell(r, "changed", e);
        break;
    case EVZK_RESOLVER_REMOVED:
        tell(r, "removed", e);
        break;
    case EVZK_RESOLVER_READY:
        ready(r);
        break;
    case EVZK_RESOLVER_ENDED:
        if (!connection_finished(&r->connection))
            finish(r, complain_error(rc, r->path));
        break;
    }
}

/* ---- All three ---- */

static int start(struct resolve *r)
{
    evzk_resolver_options opt = {.pick = EVZK_PICK_WEIGHTED};
    uint32_t ms = name_options.wait_ms;
    int rc = evzk_resolver_start(r->connection.session, r->path, &opt,
                                 on_resolver, r, &r->object);

    r->patience = evtimer_new(r->connection.base, on_patience, r);
    if (rc == EVZK_OK && !r->patience)
        rc = EVZK_ERR_NOMEM;
    if (rc)
        return complain_error(rc, r->path);
    if (ms != NAME_UNSET && ms > 0)
        event_add(r->patience, &(struct timeval){ms / 1000, ms % 1000 * 1000});
    return 0;
}

static int run(const struct arguments *a, enum what what)
{
    struct resolve r = {.path = a->words[0],
                        .name = a->count ? a->words[1] : NULL,
                        .what = what};
    int status = connection_open(&r.connection);

    if (!status)
        status = start(&r);
    if (!status)
        status = connection_run(&r.connection);
    evzk_resolver_free(r.object);
    if (r.patience)
        event_free(r.patience);
    connection_free(&r.connection);
    return status;
}

int name_resolve(const struct arguments *a) { return run(a, RESOLVE); }

int name_list(const struct arguments *a) { return run(a, LIST); }

int name_follow(const struct arguments *a) { return run(a, FOLLOW); }
