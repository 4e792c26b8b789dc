/*
 * Three processes share the shards: one has all, two more come, one after
 * another; one hands over what it leads, and another takes its place; one is
 * killed.  How long each takes, how even the shares are, and how many shards
 * moved, beside the fewest that can.
 */
#include <math.h>
#include <poll.h>

#include "team.h"

enum { FIRST, SECOND, THIRD, FOURTH, ALL, QUIET_MS = 1000 };

static struct {
    int had[ALL]; /* Before the change. */
    int moved, least;
} count;

static void note_before(void)
{
    for (int k = 0; k < ALL; k++)
        count.had[k] = atomic_load(&crew->leading[k]);
    team_forget();
}

/* All are led, and none has moved for a while. */
static void await_quiet(const struct run *r)
{
    int grants = -1, now;

    while ((now = atomic_load(&crew->grants)) != grants ||
           team_led() != r->w->shards) {
        grants = now;
        poll(NULL, 0, QUIET_MS);
    }
}

/* A process that leads fewer shards than before has given them away. */
static void note_moves(const struct run *r)
{
    int least = 0;

    await_quiet(r);
    for (int k = 0; k < ALL; k++) {
        int less = count.had[k] - atomic_load(&crew->leading[k]);

        least += less > 0 ? less : 0;
    }
    count.least += least;
    count.moved += atomic_load(&crew->grants);
}

/* How far the share of any of the @n who are to lead is from even, percent. */
static void note_shares(struct run *r, int n)
{
    double even = (double)r->w->shards / n, worst = 0;

    for (int k = 0; k < ALL; k++) {
        int led = atomic_load(&crew->leading[k]);

        n -= led > 0;
        if (led > 0)
            worst = fmax(worst, fabs(led - even) / even * 100);
    }
    if (n > 0)
        worst = 100; /* One process leads none. */
    if (isnan(r->res.v[UNEVEN]) || worst > r->res.v[UNEVEN])
        r->res.v[UNEVEN] = worst;
}

static void come(struct run *r, int k, int processes)
{
    note_before();
    team_tell(k, JOIN);
    while (atomic_load(&crew->leading[k]) == 0)
        poll(NULL, 0, 1);
    note_moves(r);
    note_shares(r, processes);
}

static void come_first(struct run *r)
{
    team_tell(FIRST, JOIN);
    team_await(FIRST, r->w->shards);
    r->res.v[ALL_LED] =
        (double)(atomic_load(&crew->last_ns) - atomic_load(&crew->begun_ns)) /
        1e9;
}

static void hand_over(struct run *r, int k, int processes)
{
    note_before();
    team_tell(k, DRAIN);
    note_moves(r);
    note_shares(r, processes);
    team_note_times(r, count.had[k], 0);
    team_tell(k, LEAVE);
}

static void lose(struct run *r, int k, int processes)
{
    int64_t znodes = srvr_znodes(r->servers), killed, end, led;

    note_before();
    killed = team_kill(k);
    end = team_await_end(r->servers, znodes);
    note_moves(r);
    note_shares(r, processes);
    led = atomic_load(&crew->last_ns);
    r->res.v[AFTER_END] = (double)(led - end) / 1e9;
    r->res.v[AFTER_KILL] = (double)(led - killed) / 1e9;
}

void play_share(struct run *r)
{
    team_start(r, ALL);
    come_first(r);
    come(r, SECOND, 2);
    come(r, THIRD, 3);
    hand_over(r, THIRD, 2);
    come(r, FOURTH, 3);
    lose(r, SECOND, 2);
    r->res.v[MOVED] = (double)count.moved / count.least;
    team_end(r);
}
