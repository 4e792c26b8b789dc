/* The rules of Chubby's interface that speak of the tree, asked after every
 * step.
 *
 * A write lands once, on the instance that its handle is open on, on the
 * generation that it names, and not after it was told as failed.  A file goes
 * only by a delete, an operator, or the end of its session.  The anchor stands
 * as long as the file that was made with it.
 *
 * At no moment do two handles hold one lock, as they say, unless both share;
 * and the znode of a lock that is held stands.
 *
 * How it can fail: a write is known by its data.  What an operator has deleted
 * or copied counts for nobody. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "processes.h"
#include "scene.h"
#include "scene_chubby.h"

enum { CHROOT = sizeof "/r" - 1, SEQ_DIGITS = 10, GUID_LEN = 36 };

const char *chubby_file(int file)
{
    static const char *const files[FILES] = {"/r/f/a", "/r/f/b", "/r/f/a/k"};

    return files[file] + (chubbies.own->chroot ? 0 : CHROOT);
}

const char *chubby_name(int file)
{
    return chubby_file(file) + (chubbies.own->chroot ? CHROOT : 0);
}

const char *chubby_side(int file)
{
    static const char *const sides[FILES] = {"/r/f/a.evzk", "/r/f/b.evzk",
                                             "/r/f/a/k.evzk"};

    return sides[file] + (chubbies.own->chroot ? 0 : CHROOT);
}

/* ---- The files. ---- */

static struct chubby_state *last_of(int file)
{
    for (int k = chubbies.n_states - 1; k >= 0; k--) {
        if (chubbies.state[k].file == file)
            return &chubbies.state[k];
    }
    return NULL;
}

const struct chubby_state *chubby_now(int file)
{
    const struct chubby_state *s = last_of(file);

    return s && !s->gone ? s : NULL;
}

int64_t chubby_gone(int64_t instance)
{
    for (int k = chubbies.n_states - 1; k >= 0; k--) {
        if (chubbies.state[k].czxid == instance)
            return chubbies.state[k].gone;
    }
    return 0;
}

/* An operator has deleted the file by hand, or its anchor, which has the same
 * czxid; or put a copy in its place. */
bool chubby_meddled(int64_t instance)
{
    return operator_deleted(instance) || operator_copied(instance);
}

/* The lock, or the sequencer, under which a write was called stands when the
 * write lands. */
static void check_under(int k)
{
    const struct chubby_op *op = &chubbies.op[k];
    int i = op->handle - 1;
    const struct chubby_hold *hold = &chubbies.of[i].hold;
    const struct chubby_handle *by = op->by ? &chubbies.of[op->by - 1] : NULL;

    if (op->under && op->under == hold->token && hold->gone &&
        !chubby_meddled((int64_t)hold->token))
        sim_violation("operation %d is done without its lock", k);
    if (by && by->sequencer_gone && !chubby_meddled(by->sequencer_czxid))
        sim_violation("operation %d is done without its sequencer", k);
}

static void check_set(int k, const struct chubby_state *s)
{
    struct chubby_op *op = &chubbies.op[k];
    int i = op->handle - 1;

    if (op->landed)
        sim_violation("operation %d is done twice", k);
    if (op->told && !op->unknown)
        sim_violation("operation %d was told, and is done later", k);
    if (s->czxid != chubbies.of[i].instance &&
        !chubby_meddled(chubbies.of[i].instance))
        sim_violation("operation %d of handle %d is done on another file", k,
                      i);
    if (op->gen >= 0 && s->version != op->gen + 1)
        sim_violation("operation %d is done on another generation", k);
    check_under(k);
    op->landed = true;
    op->landed_gen = s->version;
}

/* Which operation has written this; -1: none. */
static int writer_of(const struct chubby_state *s)
{
    int k = s->len == 3 && s->data[0] == 's' ? atoi(s->data + 1) : -1;

    return k >= 0 && k < chubbies.n_ops ? k : -1;
}

/* A step of the world may bring several writes: the last one is seen. */
static void note_hidden(void)
{
    for (int k = 0; k < chubbies.n_ops; k++) {
        if (!chubbies.op[k].told && !chubbies.op[k].landed)
            chubbies.op[k].maybe = true;
    }
}

