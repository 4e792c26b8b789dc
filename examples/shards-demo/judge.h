/* The state of judge.c while it goes through all events; count.c sums it up. */
#ifndef SHARDS_DEMO_JUDGE_H
#define SHARDS_DEMO_JUDGE_H

#include "demo.h"

/* One shard. */
struct one {
    bool claim[PROCESSES];
    uint8_t leader; /* Or NOBODY. */
    uint8_t last;   /* The last leader. */
    uint8_t left_in;
    uint64_t left_us;
    uint64_t epoch;
};

struct judge {
    struct result *out;
    struct one *one;
    struct gap {
        uint8_t phase;
        uint64_t us;
    } * gap;
    size_t gaps, room;
    uint64_t lease_us[PROCESSES]; /* Its end; 0: there is none. */
    uint32_t led[PROCESSES + 1];
    bool has[PROCESSES]; /* The process shares the shards. */
    uint32_t peak;       /* Of leaderless ones, since the last sample. */
    enum phase phase;
    bool begun, ended;
};

/* count.c */
void begin_phase(struct judge *j, const struct said *s);
void take_samples(struct judge *j, uint64_t now, size_t room);
void sum_up(struct judge *j);

#endif
