/**
 * @file evzk/lease.h
 * The lease of a grant, for worker threads: does this process still hold the
 * lock, the election, the shard?  A worker asks just before each write, and
 * sends the token with the write.
 *
 * The loop's thread makes a lease from what is held: evzk_lock_lease(),
 * evzk_election_lease(), evzk_shards_lease(), evzk_semaphore_lease(),
 * evzk_member_lease().  It hands references to workers.
 *
 * What a lease promises: it never says yes after the loss.  The loop's thread
 * may be busy, blocked or stopped: a lease ends by the clock, at a deadline
 * that only an answer of the ZooKeeper leader puts off.  It ends earlier with
 * the grant: on the loop's thread, evzk_lease_held() says at every moment what
 * evzk_lock_held() says.  It has ended before RELEASED, LOST or another final
 * event is told, and before evzk_lock_release(), evzk_lock_free() or
 * evzk_session_close() returns.
 *
 * What no lease can promise: a thread may be paused between the question and
 * the write.  The token protects the resource then: see evzk/lock.h.
 *
 * Threading: every function here may be called from any thread, at any time,
 * without a lock.  None blocks, none calls back, and none needs the session,
 * the lock or the event_base: those may have been freed.
 */
#ifndef EVZK_LEASE_H
#define EVZK_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include <evzk/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The lease of one grant.  Opaque, with a count of references.  When the grant
 * has ended, the lease says no for ever: the next grant has another lease. */
typedef struct evzk_lease evzk_lease;

/**
 * Does the grant surely still stand?  Computed now, by CLOCK_BOOTTIME.  False
 * for NULL, and in the child of a fork.  Takes a fraction of a microsecond.
 */
EVZK_API bool evzk_lease_held(const evzk_lease *lease);

/**
 * The moment until which the grant stands if the leader says nothing more, in
 * microseconds of CLOCK_BOOTTIME.  0: it has ended.  Renewals move it on, about
 * every sixth of the session's time-out.  Use it as the time-out of a write.
 */
EVZK_API int64_t evzk_lease_deadline_us(const evzk_lease *lease);

/** The fencing token (or the epoch) of the grant, also when the grant has
 * ended. 0 for NULL. */
EVZK_API uint64_t evzk_lease_token(const evzk_lease *lease);

/** Takes one more reference, for another thread or another place.  The caller
 * must have one.  Returns @p lease.  NULL is a no-op. */
EVZK_API evzk_lease *evzk_lease_ref(evzk_lease *lease);

/**
 * Gives one reference back.  The last one frees the memory, on the calling
 * thread: with evzk_set_allocator(), `free_fn` must be safe to call from every
 * such thread, as free() is.  NULL is a no-op.  Giving back more references
 * than were taken uses memory after it was freed; nothing catches that.
 */
EVZK_API void evzk_lease_unref(evzk_lease *lease);

#ifdef __cplusplus
}
#endif

#endif
