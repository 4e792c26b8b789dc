/* The rules of configurations.
 *
 * Each replacement has data of its own, so the tree tells whose keys stand.
 * When `ready` comes, all keys and only those of one replacement are there, and
 * they stay as they are while it stands.  While it does not, a replacement
 * writes under its lock alone.  A replacement is whole once at most;
 * told as done it was, with that number.  A reader is told one configuration
 * that was whole, with its number, and none that was old when the reader
 * began.  A follower goes forward, and rests on the last one.  A replacement
 * of one certain configuration replaces no other.
 *
 * How it can fail: the tree is looked at after every step, and a step commits
 * one transaction at most. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "processes.h"
#include "scene.h"
#include "scene_config.h"
#include "steps.h"

enum {
    NAMES = 24,
    ROOM = 256,
    HIDDEN_US = 12 * 1000 * 1000, /* Where what is watched was hidden. */
    TRIES = 8 /* So often what a replacement finds is not what it has seen. */
};

static const struct config_scene *own(void) { return configured.own; }

/* ---- The tree ---- */

/* Which keys a configuration has; one of nobody has none. */
static int first_of(int update)
{
    return update == OPERATOR || update < 0 ? 0 : update_plan(update)->first;
}

static int count_of(int update)
{
    if (update == OPERATOR)
        return configured.own->stands;
    return update < 0 ? 0 : update_plan(update)->n;
}

/* A number of its own for what the keys are now; and whose they are: -1: keys
 * of several; -2: there is none. */
static int64_t print_keys(int *whose, int *n)
{
    const char *names[NAMES];
    char path[ROOM];
    size_t all = ens_children("/c", names, NAMES);
    int64_t print = 0;

    *whose = -2;
    *n = 0;
    for (size_t k = 0; k < all && k < NAMES; k++) {
        struct ens_seen seen;
        int update = OPERATOR;

        snprintf(path, sizeof path, "/c/%s", names[k]);
        if (strcmp(names[k], "ready") == 0 || !ens_look(path, &seen))
            continue;
        if (seen.len > 1 && seen.data[0] == 'u')
            update = seen.data[1] - '0';
        if (names[k][1] - '0' < first_of(update) ||
            names[k][1] - '0' >= first_of(update) + count_of(update))
            update = -1;
        *whose = *whose == -2 || *whose == update ? update : -1;
        print = print * 31 + seen.mzxid;
        (*n)++;
    }
    return print;
}

/* The replacement without keys. */
static int empty_one(void)
{
    for (int i = 0; i < UPDATES; i++) {
        if (update_plan(i)->start_ms && update_plan(i)->n == 0)
            return i;
    }
    return OPERATOR;
}

static struct whole *last(void)
{
    return &configured.whole[configured.n_wholes - 1];
}

/* Has a replacement replaced the only configuration that it may?  None was
 * whole, or that one was the last. */
static void check_replaced(int update)
{
    int64_t wanted = configured.update[update].if_number;
    int64_t number = configured.n_wholes > 1 ? last()[-1].number : 0;

    if (wanted == EVZK_CONFIG_NONE ? configured.ready != 0
                                   : wanted && wanted != number)
        sim_violation("update %d replaces number %lld, and was to replace %lld",
                      update, (long long)number, (long long)wanted);
}

static void note_whole(int64_t number, int64_t print, int whose, int n)
{
    if (whose == -2)
        whose = empty_one();
    if (configured.n_wholes == WHOLES) {
        sim_violation("there are too many configurations");
        return;
    }
    configured.whole[configured.n_wholes++] = (struct whole){
        .number = number, .print = print, .update = (int32_t)whose};
    sim_say("number %lld is whole: %d keys of %d", (long long)number, n, whose);
    if ((whose < 0 || n != count_of(whose)) && !configured.touched)
        sim_violation("number %lld is mixed: %d keys", (long long)number, n);
    if (whose < 0 || whose == OPERATOR)
        return;
    configured.update[whose].number = number;
    check_replaced(whose);
    if (n != count_of(whose) && configured.update[whose].made == 0)
        return; /* Two made it together; then each may make its own. */
    if (configured.update[whose].made++ && !fault_began_anew() &&
        !fault_hid_watched())
        sim_violation("update %d is done twice", whose);
    if (configured.update[whose].refused)
        sim_violation("update %d was refused, and is done", whose);
}

