/* Names of znodes: GUIDs, paths, sequence numbers. */
#ifndef EVZK_NAME_H
#define EVZK_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    EVZK__GUID_LEN = 36, /* As in 123e4567-e89b-42d3-a456-426614174000. */
    EVZK__NAME_MAX = 96, /* No contender has a longer name. */
    EVZK__PATH_MAX = 4096
};

/* The names of a directory's children, all borrowed. */
struct evzk__names {
    size_t n;
    char *const *v;
    struct evzk__ordered *ordered; /* The names in order, where many machines
                                share a listing (base/order.h); or NULL. */
};

/* Writes a fresh GUID, with its terminating zero.  0 or EVZK_ERR_INTERNAL. */
int evzk__guid(char out[EVZK__GUID_LEN + 1]);

/* Does the text begin with a GUID, as evzk__guid() writes it? */
bool evzk__guid_leads(const char *text);

/* Is `path` an absolute path that a server accepts?  path_fault: the rule that
 * the path breaks, or NULL. */
bool evzk__path_ok(const char *path);
const char *evzk__path_fault(const char *path);

/* Can a request be about this path?  The C client refuses all others, but in a
 * transaction only when it has begun, and then it frees what it never set.
 * Whether the characters please a server is for the server to say.  `numbered`:
 * a server adds a number to the last name. */
bool evzk__path_sendable(const char *path, bool numbered);

/* Moves the names that cannot be those of a znode, such as "" and "a/b", to the
 * end, and returns how many are left: no listing has such names, whatever the
 * server has sent. */
size_t evzk__names_keep(char **v, size_t n);

/* Can this text, which another process wrote, be the name of a contender's
 * znode? */
bool evzk__name_ok(const char *name, size_t len);

/* Parses "<some prefix><mark><sequence>", as in "...-lock-0000000012"; the
 * sequence may be negative.  False: the name has another form. */
bool evzk__seq_parse(const char *name, const char *mark, int32_t *seq);

/* Does contender a, with sequence number sa, come before b?  Sequence numbers
 * wrap; equal numbers are ordered by name. */
bool evzk__seq_before(const char *a, int32_t sa, const char *b, int32_t sb);

/* Finds, among the names that are `prefix` and a number and nothing else, the
 * name with the lowest number above *seq, and sets *seq to that number.  NULL:
 * there is none. */
const char *evzk__find_prefix(const struct evzk__names *names,
                              const char *prefix, int64_t *seq);

/* Adds the sequence number that a server has given to a name, if the znode at
 * `path`, which may be NULL, has this name.  `name` has room for eleven
 * characters more. */
void evzk__name_complete(char *name, const char *path);

#endif
