/**
 * @file evzk/count.h
 * How many children a znode has, as new as the ZooKeeper leader knows it.
 *
 * Threading: all calls and callbacks are on the thread of the session's loop.
 */
#ifndef EVZK_COUNT_H
#define EVZK_COUNT_H

#include <stddef.h>

#include <evzk/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One count, under way or done.  Opaque. */
typedef struct evzk_count evzk_count;

/**
 * Called once, when the count is done.
 *
 * @param count The object: free it here, or later.
 * @param rc    EVZK_OK; EVZK_ERR_NONODE: no such znode; or another error.
 * @param n     The number of children; 0 when @p rc is an error.
 * @param arg   As given to evzk_count_start().
 */
typedef void evzk_count_cb(evzk_count *count, int rc, size_t n, void *arg);

/**
 * Begins to count the children of @p path, and returns at once.
 *
 * @param s    Borrowed; closing it ends the count with EVZK_ERR_CLOSED.
 * @param path Absolute path.  Copied.
 * @param cb   Hears the answer.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_count_free().
 *
 * @retval EVZK_OK         @p cb will be called.
 * @retval EVZK_ERR_INVAL  Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 */
EVZK_API int evzk_count_start(evzk_session *s, const char *path,
                              evzk_count_cb *cb, void *arg, evzk_count **out);

/** Frees it, at any time; the callback is not called any more.  NULL is a
 * no-op. */
EVZK_API void evzk_count_free(evzk_count *count);

#ifdef __cplusplus
}
#endif

#endif
