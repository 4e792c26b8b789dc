/* Chooses the keys that go into the next transaction of a replacement.
 *
 * To write:   the lock's znode stands; `ready` and its child are deleted, if
 *             they are there; keys are set, made and deleted.
 * To finish:  the same, and `ready` and its child are made.
 *
 * How it can fail.  The directory is not as it was listed: a key comes or goes,
 * or another replacement was quicker.  Then the transaction is refused, and the
 * directory is listed again.  The child of `ready` has a name of its own, so
 * that what is deleted is what was read.
 */
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/config/config_internal.h"

struct evzk__config_limits evzk__config_limits = {.steps = 500,
                                                  .bytes = 900000};

enum { EXTRA = 5 }; /* Steps besides those of the keys. */

int evzk__chunk_allocate(struct evzk_config_update *u)
{
    u->most = evzk__config_limits.steps;
    u->steps = evzk__zalloc((u->most + EXTRA) * sizeof u->steps[0]);
    return u->steps ? EVZK_OK : EVZK_ERR_NOMEM;
}

static bool is_key(const struct evzk_config_update *u, const char *name)
{
    const evzk_config all = {0, u->key, u->n_keys};

    return evzk_config_find(&all, name) != NULL;
}

int evzk__chunk_begin(struct evzk_config_update *u)
{
    u->at = 0;
    u->n_gone = 0;
    evzk__free(u->gone);
    u->gone = evzk__zalloc((u->there.n + 1) * sizeof u->gone[0]);
    if (!u->gone)
        return EVZK_ERR_NOMEM;
    for (uint32_t i = 0; i < u->there.n; i++) {
        if (!is_key(u, u->there.names[i]))
            u->gone[u->n_gone++] = u->there.names[i];
    }
    return EVZK_OK;
}

const char *evzk__config_guid(const struct evzk_config_update *u)
{
    return strrchr(u->own_mark, '/') + 1;
}

/* Of a key, or, behind the keys, of a name that is to go. */
static size_t bytes_of(const struct evzk_config_update *u, uint32_t i)
{
    return i < u->n_keys
               ? u->item_bytes + strlen(u->key[i].name) + u->key[i].len
               : u->item_bytes + strlen(u->gone[i - u->n_keys]);
}

bool evzk__chunk_choose(struct evzk_config_update *u)
{
    uint32_t left = u->n_keys + u->n_gone - u->at;
    size_t bytes = 0;

    u->chunk = 0;
    while (u->chunk < left && u->chunk < u->most) {
        bytes += bytes_of(u, u->at + u->chunk);
        if (u->chunk > 0 && bytes > evzk__config_limits.bytes)
            break;
        u->chunk++;
    }
    return u->chunk == left;
}

static struct evzk__step *add(struct evzk_config_update *u,
                              enum evzk__verb verb, const char *name)
{
    struct evzk__step *step = &u->steps[u->n_steps++];

    *step = (struct evzk__step){.verb = (uint8_t)verb, .name = name};
    return step;
}

static struct evzk__step *add_create(struct evzk_config_update *u,
                                     const char *name)
{
    struct evzk__step *step = add(u, EVZK__STEP_CREATE, name);

    step->mode = EVZK__PERSISTENT;
    step->acl = u->acl;
    step->acl_count = u->acl_count;
    return step;
}

static void add_key(struct evzk_config_update *u, const evzk_config_key *key)
{
    struct evzk__step *step = evzk__config_has(&u->there, key->name)
                                  ? add(u, EVZK__STEP_SET, key->name)
                                  : add_create(u, key->name);

    step->data = key->data;
    step->len = (uint32_t)key->len;
}

void evzk__chunk_ask(struct evzk_config_update *u, bool last)
{
    u->n_steps = 0;
    if (u->guarded)
        add(u, EVZK__STEP_CHECK, u->guard);
    if (u->ready && u->mark[0])
        add(u, EVZK__STEP_DELETE, u->mark);
    if (u->ready)
        add(u, EVZK__STEP_DELETE, EVZK__CONFIG_READY);
    u->first = u->n_steps;
    for (uint32_t i = u->at; i < u->at + u->chunk; i++) {
        if (i < u->n_keys)
            add_key(u, &u->key[i]);
        else
            add(u, EVZK__STEP_DELETE, u->gone[i - u->n_keys]);
    }
    if (last) {
        struct evzk__step *ready = add_create(u, EVZK__CONFIG_READY);

        ready->data = evzk__config_guid(u);
        ready->len = EVZK__GUID_LEN;
        add_create(u, u->own_mark);
    }
    evzk__ask(&u->m, u->steps, u->n_steps, EVZK__COMMIT | EVZK__STAMP);
}
