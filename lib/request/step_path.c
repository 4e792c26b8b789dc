/* Which znode a step of a request is about. */
#include <string.h>

#include "lib/base/hash.h"
#include "lib/request/core.h"
#include "lib/request/step_internal.h"

const char *evzk__steps_name_at(const struct evzk__request *r, uint32_t i)
{
    const struct evzk__step *step = evzk__step_at(r, i);
    const char *beside = r->for_each_name ? r->names[i] : r->name;

    if (step->name)
        return step->name;
    return beside ? beside : "";
}

static char *join(char *to, size_t size, const char *a, const char *b,
                  const char *c)
{
    if (strlen(a) + strlen(b) + strlen(c) >= size)
        return NULL;
    return strcpy(stpcpy(stpcpy(to, a), b), c) ? to : NULL;
}

const char *evzk__steps_path(const struct evzk__core *s,
                             const struct evzk__request *r, uint32_t i,
                             char *to, size_t size)
{
    const char *name = evzk__steps_name_at(r, i);

    if (name[0] == '\0')
        return r->dir->path;
    if (name[0] != '/')
        return join(to, size, r->dir->path, "/", name);
    if (name[1] == '\0' && s->chroot[0])
        return s->chroot;
    return join(to, size, s->chroot, name, "");
}

const char *evzk__steps_path_at(struct evzk__core *s,
                                const struct evzk__request *r, uint32_t i)
{
    return evzk__steps_path(s, r, i, s->requests.path[0],
                            sizeof s->requests.path[0]);
}

static bool is_child(const char *path, const char *parent)
{
    size_t n = strlen(parent);

    return strncmp(path, parent, n) == 0 && path[n] == '/' &&
           !strchr(path + n + 1, '/');
}

bool evzk__steps_write_near(struct evzk__core *s, const struct evzk__request *r,
                            const char *path)
{
    char *other = s->requests.path[1];

    for (uint32_t i = 0; i < r->n; i++) {
        const char *p =
            evzk__step_at(r, i)->verb == EVZK__STEP_CHECK
                ? NULL
                : evzk__steps_path(s, r, i, other, sizeof s->requests.path[1]);

        if (p &&
            (strcmp(p, path) == 0 || is_child(p, path) || is_child(path, p)))
            return true;
    }
    return false;
}

/* Of a name without its numbers and GUIDs. */
static uint32_t add_name(uint32_t hash, const char *name)
{
    static const char number[] = "-0123456789abcdef";
    enum { LONG = 8 };

    while (*name) {
        size_t n = strspn(name, number);

        if (n < LONG)
            hash = evzk__hash_byte(hash, (uint8_t)*name);
        name += n < LONG ? 1 : n;
    }
    return hash;
}

/* Do requests that are alike have it, or not, as the watches happen to stand?
 * The answer is short. */
static bool is_besides(const struct evzk__step *step)
{
    return step->verb == EVZK__STEP_SYNC || step->verb == EVZK__STEP_EXISTS ||
           step->verb == EVZK__STEP_UNWATCH;
}

/* Steps that are alike count once: of how many znodes a machine asks the same
 * changes.  A few of them will do: a request may have thousands. */
uint32_t evzk__steps_likeness(const struct evzk__request *r)
{
    enum { SEEN = 4, MOST = 64 };
    uint32_t hash = EVZK__HASH_BEGIN ^ (r->for_each_name ? 1u : 0u), last = 0;

    for (uint32_t i = 0, seen = 0; i < r->n && i < MOST && seen < SEEN; i++) {
        const struct evzk__step *step = evzk__step_at(r, i);
        uint32_t one = evzk__hash_byte(EVZK__HASH_BEGIN, (uint8_t)step->verb);

        one = add_name(one, evzk__steps_name_at(r, i));
        if ((i + 1 < r->n && is_besides(step)) || one == last)
            continue;
        last = one;
        hash = evzk__hash_byte(hash ^ one, 1);
        seen++;
    }
    return hash;
}
