/* evzk config PATH get, of keys and of one value */
#include <stdlib.h>

#include "config.h"
#include "output.h"

struct get {
    struct connection connection;
    const char *path, *key;
    evzk_config_query *query;
    evzk_value_query *look;
};

static void finish(struct get *g, int status)
{
    connection_finish(&g->connection, status);
}

static int complain_key(const struct get *g, const evzk_config *config)
{
    char *names = NULL;
    size_t size;
    FILE *to = open_memstream(&names, &size);

    for (size_t i = 0; to && i < config->n && i < 10; i++)
        fprintf(to, "%s%s", i ? ", " : "", config->key[i].name);
    if (to)
        fclose(to);
    complain("%s: there is no key '%s' (there are %zu: %s%s)", g->path, g->key,
             config->n, names ? names : "", config->n > 10 ? ", ..." : "");
    free(names);
    return STATUS_FAILED;
}

static int print_key(const struct get *g, const evzk_config *config)
{
    const evzk_config_key *key = evzk_config_find(config, g->key);
    struct json_object *object;

    if (!key)
        return complain_key(g, config);
    if (!settings.json)
        return config_print_value(key->data, key->len);
    object = json_object_new_object();
    json_object_object_add(object, "version",
                           json_object_new_int64(config->number));
    bytes_add(object, "value", key->data, key->len);
    return output_json(object);
}

static int print(const struct get *g, const evzk_config *config)
{
    if (g->key)
        return print_key(g, config);
    if (settings.json)
        return output_json(config_json(config));
    config_print(stdout, config);
    return output_flush();
}

static int complain_none(const struct get *g)
{
    return complain_waited(&g->connection,
                           "%s: there is no configuration: nobody has set one, "
                           "or a large one is being written (-w 10 waits)",
                           g->path);
}

static void on_query(evzk_config_query *query, int rc,
                     const evzk_config *config, void *arg)
{
    struct get *g = arg;

    (void)query;
    if (connection_finished(&g->connection))
        return;
    if (rc == EVZK_ERR_TIMEOUT)
        finish(g, complain_none(g));
    else
        finish(g, rc ? complain_error(rc, g->path) : print(g, config));
}

/* For those that do not wait: "ready" is there while a set is whole. */
static void on_ready(evzk_value_query *look, int rc, const evzk_value *value,
                     void *arg)
{
    struct get *g = arg;

    (void)look;
    if (connection_finished(&g->connection))
        return;
    if (rc)
        finish(g, complain_error(rc, g->path));
    else if (!value->exists)
        finish(g, complain_none(g));
}

static int look(struct get *g)
{
    char ready[4096];

    if (config_options.wait_ms != CONFIG_UNSET && config_options.wait_ms > 0)
        return 0;
    snprintf(ready, sizeof(ready), "%s/ready", g->path);
    return evzk_value_get(g->connection.session, ready, NULL, on_ready, g,
                          &g->look);
}

static int start(struct get *g)
{
    evzk_config_options opt = {.timeout_ms =
                                   config_options.wait_ms == CONFIG_UNSET
                                       ? 0
                                       : config_options.wait_ms};
    int rc = evzk_config_get(g->connection.session, g->path, &opt, on_query, g,
                             &g->query);

    return rc ? rc : look(g);
}

static void on_value(evzk_value_query *query, int rc, const evzk_value *value,
                     void *arg)
{
    struct get *g = arg;

    (void)query;
    if (connection_finished(&g->connection))
        return;
    if (rc == EVZK_OK && !value->exists) {
        complain("%s: there is no such value: `evzk config %s set --value "
                 "VALUE` makes one",
                 g->path, g->path);
        finish(g, STATUS_NOT_GOT);
    } else if (rc) {
        finish(g, complain_error(rc, g->path));
    } else {
        finish(g, settings.json ? output_json(config_value_json(value))
                                : config_print_value(value->data, value->len));
    }
}

static int start_value(struct get *g)
{
    return evzk_value_get(g->connection.session, g->path, NULL, on_value, g,
                          &g->look);
}

static int run(const struct arguments *a, int (*begin)(struct get *g))
{
    struct get g = {.path = a->words[0], .key = a->count ? a->words[1] : NULL};
    int rc, status = connection_open(&g.connection);

    if (!status) {
        rc = begin(&g);
        status =
            rc ? complain_error(rc, g.path) : connection_run(&g.connection);
    }
    evzk_config_query_free(g.query);
    evzk_value_query_free(g.look);
    connection_free(&g.connection);
    return status;
}

int config_get(const struct arguments *a) { return run(a, start); }

int config_value_get(const struct arguments *a)
{
    if (config_options.wait_ms != CONFIG_UNSET)
        return complain_usage("with --value nothing is waited for: leave -w "
                              "out, or use follow");
    return run(a, start_value);
}
