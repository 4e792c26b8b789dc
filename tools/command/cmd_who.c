/* evzk who PATH: the holders and waiters of a lock, an election or a semaphore.
 *
 * An answer takes five questions in a row: who leads, and who is in the queues
 * at PATH, PATH/leases, PATH/locks and PATH-__lock__.  A cache of PATH/leases
 * knows the tokens of leases, and one of PATH the leases of Kazoo, which are no
 * queue.  With --watch there are caches of all four, and each change asks anew;
 * what changes meanwhile asks once more. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "connect.h"
#include "contender.h"
#include "who.h"

enum { LEASES, QUEUE, LOCKS, KAZOO, CACHES };

/* Of a semaphore the leases and the queue, of all others PATH itself. */
static const char *const below[CACHES] = {"/leases", "", "/locks", "-__lock__"};

struct who {
    struct connection connection;
    const char *path;
    evzk_cache *cache[CACHES];
    evzk_observer *observer;
    evzk_lock_query *query;
    struct who_answer answer;
    int at;           /* Which of `below` is asked for. */
    bool busy, again; /* An answer is being put together; another has to. */
    bool shown;       /* An answer was printed. */
};

static int watch;

static const struct option_row options[] = {
    OPTION_FLAG_ROW("watch", 'w', &watch, 1,
                    "stay, and print again at every change"),
    OPTION_END};

static void ask(struct who *w);

static void sub_path(const struct who *w, int i, char out[PATH_ROOM])
{
    snprintf(out, PATH_ROOM, "%s%s", w->path[1] || !*below[i] ? w->path : "",
             below[i]);
}

/* An end that the user has to hear of. */
static void give_up(struct who *w, int rc)
{
    if (connection_finished(&w->connection) || rc == EVZK_ERR_CLOSED)
        return;
    connection_finish(&w->connection, complain_error(rc, w->path));
}

static bool all_ready(const struct who *w)
{
    for (int i = 0; i < CACHES; i++) {
        if (w->cache[i] && !evzk_cache_ready(w->cache[i]))
            return false;
    }
    return true;
}

static void print(struct who *w)
{
    int status = who_print(&w->answer, w->path, watch, w->shown);

    w->shown = true;
    w->busy = false;
    if (status || !watch)
        connection_finish(&w->connection, status);
    else if (w->again)
        ask(w);
}

/* The leases of a semaphore of Kazoo. */
static void add_kazoo(struct who *w)
{
    evzk_cache_entry e;

    for (bool ok = evzk_cache_first_child(w->cache[QUEUE], "", &e); ok;
         ok = evzk_cache_next_child(w->cache[QUEUE], &e)) {
        evzk_contender c = {.node = e.name,
                            .data = e.data,
                            .data_len = e.len,
                            .session = e.ephemeral_owner,
                            .age_ms = -1,
                            .hidden = e.hidden};

        if (name_is_kazoo_lease(e.name))
            who_add(&w->answer, &c, e.czxid, false);
    }
}

static void on_answer(evzk_lock_query *query, int rc, const evzk_contender *v,
                      size_t n, void *arg)
{
    struct who *w = arg;
    evzk_cache_entry e;
    char path[PATH_ROOM];

    evzk_lock_query_free(query);
    w->query = NULL;
    for (size_t i = 0; i < n; i++) {
        int64_t token = (int64_t)v[i].token;

        if (w->at == LEASES &&
            evzk_cache_get(w->cache[LEASES], v[i].node, &e) == EVZK_OK)
            token = e.czxid;
        who_add(&w->answer, &v[i], token, w->at >= LOCKS);
    }
    if (!rc && w->at == QUEUE)
        add_kazoo(w);
    if (!rc && ++w->at == CACHES) {
        print(w);
        return;
    }
    if (!rc) {
        sub_path(w, w->at, path);
        rc = evzk_lock_query_start(w->connection.session, path, on_answer, w,
                                   &w->query);
    }
    if (rc)
        give_up(w, rc);
}

static void on_leader(evzk_observer *observer, int rc,
                      const evzk_leader *leader, void *arg)
{
    struct who *w = arg;
    char path[PATH_ROOM];

    evzk_observer_free(observer);
    w->observer = NULL;
    if (!rc && leader)
        who_leads(&w->answer, leader);
    w->at = 0;
    sub_path(w, 0, path);
    if (!rc)
        rc = evzk_lock_query_start(w->connection.session, path, on_answer, w,
                                   &w->query);
    if (rc)
        give_up(w, rc);
}

static void ask(struct who *w)
{
    int rc;

    w->again = w->busy;
    if (w->busy || connection_finished(&w->connection))
        return;
    w->busy = true;
    who_clear(&w->answer);
    rc = evzk_election_observe(w->connection.session, w->path, on_leader, w,
                               &w->observer);
    if (rc)
        give_up(w, rc);
}

static void on_cache(evzk_cache *cache, evzk_cache_event event, int rc,
                     const evzk_cache_entry *entry,
                     const evzk_cache_entry *before, void *arg)
{
    struct who *w = arg;

    (void)cache, (void)entry, (void)before;
    if (event == EVZK_CACHE_ENDED)
        give_up(w, rc);
    else if (all_ready(w) && (watch || !w->busy))
        ask(w);
}

static void on_session(evzk_session_event event, void *arg)
{
    (void)arg;
    if (watch && event == EVZK_SESSION_SUSPENDED)
        complain("no server answers: what was printed may be old");
}

static int start(struct who *w)
{
    evzk_cache_options opt = {.depth = EVZK_CACHE_CHILDREN};
    char path[PATH_ROOM];
    int rc = EVZK_OK;

    if (strlen(w->path) >= PATH_ROOM - 16)
        return complain_usage("the path is too long");
    for (int i = watch ? CACHES - 1 : QUEUE; i >= 0 && !rc; i--) {
        sub_path(w, i, path);
        rc = evzk_cache_start(w->connection.session, path, &opt, on_cache, w,
                              &w->cache[i]);
    }
    return rc ? complain_error(rc, w->path) : 0;
}

static void free_all(struct who *w)
{
    for (int i = 0; i < CACHES; i++)
        evzk_cache_free(w->cache[i]);
    evzk_observer_free(w->observer);
    evzk_lock_query_free(w->query);
    who_clear(&w->answer);
    connection_free(&w->connection);
}

static int run(const struct arguments *arguments)
{
    struct who w = {.path = arguments->words[0],
                    .connection = {.told = on_session, .arg = &w}};
    int status = connection_open(&w.connection);

    if (!status)
        status = start(&w);
    if (!status)
        status = connection_run(&w.connection);
    free_all(&w);
    return status;
}

const struct command cmd_who = {
    .name = "who",
    .summary = "show who holds a lock, and who waits",
    .arguments = "PATH",
    .about =
        "Shows the holders of the lock at PATH, and then its waiters in the\n"
        "order in which they will get it.  PATH may be an election or a\n"
        "semaphore, too.  Nothing is changed on the servers.\n"
        "\n"
        "  evzk who /cron/backup\n"
        "  evzk who --watch /service\n"
        "\n"
        "TOKEN is the fencing token: a later holder has a greater one.\n",
    .options = options,
    .min = 1,
    .max = 1,
    .run = run,
};
