/* Reads all children that a listing shows.
 *
 * How it can fail.  The children are read at different moments, so the result
 * may mix old and new data.  A recipe that minds watches the directory, and
 * lists again when the watch has fired.
 */
#include "recipes/parts/read_all.h"

#include <string.h>

#include "lib/base/mem.h"

void evzk__read_all_clear(struct evzk__read_all *all)
{
    evzk__free(all->names);
    *all = (struct evzk__read_all){0};
}

static char *put(char *at, const char *below, const char *name)
{
    if (below[0])
        at = stpcpy(stpcpy(at, below), "/");
    return stpcpy(at, name) + 1;
}

int evzk__read_all_take(struct evzk__read_all *all, const char *below,
                        const struct evzk__names *names)
{
    size_t bytes = 0, head = names->n * sizeof *all->names;
    char *at;

    evzk__read_all_clear(all);
    for (size_t i = 0; i < names->n; i++)
        bytes += strlen(below) + 1 + strlen(names->v[i]) + 1;
    all->names = evzk__zalloc(head + bytes + 1);
    if (!all->names)
        return EVZK_ERR_NOMEM;
    all->n = (uint32_t)names->n;
    at = (char *)all->names + head;
    for (size_t i = 0; i < names->n; i++) {
        all->names[i] = at;
        at = put(at, below, names->v[i]);
    }
    return EVZK_OK;
}

void evzk__read_all_ask(struct evzk__machine *m,
                        const struct evzk__read_all *all)
{
    evzk__read_many(m, all->names, all->n);
}

const char *evzk__read_all_name(const struct evzk__read_all *all,
                                const struct evzk__reply *reply)
{
    const char *name = all->names[reply->part], *slash = strrchr(name, '/');

    return slash ? slash + 1 : name;
}

static bool is_answer(int rc)
{
    return rc == EVZK_OK || rc == EVZK_ERR_NONODE || rc == EVZK_ERR_NOAUTH;
}

bool evzk__read_all_note(struct evzk__read_all *all,
                         const struct evzk__reply *reply, int *rc)
{
    if (!is_answer(reply->rc) && all->rc == EVZK_OK)
        all->rc = reply->rc;
    *rc = all->rc;
    return reply->last;
}
