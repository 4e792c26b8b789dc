/* Names of znodes: GUIDs, paths, sequence numbers. */
#ifndef EVZK_NAME_H
#define EVZK_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    EVZK__GUID_LEN = 36, /* As in 123e4567-e89b-42d3-a456-426614174000. */
    EVZK__NAME_MAX = 96, /* A longer name is no contender's. */
    EVZK__PATH_MAX = 4096
};

/* The names of a directory's children; all is borrowed. */
struct evzk__names {
    size_t n;
    char *const *v;
    struct evzk__roll
        *roll; /* Of one that many look at (base/order.h); or NULL. */
};

/* Writes a fresh GUID, with its terminating zero.  0 or EVZK_ERR_INTERNAL. */
int evzk__guid(char out[EVZK__GUID_LEN + 1]);

/* Tells whether `path` is an absolute path that a server takes; the rule that
 * it breaks, or NULL. */
bool evzk__path_ok(const char *path);
const char *evzk__path_fault(const char *path);

/* Tells whether this, which another has written somewhere, can be the name of a
 * contender's znode. */
bool evzk__name_ok(const char *name, size_t len);

/* Reads "<some prefix><mark><sequence>", as in "...-lock-0000000012", with a
 * negative sequence too.  False when the name is not of this form. */
bool evzk__seq_parse(const char *name, const char *mark, int32_t *seq);

/* Tells whether contender a, with sequence number sa, comes before b.  Sequence
 * numbers wrap; equal ones are ordered by name. */
bool evzk__seq_before(const char *a, int32_t sa, const char *b, int32_t sb);

/* Of the names that are `prefix` and a number, and nothing else, the one with
 * the lowest number above *seq, which becomes that number; or NULL. */
const char *evzk__find_prefix(const struct evzk__names *names,
                              const char *prefix, int64_t *seq);

#endif