static void note_state(int file, const struct ens_seen *seen)
{
    const struct chubby_state *last = last_of(file);
    struct chubby_state *s;

    if (last && last->czxid == seen->czxid && seen->version > last->version + 1)
        note_hidden();
    if (chubbies.n_states == STATES_SEEN)
        return;
    s = &chubbies.state[chubbies.n_states++];
    *s = (struct chubby_state){.czxid = seen->czxid,
                               .mzxid = seen->mzxid,
                               .file = file,
                               .version = seen->version,
                               .len = seen->len > 0 ? seen->len : 0,
                               .at = sim_now()};
    if (s->len > 0 && s->len < (int32_t)sizeof s->data)
        memcpy(s->data, seen->data, (size_t)s->len);
    s->hash = sim_hash(seen->data, (size_t)s->len);
    if (s->version > 0 && writer_of(s) >= 0 && !fault_wrote(s->mzxid))
        check_set(writer_of(s), s);
}

/* Deletes of handles on this instance; or on one that an operator has deleted,
 * and its anchor was left.  At least one of these has landed.  False: there is
 * none. */
static bool note_deleters(int64_t instance)
{
    bool any = false;

    for (int k = 0; k < chubbies.n_ops; k++) {
        struct chubby_op *op = &chubbies.op[k];
        int64_t on = chubbies.of[op->handle - 1].instance;

        if (op->act == ACT_DELETE && (!op->told || op->unknown) &&
            (on == instance || chubby_meddled(on)))
            op->maybe = any = true;
    }
    return any;
}

static bool is_ephemeral(int file)
{
    for (int i = 0; i < HANDLES; i++) {
        if (chubby_plan_of(i)->ephemeral && chubby_plan_of(i)->file == file)
            return true;
    }
    return false;
}

static void note_gone(int file, struct chubby_state *s)
{
    bool by_operator = operator_deleted(s->czxid);

    s->gone = sim_now();
    for (int k = 0; k < chubbies.n_states; k++) {
        if (chubbies.state[k].czxid == s->czxid)
            chubbies.state[k].gone = s->gone;
    }
    sim_say("%s is gone", chubby_file(file));
    if (!by_operator && !note_deleters(s->czxid) && !chubby_meddled(s->czxid) &&
        !is_ephemeral(file))
        sim_violation("%s is gone, and nobody has deleted it",
                      chubby_file(file));
    note_hidden();
}

static void look_at(int file)
{
    struct chubby_state *last = last_of(file);
    struct ens_seen seen;
    bool is = ens_look(chubby_file(file), &seen);

    if (last && !last->gone && (!is || seen.czxid != last->czxid))
        note_gone(file, last);
    if (is && (!last || seen.czxid != last->czxid || seen.mzxid != last->mzxid))
        note_state(file, &seen);
    for (int i = 0; i < HANDLES; i++) {
        if (chubby_plan_of(i)->file == file && chubbies.of[i].begun) {
            chubbies.of[i].met = chubbies.of[i].met || is;
            chubbies.of[i].missed = chubbies.of[i].missed || !is;
        }
    }
}

/* A file that a handle has made has its anchor as long as it stands. */
static void check_anchor(int file)
{
    const struct chubby_state *now = chubby_now(file);
    const char *names[64];
    size_t n = ens_children(chubby_side(file), names, 64);
    struct ens_seen seen;
    char path[160];
    int64_t matching = 0;
    bool made = false;

    for (size_t k = 0; k < n && k < 64; k++) {
        snprintf(path, sizeof path, "%s/%s", chubby_side(file), names[k]);
        if (strstr(names[k], "-file") && ens_look(path, &seen) && now &&
            seen.czxid == now->czxid)
            matching++;
    }
    for (int i = 0; now && i < HANDLES; i++)
        made = made || (chubbies.of[i].instance == now->czxid &&
                        evzk_chubby_created(chubbies.of[i].h));
    if (matching > 1 || (made && matching == 0 && !operator_deleted_any()))
        sim_violation("%s has %d anchors", chubby_file(file), (int)matching);
}

/* ---- The locks. ---- */

