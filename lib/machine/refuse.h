/* Bad arguments: the log is told which function, which argument and which rule,
 * and the call is refused.
 *
 *   if (evzk__broken(&call, cb != NULL, "cb", EVZK__NOT_NULL))
 *       return EVZK_ERR_INVAL;
 */
#ifndef EVZK_REFUSE_H
#define EVZK_REFUSE_H

#include <stdbool.h>
#include <stddef.h>

#include "evzk/session.h"

/* A public function that was called, and where its log goes. */
struct evzk__call {
    const char *function;
    evzk_log_cb *log; /* NULL: nowhere. */
    void *log_arg;
};

#define EVZK__NOT_NULL "must not be NULL"

/* `s` may be NULL: then there is no log. */
struct evzk__call evzk__call_of(const evzk_session *s, const char *function);

/* True, and a line in the log, unless `ok`. */
bool evzk__broken(const struct evzk__call *call, bool ok, const char *argument,
                  const char *rule);

/* The same, of the arguments of every function that begins an object. */
bool evzk__broken_start(const struct evzk__call *call, const evzk_session *s,
                        const char *path, bool has_cb, bool has_out);

/* The same, of kinds of arguments that many functions take. */
bool evzk__broken_path(const struct evzk__call *call, const char *argument,
                       const char *path);
bool evzk__broken_data(const struct evzk__call *call, const void *data,
                       size_t len, size_t most);
bool evzk__broken_acl(const struct evzk__call *call, const evzk_acl *v,
                      size_t n);

/* Is what every struct of options reserves NULL? */
enum { EVZK__RESERVED = 4 };
bool evzk__reserved_ok(void *const reserved[EVZK__RESERVED]);
bool evzk__broken_reserved(const struct evzk__call *call,
                           void *const reserved[]);

#endif
