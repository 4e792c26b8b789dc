/* The znodes beside a file of Chubby's interface, and sequencers as texts: see
 * chubby/names.c. */
#ifndef EVZK_CHUBBY_NAMES_H
#define EVZK_CHUBBY_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/name.h"

/* Behind a file's path: the directory of its lock. */
#define EVZK__CHUBBY_SIDE ".evzk"
/* Behind a GUID, in that directory: the anchor of the file, which is made in
 * one transaction with the file, and deleted so. */
#define EVZK__CHUBBY_ANCHOR "-file"

/* Is this a name that no file may have: that of a lock's directory, or of a
 * receipt (recipes/guard)? */
bool evzk__chubby_reserved(const char *name);
bool evzk__chubby_is_anchor(const char *name);

/* The mark of a holder that wants a lock-delay: "<its znode>-<ms>-delay". */
enum { EVZK__CHUBBY_MARK_MAX = EVZK__NAME_MAX + 20 };
void evzk__chubby_mark(char out[EVZK__CHUBBY_MARK_MAX], const char *node,
                       uint32_t delay_ms);

struct evzk__delay {
    char node[EVZK__NAME_MAX]; /* The holder's znode. */
    bool shared;
    uint32_t ms;
};
/* False: this is no mark. */
bool evzk__chubby_mark_parse(const char *name, struct evzk__delay *d);

/* A sequencer, taken apart. */
struct evzk__sequencer {
    char *dir;        /* Owned: of the lock's znodes. */
    const char *node; /* Behind it, in the same block. */
    int64_t czxid;
    bool shared;
};
/* EVZK_OK, EVZK_ERR_INVAL: the text is no sequencer; EVZK_ERR_NOMEM. */
int evzk__sequencer_parse(struct evzk__sequencer *q, const char *text);
/* EVZK_OK, EVZK_ERR_NOMEM. */
int evzk__sequencer_copy(struct evzk__sequencer *to,
                         const struct evzk__sequencer *q);
void evzk__sequencer_clear(struct evzk__sequencer *q);
/* False: no room. */
bool evzk__sequencer_print(char *to, size_t size, const char *dir,
                           const char *node, uint64_t czxid, bool shared);

/* Is the znode, in this listing, in front of all that are in its way? */
bool evzk__sequencer_is_first(const struct evzk__names *names,
                              const char *node);

#endif