/* A contender of another library, for the lock. */
static void look_at_lock(void)
{
    const char *names[NAMES];
    size_t n = ens_children("/c.evzk/lock", names, NAMES);

    for (size_t k = 0; k < n && k < NAMES; k++) {
        if (strstr(names[k], "_c_") || strstr(names[k], "__lock__"))
            configured.foreign = true;
    }
}

/* The last transaction that wrote to a key, and whose data it wrote. */
static int64_t newest_write(int *whose)
{
    const char *names[NAMES];
    char path[ROOM];
    size_t all = ens_children("/c", names, NAMES);
    int64_t newest = 0;

    *whose = -1;
    for (size_t k = 0; k < all && k < NAMES; k++) {
        struct ens_seen seen;

        snprintf(path, sizeof path, "/c/%s", names[k]);
        if (strcmp(names[k], "ready") == 0 || !ens_look(path, &seen) ||
            seen.mzxid <= newest || fault_wrote(seen.mzxid))
            continue;
        newest = seen.mzxid;
        *whose = seen.len > 1 && seen.data[0] == 'u' ? seen.data[1] - '0' : -1;
    }
    return newest;
}

/* Does this session own a znode of the lock?  0: does none own one of them? */
static bool owns_lock(int64_t session)
{
    const char *names[NAMES];
    char path[ROOM];
    size_t n = ens_children("/c.evzk/lock", names, NAMES);

    for (size_t k = 0; k < n && k < NAMES; k++) {
        struct ens_seen seen;

        snprintf(path, sizeof path, "/c.evzk/lock/%s", names[k]);
        if (ens_look(path, &seen) && seen.owner == session)
            return true;
    }
    return false;
}

/* An operator's copy of the lock's znode deceives the servers, too. */
static bool is_copied(void) { return owns_lock(0); }

static bool has_lock(int update)
{
    const struct process *p =
        update < 0 ? NULL : process_of(update_plan(update)->proc);

    for (unsigned k = 0; p && k < p->n_ids;
         k++) { /* Perhaps closed without word. */
        if (owns_lock(p->ids[k]))
            return true;
    }
    return is_copied();
}

static void check_guarded(void)
{
    int whose;
    int64_t newest = newest_write(&whose);

    if (newest > configured.newest && whose >= 0 && !configured.ready &&
        !has_lock(whose))
        sim_violation("update %d writes without its lock", whose);
    configured.newest = newest;
}

/* An operator has deleted `ready` or a key, or written to a key, or made a copy
 * of the lock's znode.  Deleting the lock, or its directory, is no excuse; nor
 * is what `ready` says. */
static bool operator_touched(void)
{
    const char *names[NAMES];
    char path[ROOM];
    size_t n = ens_children("/c", names, NAMES);
    bool touched = false;

    for (int k = 0; k < CONFIG_STOOD; k++)
        touched = touched || operator_deleted(configured.stood[k]);
    memset(configured.stood, 0, sizeof configured.stood);
    for (size_t k = 0; k < n && k < CONFIG_STOOD; k++) {
        struct ens_seen seen;

        snprintf(path, sizeof path, "/c/%s", names[k]);
        if (!ens_look(path, &seen))
            continue;
        configured.stood[k] = seen.czxid;
        if (!fault_wrote(seen.mzxid))
            continue;
        if (strcmp(names[k], "ready") == 0)
            configured.marred = true;
        else
            configured.rewritten = touched = true;
    }
    return touched || is_copied();
}

const evzk_acl config_acl = {EVZK_PERM_ALL & ~EVZK_PERM_ADMIN, "world",
                             "anyone"};

/* Was this made with the ACL that was given? */
static void check_acl(const char *path)
{
    if (ens_perms(path) >= 0 && ens_perms(path) != (int)config_acl.perms)
        sim_violation("%s has another ACL", path);
}

