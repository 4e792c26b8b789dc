/* The parent: run.c leads, process.c does. */
#ifndef SHARDS_DEMO_RUN_H
#define SHARDS_DEMO_RUN_H

#include "demo.h"

struct parent {
    const struct options *opt;
    struct log *log;
    pid_t pid[PROCESSES];
    int channel[PROCESSES], pipe[PROCESSES];
    bool has[PROCESSES]; /* Is to have a share. */
    uint8_t *leader;     /* Of each shard, as heard last. */
    uint32_t led[PROCESSES + 1];
    bool drained, trouble;
};

/* run.c */
bool complain(const char *what, unsigned who); /* False. */
void did(struct parent *p, enum kind kind, unsigned who, uint64_t value);
void listen_to_all(struct parent *p);

/* process.c: what is done in a phase, and at the end. */
void act(struct parent *p, enum phase phase);
void dismiss(struct parent *p);

#endif
