/*
 * Goes through all that was said, in the order of time.
 *
 * A process claims a shard from ELECTED to RESIGNED or LOST, and no longer than
 * its lease: a frozen process says nothing, but its lease ends all the same.  A
 * killed process claims nothing from then on.  Two processes must never claim a
 * shard at the same time.  A shard is led from LEADING on, which is later than
 * ELECTED; the time between is counted as without a leader.
 *
 * How it can fail.  The end of a lease may be reported late by a tick of the
 * worker.  If the process was frozen within that tick, a claim seems to end
 * earlier than it does, by the time that the lease was renewed by.
 */
#include <stdlib.h>

#include "judge.h"

static int by_time(const void *a, const void *b)
{
    const struct said *x = a, *y = b;

    if (x->us != y->us)
        return x->us < y->us ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static void lead(struct judge *j, struct one *d, unsigned who)
{
    j->led[d->leader]--;
    d->leader = (uint8_t)who;
    j->led[who]++;
    if (j->led[NOBODY] > j->peak)
        j->peak = j->led[NOBODY];
    if (j->phase > JOIN && j->led[NOBODY] > j->out->phase[j->phase].most)
        j->out->phase[j->phase].most = j->led[NOBODY];
}

static void leave(struct judge *j, struct one *d, uint64_t us)
{
    lead(j, d, NOBODY);
    d->left_us = us;
    d->left_in = (uint8_t)j->phase;
}

static void leave_all(struct judge *j, unsigned who, uint64_t us)
{
    for (uint32_t i = 0; i < j->out->count; i++)
        if (j->one[i].leader == who)
            leave(j, &j->one[i], us);
}

/* Its lease has ended without a word. */
static void look_at_leases(struct judge *j, uint64_t now)
{
    for (unsigned p = 0; p < PROCESSES; p++) {
        if (j->lease_us[p] > now || j->lease_us[p] == 0)
            continue;
        leave_all(j, p, j->lease_us[p]);
        j->lease_us[p] = 0;
    }
}

static void check_claims(struct judge *j, const struct one *d, unsigned who)
{
    for (unsigned p = 0; p < PROCESSES; p++)
        if (p != who && d->claim[p] && j->lease_us[p])
            j->out->doubles++;
}

static void take_elected(struct judge *j, const struct said *s)
{
    struct one *d = &j->one[s->shard];

    j->out->elections++;
    check_claims(j, d, s->who);
    d->claim[s->who] = true;
    j->out->disorder += s->value <= d->epoch;
    if (s->value > d->epoch)
        d->epoch = s->value;
}

static bool take_leading(struct judge *j, const struct said *s)
{
    struct one *d = &j->one[s->shard];
    struct gap *more;

    if (d->left_us) {
        if (j->gaps == j->room) {
            j->room = j->room * 2 + 1024;
            more = realloc(j->gap, j->room * sizeof *more);
            if (!more)
                return false;
            j->gap = more;
        }
        j->gap[j->gaps++] = (struct gap){d->left_in, s->us - d->left_us};
        d->left_us = 0;
    }
    if (d->last != NOBODY && d->last != s->who)
        j->out->phase[j->phase].moves++;
    d->last = (uint8_t)s->who;
    lead(j, d, s->who);
    return true;
}

/* When a lease begins anew, the shards that the process still claims are
 * claimed again, and those that nobody has led since are led again. */
static bool take_lease(struct judge *j, const struct said *s)
{
    bool anew = j->lease_us[s->who] == 0 && s->value;
    struct said again = *s;

    if (s->value == 0)
        leave_all(j, s->who, s->us);
    j->lease_us[s->who] = s->value;
    for (uint32_t i = 0; anew && i < j->out->count; i++) {
        struct one *d = &j->one[i];

        if (!d->claim[s->who])
            continue;
        check_claims(j, d, s->who);
        again.shard = i;
        if (d->leader == NOBODY && d->last == s->who &&
            !take_leading(j, &again))
            return false;
    }
    return true;
}

static void take_ended(struct judge *j, const struct said *s)
{
    struct one *d = &j->one[s->shard];

    d->claim[s->who] = false;
    if (d->leader == s->who)
        leave(j, d, s->us);
}

static void take_kill(struct judge *j, const struct said *s)
{
    leave_all(j, s->who, s->us);
    for (uint32_t i = 0; i < j->out->count; i++)
        j->one[i].claim[s->who] = false;
    j->lease_us[s->who] = 0;
}

static bool take(struct judge *j, const struct said *s)
{
    switch ((enum kind)s->kind) {
    case SAID_LEASE:
        return take_lease(j, s);
    case SAID_ELECTED:
        take_elected(j, s);
        break;
    case SAID_LEADING:
        return take_leading(j, s);
    case SAID_ENDED:
        take_ended(j, s);
        break;
    case DID_KILL:
        take_kill(j, s);
        break;
    case DID_BEGIN:
    case DID_END:
        begin_phase(j, s);
        break;
    case SAID_DRAINED:
    case SAID_FAILED:
        break;
    }
    return true;
}

static bool go_through(struct judge *j, const struct log *log)
{
    uint64_t all = log->said[log->n - 1].us - log->said[0].us;
    size_t room = (size_t)(all / SAMPLE_US + 2);

    j->out->sample = calloc(room, sizeof *j->out->sample);
    if (!j->out->sample)
        return false;
    for (size_t i = 0; i < log->n && !j->ended; i++) {
        if (j->begun) {
            look_at_leases(j, log->said[i].us);
            take_samples(j, log->said[i].us, room);
        }
        if (!take(j, &log->said[i]))
            return false;
    }
    sum_up(j);
    return true;
}

bool judge(struct log *log, uint32_t count, struct result *out)
{
    struct judge j = {.out = out, .one = calloc(count, sizeof *j.one)};
    bool ok = j.one && log->n;

    *out = (struct result){.count = count};
    j.led[NOBODY] = count;
    for (uint32_t i = 0; ok && i < count; i++)
        j.one[i].leader = j.one[i].last = NOBODY;
    if (ok)
        qsort(log->said, log->n, sizeof log->said[0], by_time);
    ok = ok && go_through(&j, log);
    out->ended = j.ended;
    free(j.one);
    free(j.gap);
    return ok;
}
