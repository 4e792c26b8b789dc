/* Faults of two-phase commits: a vote that no site has cast, beside what there
 * is of that site, or alone where the site is done.
 *
 * How it can fail: the first transaction alone is struck, and sites whose names
 * are "a", "b" and "c".  A forged vote is known by what it says. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults_kinds.h"
#include "world.h"

#define TXS "/t/tx"
#define SAYS "!"

static int64_t forged; /* Votes, so far. */
SIM_KEEP(forged)

bool fault_forged_vote(const void *data, int32_t len)
{
    return len == sizeof SAYS - 1 && memcmp(data, SAYS, sizeof SAYS - 1) == 0;
}

bool fault_forged_votes(void) { return forged > 0; }

bool fault_forge_vote(const struct fault *f, const struct sim_step *step)
{
    const char *id;
    struct ens_seen seen;
    char path[120];

    (void)step;
    if (ens_children(TXS, &id, 1) == 0 || strlen(id) != 36)
        return false;
    snprintf(path, sizeof path, "/t/inbox/%c", 'a' + f->which / 2);
    if (!ens_look(path, &seen))
        return false;
    snprintf(path, sizeof path, TXS "/%.36s/%s-%c", id,
             f->which % 2 ? "abort" : "commit", 'a' + f->which / 2);
    if (ens_create(path, SAYS, sizeof SAYS - 1, ZOO_PERSISTENT) != 0)
        return false;
    forged++;
    faults_last(0);
    return true;
}
