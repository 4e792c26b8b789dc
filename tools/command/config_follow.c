/* evzk config PATH follow, of keys and of one value
 *
 * A single CMD runs at a time.  Changes that come meanwhile are told to the
 * next CMD, and changes that follow each other fast are told together. */
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "output.h"
#include "work.h"

struct follow {
    struct connection connection;
    struct work work;
    const char *path;
    char **run;
    evzk_config_follower *config;
    evzk_value_follower *value;
    struct bytes next; /* For the next CMD; without data: nothing is new. */
    int64_t version;   /* Of that. */
    int status;
};

static void finish(struct follow *f, int status)
{
    connection_finish(&f->connection, status);
}

static void run_next(struct follow *f)
{
    struct bytes input = f->next;

    f->next = (struct bytes){NULL, 0};
    setenv("EVZK_PATH", f->path, 1);
    work_number("EVZK_VERSION", (uint64_t)f->version);
    if (!work_start(&f->work, f->run, input.data, input.len))
        finish(f, STATUS_NOT_RUN);
    bytes_free(&input);
}

/* A CMD that fails is no end: the next change may be a better one. */
static void on_ended(int status, void *arg)
{
    struct follow *f = arg;

    if (f->status || status == STATUS_NOT_RUN || status == STATUS_NOT_FOUND) {
        finish(f, f->status ? f->status : status);
        return;
    }
    if (status)
        complain("%s: %s has ended with %d, and is run again at the next "
                 "change",
                 f->path, f->run[0], status);
    if (f->next.data)
        run_next(f);
}

/* Takes what is to be told. */
static void tell(struct follow *f, struct bytes text, int64_t version)
{
    int status;

    f->version = version;
    if (!f->run) {
        fwrite(text.data, 1, text.len, stdout);
        status = output_flush();
        bytes_free(&text);
        if (status)
            finish(f, status);
        return;
    }
    bytes_free(&f->next);
    f->next = text;
    if (!work_runs(&f->work))
        run_next(f);
}

static void add_json(FILE *to, struct json_object *object)
{
    fprintf(to, "%s\n",
            json_object_to_json_string_ext(object,
                                           JSON_C_TO_STRING_PLAIN |
                                               JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(object);
}

/* With CMD the text is all of its input; else a version stands before it, so
 * that one configuration ends where the next one begins. */
static void tell_config(struct follow *f, const evzk_config *config)
{
    struct bytes text;
    FILE *to = open_memstream(&text.data, &text.len);

    if (!to)
        return;
    if (settings.json)
        add_json(to, config_json(config));
    else {
        if (!f->run)
            fprintf(to, "# version %lld\n", (long long)config->number);
        config_print(to, config);
    }
    fclose(to);
    tell(f, text, config->number);
}

static void tell_value(struct follow *f, const evzk_value *value)
{
    struct bytes text;
    FILE *to = open_memstream(&text.data, &text.len);

    if (!to)
        return;
    if (settings.json)
        add_json(to, config_value_json(value));
    else if (f->run)
        fwrite(value->data, 1, value->len, to);
    else {
        bytes_print(to, value->data, value->len);
        putc('\n', to);
    }
    fclose(to);
    tell(f, text, value->mzxid);
}

static void ended(struct follow *f, int rc)
{
    if (!connection_finished(&f->connection))
        finish(f, complain_error(rc, f->path));
}

static void on_config(evzk_config_follower *follower,
                      evzk_config_follower_event event, int rc,
                      const evzk_config *config, void *arg)
{
    struct follow *f = arg;

    (void)follower;
    if (event == EVZK_CONFIG_FOLLOWER_ENDED)
        ended(f, rc);
    else if (!f->status)
        tell_config(f, config);
}

static void on_value(evzk_value_follower *follower,
                     evzk_value_follower_event event, int rc,
                     const evzk_value *value, void *arg)
{
    struct follow *f = arg;

    (void)follower;
    if (event == EVZK_VALUE_FOLLOWER_ENDED)
        ended(f, rc);
    else if (!f->status)
        tell_value(f, value);
}

static void on_stop(int signo, void *arg)
{
    struct follow *f = arg;

    f->status = 128 + signo;
    if (!work_signal(&f->work, signo))
        finish(f, f->status);
}

static int start(struct follow *f)
{
    int rc = config_options.value
                 ? evzk_value_follow(f->connection.session, f->path, NULL,
                                     on_value, f, &f->value)
                 : evzk_config_follow(f->connection.session, f->path, NULL,
                                      on_config, f, &f->config);

    return rc ? complain_error(rc, f->path) : 0;
}

int config_follow(const struct arguments *a)
{
    struct follow f = {.path = a->words[0], .run = a->run};
    int status;

    f.connection = (struct connection){.stop = on_stop, .arg = &f};
    f.work = (struct work){
        .connection = &f.connection, .ended = on_ended, .arg = &f};
    status = work_prepare(&f.work);
    if (!status)
        status = connection_open(&f.connection);
    if (!status)
        status = start(&f);
    if (!status)
        status = connection_run(&f.connection);
    evzk_config_follower_free(f.config);
    evzk_value_follower_free(f.value);
    work_free(&f.work);
    connection_free(&f.connection);
    bytes_free(&f.next);
    return status;
}
