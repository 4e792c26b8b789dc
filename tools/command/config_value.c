/* evzk config PATH set --value VALUE|- */
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "output.h"

struct set {
    struct connection connection;
    const char *path;
    struct bytes value;
    int64_t wanted; /* Of --if-version; -1: any. */
    evzk_value_query *look;
    evzk_value_writer *writer;
    int rc; /* Of the write. */
};

static void finish(struct set *s, int status)
{
    connection_finish(&s->connection, status);
}

static int complain_version(const struct set *s)
{
    if (s->wanted == 0)
        complain("%s: there is a value: read it, and decide anew: `evzk config "
                 "%s get --value --json`",
                 s->path, s->path);
    else
        complain("%s: the value is not, or no longer, of version %lld: read it "
                 "again, and decide anew: `evzk config %s get --value --json`",
                 s->path, (long long)s->wanted, s->path);
    return STATUS_NOT_GOT;
}

static int say(const struct set *s, int rc)
{
    if (rc == EVZK_ERR_BADVERSION || rc == EVZK_ERR_NODEEXISTS ||
        (rc == EVZK_ERR_NONODE && s->wanted > 0))
        return complain_version(s);
    if (rc == EVZK_ERR_CONNLOSS) {
        complain("%s: the connection was lost, and nobody knows whether the "
                 "value was set: see `evzk config %s get --value`",
                 s->path, s->path);
        return STATUS_FAILED;
    }
    return rc ? complain_error(rc, s->path) : 0;
}

static void on_write(evzk_value_writer *writer, int rc, int64_t number,
                     void *arg)
{
    struct set *s = arg;

    (void)number;
    s->rc = rc;
    evzk_value_writer_close(writer);
}

static void on_writer(evzk_value_writer *writer, evzk_value_writer_event event,
                      int rc, void *arg)
{
    struct set *s = arg;

    (void)writer;
    if (!connection_finished(&s->connection))
        finish(s, say(s, event == EVZK_VALUE_WRITER_FAILED ? rc : s->rc));
}

static int start_writer(struct set *s)
{
    return evzk_value_writer_start(s->connection.session, s->path, NULL,
                                   on_writer, s, &s->writer);
}

/* The version tells which value; the stamp of that one goes with the write. */
static void on_value(evzk_value_query *look, int rc, const evzk_value *value,
                     void *arg)
{
    struct set *s = arg;

    (void)look;
    if (connection_finished(&s->connection))
        return;
    if (rc == EVZK_OK && (!value->exists || value->mzxid != s->wanted)) {
        finish(s, complain_version(s));
        return;
    }
    if (rc == EVZK_OK)
        rc = start_writer(s);
    if (rc == EVZK_OK)
        rc = evzk_value_compare_set(s->writer, &value->stamp, s->value.data,
                                    s->value.len, on_write, s);
    if (rc)
        finish(s, complain_error(rc, s->path));
}

static int start(struct set *s)
{
    int rc;

    if (s->wanted > 0)
        return evzk_value_get(s->connection.session, s->path, NULL, on_value, s,
                              &s->look);
    rc = start_writer(s);
    if (rc)
        return rc;
    return s->wanted == 0 ? evzk_value_create(s->writer, s->value.data,
                                              s->value.len, on_write, s)
                          : evzk_value_set(s->writer, s->value.data,
                                           s->value.len, on_write, s);
}

static int take_value(struct set *s, const char *word)
{
    if (strcmp(word, "-") == 0)
        return bytes_read(&s->value, stdin, EVZK_VALUE_DATA_MAX,
                          "keep them elsewhere, and only their address here");
    if (bytes_copy(&s->value, word, strlen(word)))
        return 0;
    complain("out of memory");
    return STATUS_FAILED;
}

int config_value_set(const struct arguments *a)
{
    struct set s = {.path = a->words[0]};
    int rc, status = config_version(&s.wanted);

    if (!status)
        status = take_value(&s, a->words[1]);
    if (!status)
        status = connection_open(&s.connection);
    if (!status) {
        rc = start(&s);
        status =
            rc ? complain_error(rc, s.path) : connection_run(&s.connection);
    }
    evzk_value_query_free(s.look);
    evzk_value_writer_free(s.writer);
    connection_free(&s.connection);
    bytes_free(&s.value);
    return status;
}