static void look_at_holds(int i)
{
    struct chubby_handle *h = &chubbies.of[i];
    struct ens_seen seen;
    char path[200];

    if (h->hold.token && !h->hold.gone) {
        snprintf(path, sizeof path, "%s/%s",
                 chubby_side(chubby_plan_of(i)->file), h->hold.node);
        if (!ens_look(path, &seen) || (uint64_t)seen.czxid != h->hold.token)
            h->hold.gone = sim_now();
    }
    if (h->sequencer[0] && !h->sequencer_gone) {
        snprintf(path, sizeof path, "%s%.*s", chubbies.own->chroot ? "/r" : "",
                 (int)(strchr(h->sequencer, ':') - h->sequencer), h->sequencer);
        if (!ens_look(path, &seen) || seen.czxid != h->sequencer_czxid)
            h->sequencer_gone = sim_now();
    }
}

/* A receipt is written to by its own transaction only, which writes its name.
 */
static bool is_written(const char *name, const struct ens_seen *seen)
{
    return strstr(name, "-receipt") && seen->version > 0 &&
           (seen->len != (int32_t)strlen(name) ||
            memcmp(seen->data, name, (size_t)seen->len) != 0);
}

/* Numbers wrap: the sign of one below zero takes the place of a digit. */
static bool is_contender(const char *name)
{
    const char *digits = strrchr(name, '-');
    bool below = digits && digits > name && digits[-1] == '-';

    return digits &&
           strspn(digits + 1, "0123456789") == SEQ_DIGITS - (below ? 1U : 0U) &&
           (strstr(name, "-write-") || strstr(name, "-read-") ||
            strstr(name, "-lock-"));
}

/* A mark whose holder is gone. */
bool chubby_is_old_mark(int file, const char *name)
{
    char node[96], path[200];
    struct ens_seen seen;
    char *ms;

    snprintf(node, sizeof node, "%s", name);
    if (!strstr(node, "-delay"))
        return false;
    *strstr(node, "-delay") = '\0';
    ms = strrchr(node, '-');
    if (!ms || ms[1 + strspn(ms + 1, "0123456789")])
        return false;
    *ms = '\0';
    snprintf(path, sizeof path, "%s/%s", chubby_side(file), node);
    return is_contender(node) && !ens_look(path, &seen);
}

bool chubby_has_rival(int file, int contenders)
{
    const char *names[64];
    size_t n = ens_children(chubby_side(file), names, 64);

    for (size_t k = 0; k < n && k < 64; k++) {
        if (chubby_is_old_mark(file, names[k]))
            return true;
        contenders -= is_contender(names[k]);
    }
    return contenders <= 0;
}

bool chubby_has_contender(int file)
{
    const char *names[64];
    size_t n = ens_children(chubby_side(file), names, 64);

    for (size_t k = 0; k < n && k < 64; k++) {
        if (is_contender(names[k]))
            return true;
    }
    return false;
}

/* Of a znode that a fault made, perhaps with a number below zero. */
static bool is_forged(const char *name)
{
    return strncmp(name, "fa17", 4) == 0;
}

/* When a process was last not alone in the queue: another's contender stood, or
 * a second one of its own session. */
static void note_company(int file, const char *name, int64_t owner,
                         int own[SIM_PROCS])
{
    if (!is_contender(name) && !is_forged(name))
        return;
    for (int p = 0; p < SIM_PROCS; p++) {
        const struct process *of = process_of(p);
        bool its = of->n_ids && of->ids[of->n_ids - 1] == owner;

        own[p] += its;
        if (!its || own[p] > 1)
            chubbies.company_at[file][p] = sim_now();
    }
}

/* A contender that no handle has made: of another library, or one that may
 * come before all. */
