/* A site: watches its inbox, and begins a machine for each entry.
 *
 *   PREPARING --> LISTING --> TAKING --> WATCHING
 *      |  ^  ^-----' ^----------'----------'
 *      v  |
 *   MAKING_ROOT           REFUSED --> LISTING
 *
 * PREPARING makes the inbox, which stays: an entry waits there until the site
 * has finished that transaction.  TAKING begins machines for what LISTING has
 * found; where there are thousands, in several turns of the loop.
 *
 * How it can fail.  A transaction may fail, and leave its entry: the site lists
 * its inbox again in a while, and begins it anew.  Somebody may delete the
 * inbox: it is made again.  Entries that were in it are lost, and their
 * transactions wait for this site until somebody decides to abort them.  A site
 * that has once listed its inbox, and may not do so any more, or not make it
 * again, waits in REFUSED, and tries again in a while (parts/passing.h); a
 * first try that is refused ends the site.
 */
#include "recipes/two_phase/site_internal.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "lib/machine/rows.h"
#include "recipes/kinds.h"
#include "recipes/parts/passing.h"

enum {
    PREPARING,
    MAKING_ROOT,
    LISTING,
    TAKING,
    WATCHING,
    REFUSED,
    ENDED,
    STATES
};
enum { ON_INBOX = EVZK__PATH };
enum { TRIES = 8 }; /* To make what others delete at once. */

static struct evzk_site *site_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_site, m);
}

/* 0: the site waits; else it ends with the error. */
static int refused(struct evzk_site *site, int rc)
{
    if (!site->ready || !evzk__refusal_may_pass(rc))
        return rc;
    if (site->refused_rc != rc)
        evzk__log(evzk__machine_session(&site->m), EVZK_LOG_WARN,
                  "site %s of %s: the servers refuse to list or make its "
                  "inbox: %s; it tries again until they do not",
                  site->name, evzk__machine_path(&site->m), evzk_errname(rc));
    site->refused_rc = rc;
    site->m.tries = 0;
    evzk__site_look_in(site, evzk__machine_round_ms(&site->m));
    return evzk__machine_move(&site->m, REFUSED);
}

static void prepare(struct evzk__machine *m)
{
    struct evzk_site *site = site_of(m);

    site->making_rc = EVZK_OK;
    for (int i = 0; i < 2; i++)
        site->step[i] =
            (struct evzk__step){.verb = EVZK__STEP_CREATE,
                                .name = i == 0 ? EVZK__INBOX : site->inbox,
                                .acl = site->acl,
                                .acl_count = site->acl_count};
    evzk__ask(m, site->step, 2, EVZK__EACH);
}

static int prepared(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_site *site = site_of(m);
    const struct evzk__reply *r = e->reply;

    if (site->making_rc == EVZK_OK && r->rc != EVZK_ERR_NODEEXISTS)
        site->making_rc = r->rc;
    if (!r->last)
        return EVZK_OK;
    if (evzk__tx_steps_lost(r) != EVZK_OK)
        return refused(site, r->first_rc);
    if (site->making_rc == EVZK_ERR_NONODE && m->tries++ < TRIES)
        return evzk__machine_move(m, MAKING_ROOT);
    return site->making_rc != EVZK_OK ? refused(site, site->making_rc)
                                      : evzk__machine_move(m, LISTING);
}

static void make_root(struct evzk__machine *m)
{
    evzk__own_dir(m, site_of(m)->acl, site_of(m)->acl_count);
}

static int root_made(struct evzk__machine *m, const struct evzk__event *e)
{
    return e->reply->rc != EVZK_OK ? refused(site_of(m), e->reply->rc)
                                   : evzk__machine_move(m, PREPARING);
}

static void list(struct evzk__machine *m)
{
    struct evzk_site *site = site_of(m);

    site->lost = false;
    site->step[0] = (struct evzk__step){
        .verb = EVZK__STEP_SYNC, .name = site->inbox, .shared = true};
    site->step[1] = (struct evzk__step){.verb = EVZK__STEP_CHILDREN,
                                        .name = site->inbox,
                                        .watch = EVZK__WITH(ON_INBOX)};
    evzk__ask(m, site->step, 2, 0);
}

static bool is_known(struct evzk_site *site, const char *id)
{
    struct evzk_site_tx key;

    strcpy(stpcpy(key.steps.tx, EVZK__TX_DIR "/"), id);
    return RB_FIND(evzk__site_txs, &site->txs, &key) != NULL;
}

