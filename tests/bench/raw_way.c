/* The raw client with a list of work; see raw_way.h. */
#include "raw_way.h"

#include <event2/event.h>
#include <stdlib.h>

struct raw raw;

void raw_sent(int rc, const char *what)
{
    plain_check(rc, what);
    raw.flying++;
}

void raw_answered(int rc, const char *what)
{
    raw.flying--;
    plain_check(rc, what);
}

void raw_await_answers(void)
{
    plain_kick(&raw.p);
    while (raw.flying > 0)
        event_base_loop(raw.p.base, EVLOOP_ONCE);
}

static bool has_room(void)
{
    int window = raw.work->window ? raw.work->window : WINDOW;

    return raw.flying + raw.work->requests <= window;
}

static bool is_ready(void) { return !raw.work->ready || raw.work->ready(); }

static void on_turn(void)
{
    while (plain_has_todo(&raw.todo) && has_room() && is_ready()) {
        int i = plain_next(&raw.todo);

        raw.todo.head++;
        if (i >= 0)
            raw.work->start(i);
        else
            raw.work->stop(~i);
    }
}

void raw_begin(struct run *r, const char *servers, const struct raw_work *work)
{
    raw.run = r;
    raw.work = work;
    raw.todo.room = 2 * r->w->n;
    run_path(r, 0, raw.dir);
    plain_open(&raw.p, r->base, servers, run_session_ms(r), on_turn);
}

void raw_start(int i) { plain_push(&raw.p, &raw.todo, i); }

void raw_stop(int i) { plain_push(&raw.p, &raw.todo, ~i); }

bool raw_busy(void) { return raw.flying > 0 || plain_has_todo(&raw.todo); }

bool raw_connected(void) { return zoo_state(raw.p.zh) == ZOO_CONNECTED_STATE; }

void raw_end(void)
{
    plain_close(&raw.p);
    free(raw.todo.v);
}
