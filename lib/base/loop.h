/* What the library needs of the event loop: timers, and readiness of one
 * descriptor.  A seam: tests link a simulated loop. */
#ifndef EVZK_LOOP_H
#define EVZK_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;

/* A timer, off at first.  To set and to stop it takes no memory. */
struct evzk__timer;
struct evzk__timer *evzk__timer_new(struct event_base *base,
                                    void (*fire)(void *), void *arg);
void evzk__timer_set(struct evzk__timer *t, int64_t delay_us);
void evzk__timer_stop(struct evzk__timer *t);
void evzk__timer_free(struct evzk__timer *t); /* NULL is a no-op. */

/* Readiness of a descriptor.  The C client owns the socket and may close it at
 * any time. */
enum { EVZK__READ = 1, EVZK__WRITE = 2 };
struct evzk__io;
struct evzk__io *evzk__io_new(struct event_base *base,
                              void (*ready)(int what, void *), void *arg);
void evzk__io_want(struct evzk__io *io, int fd, int what); /* fd -1: none. */
void evzk__io_free(struct evzk__io *io);

#endif
