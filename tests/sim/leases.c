/* The rules for leases, whatever they are of.
 *
 * How it can fail: only so many that have ended are kept, the newest.
 */
#include "leases.h"

#include <string.h>

#include "processes.h"
#include "world.h"

enum { KEPT = 16 };

static struct {
    struct {
        evzk_lease *l;
        int64_t proc;
    } v[KEPT];
    int64_t n;
} over;
SIM_KEEP(over)

void lease_matches(int proc, const evzk_lease *l, bool held, uint64_t token,
                   const char *what, int which)
{
    int before = sim_enter(proc);

    if (l && evzk_lease_held(l) != held)
        sim_violation("%s %d is %s, and its lease says %s", what, which,
                      held ? "held" : "not held", held ? "no" : "yes");
    if (l && held &&
        (evzk_lease_deadline_us(l) <= sim_now() ||
         evzk_lease_token(l) != token))
        sim_violation("%s %d: its lease is another's", what, which);
    sim_leave(before);
}

static void check(int64_t proc, const evzk_lease *l)
{
    int before = sim_enter((int)proc);

    if (evzk_lease_held(l) || evzk_lease_deadline_us(l))
        sim_violation("a grant has ended, and its lease says yes");
    sim_leave(before);
}

static void drop(int64_t i)
{
    int before = sim_enter((int)over.v[i].proc);

    evzk_lease_unref(over.v[i].l);
    sim_leave(before);
    over.n--;
    memmove(over.v + i, over.v + i + 1,
            (size_t)(over.n - i) * sizeof over.v[0]);
    memset(&over.v[over.n], 0, sizeof over.v[0]);
}

void lease_over(int proc, evzk_lease *l)
{
    if (!l)
        return;
    if (over.n == KEPT)
        drop(0);
    over.v[over.n].l = l;
    over.v[over.n++].proc = proc;
    check(proc, l);
    if (!process_of(proc)->s)
        leases_drop(proc);
}

void leases_check(void)
{
    for (int64_t i = 0; i < over.n; i++)
        check(over.v[i].proc, over.v[i].l);
}

void leases_drop(int proc)
{
    for (int64_t i = over.n; i-- > 0;) {
        if (over.v[i].proc == proc) {
            check(proc, over.v[i].l);
            drop(i);
        }
    }
}
