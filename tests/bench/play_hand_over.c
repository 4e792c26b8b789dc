/*
 * Two processes lead as many shards each, and one goes: it hands over what it
 * leads, or is killed.  With a plan, that one made it.
 */
#include "team.h"

/* The first leads @n, and the second one the rest. */
static void share(struct run *r, int n)
{
    team_start(r, 2);
    team_tell(0, JOIN);
    crew_await(&crew->grants, n);
    team_tell(1, JOIN);
    team_await(0, n);
    team_await(1, r->w->shards - n);
    team_settle(r);
}

void play_hand_over(struct run *r)
{
    int n = r->w->n;
    int64_t packets, transactions, begun, drained, led;

    share(r, n);
    packets = mntr_packets(r->servers);
    transactions = srvr_transactions(r->servers);
    team_tell(0, DRAIN);
    drained = now_ns();
    team_await(1, r->w->shards);
    begun = atomic_load(&crew->begun_ns);
    led = atomic_load(&crew->last_ns);
    note_transactions(r, transactions);
    team_tell(0, LEAVE);
    team_tell(1, LEAVE);
    crew_note_cost(r, packets, n);
    team_end(r);
    r->res.v[RATE] = per_second(n, led - begun);
    r->res.v[RELEASE] = per_second(n, drained - begun);
    r->res.v[ALL_LED] = (double)(led - begun) / 1e9;
    team_note_times(r, n, 0);
}

/* The costs are of the one that takes them. */
void play_kill(struct run *r)
{
    int n = r->w->n;
    int64_t packets, transactions, znodes, killed, end, led;

    share(r, n);
    packets = mntr_packets(r->servers);
    transactions = srvr_transactions(r->servers);
    znodes = srvr_znodes(r->servers);
    killed = team_kill(0);
    end = team_await_end(r->servers, znodes);
    team_await(1, r->w->shards);
    led = atomic_load(&crew->last_ns);
    note_transactions(r, transactions);
    team_tell(1, LEAVE);
    crew_note_cost(r, packets, n);
    team_end(r);
    r->res.v[RATE] = per_second(n, led - end);
    r->res.v[AFTER_END] = (double)(led - end) / 1e9;
    r->res.v[AFTER_KILL] = (double)(led - killed) / 1e9;
    team_note_times(r, n, end);
}
