/* Liveness, judged for every recipe in the same way.
 *
 * A recipe says what a process owes now (struct sim_recipe, `owes`): what one
 * of its objects is there for, could do, and has not done.  A debt has the time
 * OWES_US.  That time begins anew when the process owes something else, when
 * anything strikes, a fault or an act of the scene, and as long as that lasts;
 * and while the session is in doubt, or not connected.  Nothing else is an
 * excuse: neither what operators have done, nor what servers have refused, nor
 * want of memory.  An object that has ended owes nothing.
 *
 * How it can fail: a recipe forgets to name a debt, or a scene ends before
 * the time is over. */
#include "owes.h"

#include "processes.h"
#include "world.h"

/* Sessions end after a second; an end is seen at the leader's ticks, and of the
 * next one in the queue perhaps once more. */
enum { OWES_US = 4 * 1000 * 1000 };

static struct {
    int64_t since; /* 0: no debt, or not for certain. */
    uint64_t what;
} debts[SIM_PROCS];
SIM_KEEP(debts)

/* Addresses would make runs differ. */
static uint64_t digest(const struct sim_debt *d)
{
    uint64_t h = 14695981039346656037U;

    for (const char *p = d->what; *p; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211U;
    return h ^ d->paid;
}

static bool is_certain(int proc)
{
    return process_has_session(proc) && process_is_connected(proc) &&
           process_is_sure(proc) && !processes_are_disturbed();
}

static void check(const struct sim_recipe *r, int proc)
{
    struct sim_debt debt = {0};
    uint64_t what;

    if (is_certain(proc)) {
        int before = sim_enter(proc);

        r->owes(proc, &debt);
        sim_leave(before);
    }
    what = debt.what ? digest(&debt) : 0;
    if (what != debts[proc].what || !what)
        debts[proc].since = what ? sim_now() : 0;
    debts[proc].what = what;
    if (what && sim_now() - debts[proc].since > OWES_US)
        sim_violation("p%d owes for too long: %s", proc, debt.what);
}

void owes_check(const struct sim_recipe *r)
{
    for (int p = 0; r->owes && p < SIM_PROCS; p++)
        check(r, p);
}
