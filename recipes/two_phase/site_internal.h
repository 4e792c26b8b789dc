/* A site, and its transactions, as its files know them. */
#ifndef EVZK_SITE_INTERNAL_H
#define EVZK_SITE_INTERNAL_H

#include <bsd/sys/tree.h>
#include <sys/queue.h>

#include "recipes/parts/proof.h"
#include "recipes/parts/read_all.h"
#include "recipes/parts/watch_node.h"
#include "recipes/two_phase/two_phase_internal.h"

/* The path watches of a site's transaction: the decision; with the plain
 * variant, the votes. */
enum { ON_TX = EVZK__PATH, ON_ALL, SITE_TX_WATCHES = 2 };

struct evzk_site_tx;

/* A session of coordinators, which the transactions of a site share. */
struct evzk__presence {
    TAILQ_ENTRY(evzk__presence) link;
    TAILQ_HEAD(, evzk_site_tx) users;
    struct evzk__node_watch *watch; /* NULL: it has ended. */
    bool gone;
    char tag[EVZK__TAG_LEN + 1];
};

struct evzk_site_tx {
    struct evzk__machine m; /* Its directory is the root. */
    struct evzk__path_watch watch[SITE_TX_WATCHES];
    struct evzk_site *site;   /* NULL once that has ended. */
    struct evzk_site *lender; /* The same, with a reference: its ACL is used. */
    char name[EVZK_TX_SITE_NAME_MAX + 1]; /* The site's. */
    RB_ENTRY(evzk_site_tx) node;
    struct evzk__presence *presence; /* Or NULL. */
    TAILQ_ENTRY(evzk_site_tx) user;  /* Of that. */
    struct evzk__tx_text text;       /* Empty until it was read. */
    struct evzk__tx_steps steps;
    uint8_t *all_znodes; /* Owned; for a listing. */
    /* As far as the site knows. */
    uint8_t standing;  /* enum evzk__standing: what its own znodes say, .. */
    bool sure;         /* .. for sure: nobody else writes them. */
    bool enters;       /* ENTERING has asked, and may have made `here`. */
    bool here_is_ours; /* The present session owns `here`, as last looked. */
    struct evzk__proof proof; /* Of that, for one request. */
    int look_rc;              /* What the look gave, .. */
    int32_t version; /* .. and, of the transaction's znode, its version, .. */
    evzk_tx_verdict said; /* .. the decision it says, .. */
    int64_t said_token;   /* .. when that was written, .. */
    int64_t czxid;        /* .. and which znode it is. */
    int result;           /* What to end with, when all is deleted. */
    bool gone;            /* The coordinator's session has ended. */
    /* As told to the program; and as the program wants it. */
    bool asked, told_vote, told_decision, done, wants_abort;
    bool over;     /* Told that it has finished. */
    bool denied;   /* Told that it may not be read, or that nothing of it can be
                      written, and nothing else since; .. */
    int denied_rc; /* .. for this. */
    bool rests;    /* Has been in DENIED since it looked. */
    bool tells;    /* Its end is told, also if nothing else was. */
    bool disowned; /* The entry was looked for, and is not there. */
    bool owes;     /* The entry stood when the site looked: an earlier start may
                      have voted.  So it is told if nothing can come of it. */
    evzk_tx_verdict cast; /* Its vote, as it was told. */
    evzk_tx_verdict wish; /* The vote that is to be cast. */
    void *data;           /* Owned: of the vote. */
    uint32_t data_len;
    evzk_tx_verdict plan; /* The decision, if nobody else decides.  READING and
                             DECIDING keep it; NONE elsewhere. */
    evzk_tx_verdict decision;
    int64_t token;
    void *arg; /* The program's. */
};

RB_HEAD(evzk__site_txs, evzk_site_tx);

/* What the site knows of an entry for which it has no transaction. */
enum evzk__entries {
    EVZK__ENTRIES_UNSURE, /* An earlier start of the site, or a transaction that
                             has failed, may have voted on it. */
    EVZK__ENTRIES_LISTED, /* The same, until all that was listed is taken. */
    EVZK__ENTRIES_NEW     /* The entry came since the inbox was listed. */
};

struct evzk_site {
    struct evzk__machine m; /* Its directory is the root. */
    struct evzk__path_watch watch[1];
    struct evzk__site_txs txs;
    TAILQ_HEAD(, evzk__presence) presences;
    struct evzk__step step[2];
    char name[EVZK_TX_SITE_NAME_MAX + 1];
    char inbox[sizeof EVZK__INBOX + EVZK_TX_SITE_NAME_MAX + 2];
    int making_rc;
    int refused_rc;              /* Why it waits; 0: it does not. */
    bool ready;                  /* The site has listed its inbox once. */
    struct evzk__read_all found; /* The entries, as last listed, .. */
    uint32_t n_taken;            /* .. and so many of them were looked at. */
    enum evzk__entries entries;
    bool lost;        /* A transaction has failed, whose entry may stand. */
    int64_t again_us; /* When the site looks again at what failed; 0: never. */
    evzk_site_cb *cb; /* NULL once the caller has freed it. */
    void *arg;
    struct evzk__acl own_acl; /* Owned. */
    const evzk_acl *acl;      /* That, or the session's. */
    uint32_t acl_count;
};

static inline struct evzk_site_tx *evzk__site_tx_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_site_tx, m);
}

/* two_phase/presence.c.  Joins the others of the same coordinator, or begins to
 * watch it: 0 or EVZK_ERR_NOMEM.  When the coordinator's session has ended,
 * `gone` is set, and the machine is asked. */
int evzk__presence_join(struct evzk_site_tx *t);
void evzk__presence_leave(struct evzk_site_tx *t);
/* Watches all those again whose watch has ended. */
void evzk__presences_again(struct evzk_site *site);
/* After this error the site looks again, in a while. */
void evzk__site_look_later(struct evzk_site *site, int rc);

void evzk__site_look_in(struct evzk_site *site, uint32_t ms);

/* two_phase/site_tx.c: begins the machine.  0 or EVZK_ERR_NOMEM. */
int evzk__site_tx_new(struct evzk_site *site, const char *id);

/* The transactions of a site, by id. */
static inline int evzk__site_tx_compare(const struct evzk_site_tx *a,
                                        const struct evzk_site_tx *b)
{
    return __builtin_strcmp(evzk__tx_steps_id(&a->steps),
                            evzk__tx_steps_id(&b->steps));
}
RB_PROTOTYPE(evzk__site_txs, evzk_site_tx, node, evzk__site_tx_compare)

#endif
