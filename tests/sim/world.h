/* The world of a simulated run: its memory, its clock, its randomness.
 *
 * All memory that a run can change is known here, so that a run can be saved,
 * put back, and told from another by a digest.  It is of two kinds: areas, from
 * which each process and the world outside allocate, and kept variables, which
 * modules name with SIM_KEEP().  Built with sanitizers, or under Valgrind,
 * areas come from malloc, so that these see what is wrong; then nothing can be
 * saved, and runs are played from their beginning.  A digest then means
 * nothing. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIM_PROCS = 4, SIM_SERVERS = 3 };

/* Areas: process p has area p. */
enum { SIM_OUTSIDE = SIM_PROCS, SIM_AREAS };

/* Zeroed; never NULL: an area that is full ends the program with a message. */
void *sim_alloc(int area, size_t n);
void sim_free(int area, void *p); /* NULL is a no-op; a wrong one: violation. */
char *sim_strdup(int area, const char *s);
void *sim_memdup(int area, const void *p, size_t n);
size_t sim_live(int area); /* Blocks that are allocated. */

/* Makes a variable part of what is saved, put back, digested, and zeroed when a
 * world begins. */
void sim_keep(void *p, size_t n);
#define SIM_KEEP(var)                                                          \
    static void __attribute__((constructor)) sim_keep_##var(void)              \
    {                                                                          \
        sim_keep(&var, sizeof var);                                            \
    }

/* Everything as at the first moment: areas empty, kept variables zero. */
void sim_world_begin(uint64_t seed);

/* Snapshots.  A saved world may be put back any number of times. */
struct sim_saved;
bool sim_can_save(void);
struct sim_saved *sim_save(struct sim_saved *reuse); /* NULL: a new one. */
void sim_restore(const struct sim_saved *w);
size_t sim_saved_size(const struct sim_saved *w);
void sim_saved_free(struct sim_saved *w);

/* Two worlds with the same digest go on alike. */
struct sim_digest {
    uint64_t v[2];
};
struct sim_digest sim_digest(void);

/* Of bytes that a rule remembers by this alone. */
uint64_t sim_hash(const void *data, size_t n);

enum { SIM_BEGIN_US = 1000000 };
int64_t sim_now(void); /* Microseconds; begins at SIM_BEGIN_US. */
void sim_set_now(int64_t us);
static inline int64_t in_us(int64_t ms) { return ms * 1000; }
uint64_t sim_random(void); /* Of this run: part of the world. */

/* Which process's code runs now; -1: none, it is the world itself.  Whatever
 * calls the library for a process enters it before and leaves it after. */
int sim_running(void);
int sim_enter(int proc); /* Returns who ran before, for sim_leave(). */
void sim_leave(int before);

/* Allocations of a process by the library and its ZooKeeper client: counted,
 * and made to fail.  The nth from now (from 1) fails: alone, or with all after
 * it until sim_alloc_heal(). */
void *sim_malloc(size_t n); /* For the running process; NULL when it fails. */
void *sim_mrealloc(void *p, size_t n);
void sim_mfree(void *p);
unsigned sim_alloc_count(int proc);
void sim_alloc_fail(int proc, unsigned nth, bool on);
void sim_alloc_heal(int proc);
bool sim_alloc_failing(int proc); /* Was told to fail, and is not healed. */

/* A process that is slow does one thing of each kind in a turn of its loop. */
void sim_slow(int proc, bool on);
bool sim_is_slow(int proc);

/* Reports a violation; the first counts.  Not part of the world: never put
 * back. */
void sim_violation(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *sim_violated(void); /* NULL: nothing so far. */
void sim_violation_clear(void);

/* A line of the trace, with the time before it; to where sim_talk() says. */
void sim_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void sim_talk(void (*line)(const char *line, void *arg), void *arg);
bool sim_talking(void);

#endif
