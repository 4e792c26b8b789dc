/* Faults of connections, servers, sessions, and of processes as such.
 *
 * How it can fail: a fault that never ends, so that what it causes is taken for
 * a machine that is stuck.  All that is begun here ends by the clock. */
#include <string.h>

#include "ens.h"
#include "faults_kinds.h"
#include "processes.h"
#include "steps.h"
#include "wire.h"
#include "world.h"

bool fault_cut(const struct fault *f, const struct sim_step *step)
{
    int conn = wire_conn_of(step->proc);

    (void)f;
    if (conn < 0)
        return false;
    wire_cut(conn);
    return true;
}

bool fault_cut_after(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    if (wire_conn_of(step->proc) < 0)
        return false;
    faults_cut_after(step->proc);
    return true;
}

/* Whether what arrives becomes a transaction. */
static bool is_write(const struct wire_msg *m)
{
    switch (m->op) {
    case ZOO_CREATE_OP:
    case ZOO_CREATE2_OP:
    case ZOO_CREATE_CONTAINER_OP:
    case ZOO_DELETE_OP:
    case ZOO_SETDATA_OP:
    case ZOO_MULTI_OP:
    case WIRE_CONNECT:
    case WIRE_CLOSE:
        return true;
    default:
        return false;
    }
}

/* Applied only after the client has come back by another connection. */
bool fault_late(const struct fault *f, const struct sim_step *step)
{
    const struct wire_msg *m = wire_first_up(step->proc);

    (void)f;
    if (!m || !is_write(m))
        return false;
    ens_hold_commits(sim_now() + FAULT_SHORT);
    faults_last(FAULT_SHORT);
    faults_cut_after(step->proc);
    return true;
}

bool fault_late_at(const struct fault *f, const struct sim_step *step)
{
    if (!fault_late(f, step))
        return false;
    faults_route(step->proc, f->which, FAULT_SHORT);
    return true;
}

/* Each write takes long, but not so long that its connection is given up.  So a
 * lease that counts from an earlier write ends before the answer to the next
 * one, and the connection stays. */
bool fault_slow_leader(const struct fault *f, const struct sim_step *step)
{
    const struct wire_msg *m = wire_first_up(step->proc);

    (void)f;
    if (!m || !is_write(m) || m->op == WIRE_CONNECT)
        return false;
    faults_last(ens_crawl(sim_now() + FAULT_PAST) - sim_now());
    return true;
}

/* Moved to a follower that does not hear what the leader commits. */
bool fault_lagging(const struct fault *f, const struct sim_step *step)
{
    if (!fault_cut(f, step))
        return false;
    ens_lag(f->which, sim_now() + FAULT_SHORT);
    faults_last(FAULT_SHORT);
    faults_route(step->proc, f->which, FAULT_SHORT);
    return true;
}

static bool hold(int proc, enum wire_dir dir)
{
    int conn = wire_conn_of(proc);

    if (conn < 0)
        return false;
    wire_hold(conn, dir, sim_now() + FAULT_SILENT);
    faults_last(FAULT_SILENT);
    return true;
}

bool fault_hold_replies(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    return hold(step->proc, WIRE_DOWNWARD);
}

bool fault_hold_requests(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    return hold(step->proc, WIRE_UPWARD);
}

bool fault_partition(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    if (wire_conn_of(step->proc) < 0)
        return false;
    wire_hold_all(step->proc, sim_now() + FAULT_PAST);
    faults_last(FAULT_PAST);
    return true;
}

/* The follower and its clients are cut off from the leader. */
bool fault_follower(const struct fault *f, const struct sim_step *step)
{
    int conn = wire_conn_of(step->proc), server;

    (void)f;
    if (conn < 0)
        return false;
    server = wire_server(conn);
    if (server == 0)
        return false;
    ens_cut(server, sim_now() + FAULT_PAST);
    faults_last(FAULT_PAST);
    return true;
}

bool fault_refuse(const struct fault *f, const struct sim_step *step)
{
    int conn = wire_conn_of(step->proc);

    (void)f;
    if (conn < 0)
        return false;
    wire_refuse(wire_server(conn), sim_now() + FAULT_SHORT);
    faults_last(FAULT_SHORT);
    wire_cut(conn);
    return true;
}

static void feed(intptr_t proc) { (void)seams_starve((int)proc, false); }

/* The process has no free descriptor, for a while: no new connection. */
bool fault_starve(const struct fault *f, const struct sim_step *step)
{
    if (!fault_cut(f, step))
        return false;
    if (seams_starve(step->proc, true))
        scene_timer_cancel(feed, step->proc);
    scene_timer_set(FAULT_SHORT, -1, feed, step->proc);
    faults_last(FAULT_SHORT);
    return true;
}

