/* A site watches the sessions of coordinators: one watch for all transactions
 * of a session.
 *
 * How it can fail.  The znode may not be read, or the watch ends for another
 * reason: then the site watches anew in a while, and until then it does not
 * hear when that session ends. */
#include "recipes/two_phase/site_internal.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/os.h"

/* One deadline for all that has failed at a site: the earliest. */
void evzk__site_look_in(struct evzk_site *site, uint32_t ms)
{
    int64_t at = evzk__now_us() + 1000 * (int64_t)ms;

    if (site->again_us != 0 && site->again_us <= at)
        return;
    evzk__machine_set_deadline(&site->m, ms);
    site->again_us = at;
}

void evzk__site_look_later(struct evzk_site *site, int rc)
{
    evzk__site_look_in(site, evzk__tx_again_ms(rc));
}

static void free_presence(struct evzk__presence *p)
{
    evzk__node_watch_free(p->watch);
    evzk__free(p);
}

static void on_presence(void *arg, int rc, const struct evzk__result *res)
{
    struct evzk__presence *p = arg;
    struct evzk_site_tx *t;

    (void)res;
    if (rc == EVZK_ERR_NONODE && !p->gone) {
        p->gone = true;
        TAILQ_FOREACH(t, &p->users, user)
        {
            t->gone = true;
            evzk__machine_ask(&t->m);
        }
    } else if (rc != EVZK_OK && rc != EVZK_ERR_NONODE) {
        evzk__node_watch_free(p->watch);
        p->watch = NULL;
        evzk__site_look_later(TAILQ_FIRST(&p->users)->site, rc);
    }
}

static struct evzk__presence *find(const struct evzk_site *site,
                                   const char *tag)
{
    struct evzk__presence *p;

    TAILQ_FOREACH(p, &site->presences, link)
    {
        if (strcmp(p->tag, tag) == 0)
            return p;
    }
    return NULL;
}

static int watch(struct evzk_site *site, struct evzk__presence *p)
{
    char *dir =
        evzk__concat(evzk__machine_path(&site->m), "/" EVZK__COORDINATORS);
    int rc = EVZK_ERR_NOMEM;

    if (dir)
        rc = evzk__watch_node(evzk__machine_session(&site->m), dir, p->tag,
                              on_presence, p, &p->watch);
    evzk__free(dir);
    return rc;
}

void evzk__presences_again(struct evzk_site *site)
{
    struct evzk__presence *p;

    TAILQ_FOREACH(p, &site->presences, link)
    {
        if (!p->watch && watch(site, p) != EVZK_OK)
            evzk__site_look_later(site, EVZK_ERR_NOMEM);
    }
}

/* NULL: no memory. */
static struct evzk__presence *begin(struct evzk_site *site, const char *tag)
{
    struct evzk__presence *p = evzk__zalloc(sizeof *p);

    if (!p)
        return NULL;
    strcpy(p->tag, tag);
    TAILQ_INIT(&p->users);
    if (watch(site, p) != EVZK_OK) {
        evzk__free(p);
        return NULL;
    }
    TAILQ_INSERT_HEAD(&site->presences, p, link);
    return p;
}

int evzk__presence_join(struct evzk_site_tx *t)
{
    struct evzk__presence *p;

    if (t->presence)
        return EVZK_OK;
    p = find(t->site, t->text.tag);
    if (!p)
        p = begin(t->site, t->text.tag);
    if (!p)
        return EVZK_ERR_NOMEM;
    TAILQ_INSERT_TAIL(&p->users, t, user);
    t->presence = p;
    t->gone = p->gone;
    return EVZK_OK;
}

void evzk__presence_leave(struct evzk_site_tx *t)
{
    struct evzk__presence *p = t->presence;

    if (!p)
        return;
    TAILQ_REMOVE(&p->users, t, user);
    t->presence = NULL;
    if (TAILQ_EMPTY(&p->users)) {
        TAILQ_REMOVE(&t->site->presences, p, link);
        free_presence(p);
    }
}
