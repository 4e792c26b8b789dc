/* Two-phase commit, as its files know it.  From the ground up; no file calls
 * one above it:
 *
 *   two_phase/event.c     events as words
 *   two_phase/text.c      what a transaction's znode says
 *   two_phase/names.c     the znodes of a transaction, and steps about them
 *   two_phase/votes.c     what a listing tells of the votes
 *   two_phase/begin.c     a coordinator's states until the transaction is begun
 *   two_phase/decide.c    its states until the decision
 *   two_phase/clean_up.c  its states after that
 *   two_phase/tx.c        the coordinator's table
 *   two_phase/tx_calls.c  its calls
 *   two_phase/presence.c  a site watches the coordinators
 *   two_phase/cast.c      a site's transaction until its vote
 *   two_phase/settle.c    its states until the decision
 *   two_phase/finish.c    its states after that
 *   two_phase/site_tx.c   its table
 *   two_phase/site.c      a site: its inbox, and its calls
 *   two_phase/query.c     looks up transactions
 *
 * What is on the servers, below the root:
 *
 *   tx/<id>                    says who takes part, the question, and, when it
 *                              is written to, the decision (text.c)
 *   tx/<id>/<state>-<site>     one for each site: it is `open` until the site
 *                              votes `commit` or `abort`.  With presence,
 *                              `asked` and `here` come between.  The site
 *                              deletes it when it is done
 *   inbox/<site>/<id>          tells a site of it
 *   coordinators/<session>     ephemeral: coordinators of this session live
 */
#ifndef EVZK_TWO_PHASE_INTERNAL_H
#define EVZK_TWO_PHASE_INTERNAL_H

#include "evzk/two_phase.h"
#include "lib/base/acl.h"
#include "lib/machine/machine.h"

#define EVZK__TX_DIR "tx"
#define EVZK__INBOX "inbox"
#define EVZK__COORDINATORS "coordinators"

/* ---- two_phase/text.c ---- */

/* What a transaction's znode says. */
struct evzk__tx_text {
    char *data; /* Owned; as it is on the servers. */
    uint32_t len;
    evzk_tx_variant variant;
    char tag[EVZK__TAG_LEN + 1]; /* Of the session that began it. */
    uint32_t n;                  /* Sites. */
    char **site;                 /* Owned, in one block with the names. */
    const char *question;        /* In `data`. */
    uint32_t question_len;
};

/* 0, or EVZK_ERR_NOMEM. */
int evzk__tx_text_make(struct evzk__tx_text *t, const evzk_tx_options *opt);
/* Says that this session has begun it; for a text that was just made. */
void evzk__tx_text_sign(struct evzk__tx_text *t,
                        const char tag[EVZK__TAG_LEN + 1]);
/* 0, EVZK_ERR_FOREIGN (it says nothing of the kind) or EVZK_ERR_NOMEM. */
int evzk__tx_text_parse(struct evzk__tx_text *t, const void *data, size_t len);
/* The decision that this data says; EVZK_TX_NONE: none. */
evzk_tx_verdict evzk__tx_text_decision(const void *data, size_t len);
/* The same of this transaction: NONE if its sites or its question are others.
 */
evzk_tx_verdict evzk__tx_text_verdict(const struct evzk__tx_text *t,
                                      const void *data, size_t len);
/* Is this the text of this transaction, and undecided? */
bool evzk__tx_text_is_open(const struct evzk__tx_text *t, const void *data,
                           size_t len);
void evzk__tx_text_decide(struct evzk__tx_text *t, evzk_tx_verdict verdict);
void evzk__tx_text_free(struct evzk__tx_text *t);

/* The rule that a site's name breaks; or NULL. */
const char *evzk__site_name_fault(const char *name);
/* -1: no such site. */
int evzk__tx_text_find(const struct evzk__tx_text *t, const char *site);

/* ---- two_phase/names.c ---- */

/* Is this the id of a transaction, or the name of a znode that has one? */
bool evzk__is_tx_id(const char *name);

/* After this error one asks again, but not before so long. */
uint32_t evzk__tx_again_ms(int rc);

/* The state of a site in a transaction, as its znodes say it: most are the
 * prefix of one.  ABSENT: it has none, since it is done. */
