/*
 * Shared by the files of the demonstration of shards.
 *
 *   main.c     the command line, and the verdict
 *   run.c      the parent: leads through the phases, hears what is said
 *   process.c  ... starts processes, and does things to them
 *   worker.c   a process: one session, a share of the shards
 *   judge.c    goes through all that was said, in the order of time
 *   count.c    ... and counts
 *   show.c     the progress, the table, the picture in letters
 *   svg.c      the picture in a file
 *
 * What a worker hears of each shard it writes to a pipe, with the time and the
 * end of its lease; CLOCK_MONOTONIC is the same for all processes.  The parent
 * keeps it all, adds what it did itself, and judges it at the end.
 */
#ifndef SHARDS_DEMO_H
#define SHARDS_DEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PROCESSES = 6, NOBODY = PROCESSES };

enum phase {
    JOIN,   /* The first five join. */
    ADD,    /* The sixth joins. */
    KILL,   /* A process is killed with SIGKILL. */
    FREEZE, /* A process is stopped with SIGSTOP. */
    THAW,   /* The stopped process goes on. */
    DRAIN,  /* A process drains, and ends. */
    SERVER, /* A ZooKeeper server is killed. */
    PHASES
};

enum { SUBJECT_KILL = 1, SUBJECT_FREEZE = 2, SUBJECT_DRAIN = 3 };

enum kind {
    SAID_LEASE, /* value: when it ends. */
    SAID_ELECTED,
    SAID_LEADING,
    SAID_ENDED, /* RESIGNED, or LOST. */
    SAID_DRAINED,
    SAID_FAILED, /* value: why. */
    DID_BEGIN,   /* value: the phase. */
    DID_KILL,
    DID_END
};

/* Less than PIPE_BUF, so it is written whole. */
struct said {
    uint64_t us;
    uint64_t value; /* The epoch, or see above. */
    uint32_t shard;
    uint16_t who;
    uint16_t kind;
    uint64_t order; /* Of arrival: among those of the same time. */
};

struct options {
    const char *servers;
    const char *svg;  /* NULL: no picture. */
    const char *kill; /* The command that kills a ZooKeeper server. */
    const char *path;
    uint32_t count, session_ms, deadline_s;
};

struct log {
    struct said *said;
    size_t n, room;
};

/* How many shards each one led at a time; of NOBODY the most since the one
 * before. */
struct sample {
    uint32_t led[PROCESSES + 1];
};

#define SAMPLE_US 50000u

/* The outcome. */
struct result {
    uint32_t count;
    bool ended;      /* The run came to its end, ... */
    unsigned phases; /* ... through so many. */
    uint64_t began_us;
    struct {
        uint64_t us; /* When it began. */
        uint64_t took_us;
        uint32_t moves, least;
        uint32_t gaps, most; /* Shards without a leader: all, at a time. */
        uint64_t median_us, worst_us;
        uint32_t led[PROCESSES + 1]; /* At its end. */
    } phase[PHASES];
    uint32_t doubles;  /* Two leaders at a time. */
    uint32_t disorder; /* Epochs that do not grow. */
    uint64_t elections;
    struct sample *sample;
    size_t samples;
};

/* run.c: false when it did not come to its end; it has said why. */
bool run(const struct options *opt, struct log *log);

/* worker.c */
int worker_run(const struct options *opt, unsigned who, int channel, int pipe);

/* judge.c: false when there is no memory. */
bool judge(struct log *log, uint32_t count, struct result *out);

/* show.c */
uint64_t now_us(void);
const char *phase_name(enum phase phase);
void show_progress(enum phase phase, uint32_t led, uint32_t all, uint64_t us);
void show_phase_end(enum phase phase, uint64_t us);
void show_clear(void);
void show_result(const struct result *r);

/* svg.c */
bool svg_write(const struct result *r, const char *file);

/* Could it be? */
bool svg_writable(const char *file);

#endif