static void look_for_strangers(int file)
{
    const char *names[64];
    size_t n = ens_children(chubby_side(file), names, 64);
    struct ens_seen seen;
    char path[240];
    int own[SIM_PROCS] = {0};

    chubbies.meddled = chubbies.meddled || operator_deleted_any();
    for (size_t k = 0; k < n && k < 64; k++) {
        snprintf(path, sizeof path, "%s/%s", chubby_side(file), names[k]);
        chubbies.meddled = chubbies.meddled || (ens_look(path, &seen) &&
                                                is_written(names[k], &seen));
        if (ens_look(path, &seen))
            note_company(file, names[k], seen.owner, own);
        chubbies.foreign = chubbies.foreign || strstr(names[k], "__WRIT__") ||
                           strstr(names[k], "__lock__") ||
                           strncmp(names[k], "_c_", 3) == 0;
        chubbies.forged = chubbies.forged || is_forged(names[k]) ||
                          (is_contender(names[k]) && ens_look(path, &seen) &&
                           seen.owner == 0);
    }
}

/* The process of the contender in front; -1: it is nobody's. */
static int proc_in_front(int file)
{
    struct ens_seen seen;
    char path[240];

    snprintf(path, sizeof path, "%s/%s", chubby_side(file),
             chubbies.front[file]);
    for (int p = 0; ens_look(path, &seen) && p < SIM_PROCS; p++) {
        const struct process *of = process_of(p);

        if (of->n_ids && of->ids[of->n_ids - 1] == seen.owner)
            return p;
    }
    return -1;
}

bool chubby_has_waited(int file)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        int64_t since = chubbies.mark_seen[file][p];

        if (since && sim_now() - since >= MARK_MS * INT64_C(1000))
            return true;
    }
    return false;
}

/* A mark of MARK_MS goes by the hand of a holder that has waited for so long. A
 * handle that asks again remembers what it has seen: so what counts is since
 * when its process was in front for the first time. */
static void look_at_marks(int file)
{
    bool stands = chubby_has_marks(file);
    int proc = proc_in_front(file);

    if (chubbies.marked[file] && !stands && !operator_deleted_any() &&
        !chubby_has_waited(file))
        sim_violation("an old mark goes before its time");
    chubbies.marked[file] = stands;
    if (stands && proc >= 0 && !chubbies.mark_seen[file][proc])
        chubbies.mark_seen[file][proc] = sim_now();
}

/* Whose turn is it in the lock's queue? */
static void look_in_front(int file)
{
    const char *names[64];
    size_t n = ens_children(chubby_side(file), names, 64);
    const char *best = NULL;

    for (size_t k = 0; k < n && k < 64; k++) {
        if (chubby_is_old_mark(file, names[k]))
            chubbies.old_at[file] = sim_now();
        if (is_contender(names[k]) &&
            (!best || strcmp(strrchr(names[k], '-'), strrchr(best, '-')) < 0))
            best = names[k];
    }
    if (best && strcmp(best, chubbies.front[file]) != 0) {
        chubbies.fronts[file]++;
        chubbies.front_at[file] = sim_now();
    }
    snprintf(chubbies.front[file], sizeof chubbies.front[file], "%s",
             best ? best : "");
}

bool chubby_has_marks(int file)
{
    const char *names[64];
    size_t n = ens_children(chubby_side(file), names, 64);

    for (size_t k = 0; k < n && k < 64; k++) {
        if (strstr(names[k], "-0000-4000-8000-000000000000-") &&
            strstr(names[k], "-300-"))
            return true;
    }
    return false;
}

static void note_came(int file, const char *name, int64_t czxid)
{
    struct chubby_came *v = chubbies.came[file];

    for (int k = 0; k < chubbies.n_came[file]; k++) {
        if (v[k].czxid == czxid) {
            v[k].stands = true;
            return;
        }
    }
    if (chubbies.n_came[file] < CAME)
        v[chubbies.n_came[file]++] = (struct chubby_came){
            .czxid = czxid, .shared = strstr(name, "-read-"), .stands = true};
}

static void look_at_queue(int file)
{
    const char *names[64];
    size_t n = ens_children(chubby_side(file), names, 64);
    struct ens_seen seen;
    char path[240];

    for (int k = 0; k < chubbies.n_came[file]; k++)
        chubbies.came[file][k].stands = false;
    for (size_t k = 0; k < n && k < 64; k++) {
        snprintf(path, sizeof path, "%s/%s", chubby_side(file), names[k]);
        if (is_contender(names[k]) && ens_look(path, &seen))
            note_came(file, names[k], seen.czxid);
    }
}

