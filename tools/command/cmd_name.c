/* evzk name PATH register|resolve|list|follow|id */
#include <stdlib.h>
#include <string.h>

#include "member.h"
#include "name.h"
#include "output.h"

struct name_options name_options = {
    .weight = 1, .wait_ms = NAME_UNSET, .block = 1};

/* clang-format off */
static const struct option_row options[] = {
    OPTION_NUMBER_ROW("weight", 0, "NUMBER", &name_options.weight,
        0, EVZK_ENDPOINT_WEIGHT_MAX, "register: its share of the picks (1)"),
    OPTION_TEXT_ROW("data", 'd', "TEXT", &name_options.data,
        "register: what else others can read of it"),
    OPTION_SECONDS_ROW("wait", 'w', "SECONDS", &name_options.wait_ms,
        "register, resolve: wait so long at most"),
    OPTION_NUMBER_ROW("block", 0, "NUMBER", &name_options.block,
        1, UINT32_MAX, "id: take so many numbers at once"),
    OPTION_END
};
/* clang-format on */

/* ---- register ---- */

static bool take_port(const char *text, uint16_t *out)
{
    char *end;
    unsigned long port = strtoul(text, &end, 10);

    *out = (uint16_t)port;
    return text[0] >= '0' && text[0] <= '9' && !*end && port > 0 &&
           port <= UINT16_MAX;
}

/* "host:port", or "[IPv6]:port". */
static bool take_address(evzk_endpoint *e, const char *text)
{
    const char *colon = strrchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : 0;

    if (len > 1 && text[0] == '[' && colon[-1] == ']') {
        text++;
        len -= 2;
    } else if (len && memchr(text, ':', len))
        return false; /* Where would the address end, and the port begin? */
    if (len == 0 || len > EVZK_ENDPOINT_HOST_MAX)
        return false;
    memcpy(e->host, text, len);
    e->host[len] = '\0';
    return take_port(colon + 1, &e->port) &&
           evzk_endpoint_print(e, NULL, 0) > 0;
}

static int join(struct member *m)
{
    evzk_names_options opt = {.no_wait = name_options.wait_ms == 0};

    return evzk_names_register(m->connection.session, m->path, m->id, m->arg,
                               &opt, member_hear, m, &m->object);
}

int name_register(const struct arguments *a)
{
    const char *address = a->words[a->count];
    evzk_endpoint e = {.weight = name_options.weight,
                       .data = name_options.data,
                       .data_len =
                           name_options.data ? strlen(name_options.data) : 0};
    struct member m = {.path = a->words[0],
                       .id = a->words[1],
                       .run = a->run,
                       .wait = name_options.wait_ms ? name_options.wait_ms
                                                    : UINT32_MAX,
                       .joined = "registered",
                       .join = join,
                       .arg = &e};

    if (!take_address(&e, address))
        return complain_usage("'%s' is no address: wanted HOST:PORT or "
                              "[IPV6]:PORT",
                              address);
    return member_run(&m);
}

/* ---- id ---- */

struct id {
    struct connection connection;
    const char *path;
    evzk_value_writer *writer;
    int rc; /* Of the addition. */
    int status;
};

static int print(int64_t last)
{
    int64_t first = last - name_options.block + 1;
    struct json_object *object;

    if (!settings.json) {
        printf("%lld", (long long)first);
        if (option_given(&options[3]))
            printf(" %lld", (long long)last);
        putchar('\n');
        return output_flush();
    }
    object = json_object_new_object();
    json_object_object_add(object, "first", json_object_new_int64(first));
    json_object_object_add(object, "last", json_object_new_int64(last));
    return output_json(object);
}

static void on_number(evzk_value_writer *writer, int rc, int64_t number,
                      void *arg)
{
    struct id *i = arg;

    i->rc = rc;
    if (rc == EVZK_OK)
        i->status = print(number);
    evzk_value_writer_close(writer);
}

static void on_writer(evzk_value_writer *writer, evzk_value_writer_event event,
                      int rc, void *arg)
{
    struct id *i = arg;

    (void)writer;
    if (connection_finished(&i->connection))
        return;
    if (event == EVZK_VALUE_WRITER_CLOSED)
        rc = i->rc;
    if (rc == EVZK_ERR_BADDATA) {
        complain("%s: the znode holds no number: use a path of its own for "
                 "numbers",
                 i->path);
        i->status = STATUS_FAILED;
    } else if (rc) {
        i->status = complain_error(rc, i->path);
    }
    connection_finish(&i->connection, i->status);
}

int name_id(const struct arguments *a)
{
    struct id i = {.path = a->words[0]};
    int rc, status = connection_open(&i.connection);

    if (!status) {
        rc = evzk_value_writer_start(i.connection.session, i.path, NULL,
                                     on_writer, &i, &i.writer);
        if (rc == EVZK_OK)
            rc = evzk_counter_add(i.writer, name_options.block, on_number, &i);
        status =
            rc ? complain_error(rc, i.path) : connection_run(&i.connection);
    }
    evzk_value_writer_free(i.writer);
    connection_free(&i.connection);
    return status;
}

static const struct action actions[] = {
    {"register", "NAME HOST:PORT [-- CMD [ARG...]]", "weight data wait", 2, 2,
     RUNS_MAYBE, name_register},
    {"resolve", "[NAME]", "wait", 0, 1, RUNS_NOTHING, name_resolve},
    {"list", "", "", 0, 0, RUNS_NOTHING, name_list},
    {"follow", "[NAME]", "", 0, 1, RUNS_NOTHING, name_follow},
    {"id", "", "block", 0, 0, RUNS_NOTHING, name_id},
    ACTION_END};

const struct command cmd_name = {
    .name = "name",
    .summary = "say where a service is, find it, and make unique numbers",
    .arguments = "PATH register|resolve|list|follow|id",
    .about =
        "The names below PATH are the endpoints of one service.\n"
        "register  is NAME, at HOST:PORT, while CMD runs; without CMD, until "
        "a\n"
        "          signal ends it.  Only one process at a time has a NAME.\n"
        "resolve   prints the address of NAME.  Without NAME it picks one, by\n"
        "          weight.  An address of weight 0 is never picked.\n"
        "list      prints all names and their addresses.\n"
        "follow    prints a line whenever an address is added, changed or\n"
        "          removed, until a signal ends it.\n"
        "id        prints a number that nobody else gets from PATH; with\n"
        "          --block the first and the last of so many.  PATH is a\n"
        "          counter then, and no service.\n"
        "\n"
        "  evzk name /web register web1 10.0.0.5:80 -- ./server\n"
        "  curl \"http://$(evzk name /web resolve)/\"\n"
        "  evzk name /order-numbers id\n",
    .options = options,
    .actions = actions,
    .min = 1,
    .max = -1,
    .runs = RUNS_MAYBE,
    .run = action_run,
};
