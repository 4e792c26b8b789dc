/* What the actions of "evzk queue" have in common. */
#ifndef EVZK_COMMAND_QUEUE_H
#define EVZK_COMMAND_QUEUE_H

#include <evzk/evzk.h>

#include "action.h"

#define QUEUE_UNSET UINT32_MAX

struct queue_options {
    uint32_t priority, count, wait_ms, max_deliveries;
    int lines, null;
    const char *layout;
};
extern struct queue_options queue_options;

/* What --layout says: 0, or an exit status with a message. */
int queue_layout(evzk_queue_layout *out);

/* The actions. */
int queue_put(const struct arguments *arguments);
int queue_size(const struct arguments *arguments);
int queue_take(const struct arguments *arguments);
int queue_claim(const struct arguments *arguments);

/* For those that do not wait: asks again and again whether the queue is empty,
 * and says so once.  A consumer alone cannot tell: it waits for its turn. */
struct queue_look {
    struct connection *connection;
    const char *path;
    evzk_queue_layout layout;
    void (*empty)(void *arg);
    void *arg;
    uint64_t aside; /* Items that are there, and that nobody can take. */

    /* For queue_look.c alone. */
    evzk_queue_query *query;
    struct event *again;
};

/* 0, or an exit status with a message. */
int queue_look_start(struct queue_look *l);

/* An item that cannot be taken was set aside: says so, and counts it. */
void queue_look_aside(struct queue_look *l, const evzk_item *item, int rc);

/* Asks no more. */
void queue_look_end(struct queue_look *l);

/* The library's time-out for a take: 0 is for ever. */
uint32_t queue_timeout_ms(void);

/* Nothing came in time: an exit status, with a message. */
int queue_complain_empty(const struct connection *c, const char *path);

#endif
