/* Lists a znode's children, and reads each of them: for two rows of any recipe.
 *
 *   LISTING --> READING --> the recipe's own rows
 *      ^-----------'
 *
 * The recipe asks for the names by itself: with a sync before them or not, with
 * a watch or not.  All reads are sent back to back, as many at a time as the
 * window has room for.  A child that is gone when it is read is normal, and is
 * left out.
 *
 *     static int listed(struct evzk__machine *m, const struct evzk__event *e)
 *     {
 *         const struct evzk__names *names = &e->reply->res->names;
 *
 *         ... e->reply->rc ...
 *         if (evzk__read_all_take(&r->all, "", names) != EVZK_OK)
 *             return evzk__machine_again_later(m);
 *         return evzk__machine_move(m, READING);
 *     }
 *     static void read(struct evzk__machine *m)
 *     {
 *         evzk__read_all_ask(m, &r->all);
 *     }
 *     static int was_read(struct evzk__machine *m, const struct evzk__event *e)
 *     {
 *         int rc;
 *
 *         if (e->reply->rc == EVZK_OK)
 *             ... evzk__read_all_name(&r->all, e->reply), e->reply->res ...
 *         if (!evzk__read_all_note(&r->all, e->reply, &rc))
 *             return EVZK_OK; // More are to come.
 *         ...
 *     }
 *
 * READING has no EVZK__RETRY: after a lost connection the recipe lists again.
 * The other children are not read by the next connection, whose server may not
 * know them yet.  If there are no names, there is nothing to read, and READING
 * is not entered. */
#ifndef EVZK_READ_ALL_H
#define EVZK_READ_ALL_H

#include "lib/machine/machine.h"

struct evzk__read_all {
    char **names; /* Owned: one block, with the text at its end. */
    uint32_t n;
    int rc; /* The first error that is no answer about a child. */
};

/* Takes the names over, in their order: of the children of `below`, which is a
 * name in the machine's directory, or "" for the directory itself.  Frees the
 * names that it had before.  0, or EVZK_ERR_NOMEM. */
int evzk__read_all_take(struct evzk__read_all *all, const char *below,
                        const struct evzk__names *names);

/* Asks for all of them: an EVZK__EV_REPLY for each. */
void evzk__read_all_ask(struct evzk__machine *m,
                        const struct evzk__read_all *all);

/* The name of the child that a reply is about, without `below`. */
const char *evzk__read_all_name(const struct evzk__read_all *all,
                                const struct evzk__reply *reply);

/* Notes a reply.  True: it was the last, and *rc is EVZK_OK: every child was
 * read, or is gone, or may not be read (EVZK_ERR_NOAUTH in its reply);
 * EVZK_ERR_CONNLOSS, EVZK_ERR_NOMEM: a reply was lost, list again; or another
 * error. */
bool evzk__read_all_note(struct evzk__read_all *all,
                         const struct evzk__reply *reply, int *rc);

void evzk__read_all_clear(struct evzk__read_all *all);

#endif