/* The entries of which the site knows nothing yet.  Known entries are left out
 * here: a known transaction may end before TAKING comes to its entry, which
 * would look new then.  Names of another form are no entries. */
static int choose(struct evzk_site *site, const struct evzk__names *names)
{
    char **v = evzk__zalloc((names->n + 1) * sizeof *v);
    struct evzk__names found = {.n = 0, .v = v};
    int rc;

    if (!v)
        return EVZK_ERR_NOMEM;
    for (size_t i = 0; i < names->n; i++) {
        if (evzk__is_tx_id(names->v[i]) && !is_known(site, names->v[i]))
            v[found.n++] = names->v[i];
    }
    rc = evzk__read_all_take(&site->found, "", &found);
    evzk__free(v);
    return rc;
}

static int listed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_site *site = site_of(m);
    const struct evzk__reply *r = e->reply;

    if (r->rc == EVZK_ERR_NONODE)
        return evzk__machine_move(m, PREPARING);
    if (r->first_rc != EVZK_OK || r->rc != EVZK_OK)
        return refused(site, r->first_rc != EVZK_OK ? r->first_rc : r->rc);
    m->tries = 0;
    site->ready = true;
    site->refused_rc = EVZK_OK;
    if (choose(site, &r->res->names) != EVZK_OK)
        return evzk__machine_again_later(m);
    site->n_taken = 0;
    if (site->entries == EVZK__ENTRIES_UNSURE)
        site->entries = EVZK__ENTRIES_LISTED;
    return evzk__machine_move(m, TAKING);
}

static void take(struct evzk__machine *m)
{
    struct evzk_site *site = site_of(m);
    int64_t until = evzk__machine_until_us();

    for (unsigned n = 0; site->n_taken < site->found.n; n++) {
        if (evzk__site_tx_new(site, site->found.names[site->n_taken]) !=
            EVZK_OK) {
            evzk__machine_pause(m);
            evzk__machine_move(m, LISTING);
            return;
        }
        site->n_taken++;
        if (evzk__machine_time_spent(n, until)) {
            evzk__machine_ask(m);
            return;
        }
    }
    evzk__read_all_clear(&site->found);
    if (site->entries == EVZK__ENTRIES_LISTED) /* None has failed since. */
        site->entries = EVZK__ENTRIES_NEW;
    evzk__machine_move(m, WATCHING);
}

/* If more entries have come, lists again: those that are taken are known. */
static int taken(struct evzk__machine *m, const struct evzk__event *e)
{
    return e->type == EVZK__EV_USER ? evzk__machine_again(m)
                                    : evzk__machine_move(m, LISTING);
}

static void watch(struct evzk__machine *m)
{
    if (evzk__watch_missing(m, (enum evzk__which)ON_INBOX))
        evzk__machine_move(m, LISTING);
}

static int watched(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_move(m, LISTING);
}

/* The deadline asks. */
static void rest(struct evzk__machine *m) { (void)m; }

static int rested(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_move(m, LISTING);
}

/* The transactions end without a word; what they have made is taken back. */
static void end(struct evzk__machine *m)
{
    struct evzk_site *site = site_of(m);
    evzk_session *s = evzk__machine_session(m);
    struct evzk_site_tx *t;
    int64_t begun;

    while ((t = RB_MIN(evzk__site_txs, &site->txs)) != NULL) {
        RB_REMOVE(evzk__site_txs, &site->txs, t);
        evzk__presence_leave(t);
        t->site = NULL;
        evzk__machine_let_go(&t->m);
    }
    begun = evzk__machine_call_out(s);
    if (site->cb)
        site->cb(site, EVZK_SITE_ENDED, NULL, m->rc, site->arg);
    evzk__machine_called(s, begun);
}

