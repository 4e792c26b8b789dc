/*
 * The library's session on a libevent loop, as all ways of the library use it:
 * one for each process, with the default options but for the session time-out.
 */
#ifndef TESTS_BENCH_LIBRARY_H
#define TESTS_BENCH_LIBRARY_H

#include <evzk/evzk.h>

#include "bench.h"

extern evzk_session *library;

/* These are parts of a way; see there. */
void library_open(struct run *r, const char *servers);
bool library_busy(void);
void library_turn(void); /* One turn of the loop. */
bool library_connected(void);
int64_t library_watches(void);
void library_close(void);

/* Fails unless @rc is EVZK_OK. */
void library_check(int rc, const char *what);

/* Memory for @n, of @size each, all 0. */
void *library_room(int n, size_t size);

#endif