enum evzk__standing {
    EVZK__ABSENT,
    EVZK__OPEN,
    EVZK__DEAD, /* Was asked; PRESENT with `here`, which goes with its session.
                 */
    EVZK__PRESENT,
    EVZK__COMMITS,
    EVZK__ABORTS,
    EVZK__FORGED, /* Its znodes contradict each other: not all are its own. */
    EVZK__STANDINGS =
        EVZK__FORGED /* Each before this has a znode of its name. */
};

/* Which znode is this?  ABSENT: no site's; else *site is in `name`. */
enum evzk__standing evzk__standing_parse(const char *name, const char **site);
/* All znodes of a site, a bit for each: what do they say together? */
#define EVZK__ZNODE(standing) ((uint8_t)(1U << (standing)))
enum evzk__standing evzk__standing_of(uint8_t znodes);
evzk_tx_verdict evzk__standing_vote(enum evzk__standing standing);

/* The steps of a request, with the names in them. */
struct evzk__tx_steps {
    struct evzk__step *v; /* Owned. */
    uint32_t n;
    char *text, *next; /* Owned; where the next name goes. */
    char tx[sizeof EVZK__TX_DIR + EVZK_TX_ID_LEN + 1]; /* "tx/<id>" */
};

/* Room for all steps of a transaction of these sites, with this id; or for one
 * whose sites are not known yet, when t->n is 0.  0 or EVZK_ERR_NOMEM. */
int evzk__tx_steps_init(struct evzk__tx_steps *s, const struct evzk__tx_text *t,
                        const char *id);
void evzk__tx_steps_free(struct evzk__tx_steps *s);
const char *evzk__tx_steps_id(const struct evzk__tx_steps *s);

/* Forgets the steps of the request before. */
void evzk__tx_steps_clear(struct evzk__tx_steps *s);
/* The znode of the transaction itself; a site's znode there; a site's inbox
 * entry. */
struct evzk__step *evzk__tx_step(struct evzk__tx_steps *s,
                                 enum evzk__verb verb);
struct evzk__step *evzk__tx_step_site(struct evzk__tx_steps *s,
                                      enum evzk__verb verb,
                                      enum evzk__standing standing,
                                      const char *site);
struct evzk__step *evzk__tx_step_inbox(struct evzk__tx_steps *s,
                                       enum evzk__verb verb, const char *site);
/* The same, of any name. */
struct evzk__step *evzk__tx_step_name(struct evzk__tx_steps *s,
                                      enum evzk__verb verb, const char *name);
/* What decides: to commit rests on every vote. */
void evzk__tx_steps_decide(struct evzk__tx_steps *s, struct evzk__tx_text *t,
                           evzk_tx_verdict verdict);
/* Does this error leave open whether a write was done? */
bool evzk__tx_is_lost(int rc);
/* Of the last reply of EVZK__EACH: was another reply lost?  0: no. */
int evzk__tx_steps_lost(const struct evzk__reply *reply);
/* Asks for the steps, as one transaction, together with other machines'. */
void evzk__tx_steps_commit(struct evzk__machine *m, struct evzk__tx_steps *s);
/* The same, of steps that rest on a proof (parts/proof.h). */
void evzk__tx_steps_commit_proved(struct evzk__machine *m,
                                  struct evzk__tx_steps *s);

/* ---- two_phase/tx_calls.c ---- */

struct evzk__call;

/* Is this no root of transactions? */
bool evzk__broken_tx_root(const struct evzk__call *call, const evzk_session *s,
                          const char *root);

/* ---- two_phase/votes.c ---- */

/* What a listing of a transaction's znodes says. */
struct evzk__votes {
    uint32_t commits, aborts, waiting, dead, absent, forged; /* Sites. */
    uint32_t foreign; /* Znodes that are no site's of this transaction. */
};

/* `znodes` has room for every site. */
void evzk__votes_count(const struct evzk__tx_text *t,
                       const struct evzk__names *names, uint8_t *znodes,
                       struct evzk__votes *out);
/* Is it decided by these votes?  A site that is gone, or whose znodes
 * contradict each other, has voted for nothing any more. */
evzk_tx_verdict evzk__votes_verdict(const struct evzk__votes *v);

#endif