/* The keys that the replacements made, and what they made besides. */
static void check_acls(void)
{
    const char *names[NAMES];
    char path[ROOM];
    size_t n = ens_children("/c", names, NAMES);

    for (size_t k = 0; k < n && k < NAMES; k++) {
        struct ens_seen seen;

        snprintf(path, sizeof path, "/c/%s", names[k]);
        if (ens_look(path, &seen) && seen.version == 0 && seen.len > 1 &&
            (seen.data[0] == 'u' || strcmp(names[k], "ready") == 0))
            check_acl(path);
    }
    if (operator_deleted_any())
        return;
    if (!own()->stands)
        check_acl("/c");
    check_acl("/c.evzk");
    check_acl("/c.evzk/lock");
}

void config_look(void)
{
    struct ens_seen ready;
    int64_t number = ens_look("/c/ready", &ready) ? ready.czxid : 0;
    int whose, n;
    int64_t print = print_keys(&whose, &n);

    look_at_lock();
    check_guarded();
    if (own()->own_acl)
        check_acls();
    configured.touched =
        operator_touched() || configured.touched || fault_hid_watched();

    if (number && number != configured.ready)
        note_whole(number, print, whose, n);
    else if (number && !configured.touched && print != last()->print)
        sim_violation("number %lld has changed", (long long)number);
    configured.ready = number;
}

/* ---- What is told ---- */

bool config_rc_ok(int proc, int rc, bool canceled)
{
    switch (rc) {
    case EVZK_OK:
        return true;
    case EVZK_ERR_CANCELED:
        return canceled;
    case EVZK_ERR_CLOSED:
        return process_of(proc)->closing;
    case EVZK_ERR_SERVER:
        return ens_throttles(proc) > REFUSALS;
    case EVZK_ERR_TOOLARGE:
        return ens_shut(proc);
    case EVZK_ERR_QUOTA:
        return ens_full_at() != 0;
    case EVZK_ERR_NOAUTH:
        return ens_denied(proc) || own()->hidden || own()->denied ||
               own()->unlisted || fault_hid_watched();
    case EVZK_ERR_NOCHROOT:
        return own()->chroot != NULL;
    default:
        return false;
    }
}

static int64_t find(int64_t from, int64_t number)
{
    for (int64_t k = from; k < configured.n_wholes; k++) {
        if (configured.whole[k].number == number)
            return k;
    }
    return -1;
}

static bool is_key_of(const evzk_config_key *key, int update, int k)
{
    char name[16], data[16];

    snprintf(name, sizeof name, "k%d", first_of(update) + k);
    if (update == OPERATOR)
        strcpy(data, "op");
    else
        snprintf(data, sizeof data, "u%d", update);
    return strcmp(key->name, name) == 0 && key->len == 2 &&
           memcmp(key->data, data, 2) == 0;
}

static void check_keys(int i, const evzk_config *c, int update)
{
    bool right = (int)c->n == count_of(update);

    for (size_t k = 0; right && k < c->n; k++)
        right = is_key_of(&c->key[k], update, (int)k) &&
                evzk_config_find(c, c->key[k].name) == &c->key[k];
    if (!right && !configured.touched)
        sim_violation("reader %d: number %lld is mixed", i,
                      (long long)c->number);
}

void config_check_read(int i, const evzk_config *c)
{
    struct config_reader *r = &configured.reader[i];
    /* A key that a fault has written to is told anew, of the same number. */
    bool again = r->told && configured.rewritten && r->at >= 0;
    int64_t k =
        find((r->told && !again) || r->at < 0 ? r->at + 1 : r->at, c->number);

    if (k < 0) {
        sim_violation("reader %d: number %lld is old, or never was", i,
                      (long long)c->number);
        return;
    }
    check_keys(i, c, configured.whole[k].update);
    r->told = true;
    r->at = k;
}

/* Did another replacement, or an operator, change the directory? */
static bool has_others(int i)
{
    for (int k = 0; k < UPDATES; k++) {
        if (k != i && configured.update[k].begun)
            return true;
    }
    return configured.touched;
}

