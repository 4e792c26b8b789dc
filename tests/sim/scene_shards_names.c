/* Shards with names, in the scenes.
 *
 * The rules number the shards of a scene by all names that any member lists.
 * The library numbers those that one member lists.  So each number is
 * translated by name, and no two members are compared by number.
 *
 * How it can fail: with the library's sorting and fingerprint a mistake there
 * would not be seen.  So both are made here anew.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene_shards.h"

uint32_t shards_listed(const struct shards_joiner *joiner)
{
    uint32_t n = 0;

    while (n < SHARDS_MOST && joiner->names[n])
        n++;
    return n;
}

static bool lists(const struct shards_joiner *joiner, const char *name)
{
    for (uint32_t i = 0; i < shards_listed(joiner); i++) {
        if (strcmp(joiner->names[i], name) == 0)
            return true;
    }
    return false;
}

/* How many names come before it. */
static uint32_t place_of(const struct shards_joiner *joiner, const char *name)
{
    uint32_t before = 0;

    for (uint32_t i = 0; i < shards_listed(joiner); i++)
        before += strcmp(joiner->names[i], name) < 0;
    return before;
}

uint32_t shards_own(const struct shards_slot *v, int shard)
{
    const char *name = shards_world.scene->names[shard];

    if (!name)
        return (uint32_t)shard;
    return lists(v->joiner, name) ? place_of(v->joiner, name) : UINT32_MAX;
}

int shards_of(const struct shards_slot *v, uint32_t own)
{
    for (int i = 0; i < shards_world.scene->shards; i++) {
        if (shards_own(v, i) == own)
            return i;
    }
    return -1;
}

/* Names and numbers are the library's as they are ours. */
void shards_check_names(const struct shards_slot *v)
{
    uint32_t n = shards_listed(v->joiner), at = 77;

    for (int i = 0; i < shards_world.scene->shards; i++) {
        const char *name = shards_world.scene->names[i];
        uint32_t own = shards_own(v, i);
        const char *is = evzk_shards_name(v->a, own);

        if (!name     ? is != NULL
            : own < n ? !is || strcmp(is, name) != 0
                      : evzk_shards_index(v->a, name, &at) || is)
            sim_violation("shard %d of %d has another name", i,
                          shards_index(v));
        if (name && own < n &&
            (!evzk_shards_index(v->a, name, &at) || at != own))
            sim_violation("shard %d of %d has another number", i,
                          shards_index(v));
    }
}

/* Of the names in order, with the zero byte of each; FNV-1a. */
static uint64_t print_of(const struct shards_joiner *joiner)
{
    uint64_t h = UINT64_C(14695981039346656037);
    uint32_t n = shards_listed(joiner);

    for (uint32_t place = 0; place < n; place++) {
        for (uint32_t i = 0; i < n; i++) {
            const char *c = joiner->names[i];

            if (place_of(joiner, c) != place)
                continue;
            for (size_t k = 0; k <= strlen(c); k++)
                h = (h ^ (unsigned char)c[k]) * UINT64_C(1099511628211);
        }
    }
    return n ? h : 0;
}

bool shards_plan_is_for(const struct shards_slot *v)
{
    int64_t n = shards_listed(v->joiner);

    if (n == 0)
        n = v->joiner->count ? (int64_t)v->joiner->count
                             : (int64_t)shards_world.scene->shards;
    return shards_world.plan.shards == n &&
           shards_world.plan.names == print_of(v->joiner);
}

struct shards_path shards_dir(int shard)
{
    const char *name = shards_world.scene->names[shard];
    struct shards_path path = {""};

    if (name)
        snprintf(path.v, sizeof path.v, SHARDS_PATH "/task-%s", name);
    else
        snprintf(path.v, sizeof path.v, SHARDS_PATH "/shard-%d", shard);
    return path;
}

bool shards_read_print(const char *text, int *at, uint64_t *names)
{
    char digits[17];

    *names = 0;
    if (text[*at] == ' ' && strspn(text + *at + 1, "0123456789abcdef") == 16) {
        memcpy(digits, text + *at + 1, 16);
        digits[16] = '\0';
        *names = strtoull(digits, NULL, 16);
        *at += 17;
    }
    return text[(*at)++] == '\n';
}