int chubby_behind(int i, bool now)
{
    const struct chubby_hold *hold = &chubbies.of[i].hold;
    int file = chubby_plan_of(i)->file, n = 0;

    for (int k = 0; k < chubbies.n_came[file]; k++) {
        const struct chubby_came *c = &chubbies.came[file][k];

        n += c->czxid > (int64_t)hold->token && (c->stands || !now) &&
             !(c->shared && hold->shared);
    }
    return n;
}

static void look_for_rivals(void)
{
    for (int k = 0; k < chubbies.n_ops; k++) {
        struct chubby_op *op = &chubbies.op[k];

        if (op->act == ACT_TRY && !op->told && !op->rival)
            op->rival =
                chubby_has_rival(chubby_plan_of(op->handle - 1)->file, 2);
    }
}

static void look_at_child(void)
{
    struct ens_seen seen;
    char path[64];

    snprintf(path, sizeof path, "%s/c", chubby_file(0));
    chubbies.child = ens_look(path, &seen);
}

static void check_perms(const char *path)
{
    int perms = ens_perms(path);

    if (perms >= 0 && (unsigned)perms & EVZK_PERM_ADMIN)
        sim_violation("%s has another ACL", path);
}

/* The znodes of handles with an ACL of their own have that. */
static void check_acl(int file)
{
    const char *side = chubby_side(file), *names[64];
    size_t n = ens_children(side, names, 64);
    char path[240];
    bool own = false;

    for (int i = 0; i < HANDLES; i++)
        own = own ||
              (chubby_plan_of(i)->own_acl && chubby_plan_of(i)->file == file);
    if (!own || chubbies.forged || chubbies.foreign || operator_deleted_any())
        return;
    check_perms(side);
    check_perms(chubby_file(file));
    for (size_t k = 0; k < n && k < 64; k++) {
        snprintf(path, sizeof path, "%s/%s", side, names[k]);
        if (strlen(names[k]) > GUID_LEN)
            check_perms(path);
    }
}

void chubby_look(void)
{
    look_at_child();
    for (int file = 0; file < FILES; file++) {
        look_in_front(file);
        look_at_marks(file);
        look_at_queue(file);
        look_at(file);
        check_anchor(file);
        look_for_strangers(file);
        check_acl(file);
    }
    for (int i = 0; i < HANDLES; i++) {
        look_at_holds(i);
    }
    look_for_rivals();
}

static bool is_robbed(int i)
{
    int64_t czxid = (int64_t)chubbies.of[i].hold.token;

    return operator_deleted(czxid) || operator_copied(czxid) ||
           process_any_session(chubby_plan_of(i)->proc, session_forced);
}

static bool holds(int i)
{
    struct chubby_handle *h = &chubbies.of[i];
    int before;
    bool held;

    if (!h->h)
        return false;
    before = sim_enter(chubby_plan_of(i)->proc);
    held = evzk_chubby_held(h->h);
    if (held != (evzk_chubby_lease_ms(h->h) > 0) ||
        held != (evzk_chubby_token(h->h) > 0))
        sim_violation("handle %d: held, without a time or a token", i);
    sim_leave(before);
    if (!held && chubby_holds(i) && !h->hold.gone && !h->closes && !h->ended &&
        !process_of(chubby_plan_of(i)->proc)->closing &&
        process_is_sure(chubby_plan_of(i)->proc))
        sim_violation("handle %d has the lock, and does not say so", i);
    if (held && h->hold.gone && !is_robbed(i))
        sim_violation("handle %d holds the lock, and its znode is gone", i);
    return held;
}

void chubby_check_held(void)
{
    bool held[HANDLES];

    for (int i = 0; i < HANDLES; i++) {
        held[i] = chubby_plan_of(i)->open_ms && holds(i);
        for (int k = 0; held[i] && k < i; k++) {
            if (held[k] && chubby_plan_of(i)->file == chubby_plan_of(k)->file &&
                !(chubbies.of[i].hold.shared && chubbies.of[k].hold.shared) &&
                !is_robbed(i) && !is_robbed(k))
                sim_violation("handles %d and %d hold one lock", i, k);
        }
    }
}