static bool update_rc_ok(int i, int rc)
{
    const struct update_plan *plan = update_plan(i);

    switch (rc) {
    case EVZK_ERR_CONNLOSS:
        return has_others(i) || configured.marred;
    case EVZK_ERR_TIMEOUT:
        return plan->timeout_ms > 0;
    case EVZK_ERR_NOMEM:
        return process_lacked_memory(plan->proc);
    case EVZK_ERR_NOTEMPTY: /* The name of the child of `ready` is not known. */
        return configured.touched || configured.marred;
    case EVZK_ERR_BADVERSION: /* Alone, one ends so when it has lost its lock.
                               */
        return plan->if_same && (has_others(i) || !configured.ready);
    case EVZK_ERR_NONODE:
    case EVZK_ERR_NODEEXISTS:
    case EVZK_ERR_NODEGONE:
        return configured.refusals[plan->proc] > TRIES;
    case EVZK_ERR_FOREIGN: /* In the lock's directory. */
        return configured.foreign;
    default:
        return config_rc_ok(plan->proc, rc, configured.update[i].canceled);
    }
}

/* Two wrote at once, since an operator has deceived the servers: the set is a
 * mixed one, or the other's. */
static bool is_mixed(int64_t number, int i)
{
    int64_t k = find(0, number);

    return configured.touched && k >= 0 && configured.whole[k].update != i;
}

void config_check_told(int i, int rc, int64_t number)
{
    struct update *u = &configured.update[i];

    bool once = u->made == 1 || (u->made > 1 && fault_began_anew()) ||
                (u->made == 0 && configured.touched);

    if (!update_rc_ok(i, rc))
        sim_violation("update %d gave %s", i, evzk_errname(rc));
    if (rc == EVZK_OK && (!once || u->number != number) && !is_mixed(number, i))
        sim_violation("update %d is told as number %lld, and was %lld", i,
                      (long long)number, (long long)u->number);
    if (rc != EVZK_OK && number)
        sim_violation("update %d failed, and has a number", i);
    if (rc == EVZK_ERR_NOAUTH || rc == EVZK_ERR_NOMEM ||
        rc == EVZK_ERR_NOTEMPTY || rc == EVZK_ERR_NOCHROOT ||
        rc == EVZK_ERR_NONODE || rc == EVZK_ERR_NODEEXISTS ||
        rc == EVZK_ERR_NODEGONE || rc == EVZK_ERR_BADVERSION) {
        u->refused = true;
        if (u->made)
            sim_violation("update %d is refused, and was done", i);
    }
}

/* ---- After every step ---- */

static bool is_behind(const struct config_reader *r)
{
    return r->f && configured.ready &&
           (!r->told || r->at != configured.n_wholes - 1);
}

/* A follower rests on the last one; who asks, or replaces one, is told. */
void config_owes(int proc, struct sim_debt *debt)
{
    for (int i = 0; i < CONFIG_READERS; i++) {
        const struct config_reader *r = &configured.reader[i];

        if (config_reader(i)->proc != proc)
            continue;
        sim_owe(debt, r->q && (configured.ready || r->canceled),
                "a reader is not told", i);
        sim_owe(debt, is_behind(r),
                "a reader does not tell the last configuration", i);
    }
    for (int i = 0; i < UPDATES; i++)
        sim_owe(debt,
                update_plan(i)->proc == proc && configured.update[i].u != NULL,
                "a replacement is not told", i);
    debt->paid = (uint64_t)configured.n_wholes;
    if (fault_hid_watched())
        debt->most_us = HIDDEN_US;
}

void config_check(void)
{
    if (ens_has_changed(&configured.looked))
        config_look();
    for (int i = 0; i < CONFIG_READERS; i++) {
        const struct config_reader *r = &configured.reader[i];

        if ((r->q || r->f) && process_is_late(config_reader(i)->proc, r->due))
            sim_violation("reader %d is to end, and is not told so", i);
    }
    for (int i = 0; i < UPDATES; i++) {
        const struct update *u = &configured.update[i];

        if (u->u && process_is_late(update_plan(i)->proc, u->due))
            sim_violation("update %d is to end, and is not told so", i);
    }
    processes_check();
}

void config_check_end(void) { processes_check_end(); }
