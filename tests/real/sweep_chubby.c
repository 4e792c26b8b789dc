/*
 * The scenario of Chubby's interface: the process behind the proxy makes a
 * file, writes it, reads it, acquires its lock and gives a sequencer to the
 * near process, which checks it, and writes under it; the lock is released, and
 * the file deleted.  Must hold whatever the network does: each write is done
 * once, and told once; the sequencer is valid until the release, and invalid
 * behind it.  Where the session may be lost, the near process acquires the lock
 * behind the lock-delay, and deletes the file.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>
#include <string.h>

static const char *const parts[] = {"far", NULL};

enum {
    OPEN,
    SET,
    GET,
    READ_DIR,
    ACQUIRE,
    NEAR_OPEN,
    NEAR_CHECK,
    NEAR_SEEN,
    NEAR_TAKE,
    SET_LOCKED,
    NEAR_SET,
    GET_LAST,
    RELEASE,
    NEAR_INVALID,
    DELETE,
    CLOSE,
    NEAR_CLOSE,
    STEPS,
    /* Once the session was lost. */
    LAST_OPEN = STEPS,
    LAST_ACQUIRE,
    LAST_RELEASE,
    LAST_DELETE,
    LAST_CLOSE,
    ALL_STEPS
};

enum { DELAY_MS = 20 };

struct filing {
    struct sweep_run *run;
    evzk_chubby *far, *near, *last;
    int begun, told; /* Steps. */
    bool lost;       /* The far session was, or its lock. */
    bool invalid;    /* So is the near handle. */
    int rc;          /* With which a step failed. */
    char path[256], sequencer[EVZK_CHUBBY_SEQUENCER_MAX];
};

static bool may_end_with(int rc)
{
    return rc == EVZK_ERR_EXPIRED || rc == EVZK_ERR_LEASE ||
           rc == EVZK_ERR_NODEGONE || rc == EVZK_ERR_STATE;
}

/* Something has failed: the near process cleans up. */
static void is_lost(struct filing *d, const char *what, int rc)
{
    if (!d->run->may_lose || !may_end_with(rc) || d->begun > STEPS)
        sweep_complain(d->run, SWEEP_WRONG, "step %d: %s: %s", d->begun - 1,
                       what, evzk_errname(rc));
    d->lost = true;
    d->rc = rc;
}

static void check_held(struct filing *d)
{
    if (evzk_chubby_held(d->far) && evzk_chubby_held(d->last))
        sweep_complain(d->run, SWEEP_BOTH_HELD, "both hold the lock");
}

static void step_ends(struct filing *d, int step, int rc)
{
    if (rc != EVZK_OK)
        is_lost(d, "an operation", rc);
    else if (d->told != step || d->begun != step + 1)
        sweep_complain(d->run, SWEEP_DOUBLED, "step %d ends at %d", step,
                       d->told);
    else
        d->told++;
}

/* ---- What the handles tell. ---- */

static void on_event(evzk_chubby *h, evzk_chubby_event event, int rc,
                     const char *name, void *arg)
{
    struct filing *d = arg;

    (void)name;
    check_held(d);
    switch (event) {
    case EVZK_CHUBBY_OPENED:
        step_ends(d,
                  h == d->far    ? OPEN
                  : h == d->near ? NEAR_OPEN
                                 : LAST_OPEN,
                  rc);
        break;
    case EVZK_CHUBBY_CLOSED:
        step_ends(d,
                  h == d->far    ? CLOSE
                  : h == d->near ? NEAR_CLOSE
                                 : LAST_CLOSE,
                  rc);
        break;
    case EVZK_CHUBBY_INVALID:
        if (h == d->near && rc == EVZK_ERR_STATE && d->begun > RELEASE)
            d->invalid = true;
        else if (d->begun <= DELETE)
            is_lost(d, "INVALID", rc);
        break;
    case EVZK_CHUBBY_LOCK_LOST:
    case EVZK_CHUBBY_ENDED:
        is_lost(d, evzk_chubby_event_name(event), rc);
        break;
    case EVZK_CHUBBY_CONTENTS_CHANGED:
    case EVZK_CHUBBY_CHILD_ADDED:
    case EVZK_CHUBBY_CHILD_REMOVED:
    case EVZK_CHUBBY_CHILD_CHANGED:
    case EVZK_CHUBBY_LOCK_ACQUIRED:
    case EVZK_CHUBBY_CONFLICT:
    case EVZK_CHUBBY_JEOPARDY:
    case EVZK_CHUBBY_SAFE:
        break;
    }
}

