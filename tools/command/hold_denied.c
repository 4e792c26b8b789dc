/* Says who holds what could not be acquired. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "hold.h"

#define SHOWN 3 /* Holders that are named. */
#define TRY_AGAIN_US 50000

/* The data of a contender may be any bytes. */
static void print_data(FILE *to, const evzk_contender *c)
{
    const unsigned char *data = c->data;

    if (c->hidden || c->data_len == 0)
        fprintf(to, "%s", c->node);
    for (size_t i = 0; !c->hidden && i < c->data_len && i < 200; i++)
        putc(data[i] >= ' ' && data[i] < 0x7f ? data[i] : '.', to);
}

static void print_holders(FILE *to, const evzk_contender *v, size_t n)
{
    size_t shown = 0;

    for (size_t i = 0; i < n; i++) {
        if (!v[i].holder)
            continue;
        if (++shown > SHOWN)
            continue;
        fprintf(to, shown == 1 ? "held by " : ", ");
        print_data(to, &v[i]);
        fprintf(to, " since %lld s", (long long)v[i].age_ms / 1000);
    }
    if (shown > SHOWN)
        fprintf(to, " and %zu more", shown - SHOWN);
    if (shown == 0)
        fprintf(to, "not acquired");
}

static void end(struct hold *h, const char *text)
{
    complain("%s: %s (try %s, or `evzk who %s`)", h->path, text,
             hold_options.try_once ? "-w 10 to wait" : "a longer -w", h->path);
    connection_finish(&h->connection, (int)hold_options.conflict);
}

static void say_holders(struct hold *h, const evzk_contender *v, size_t n)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    if (to) {
        print_holders(to, v, n);
        fclose(to);
    }
    end(h, text ? text : "not acquired");
    free(text);
}

static void on_answer(evzk_lock_query *query, int rc, const evzk_contender *v,
                      size_t n, void *arg)
{
    (void)query, (void)rc;
    say_holders(arg, v, n);
}

/* Is its own znode in the queue, and another's ahead? */
static bool waits(struct hold *h, const evzk_contender *v, size_t n)
{
    for (size_t i = 0; h->object && i < n; i++) {
        if (strcmp(v[i].node, h->kind->node(h)) == 0)
            return !v[i].holder;
    }
    return false;
}

static void on_try(evzk_lock_query *query, int rc, const evzk_contender *v,
                   size_t n, void *arg)
{
    struct hold *h = arg;

    (void)rc;
    if (h->state == HOLD_WAITS && !connection_finished(&h->connection)) {
        if (waits(h, v, n))
            say_holders(h, v, n);
        else
            event_add(h->look, &(struct timeval){0, TRY_AGAIN_US});
    }
    evzk_lock_query_free(query);
    h->query = NULL;
}

/* The time-out of the recipe ends this where no server answers. */
void hold_try(struct hold *h)
{
    evzk_lock_query_free(h->query);
    h->query = NULL;
    if (h->state == HOLD_WAITS &&
        evzk_lock_query_start(h->connection.session, h->path, on_try, h,
                              &h->query))
        event_add(h->look, &(struct timeval){0, TRY_AGAIN_US});
}

void hold_complain_held(struct hold *h)
{
    char path[4200];

    if (!h->connection.connected) {
        complain("%s: no server answered in time: %s", h->path,
                 settings.servers);
        connection_finish(&h->connection, STATUS_NO_SERVER);
        return;
    }
    if (!h->kind->contenders) {
        end(h, "all are taken");
        return;
    }
    snprintf(path, sizeof(path), "%s%s", h->path, h->kind->contenders);
    if (evzk_lock_query_start(h->connection.session, path, on_answer, h,
                              &h->query))
        end(h, "not acquired");
}
