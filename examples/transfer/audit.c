/* Checks the sum of both accounts, also in the middle of a transfer. */
#include <stdio.h>

#include "account.h"
#include "demo.h"

enum { TRIES = 1000 };

/* A state of both that there was at one time: the first has not changed while
 * the second was read. */
static bool read_both(const struct options *opt, struct account *a,
                      struct account *b)
{
    for (int i = 0; i < TRIES; i++) {
        unsigned long long writes;

        if (!account_load(a, opt->dir, SITE[ALICE]))
            return false;
        writes = a->writes;
        if (!account_load(b, opt->dir, SITE[BOB]) ||
            !account_load(a, opt->dir, SITE[ALICE]))
            return false;
        if (a->writes == writes)
            return true;
    }
    return false;
}

/* What the other account has applied, and this one has promised, will be
 * applied here, too.  What the one has applied, the other may not drop. */
static bool add_promised(const struct account *a, const struct account *other,
                         long long *sum)
{
    bool good = true;

    for (size_t i = 0; i < a->n; i++) {
        const struct account_entry *own = &a->entry[i];
        const struct account_entry *its = account_find(other, own->id);

        if (!its || its->state != APPLIED)
            continue;
        if (own->state == PROMISED)
            *sum += own->change;
        good = good && own->state != DROPPED;
    }
    return good;
}

static unsigned count_promised(const struct account *a)
{
    unsigned n = 0;

    for (size_t i = 0; i < a->n; i++)
        n += a->entry[i].state == PROMISED;
    return n;
}

bool audit(const struct options *opt, struct balance *out)
{
    struct account a = {0}, b = {0};
    bool good = read_both(opt, &a, &b);

    out->sum = a.balance + b.balance;
    out->settled_sum = out->sum;
    good = good && add_promised(&a, &b, &out->sum);
    good = good && add_promised(&b, &a, &out->sum);
    good = good && a.balance >= 0 && b.balance >= 0 && out->sum == START_SUM;
    out->agree = a.committed == b.committed && a.aborted == b.aborted;
    out->promised = count_promised(&a) + count_promised(&b);
    out->committed = a.committed;
    out->aborted = a.aborted;
    if (!good)
        fprintf(stderr,
                "transfer: wrong: alice has %lld, bob %lld, both %lld with "
                "what is promised\n",
                a.balance, b.balance, out->sum);
    account_free(&a);
    account_free(&b);
    return good;
}