static void destroy(struct evzk__machine *m)
{
    evzk__read_all_clear(&site_of(m)->found);
    evzk__acl_free(&site_of(m)->own_acl);
    evzk__free(site_of(m));
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state        entry      reaction   main      on stop  on expiry  flags */
ROW(PREPARING,   prepare,   prepared,  LISTING,  ENDED,   PREPARING, RETRY|NOTHING_SENT,
    ON(REPLY,        LISTING, MAKING_ROOT, REFUSED, HERE, FAIL)),
ROW(MAKING_ROOT, make_root, root_made, ASIDE,    ENDED,   PREPARING, RETRY,
    ON(REPLY,        PREPARING, FAIL), RARELY(REPLY, REFUSED),
    RARELY(EXPIRED,  PREPARING)),
ROW(LISTING,     list,      listed,    TAKING,   ENDED,   LISTING,   RETRY,
    ON(REPLY,        TAKING, PREPARING, REFUSED, FAIL)),
ROW(TAKING,      take,      taken,     WATCHING, ENDED,   LISTING,   0,
    ON(ENTRY,        WATCHING, LISTING),
    ON(USER_EVENT,   TAKING),
    RARELY(PATH_DELETED, LISTING),
    ON(PATH_CHANGED, LISTING),
    RARELY(EXPIRED,  LISTING)),
ROW(WATCHING,    watch,     watched,   ENDED,    ENDED,   LISTING,   RETRY,
    ON(ENTRY,        LISTING),
    ON(PATH_DELETED, LISTING),
    ON(PATH_CHANGED, LISTING),
    ON(USER_EVENT,   LISTING),
    ON(EXPIRED,      NEVER)),
ROW(REFUSED,     rest,      rested,    ASIDE,    ENDED,   LISTING,   RETRY,
    ON(USER_EVENT,   LISTING)),
END(ENDED,       end),
};
/* clang-format on */

/* Looks again at all that has failed.  While the site lists its inbox, what has
 * failed before is not listed: once more later. */
static void on_deadline(struct evzk__machine *m)
{
    struct evzk_site *site = site_of(m);
    struct evzk_site_tx *t;

    site->again_us = 0;
    evzk__presences_again(site);
    RB_FOREACH(t, evzk__site_txs, &site->txs)
    {
        if (t->denied)
            evzk__machine_ask(&t->m);
    }
    if (m->state == REFUSED || (site->lost && m->state == WATCHING))
        evzk__machine_ask(m);
    else if (site->lost)
        evzk__site_look_later(site, EVZK_OK);
}

const struct evzk__kind evzk__site_kind = {
    .name = "site",
    .rows = rows,
    .n_rows = STATES,
    .on_deadline = on_deadline,
    .keeps_timer = true,
    .destroy = destroy,
    EVZK__PATH_WATCHES(struct evzk_site, m, watch)};

/* The calls of evzk/two_phase.h on a site. */

static bool broken_name(const struct evzk__call *call, const char *name)
{
    const char *rule = name ? evzk__site_name_fault(name) : EVZK__NOT_NULL;

    return evzk__broken(call, !rule, "name", rule);
}

static int init(struct evzk_site *site, evzk_session *s, const char *root,
                const evzk_site_options *opt)
{
    struct evzk__create_args a;
    int rc = evzk__acl_copy(&site->own_acl, opt->acl, opt->acl_count);

    if (rc == EVZK_OK)
        rc = evzk__machine_init(&site->m, s, &evzk__site_kind, root, 0);
    if (rc != EVZK_OK)
        return rc;
    a = evzk__args_with_acl(&site->m, NULL, &site->own_acl);
    site->acl = a.acl;
    site->acl_count = a.acl_count;
    return EVZK_OK;
}

int evzk_site_start(evzk_session *s, const char *root, const char *name,
                    const evzk_site_options *opt, evzk_site_cb *cb, void *arg,
                    evzk_site **out)
{
    static const evzk_site_options none;
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_site *site;
    int rc;

    if (!opt)
        opt = &none;
    if (evzk__broken_start(&call, s, root, cb != NULL, out != NULL) ||
        evzk__broken_tx_root(&call, s, root) || broken_name(&call, name) ||
        evzk__broken_acl(&call, opt->acl, opt->acl_count) ||
        evzk__broken_reserved(&call, opt->reserved))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    site = evzk__zalloc(sizeof *site);
    if (!site)
        return EVZK_ERR_NOMEM;
    site->cb = cb;
    site->arg = arg;
    strcpy(site->name, name);
    strcpy(stpcpy(site->inbox, EVZK__INBOX "/"), name);
    TAILQ_INIT(&site->presences);
    rc = init(site, s, root, opt);
    if (rc == EVZK_OK)
        *out = site;
    else
        destroy(&site->m);
    return rc;
}

int evzk_site_cancel(evzk_site *site)
{
    return site ? evzk__machine_cancel(&site->m) : EVZK_ERR_INVAL;
}

void evzk_site_free(evzk_site *site)
{
    if (site) {
        site->cb = NULL;
        evzk__machine_let_go(&site->m);
    }
}

const char *evzk_site_state(const evzk_site *site)
{
    return site ? evzk__machine_state(&site->m) : "";
}
