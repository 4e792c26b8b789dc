/* evzk why PATH: who waits for whom.
 *
 * A cache of the whole subtree, names only, finds the directories that have
 * ephemeral children.  Each of them is looked up as a lock; a directory of
 * something else has no contenders.  Leases of Kazoo are no queue: each is read
 * by itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "connect.h"
#include "waits.h"
#include "why.h"

struct why;

/* A directory that is looked up, or a lease of Kazoo. */
struct place {
    struct why *why;
    struct place *next;
    evzk_lock_query *query;
    evzk_value_query *look;
    int64_t session; /* Of a lease; 0: a directory. */
    char path[];     /* Absolute. */
};

struct why {
    struct connection connection;
    const char *path;
    evzk_cache *cache;
    struct place *places;
    size_t left; /* Places that have not answered. */
    struct waits waits;
};

static int dot;

static const struct option_row options[] = {
    OPTION_FLAG_ROW("dot", 'd', &dot, 1, "print the graph for dot of Graphviz"),
    OPTION_END};

static void give_up(struct why *y, int rc, const char *path)
{
    if (connection_finished(&y->connection) || rc == EVZK_ERR_CLOSED)
        return;
    connection_finish(&y->connection, complain_error(rc, path));
}

static void print(struct why *y)
{
    waits_add_semaphores(&y->waits);
    connection_finish(&y->connection, why_print(&y->waits, y->path, dot));
}

/* A place that may not be read is left out, with a word. */
static void on_answer(evzk_lock_query *query, int rc, const evzk_contender *v,
                      size_t n, void *arg)
{
    struct place *place = arg;
    struct why *y = place->why;

    (void)query;
    if (rc == EVZK_ERR_NOAUTH)
        complain_error(rc, place->path);
    else if (rc)
        give_up(y, rc, place->path);
    else
        waits_add(&y->waits, place->path, v, n);
    if (--y->left == 0 && !connection_finished(&y->connection))
        print(y);
}

/* A lease may have gone meanwhile. */
static void on_lease(evzk_value_query *look, int rc, const evzk_value *value,
                     void *arg)
{
    struct place *place = arg;
    struct why *y = place->why;
    char *name = strrchr(place->path, '/') + 1;
    evzk_contender c = {.node = name, .session = place->session};

    (void)look;
    name[-1] = '\0';
    c.hidden = rc == EVZK_ERR_NOAUTH;
    if (rc == EVZK_OK) {
        c.data = value->data;
        c.data_len = value->len;
    }
    if (rc && !c.hidden)
        give_up(y, rc, place->path);
    else if (c.hidden || value->exists)
        waits_add_lease(&y->waits, place->path, &c);
    if (--y->left == 0 && !connection_finished(&y->connection))
        print(y);
}

static bool has_ephemeral(const struct why *y, const char *path)
{
    evzk_cache_entry e;

    for (bool ok = evzk_cache_first_child(y->cache, path, &e); ok;
         ok = evzk_cache_next_child(y->cache, &e)) {
        if (e.ephemeral_owner)
            return true;
    }
    return false;
}

/* The places are in the order of their paths. */
static bool note_place(struct why *y, struct place ***end, const char *path,
                       int64_t session)
{
    size_t room = strlen(y->path) + strlen(path) + 2;
    struct place *place = calloc(1, sizeof(*place) + room);

    if (!place)
        return false;
    place->why = y;
    place->session = session;
    snprintf(place->path, room, "%s%s%s", y->path, *path ? "/" : "", path);
    **end = place;
    *end = &place->next;
    y->left++;
    return true;
}

static bool note_places(struct why *y)
{
    struct place **end = &y->places;
    evzk_cache_entry e;
    bool noted = true;

    for (bool ok = evzk_cache_first(y->cache, &e); ok && noted;
         ok = evzk_cache_next(y->cache, &e)) {
        if (!e.hidden && !e.ephemeral_owner && has_ephemeral(y, e.path))
            noted = note_place(y, &end, e.path, 0);
        else if (e.ephemeral_owner && name_is_kazoo_lease(e.name))
            noted = note_place(y, &end, e.path, e.ephemeral_owner);
    }
    return noted;
}

static void look_up(struct why *y)
{
    int rc = EVZK_OK;

    if (evzk_cache_count(y->cache) == 0)
        rc = EVZK_ERR_NONODE;
    else if (!note_places(y))
        rc = EVZK_ERR_NOMEM;
    evzk_cache_free(y->cache);
    y->cache = NULL;
    for (struct place *p = y->places; p && !rc; p = p->next)
        rc = p->session ? evzk_value_get(y->connection.session, p->path, NULL,
                                         on_lease, p, &p->look)
                        : evzk_lock_query_start(y->connection.session, p->path,
                                                on_answer, p, &p->query);
    if (rc)
        give_up(y, rc, y->path);
    else if (y->left == 0)
        print(y);
}

static void on_cache(evzk_cache *cache, evzk_cache_event event, int rc,
                     const evzk_cache_entry *entry,
                     const evzk_cache_entry *before, void *arg)
{
    (void)cache, (void)entry, (void)before;
    if (event == EVZK_CACHE_ENDED)
        give_up(arg, rc, ((struct why *)arg)->path);
    else if (event == EVZK_CACHE_READY)
        look_up(arg);
}

static int start(struct why *y)
{
    evzk_cache_options opt = {.depth = EVZK_CACHE_SUBTREE, .names_only = true};
    int rc = evzk_cache_start(y->connection.session, y->path, &opt, on_cache, y,
                              &y->cache);

    return rc ? complain_error(rc, y->path) : 0;
}

static int run(const struct arguments *arguments)
{
    struct why y = {.path = arguments->words[0], .connection = {.arg = &y}};
    int status = 0;

    if (strcmp(y.path, "/") == 0)
        return complain_usage("PATH cannot be \"/\": give a path below it");
    status = connection_open(&y.connection);
    if (!status)
        status = start(&y);
    if (!status)
        status = connection_run(&y.connection);
    evzk_cache_free(y.cache);
    while (y.places) {
        struct place *place = y.places;

        y.places = place->next;
        evzk_lock_query_free(place->query);
        evzk_value_query_free(place->look);
        free(place);
    }
    waits_free(&y.waits);
    connection_free(&y.connection);
    return status;
}

const struct command cmd_why = {
    .name = "why",
    .summary = "show who waits for whom, and circles of waiters",
    .arguments = "PATH",
    .about =
        "Goes through all locks, elections and semaphores below PATH, and\n"
        "shows which process waits for which.  Processes that wait for each\n"
        "other in a circle stand still for ever: the exit status is 2 then,\n"
        "and 0 if there is no circle.\n"
        "\n"
        "  evzk why /app\n"
        "  evzk why --dot /app | dot -Tsvg >waits.svg\n"
        "\n"
        "A process is a session: a program with two sessions counts as two.\n"
        "PATH cannot be \"/\", since the servers' own znodes are there, too.\n",
    .options = options,
    .min = 1,
    .max = 1,
    .run = run,
};
