/* evzk config PATH set KEY=VALUE..., and unset KEY...
 *
 * Other keys stay as they are.  So the configuration is read, changed, and
 * replaced if it is still the one that was read; else all begins again.  If
 * nothing would change, nothing is written, and no follower hears of it. */
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "output.h"

struct change {
    struct connection connection;
    const char *path;
    evzk_config_key *given; /* With NULL for data: it is to go. */
    size_t n;
    bool unset;
    int64_t wanted; /* Of --if-version; -1: any. */
    evzk_value_query *look;
    evzk_config_query *query;
    evzk_config_update *update;
};

static void finish(struct change *c, int status)
{
    connection_finish(&c->connection, status);
}

static void begin(struct change *c);

static const evzk_config_key *given(const struct change *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++) {
        if (strcmp(c->given[i].name, name) == 0)
            return &c->given[i];
    }
    return NULL;
}

static int print_number(int64_t number)
{
    struct json_object *object;

    if (!settings.json)
        return 0;
    object = json_object_new_object();
    json_object_object_add(object, "version", json_object_new_int64(number));
    return output_json(object);
}

static int complain_version(const struct change *c)
{
    complain("%s: it is not, or no longer, of version %lld: read it again, and "
             "decide anew: `evzk config %s get --json`",
             c->path, (long long)c->wanted, c->path);
    return STATUS_NOT_GOT;
}

static int complain_unknown(const struct change *c)
{
    complain("%s: the connection was lost, and another change has come since: "
             "nobody knows whether this one was done: see `evzk config %s get`",
             c->path, c->path);
    return STATUS_FAILED;
}

static void on_update(evzk_config_update *update, int rc, int64_t number,
                      void *arg)
{
    struct change *c = arg;

    evzk_config_update_free(update);
    c->update = NULL;
    if (connection_finished(&c->connection))
        return;
    if (rc == EVZK_ERR_BADVERSION && c->wanted < 0)
        begin(c);
    else if (rc == EVZK_ERR_BADVERSION)
        finish(c, complain_version(c));
    else if (rc == EVZK_ERR_CONNLOSS)
        finish(c, complain_unknown(c));
    else
        finish(c, rc ? complain_error(rc, c->path) : print_number(number));
}

static void replace(struct change *c, const evzk_config_key *keys, size_t n,
                    int64_t if_number)
{
    evzk_config_options opt = {.if_number = if_number};
    int rc = evzk_config_set(c->connection.session, c->path, keys, n, &opt,
                             on_update, c, &c->update);

    if (rc)
        finish(c, complain_error(rc, c->path));
}

static bool is_so(const evzk_config_key *key, const evzk_config *old)
{
    for (size_t i = 0; i < old->n; i++) {
        const evzk_config_key *is = &old->key[i];

        if (strcmp(is->name, key->name) == 0)
            return key->data && key->len == is->len &&
                   (key->len == 0 ||
                    memcmp(key->data, is->data, key->len) == 0);
    }
    return !key->data;
}

static bool all_are_so(const struct change *c, const evzk_config *old)
{
    bool are = true;

    for (size_t i = 0; i < c->n; i++)
        are = are && is_so(&c->given[i], old);
    return are;
}

/* The keys that were read, without those that are given; then these. */
static void merge(struct change *c, const evzk_config *old, int64_t if_number)
{
    evzk_config_key *keys = calloc(old->n + c->n + 1, sizeof(*keys));
    size_t n = 0;

    if (!keys) {
        complain("out of memory");
        finish(c, STATUS_FAILED);
        return;
    }
    for (size_t i = 0; i < old->n; i++) {
        if (!given(c, old->key[i].name))
            keys[n++] = old->key[i];
    }
    for (size_t i = 0; i < c->n; i++) {
        if (c->given[i].data)
            keys[n++] = c->given[i];
    }
    replace(c, keys, n, if_number);
    free(keys);
}

