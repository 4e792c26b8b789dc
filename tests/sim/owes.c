/* Liveness, judged for every recipe in the same way.
 *
 * A recipe says what a process owes now (struct sim_recipe, `owes`): what one
 * of its objects is there for, could do, and has not done.  A debt has the time
 * OWES_US.  That time begins anew when the process owes something else, when
 * anything strikes, a fault or an act of the scene, and as long as that lasts;
 * and while the session is in doubt, or not connected.  A fault that has
 * servers refuse several requests lasts until the last of them.  Nothing else
 * is an excuse: neither what operators have done, nor what servers have refused
 * before, nor want of memory.  An object that has ended owes nothing.  Every
 * session owes that it is connected, and in no doubt.
 *
 * An object that a scene is to end at some time lives on until all is calm and
 * there is no debt (owes_any()): else its end would hide that it has stopped.
 *
 * How it can fail: a recipe forgets to name a debt, or a scene ends an object
 * without asking. */
#include "owes.h"

#include "ens.h"
#include "processes.h"
#include "steps.h"
#include "world.h"

/* Machines look again at all that they watch after three time-outs of a
 * session, three seconds: a longer time would hide a watch that was not set. */
enum {
    OWES_US = 2500 * 1000,
    OFTEN = 9, /* Refusals: what is left is asked for in pauses that grow. */
    PAUSE_US = 13 * 1000 * 1000
};

static struct {
    int64_t since; /* 0: no debt, or not for certain. */
    uint64_t what;
} debts[SIM_PROCS];
SIM_KEEP(debts)

static uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 1099511628211U; }

/* Addresses would make runs differ. */
static uint64_t digest(const struct sim_debt *d)
{
    uint64_t h = 14695981039346656037U;

    for (const char *p = d->what; *p; p++)
        h = mix(h, (unsigned char)*p);
    return mix(mix(h, (uint64_t)d->whose), d->paid);
}

/* When servers have refused a request last: the fault lasts so long. */
int64_t owes_refused_at(void)
{
    int64_t at = ens_full_at();

    for (int p = 0; p < SIM_PROCS; p++) {
        if (ens_throttled_at(p) > at)
            at = ens_throttled_at(p);
    }
    return at;
}

int64_t owes_pause_us(int proc)
{
    return ens_throttles(proc) > OFTEN ? PAUSE_US : 0;
}

static bool is_certain(int proc)
{
    return process_is_connected(proc) && process_is_sure(proc);
}

/* The debt of the process now, if anything is due for certain. */
static void ask(const struct sim_recipe *r, int proc, struct sim_debt *debt)
{
    int before;

    if (!process_has_session(proc) || processes_are_disturbed() ||
        process_frozen_until(proc) > sim_now())
        return;
    sim_owe(debt, !is_certain(proc), "its session is not certain", proc);
    if (debt->what || !r->owes)
        return;
    before = sim_enter(proc);
    r->owes(proc, debt);
    sim_leave(before);
}

static void check(const struct sim_recipe *r, int proc)
{
    struct sim_debt debt = {0};
    uint64_t what;

    ask(r, proc, &debt);
    what = debt.what ? digest(&debt) : 0;
    if (what != debts[proc].what || !what ||
        debts[proc].since < owes_refused_at())
        debts[proc].since = what ? sim_now() : 0;
    debts[proc].what = what;
    if (what &&
        sim_now() - debts[proc].since >
            (debt.most_us ? debt.most_us : OWES_US) + owes_pause_us(proc))
        sim_violation("p%d owes for too long: %s (%d)", proc, debt.what,
                      (int)debt.whose);
}

void owes_check(const struct sim_recipe *r)
{
    for (int p = 0; p < SIM_PROCS; p++)
        check(r, p);
}

bool owes_any(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (process_has_session(p) &&
            (processes_are_disturbed() || debts[p].what))
            return true;
    }
    return false;
}
