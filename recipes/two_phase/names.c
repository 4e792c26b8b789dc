/* The znodes of a transaction, by name, and the steps of requests about them.
 */
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/two_phase/two_phase_internal.h"

static const char *const prefix[EVZK__STANDINGS] = {
    "", "open-", "asked-", "here-", "commit-", "abort-"};

enum {
    PREFIX = 8,   /* Bytes of the longest, and a slash. */
    MORE = 3,     /* Steps besides two for each site. */
    OWN_NAMES = 6 /* Of a site, for itself. */
};

uint32_t evzk__tx_again_ms(int rc)
{
    enum { DENIED_MS = 30 * 1000, AGAIN_MS = 2000 };

    return rc == EVZK_ERR_NOAUTH || rc == EVZK_ERR_TOOLARGE ||
                   rc == EVZK_ERR_QUOTA || rc == EVZK_ERR_FOREIGN
               ? DENIED_MS
               : AGAIN_MS;
}

bool evzk__is_tx_id(const char *name)
{
    return evzk__guid_leads(name) && name[EVZK_TX_ID_LEN] == '\0';
}

enum evzk__standing evzk__standing_parse(const char *name, const char **site)
{
    for (int i = EVZK__OPEN; i < EVZK__STANDINGS; i++) {
        size_t len = strlen(prefix[i]);

        if (strncmp(name, prefix[i], len) == 0) {
            *site = name + len;
            return (enum evzk__standing)i;
        }
    }
    *site = name;
    return EVZK__ABSENT;
}

/* While its session lives, a site that was asked has two. */
enum evzk__standing evzk__standing_of(uint8_t znodes)
{
    switch (znodes) {
    case 0:
        return EVZK__ABSENT;
    case EVZK__ZNODE(EVZK__OPEN):
        return EVZK__OPEN;
    case EVZK__ZNODE(EVZK__DEAD):
        return EVZK__DEAD;
    case EVZK__ZNODE(EVZK__DEAD) | EVZK__ZNODE(EVZK__PRESENT):
        return EVZK__PRESENT;
    case EVZK__ZNODE(EVZK__COMMITS):
        return EVZK__COMMITS;
    case EVZK__ZNODE(EVZK__ABORTS):
        return EVZK__ABORTS;
    }
    return EVZK__FORGED;
}

evzk_tx_verdict evzk__standing_vote(enum evzk__standing standing)
{
    if (standing == EVZK__COMMITS)
        return EVZK_TX_COMMIT;
    return standing == EVZK__ABORTS ? EVZK_TX_ABORT : EVZK_TX_NONE;
}

int evzk__tx_steps_init(struct evzk__tx_steps *s, const struct evzk__tx_text *t,
                        const char *id)
{
    size_t own = OWN_NAMES * (sizeof s->tx + PREFIX + EVZK_TX_SITE_NAME_MAX),
           bytes = 0, steps = 2 * (size_t)t->n + MORE;
    struct evzk__step *v;
    char *text;

    if (id != evzk__tx_steps_id(s))
        strcpy(stpcpy(s->tx, EVZK__TX_DIR "/"), id);
    for (uint32_t i = 0; i < t->n; i++)
        bytes += 2 * (sizeof s->tx + PREFIX + strlen(t->site[i]));
    if (bytes < own)
        bytes = own;
    if (steps < OWN_NAMES)
        steps = OWN_NAMES;
    v = evzk__zalloc(steps * sizeof *v);
    text = evzk__zalloc(bytes);
    if (!v || !text) {
        evzk__free(v);
        evzk__free(text);
        return EVZK_ERR_NOMEM; /* What there was before stays. */
    }
    evzk__tx_steps_free(s);
    s->v = v;
    s->text = s->next = text;
    return EVZK_OK;
}

void evzk__tx_steps_free(struct evzk__tx_steps *s)
{
    evzk__free(s->v);
    evzk__free(s->text);
    s->v = NULL;
    s->text = NULL;
}

const char *evzk__tx_steps_id(const struct evzk__tx_steps *s)
{
    return s->tx + sizeof EVZK__TX_DIR;
}

void evzk__tx_steps_clear(struct evzk__tx_steps *s)
{
    s->n = 0;
    s->next = s->text;
}

struct evzk__step *evzk__tx_step_name(struct evzk__tx_steps *s,
                                      enum evzk__verb verb, const char *name)
{
    struct evzk__step *step = &s->v[s->n++];

    *step = (struct evzk__step){.verb = (uint8_t)verb, .name = name};
    return step;
}

struct evzk__step *evzk__tx_step(struct evzk__tx_steps *s, enum evzk__verb verb)
{
    return evzk__tx_step_name(s, verb, s->tx);
}

struct evzk__step *evzk__tx_step_site(struct evzk__tx_steps *s,
                                      enum evzk__verb verb,
                                      enum evzk__standing standing,
                                      const char *site)
{
    char *name = s->next, *at = stpcpy(stpcpy(name, s->tx), "/");

    s->next = stpcpy(stpcpy(at, prefix[standing]), site) + 1;
    return evzk__tx_step_name(s, verb, name);
}

struct evzk__step *evzk__tx_step_inbox(struct evzk__tx_steps *s,
                                       enum evzk__verb verb, const char *site)
{
    char *name = s->next, *at = stpcpy(stpcpy(name, EVZK__INBOX "/"), site);

    s->next = stpcpy(stpcpy(at, "/"), evzk__tx_steps_id(s)) + 1;
    return evzk__tx_step_name(s, verb, name);
}

/* Version 0 of each vote: nobody has written to it. */
void evzk__tx_steps_decide(struct evzk__tx_steps *s, struct evzk__tx_text *t,
                           evzk_tx_verdict verdict)
{
    struct evzk__step *step;

    evzk__tx_steps_clear(s);
    for (uint32_t i = 0; verdict == EVZK_TX_COMMIT && i < t->n; i++) {
        step =
            evzk__tx_step_site(s, EVZK__STEP_CHECK, EVZK__COMMITS, t->site[i]);
        step->versioned = true;
    }
    evzk__tx_text_decide(t, verdict);
    step = evzk__tx_step(s, EVZK__STEP_SET);
    step->versioned = true;
    step->data = t->data;
    step->len = t->len;
}

bool evzk__tx_is_lost(int rc)
{
    return rc == EVZK_ERR_CONNLOSS || rc == EVZK_ERR_NOMEM ||
           rc == EVZK_ERR_SERVER || rc == EVZK_ERR_TOOLARGE;
}

int evzk__tx_steps_lost(const struct evzk__reply *reply)
{
    return evzk__tx_is_lost(reply->first_rc) ? reply->first_rc : EVZK_OK;
}

void evzk__tx_steps_commit(struct evzk__machine *m, struct evzk__tx_steps *s)
{
    evzk__ask(m, s->v, s->n, EVZK__COMMIT | EVZK__JOIN);
}

void evzk__tx_steps_commit_proved(struct evzk__machine *m,
                                  struct evzk__tx_steps *s)
{
    evzk__ask(m, s->v, s->n, EVZK__COMMIT | EVZK__JOIN | EVZK__PROVED);
}
