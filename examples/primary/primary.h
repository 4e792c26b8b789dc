/* A primary and its file server: what both roles share. */
#ifndef PRIMARY_H
#define PRIMARY_H

#include <stdbool.h>
#include <stdint.h>

#include <evzk/evzk.h>

struct options {
    const char *servers; /* Of ZooKeeper. */
    const char *address; /* Of the file server. */
    const char *last;    /* The file; or the primary's name. */
    const char *path;    /* Of the lock's file in ZooKeeper. */
    uint32_t session_ms;
    bool unchecked, seen;        /* Of the file server. */
    uint32_t pace_ms, freeze_at; /* Of a primary. */
};

/* The roles; each returns its exit status. */
int serve(const struct options *opt);
int run(const struct options *opt);

#endif
