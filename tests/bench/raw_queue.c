/* What the raw ways of a queue share; see raw_queue.h. */
#include "raw_queue.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

enum { SESSION_MS = 10000 };

static const char item_prefix[] = "queue-", claim_prefix[] = "claim-";

struct raw_queue raw_queue;

static void path_of(const char *prefix, int32_t seq, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%.100s/%s%010d", raw_queue.dir, prefix,
             (int)seq);
}

void raw_queue_item(int32_t seq, char path[PATH_SIZE])
{
    path_of(item_prefix, seq, path);
}

void raw_queue_claim(int32_t seq, char path[PATH_SIZE])
{
    path_of(claim_prefix, seq, path);
}

/* ---- Listings ---- */

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

static int collect(const struct String_vector *names, const char *prefix,
                   int32_t *v)
{
    size_t len = strlen(prefix);
    int n = 0;

    for (int32_t k = 0; k < names->count; k++)
        if (strncmp(names->data[k], prefix, len) == 0)
            v[n++] = plain_seq(names->data[k]);
    qsort(v, (size_t)n, sizeof v[0], by_number);
    return n;
}

static int32_t *room_for(const struct String_vector *names)
{
    int32_t *v = malloc(((size_t)names->count + 1) * sizeof *v);

    if (!v)
        fail("raw: out of memory");
    return v;
}

/* Both are in order. */
static int leave_out(int32_t *v, int n, const int32_t *claims, int n_claims)
{
    int left = 0;

    for (int k = 0, c = 0; k < n; k++) {
        while (c < n_claims && claims[c] < v[k])
            c++;
        if (c == n_claims || claims[c] != v[k])
            v[left++] = v[k];
    }
    return left;
}

int32_t *raw_queue_sort(const struct String_vector *names, int *n)
{
    int32_t *v = room_for(names), *claims;

    *n = collect(names, item_prefix, v);
    if (!raw_queue.claimed)
        return v;
    claims = room_for(names);
    *n = leave_out(v, *n, claims, collect(names, claim_prefix, claims));
    free(claims);
    return v;
}

/* ---- Puts ---- */

static void on_put(int rc, const char *path, const void *data)
{
    (void)path;
    raw_queue.flying--;
    plain_check(rc, "create");
    run_granted(raw_queue.run, number_of(data));
}

void raw_queue_put(int i)
{
    static const char text[QUEUE_ITEM_SIZE];
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "%.100s/%s", raw_queue.dir, item_prefix);
    raw_queue.flying++;
    plain_check(zoo_acreate(raw_queue.p.zh, path, text, sizeof text,
                            &ZOO_OPEN_ACL_UNSAFE, ZOO_SEQUENCE, on_put,
                            as_data(i)),
                "create");
}

void raw_queue_ask_put(int i) { plain_push(&raw_queue.p, &raw_queue.todo, i); }

void raw_queue_ask_take(int i)
{
    plain_push(&raw_queue.p, &raw_queue.todo, ~i);
}

/* ---- Open and close ---- */

void raw_queue_open(struct run *r, const char *servers, bool claimed,
                    void (*turn)(void))
{
    raw_queue.run = r;
    raw_queue.claimed = claimed;
    raw_queue.todo.room = 2 * r->w->n;
    run_path(r, 0, raw_queue.dir);
    plain_open(&raw_queue.p, r->base, servers, SESSION_MS, turn);
}

bool raw_queue_busy(void)
{
    return raw_queue.flying > 0 || plain_has_todo(&raw_queue.todo);
}

bool raw_queue_connected(void)
{
    return zoo_state(raw_queue.p.zh) == ZOO_CONNECTED_STATE;
}

static void on_removed(int rc, const void *data)
{
    (void)data;
    raw_queue.flying--;
    plain_check(rc, "delete");
}

static void on_rest(int rc, const struct String_vector *names, const void *data)
{
    char path[PATH_SIZE];

    (void)data;
    raw_queue.flying--;
    plain_check(rc, "getChildren");
    for (int32_t k = 0; k < names->count; k++) {
        snprintf(path, sizeof path, "%.100s/%.40s", raw_queue.dir,
                 names->data[k]);
        raw_queue.flying++;
        plain_check(zoo_adelete(raw_queue.p.zh, path, -1, on_removed, NULL),
                    "delete");
    }
}

void raw_queue_close(void)
{
    raw_queue.flying++;
    plain_check(
        zoo_aget_children(raw_queue.p.zh, raw_queue.dir, 0, on_rest, NULL),
        "getChildren");
    plain_kick(&raw_queue.p);
    while (raw_queue.flying > 0)
        event_base_loop(raw_queue.p.base, EVLOOP_ONCE);
    plain_close(&raw_queue.p);
    free(raw_queue.todo.v);
}
