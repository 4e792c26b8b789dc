/* Deletes receipts (parts/receipt.h) that writers have left whose process was
 * killed.
 *
 * A receipt may go when nobody has written to it for a day, by the servers'
 * clock.  It is deleted in the version in which it was seen.  So if its writer
 * lives, and writes at that moment, one of the two is refused: the delete; or
 * the transaction, which begins with a write to the receipt.  That writer makes
 * another receipt, and sends its transaction again.  Only a writer that has
 * lost an answer, and for a day has found no server, cannot know what became of
 * its transaction: it says so, and does nothing twice.
 *
 * A receipt <guid>-<n>-receipt stays while there is a <guid>-<m>-alive beside
 * it, the ephemeral znode of its writer.  An ephemeral receipt stays, too.
 *
 * An object tidies when its work has shown that there may be receipts, once
 * when it begins and then once in an hour.  Of many objects that may, as the
 * writers of a value, some 16 do: the others only count. */
#ifndef EVZK_TIDY_H
#define EVZK_TIDY_H

#include "lib/machine/machine.h"

enum { EVZK__TIDY_DIRS = 2, EVZK__TIDY_CLOCKS = 2 };

/* Limits; tests have others. */
struct evzk__tidy_limits {
    int64_t old_ms;    /* So old is what goes. */
    int64_t again_us;  /* So long until the next time. */
    int64_t list_us;   /* A list that is older is read again. */
    uint32_t together; /* The most receipts of a request; 0: none go. */
};
extern struct evzk__tidy_limits evzk__tidy_limits;

struct evzk__tidy;

/* Kept by the object that tidies; zero at first. */
struct evzk__tidier {
    struct evzk__tidy *now; /* Owned; NULL: none is under way. */
    int64_t again_us;       /* Not before. */
};

/* The directories that are tidied.  Copied; names are below `base`, and "" is
 * `base` itself. */
struct evzk__tidy_what {
    const char *base;
    const char *dir[EVZK__TIDY_DIRS]; /* Constants.  NULL: no more. */
    /* Znodes that were written to lately, so that the servers' time is known
     * from them.  NULL: no more. */
    const char *clock[EVZK__TIDY_CLOCKS];
    /* Of many that may tidy: another number for each.  0: this one does. */
    uint32_t lot;
};

/* Begins to tidy, unless it is too early. */
void evzk__tidier_may(struct evzk__tidier *t, evzk_session *s,
                      const struct evzk__tidy_what *what);

/* The object ends.  May be called twice. */
void evzk__tidier_end(struct evzk__tidier *t);

#endif
