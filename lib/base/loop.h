/* The event loop as the library needs it: timers, and readiness of one
 * descriptor.  A seam: tests link a simulated one. */
#ifndef EVZK_LOOP_H
#define EVZK_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;

/* A timer, off at first.  Allocated once, then set and stopped at will. */
struct evzk__timer;
struct evzk__timer *evzk__timer_new(struct event_base *base,
                                    void (*fire)(void *), void *arg);
void evzk__timer_set(struct evzk__timer *t, int64_t delay_us);
void evzk__timer_stop(struct evzk__timer *t);
void evzk__timer_free(struct evzk__timer *t); /* NULL is a no-op. */

/* Readiness of a descriptor that another owns, and may close at any time. */
enum { EVZK__READ = 1, EVZK__WRITE = 2 };
struct evzk__io;
struct evzk__io *evzk__io_new(struct event_base *base,
                              void (*ready)(int what, void *), void *arg);
void evzk__io_want(struct evzk__io *io, int fd, int what); /* fd -1: none. */
void evzk__io_free(struct evzk__io *io);

#endif