/* How often the file was written when this step has ended; -1: of others. */
static int32_t gen_behind(int step)
{
    static const int32_t gen[] = {
        [SET] = 1, [GET] = 1, [SET_LOCKED] = 2, [NEAR_SET] = 3, [GET_LAST] = 3};

    return step <= GET_LAST && gen[step] ? gen[step] : -1;
}

static void check_answer(struct filing *d, int step,
                         const evzk_chubby_answer *a)
{
    char text[16];
    int32_t gen = gen_behind(step);

    snprintf(text, sizeof text, "%d", gen);
    if (step == SET || step == SET_LOCKED)
        gen = -1; /* Of any generation: not told. */
    if (a->unknown || (gen >= 0 && a->stat.content_gen != gen))
        sweep_complain(d->run, SWEEP_DOUBLED, "step %d: generation %d", step,
                       a->stat.content_gen);
    if ((step == GET || step == GET_LAST) &&
        (a->stat.len != 1 || memcmp(a->data, text, 1) != 0))
        sweep_complain(d->run, SWEEP_WRONG, "step %d: other contents", step);
    if (step == READ_DIR && a->n != 0)
        sweep_complain(d->run, SWEEP_WRONG, "the file has %zu children", a->n);
}

static void take_lock(struct filing *d, evzk_chubby *h)
{
    uint64_t token = evzk_chubby_token(h);

    if (token == 0 && !d->run->may_lose)
        sweep_complain(d->run, SWEEP_WRONG, "the lock has no token");
    if (token && token <= d->run->token)
        sweep_complain(d->run, SWEEP_DOUBLED, "the token is old");
    if (token)
        d->run->token = token;
}

static void on_done(evzk_chubby *h, int rc, const evzk_chubby_answer *a,
                    void *arg)
{
    struct filing *d = arg;
    int step = d->begun - 1;

    if (rc == EVZK_OK)
        check_answer(d, step, a);
    if (rc == EVZK_OK && (step == ACQUIRE || step == LAST_ACQUIRE))
        take_lock(d, h);
    step_ends(d, step, rc);
}

/* ---- The steps. ---- */

static int open_one(struct filing *d, evzk_session *s,
                    evzk_chubby_create create, evzk_chubby **out)
{
    const evzk_chubby_options opt = {.create = create,
                                     .children = out == &d->near,
                                     .lock_events = out == &d->near,
                                     .lock_delay_ms =
                                         out == &d->far ? DELAY_MS : 0};

    return evzk_chubby_open(s, d->path, &opt, on_event, d, out);
}

static int start_near(struct filing *d, int step)
{
    switch (step) {
    case NEAR_OPEN:
        return open_one(d, d->run->near, EVZK_CHUBBY_EXISTING, &d->near);
    case NEAR_CHECK:
        return evzk_chubby_check_sequencer(d->near, d->sequencer, on_done, d);
    case NEAR_TAKE:
        return evzk_chubby_set_sequencer(d->near, d->sequencer, on_done, d);
    case NEAR_SET:
        return evzk_chubby_set(d->near, 2, "3", 1, on_done, d);
    case NEAR_CLOSE:
        return evzk_chubby_close(d->near);
    default: /* Only waited for. */
        return EVZK_OK;
    }
}

static int start_last(struct filing *d, int step)
{
    switch (step) {
    case LAST_OPEN:
        return open_one(d, d->run->near, EVZK_CHUBBY_MAY_CREATE, &d->last);
    case LAST_ACQUIRE:
        return evzk_chubby_acquire(d->last, EVZK_CHUBBY_EXCLUSIVE, on_done, d);
    case LAST_RELEASE:
        return evzk_chubby_release(d->last, on_done, d);
    case LAST_DELETE:
        return evzk_chubby_delete(d->last, on_done, d);
    default:
        return evzk_chubby_close(d->last);
    }
}

