/* The figures of the table and the picture: how many moves, and how few would
 * do; who led how many, and when; how long shards had no leader. */
#include <stdlib.h>
#include <string.h>

#include "judge.h"

/* The processes that share the shards in a phase, and the fewest moves for
 * that: the shards of a process that has gone, and the shards that the others
 * have above their share. */
static void members_of(struct judge *j)
{
    for (unsigned p = 0; p < PROCESSES; p++)
        j->has[p] = p < 5 || j->phase >= ADD;
    j->has[SUBJECT_KILL] = j->phase < KILL;
    j->has[SUBJECT_FREEZE] = j->phase != FREEZE;
    j->has[SUBJECT_DRAIN] = j->phase < DRAIN;
}

static uint32_t least(struct judge *j)
{
    uint32_t n = 0, moves = 0, large = 0, rest;

    members_of(j);
    for (unsigned p = 0; p < PROCESSES; p++)
        n += j->has[p];
    rest = j->out->count % n; /* So many may have one more. */
    for (unsigned p = 0; p < PROCESSES; p++) {
        uint32_t want = j->has[p] ? j->out->count / n : 0;

        if (j->led[p] > want && j->has[p] && large < rest) {
            large++;
            want++;
        }
        moves += j->led[p] > want ? j->led[p] - want : 0;
    }
    return moves;
}

void begin_phase(struct judge *j, const struct said *s)
{
    if (j->begun) {
        memcpy(j->out->phase[j->phase].led, j->led, sizeof j->led);
        j->out->phase[j->phase].took_us = s->us - j->out->phase[j->phase].us;
    } else {
        j->out->began_us = s->us;
    }
    j->begun = true;
    j->ended = s->kind == DID_END;
    if (j->ended)
        return;
    j->phase = (enum phase)s->value;
    j->out->phases++;
    j->out->phase[j->phase].us = s->us;
    j->out->phase[j->phase].least = least(j);
}

void take_samples(struct judge *j, uint64_t now, size_t room)
{
    struct result *r = j->out;

    while (r->samples < room && r->began_us + r->samples * SAMPLE_US <= now) {
        struct sample *to = &r->sample[r->samples++];

        memcpy(to->led, j->led, sizeof to->led);
        to->led[NOBODY] = j->peak;
        j->peak = j->led[NOBODY];
    }
}

static int by_length(const void *a, const void *b)
{
    const struct gap *x = a, *y = b;

    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    return x->us < y->us ? -1 : x->us > y->us;
}

void sum_up(struct judge *j)
{
    size_t from = 0, to;

    if (j->gaps)
        qsort(j->gap, j->gaps, sizeof j->gap[0], by_length);
    for (unsigned p = 0; p < j->out->phases; p++, from = to) {
        for (to = from; to < j->gaps && j->gap[to].phase == p;)
            to++;
        if (to == from)
            continue;
        j->out->phase[p].gaps = (uint32_t)(to - from);
        j->out->phase[p].median_us = j->gap[(from + to) / 2].us;
        j->out->phase[p].worst_us = j->gap[to - 1].us;
    }
}
