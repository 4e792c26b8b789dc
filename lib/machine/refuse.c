/* Bad arguments are told to the log, in one form. */
#include "lib/machine/refuse.h"

#include <stdio.h>

#include "lib/base/acl.h"
#include "lib/base/name.h"
#include "lib/request/core.h"

struct evzk__call evzk__call_of(const evzk_session *s, const char *function)
{
    const struct evzk__core *core = s ? evzk__core_of(s) : NULL;

    return (struct evzk__call){.function = function,
                               .log = core ? core->log.cb : NULL,
                               .log_arg = core ? core->log.arg : NULL};
}

bool evzk__broken(const struct evzk__call *call, bool ok, const char *argument,
                  const char *rule)
{
    char line[256];

    if (ok)
        return false;
    snprintf(line, sizeof line, "%s: %s: %s", call->function, argument, rule);
    if (call->log)
        call->log(EVZK_LOG_ERROR, line, call->log_arg);
    return true;
}

bool evzk__broken_path(const struct evzk__call *call, const char *argument,
                       const char *path)
{
    const char *rule = evzk__path_fault(path);

    return evzk__broken(call, !rule, argument, rule);
}

bool evzk__broken_data(const struct evzk__call *call, const void *data,
                       size_t len, size_t most)
{
    char rule[64];

    snprintf(rule, sizeof rule, "must be at most %zu", most);
    return evzk__broken(call, data || len == 0, "data",
                        "must not be NULL when its length is not 0") ||
           evzk__broken(call, len <= most, "data_len", rule);
}

bool evzk__broken_acl(const struct evzk__call *call, const evzk_acl *v,
                      size_t n)
{
    const char *rule = evzk__acl_fault(v, n);

    return evzk__broken(call, !rule, "acl", rule);
}

bool evzk__broken_reserved(const struct evzk__call *call,
                           void *const reserved[])
{
    return evzk__broken(call, evzk__reserved_ok(reserved), "reserved",
                        "must be all NULL");
}

bool evzk__reserved_ok(void *const reserved[EVZK__RESERVED])
{
    for (int i = 0; i < EVZK__RESERVED; i++) {
        if (reserved[i])
            return false;
    }
    return true;
}
