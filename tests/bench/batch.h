/*
 * Many creates or deletes in large transactions, for what is made beside the
 * measuring.
 */
#ifndef TESTS_BENCH_BATCH_H
#define TESTS_BENCH_BATCH_H

#include "plain.h"

enum batch_kind {
    BATCH_DIRS = 1,  /* The lock directory. */
    BATCH_NODES = 2, /* A contender in it, of the session. */
    BATCH_BOTH = 3,
    BATCH_DELETE = 4, /* The directory. */
    BATCH_VALUES = 8  /* The directory, with data. */
};

/*
 * Does it for the locks 0, @step, ... below @n in @dir, or with @one for @dir
 * itself; returns when all is done.  A batch that fails because of what is
 * there, or is not, is done one by one, and that passed over.
 */
void batch_run(struct plain *p, enum batch_kind kind, const char *dir, int n,
               int step, bool one);

#endif