/* For a while the process connects to a server that is no ZooKeeper. */
bool fault_stranger(const struct fault *f, const struct sim_step *step)
{
    if (!fault_cut(f, step))
        return false;
    wire_garble(step->proc, sim_now() + FAULT_SHORT);
    faults_last(FAULT_SHORT + FAULT_SHUN);
    return true;
}

/* No server takes connections, for longer than the session lives. */
bool fault_outage(const struct fault *f, const struct sim_step *step)
{
    if (!fault_cut(f, step))
        return false;
    for (int i = 0; i < SIM_SERVERS; i++)
        wire_refuse(i, sim_now() + FAULT_PAST);
    faults_last(FAULT_PAST);
    return true;
}

bool fault_throttle(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    if (!wire_first_up(step->proc))
        return false;
    ens_throttle(step->proc);
    faults_last(0);
    return true;
}

/* More than a machine repeats before it believes the error. */
bool fault_throttle_writes(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    if (!wire_first_up(step->proc))
        return false;
    ens_throttle_writes(step->proc, fault_refusals());
    faults_last(0);
    return true;
}

/* Where a transaction begins, the request that it shares with others repeats it
 * eight times, and the machine each time, and then eight times what looks for
 * it. */
enum { BEGIN_REFUSALS = 92 };

/* Makes the transaction something whose path has this in it? */
static bool makes(const struct wire_msg *m, const char *part)
{
    const struct wire_msg *o = m->ops;

    while (o && !((o->op == ZOO_CREATE_OP || o->op == ZOO_CREATE2_OP) &&
                  o->path && strstr(o->path, part)))
        o = o->next;
    return o != NULL;
}

/* The outcome of this write is unknown, and the servers refuse to say it for
 * longer than a machine repeats that. */
bool fault_lost_refused(const struct fault *f, const struct sim_step *step)
{
    const struct wire_msg *m = wire_first_up(step->proc);

    if (!m || !is_write(m) || m->op == WIRE_CONNECT || m->op == WIRE_CLOSE)
        return false;
    if (!fault_cut_after(f, step))
        return false;
    faults_refuse_after(step->proc,
                        makes(m, "/inbox/") && !ens_throttled(step->proc)
                            ? BEGIN_REFUSALS
                            : fault_refusals());
    return true;
}

bool fault_throttle_reads(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    if (!wire_first_up(step->proc))
        return false;
    ens_throttle_reads(step->proc, 9);
    faults_last(0);
    return true;
}

/* As at a request that is larger than they take: this one ends only with what
 * asks for it. */
bool fault_hangs_up(const struct fault *f, const struct sim_step *step)
{
    const struct wire_msg *m = wire_first_up(step->proc);

    (void)f;
    if (!m || ens_shut_otherwise(step->proc) || !ens_shut_at(step->proc, m))
        return false;
    faults_last(0);
    return true;
}

bool fault_expire(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    if (!process_expire(step->proc))
        return false;
    faults_last(0);
    return true;
}

bool fault_expire_after(const struct fault *f, const struct sim_step *step)
{
    int64_t session = faults_session(step->proc);

    (void)f;
    if (!session || !ens_alive(session))
        return false;
    faults_expire_after(step->proc);
    return true;
}

/* The request to end the session came before, by a connection that was lost. */
bool fault_close_first(const struct fault *f, const struct sim_step *step)
{
    const struct wire_msg *m = wire_first_up(step->proc);

    (void)f;
    if (!m || m->op != WIRE_CLOSE ||
        !ens_close_unheard(faults_session(step->proc),
                           wire_conn_of(step->proc)))
        return false;
    faults_last(0);
    return true;
}

static bool freeze(int proc, int64_t us)
{
    if (process_frozen_until(proc) > sim_now())
        return false;
    process_freeze(proc, sim_now() + us);
    faults_last(us);
    return true;
}

bool fault_freeze(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    return freeze(step->proc, FAULT_PAST);
}

bool fault_freeze_short(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    return freeze(step->proc, FAULT_SHORT);
}

static void hurry(intptr_t proc) { sim_slow((int)proc, false); }

bool fault_slow(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    if (sim_is_slow(step->proc))
        return false;
    sim_slow(step->proc, true);
    scene_timer_set(FAULT_SHORT, -1, hurry, step->proc);
    faults_last(FAULT_SHORT);
    return true;
}
