/*
 * The rest on the server, by its own figures: at the end of a line the znodes
 * below its directory and the watches there; at the end of all sessions,
 * connections, ephemerals and watches of anybody.
 *
 * Every session was closed and the server said so; it may hang up a little
 * later, so things get a while to go, but one well below the time-out, which
 * would hide what was left behind.
 *
 * A connection that is cut before the server's answer leaves a session that the
 * library cannot know of.  Such are told from those it had, are counted against
 * the connections that were cut so, and are ended here, not waited for.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"

enum { LEFT_MS = SWEEP_SESSION_MS / 3, PACE_MS = 50, TEXT_MAX = 1 << 20 };

static char text[TEXT_MAX]; /* What the server said. */

/* Longer than any name that the library makes: a recipe that takes a path where
 * a name is meant fails here. */
#define ROOT                                                                   \
    "/sweep-at-a-path-that-is-longer-than-any-name-of-a-znode-which-the-"      \
    "library-makes"

void sweep_dir(const struct sweep *sw, const struct sweep_line *line, char *dir,
               size_t size)
{
    snprintf(dir, size, ROOT "/%s/%s/%s", sw->recipe->name,
             sw->recipe->parts[line->part], line->rule->name);
}

/* The children, for people. */
static void show_left(struct raw *r, const char *path)
{
    struct raw_names names;

    if (raw_children(r, path, &names) != ZOK)
        return;
    fprintf(stderr, "sweep: %s:", path);
    for (size_t i = 0; i < names.n; i++)
        fprintf(stderr, " %s", names.name[i]);
    fprintf(stderr, "\n");
    raw_names_free(&names);
}

static int64_t count_below(struct raw *r, const char *dir,
                           const struct raw_names *runs, int keeps, bool late)
{
    int64_t sum = 0;

    for (size_t i = 0; i < runs->n; i++) {
        char path[256];
        int n;

        snprintf(path, sizeof path, "%s/%s", dir, runs->name[i]);
        n = raw_count(r, path);
        if (n > keeps) { /* Else the server took the empty container. */
            sum += n - keeps;
            if (late)
                show_left(r, path);
        }
    }
    return sum;
}

/* Znodes below every run's directory; -1 when that is not known. */
static int64_t count_nodes(struct sweep *sw, const char *dir, bool late)
{
    struct raw *r = raw_open(zk_server(sw->zk, 0), SWEEP_SESSION_MS, NULL);
    struct raw_names runs;
    int64_t sum;
    int rc;

    raw_drive(r, harness_base());
    rc = raw_children(r, dir, &runs);
    if (rc == ZOK) {
        sum = count_below(r, dir, &runs, sw->recipe->keeps, late);
        raw_names_free(&runs);
    } else {
        sum = rc == ZNONODE ? 0 : -1;
    }
    raw_close(r);
    return sum;
}

/* Paths below @dir that "wchp" has watches for. */
static int64_t count_watches(struct sweep *sw, const char *dir)
{
    int64_t sum = 0;
    size_t len = strlen(dir);

    if (zk_4lw(sw->zk, 0, "wchp", text, sizeof text) < 0)
        return -1;
    for (const char *at = text; (at = strstr(at, dir)); at += len)
        sum += at[len] == '/' && (at == text || at[-1] == '\n');
    return sum;
}

static bool proves_something(struct sweep *sw, const struct sweep_line *line)
{
    switch (line->rule->kind) {
    case SWEEP_PLAIN:
    case SWEEP_WHOLE:
        return true;
    case SWEEP_FRAME:
    case SWEEP_BYTE:
    case SWEEP_TWICE:
        /* Not all: what crosses an event differs from run to run. */
        return line->hits > 0 && (sw->only || sw->share < 100 ||
                                  line->hits * 4 >= line->extent * 3);
    }
    return false;
}