static int start(struct filing *d, int step)
{
    switch (step) {
    case OPEN:
        return open_one(d, d->run->far, EVZK_CHUBBY_MUST_CREATE, &d->far);
    case SET:
        return evzk_chubby_set(d->far, -1, "1", 1, on_done, d);
    case GET:
    case GET_LAST:
        return evzk_chubby_get(d->far, true, on_done, d);
    case READ_DIR:
        return evzk_chubby_read_dir(d->far, on_done, d);
    case ACQUIRE:
        return evzk_chubby_acquire(d->far, EVZK_CHUBBY_EXCLUSIVE, on_done, d);
    case SET_LOCKED:
        return evzk_chubby_set(d->far, -1, "2", 1, on_done, d);
    case RELEASE:
        return evzk_chubby_release(d->far, on_done, d);
    case DELETE:
        return evzk_chubby_delete(d->far, on_done, d);
    case CLOSE:
        return evzk_chubby_close(d->far);
    default:
        return step < STEPS ? start_near(d, step) : start_last(d, step);
    }
}

static void begin(void *scene, struct sweep_run *run)
{
    struct filing *d = scene;

    d->run = run;
    snprintf(d->path, sizeof d->path, "%s/f", run->dir);
}

static void end(void *scene)
{
    struct filing *d = scene;

    evzk_chubby_free(d->far);
    evzk_chubby_free(d->near);
    evzk_chubby_free(d->last);
    d->far = d->near = d->last = NULL;
}

/* Steps without a callback. */
static void look(struct filing *d)
{
    int rc = EVZK_ERR_STATE;

    if (d->told == NEAR_INVALID && d->begun > NEAR_INVALID && d->invalid)
        d->told++;
    if (d->told == NEAR_SEEN && d->begun > NEAR_SEEN)
        rc = evzk_chubby_check_seen(d->near, d->sequencer);
    if (rc == EVZK_OK)
        d->told++;
    if (d->told == ACQUIRE + 1 && d->begun == d->told)
        rc = evzk_chubby_get_sequencer(d->far, d->sequencer,
                                       sizeof d->sequencer);
    else
        return;
    if (rc != EVZK_OK)
        is_lost(d, "no sequencer", rc);
}

static void clean_up(struct filing *d)
{
    evzk_chubby_free(d->far);
    evzk_chubby_free(d->near);
    d->far = d->near = NULL;
    d->begun = d->told = LAST_OPEN;
}

static bool is_over(const struct filing *d)
{
    return d->told == (d->lost ? ALL_STEPS : STEPS);
}

static bool turn(void *scene)
{
    struct filing *d = scene;
    int rc;

    check_held(d);
    if (!d->lost)
        look(d);
    if (d->lost && d->begun < LAST_OPEN)
        clean_up(d);
    if (is_over(d)) {
        end(d);
        return true;
    }
    if (d->told < d->begun)
        return false;
    rc = start(d, d->begun++);
    if (rc != EVZK_OK)
        is_lost(d, "a call", rc);
    return false;
}

static void judge(void *scene)
{
    struct filing *d = scene;

    if (!is_over(d))
        sweep_complain(d->run, SWEEP_WRONG, "%d steps of %d", d->told, STEPS);
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct filing *d = scene;

    snprintf(text, size, "%d begun, %d told, lost: %d (%s)", d->begun, d->told,
             d->lost, evzk_errname(d->rc));
}

const struct sweep_recipe sweep_chubby = {.name = "chubby",
                                          .parts = parts,
                                          .size = sizeof(struct filing),
                                          .keeps = 1, /* Of the lock. */
                                          .share = 20,
                                          .begin = begin,
                                          .turn = turn,
                                          .judge = judge,
                                          .end = end,
                                          .tell = tell};
