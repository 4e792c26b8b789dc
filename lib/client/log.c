/* What the C client logs: to the session that the line belongs to. */
#include "lib/client/handle.h"

#include <string.h>

/* The connection whose call into the client runs now: the client's log callback
 * has no context. */
static _Thread_local struct evzk__client *talking;

struct evzk__client *evzk__client_enter(struct evzk__client *c)
{
    struct evzk__client *before = talking;

    talking = c;
    return before;
}

void evzk__client_leave(struct evzk__client *before) { talking = before; }

/* The client's errors are normal life here: one level less. */
static evzk_log_level level_of(const char *line)
{
    if (strstr(line, ":ZOO_ERROR@"))
        return EVZK_LOG_WARN;
    return strstr(line, ":ZOO_WARN@") ? EVZK_LOG_INFO : EVZK_LOG_DEBUG;
}

/* "<time>:<pid>:ZOO_WARN@<function>@<line>: <message>": the log has a time of
 * its own.  A line of another form is returned whole. */
static const char *message_of(const char *line)
{
    const char *function = strchr(line, '@');
    const char *number = function ? strchr(function + 1, '@') : NULL;
    const char *message = number ? strstr(number, ": ") : NULL;

    return message ? message + 2 : line;
}

static bool is_connected(const struct evzk__client *c)
{
    return c->zh && zoo_state(c->zh) == ZOO_CONNECTED_STATE;
}

void evzk__client_logged(const char *line)
{
    evzk_log_level level = level_of(line);

    if (!talking)
        return;
    if (level == EVZK_LOG_WARN && talking->skipping)
        level = EVZK_LOG_INFO;
    if (level == EVZK_LOG_WARN && !is_connected(talking) &&
        talking->hooks.failed)
        talking->hooks.failed(talking->arg, message_of(line));
    else if (talking->hooks.log)
        talking->hooks.log(talking->arg, level, message_of(line));
}