/* Is this the version that the user has seen? */
static bool is_wanted(struct change *c, int64_t version)
{
    if (c->wanted < 0 || c->wanted == version)
        return true;
    finish(c, complain_version(c));
    return false;
}

static void on_query(evzk_config_query *query, int rc,
                     const evzk_config *config, void *arg)
{
    struct change *c = arg;

    evzk_config_query_free(query);
    evzk_value_query_free(c->look);
    c->query = NULL;
    c->look = NULL;
    if (connection_finished(&c->connection))
        return;
    if (rc)
        finish(c, complain_error(rc, c->path));
    else if (!is_wanted(c, config->number))
        return;
    else if (all_are_so(c, config))
        finish(c, print_number(config->number));
    else
        merge(c, config, config->number);
}

static int complain_none(const struct change *c)
{
    complain("%s: there is no configuration: nobody has set one, or a large "
             "one is being written",
             c->path);
    return STATUS_NOT_GOT;
}

static void on_ready(evzk_value_query *look, int rc, const evzk_value *value,
                     void *arg)
{
    static const evzk_config none;
    struct change *c = arg;

    evzk_value_query_free(look);
    c->look = NULL;
    if (connection_finished(&c->connection))
        return;
    if (rc)
        finish(c, complain_error(rc, c->path));
    else if (!value->exists && is_wanted(c, 0)) {
        if (c->unset) {
            finish(c, complain_none(c));
            return;
        }
        evzk_config_query_free(c->query);
        c->query = NULL;
        merge(c, &none, EVZK_CONFIG_NONE);
    }
}

/* A query waits while no configuration is whole; so "ready" is looked at, too.
 * Where a large set was left in the midst, there is none to keep keys of. */
static void begin(struct change *c)
{
    char ready[4096];
    int rc;

    snprintf(ready, sizeof(ready), "%s/ready", c->path);
    rc = evzk_config_get(c->connection.session, c->path, NULL, on_query, c,
                         &c->query);
    if (rc == EVZK_OK)
        rc = evzk_value_get(c->connection.session, ready, NULL, on_ready, c,
                            &c->look);
    if (rc)
        finish(c, complain_error(rc, c->path));
}

static void begin_replace(struct change *c)
{
    replace(c, c->given, c->n,
            c->wanted < 0    ? 0
            : c->wanted == 0 ? EVZK_CONFIG_NONE
                             : c->wanted);
}

static int take_pair(evzk_config_key *key, char *word)
{
    char *equals = strchr(word, '=');

    if (!equals || equals == word)
        return complain_usage("'%s': wanted KEY=VALUE", word);
    *equals = '\0';
    *key = (evzk_config_key){word, equals + 1, strlen(equals + 1)};
    return 0;
}

static int take_words(struct change *c, const struct arguments *a, bool unset)
{
    int status = 0;

    c->given = calloc((size_t)a->count, sizeof(*c->given));
    if (!c->given) {
        complain("out of memory");
        return STATUS_FAILED;
    }
    for (int i = 0; i < a->count && !status; i++) {
        evzk_config_key key = {a->words[i + 1], NULL, 0};

        if (!unset)
            status = take_pair(&key, a->words[i + 1]);
        if (!status && given(c, key.name))
            status = complain_usage("'%s' is given twice", key.name);
        c->given[c->n++] = key;
    }
    return status;
}

static int run(const struct arguments *a, bool unset)
{
    struct change c = {.path = a->words[0], .unset = unset};
    int status = config_version(&c.wanted);

    if (!status)
        status = take_words(&c, a, unset);
    if (!status)
        status = connection_open(&c.connection);
    if (!status) {
        if (config_options.replace)
            begin_replace(&c);
        else
            begin(&c);
        status = connection_run(&c.connection);
    }
    evzk_value_query_free(c.look);
    evzk_config_query_free(c.query);
    evzk_config_update_free(c.update);
    connection_free(&c.connection);
    free(c.given);
    return status;
}

int config_set(const struct arguments *a) { return run(a, false); }

int config_unset(const struct arguments *a) { return run(a, true); }
