/*
 * Our own side of the comparison with Curator and Kazoo: what its files share.
 * The commands and answers are those of PeerCurator.java, the options the
 * default ones.  One thread, one session.  Each command starts all its work at
 * once, but for a slice a turn of the loop, as a program does that has other
 * events too.
 *
 * peer_evzk.c         the session, the commands, the slices
 * peer_evzk_locks.c   "each", and "hold", "queue", "free", "join"
 * peer_evzk_items.c   "items", "claims"
 * peer_evzk_members.c "members"
 * peer_evzk_seats.c   "seats"
 * peer_evzk_counter.c "counter"
 * peer_evzk_cache.c   "cache"
 */
#ifndef TESTS_BENCH_PEER_EVZK_H
#define TESTS_BENCH_PEER_EVZK_H

#include <evzk/evzk.h>

/* One command is under way at a time. */
struct peer {
    struct event_base *base;
    evzk_session *zk;
    char dir[256]; /* Of the command. */
    struct event *feeder;
    void (*feed)(struct peer *p, size_t i);
    size_t fed;
    size_t count, granted, ended; /* Of the command's pieces of work. */
    double begun, all_granted, cpu;
};

double peer_now(void); /* Seconds. */
double peer_cpu(void);

__attribute__((format(printf, 1, 2))) void peer_say(const char *format, ...);
_Noreturn void peer_fail(const char *what, int rc);

/* Fails unless @rc is EVZK_OK. */
void peer_must(int rc, const char *what);

/* Memory for @n, of @size each, all 0. */
void *peer_room(size_t n, size_t size);

/* The clock runs from here. */
void peer_begin(struct peer *p, const char *dir, size_t count);

/* Calls @call for each piece of work. */
void peer_feed(struct peer *p, void (*call)(struct peer *p, size_t i));

/* One more was granted, or has ended: true for the last of them. */
bool peer_granted(struct peer *p);
bool peer_ended(struct peer *p);

/* "OK GRANTING_S ENDING_S CPU_S", and "OK ALL_S CPU_S". */
void peer_say_both(const struct peer *p);
void peer_say_all(const struct peer *p);

/* The commands. */
void peer_each(struct peer *p, const char *dir, size_t count);
void peer_hold(struct peer *p, const char *dir);
void peer_queue(struct peer *p, const char *dir, size_t count);
void peer_free_held(struct peer *p);
void peer_join(struct peer *p);
void peer_items(struct peer *p, const char *dir, size_t count);
void peer_claims(struct peer *p, const char *dir, size_t count);
void peer_members(struct peer *p, const char *dir, size_t count);
void peer_seats(struct peer *p, const char *dir, size_t count);
void peer_counter(struct peer *p, const char *dir, size_t count);
void peer_cache(struct peer *p, const char *dir, size_t count);

#endif