static void check_line(struct sweep *sw, struct sweep_line *line)
{
    bool late = now_ms() >= line->check_end;
    char dir[160];
    int64_t nodes, watches;

    sweep_dir(sw, line, dir, sizeof dir);
    nodes = count_nodes(sw, dir, late);
    watches = count_watches(sw, dir);
    line->next_check = now_ms() + PACE_MS;
    if ((nodes != 0 || watches != 0) && !late)
        return;
    line->checked = true;
    sw->tally.nodes_left += nodes < 0 ? 1 : nodes;
    sw->tally.watches_left += watches < 0 ? 1 : watches;
    if (nodes != 0 || watches != 0)
        fprintf(stderr, "sweep: %s: left: %d nodes, %d watches\n", dir,
                (int)nodes, (int)watches);
    if (!proves_something(sw, line)) {
        fprintf(stderr, "sweep: %s: %d hits, the last at %d of %d\n", dir,
                (int)line->hits, (int)line->farthest, (int)line->extent);
        sw->tally.wrong++;
    }
}

void sweep_check_lines(struct sweep *sw)
{
    for (size_t i = 0; i < sw->lines; i++) {
        struct sweep_line *line = &sw->line[i];

        if (!line->over || line->under_way > 0 || line->agains > 0 ||
            line->checked)
            continue;
        if (line->check_end == 0)
            line->check_end = now_ms() + LEFT_MS;
        if (now_ms() >= line->next_check) {
            check_line(sw, line);
            return; /* The lanes go on first. */
        }
    }
}

void sweep_had(struct sweep *sw, int64_t session)
{
    if (sw->hads == sw->had_room) {
        sw->had_room = sw->had_room * 2 + 1024;
        sw->had = realloc(sw->had, sw->had_room * sizeof *sw->had);
        if (!sw->had)
            support_fail("sweep: out of memory");
    }
    sw->had[sw->hads++] = session;
}

static bool was_had(const struct sweep *sw, int64_t session)
{
    for (size_t i = 0; i < sw->hads; i++)
        if (sw->had[i] == session)
            return true;
    return false;
}

/* The session of the next line of "dump" that has one; 0 at the end. */
static int64_t next_session(const char **at)
{
    *at = strstr(*at, "\n\t0x");
    if (!*at)
        return 0;
    *at += 2;
    return (int64_t)strtoull(*at, NULL, 16);
}

/* How many there are that ought to have gone; ends those nobody knew of. */
static int64_t count_sessions(struct sweep *sw)
{
    const char *at = text;
    int64_t id, left = 0;

    if (zk_4lw(sw->zk, 0, "dump", text, sizeof text) < 0)
        return -1;
    while ((id = next_session(&at))) {
        if (was_had(sw, id)) {
            left++;
            continue;
        }
        raw_expire_if_there(zk_server(sw->zk, 0), id);
        sweep_had(sw, id); /* Known from now on. */
        sw->unanswered--;
    }
    return sw->unanswered < 0 ? left - sw->unanswered : left;
}

static bool read_end(struct sweep *sw)
{
    struct sweep_tally *t = &sw->tally;
    int64_t ephemerals, watches;

    t->sessions_left = count_sessions(sw);
    ephemerals = zk_mntr(sw->zk, 0, "zk_ephemerals_count");
    watches = zk_mntr(sw->zk, 0, "zk_watch_count");
    /* One connection is the question's own. */
    t->conns_left = zk_mntr(sw->zk, 0, "zk_num_alive_connections") - 1;
    return t->sessions_left == 0 && t->conns_left == 0 && ephemerals == 0 &&
           watches == 0 && zk_mntr(sw->zk, 0, "zk_global_sessions") == 0;
}

void sweep_check_end(struct sweep *sw)
{
    static const char *const words[] = {"dump", "cons", "wchp"};
    int64_t end = now_ms() + LEFT_MS;
    bool late;

    do {
        late = now_ms() >= end;
        if (read_end(sw))
            return;
        run_for(harness_base(), PACE_MS);
    } while (!late);
    sw->tally.wrong++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        zk_4lw(sw->zk, 0, words[i], text, sizeof text);
        fprintf(stderr, "sweep: left on the server: %s\n", text);
    }
}
