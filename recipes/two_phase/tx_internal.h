/* A transaction at its coordinator, as its files know it. */
#ifndef EVZK_TX_INTERNAL_H
#define EVZK_TX_INTERNAL_H

#include "recipes/parts/proof.h"
#include "recipes/parts/read_all.h"
#include "recipes/two_phase/two_phase_internal.h"

enum {
    BEGINNING,
    PROVING,
    REPEATING,
    MAKING,
    MAKING_ROOT,
    RESOLVING,
    DOUBTING,
    RECOVERING,
    ROOTING,
    LISTING,
    COLLECTING,
    READING_VOTES,
    DECIDING,
    REFUSED,
    LOOKING,
    READING,
    AWAITING,
    GATHERING,
    CHECKING,
    CLEARING,
    REMOVING,
    RESTORING,
    ENDED,
    STATES
};

/* The path watches of a coordinator: the votes; the decision, which somebody
 * else may take. */
enum { ON_VOTES = EVZK__PATH, ON_TX, TX_WATCHES = 2 };

struct evzk_tx {
    struct evzk__machine m; /* Its directory is the root. */
    struct evzk__path_watch watch[TX_WATCHES];
    struct evzk__tx_text text; /* Empty before a recovery has read it. */
    struct evzk__tx_steps steps;
    char tag[sizeof EVZK__COORDINATORS + EVZK__TAG_LEN + 1]; /* Its path. */
    uint8_t *znodes; /* Owned: of each site, as last listed. */
    uint8_t *told;   /* In one block with that: was its vote told? .. */
    uint8_t *done;   /* .. After the decision: is the site done? .. */
    uint8_t *asked;  /* .. Is it asked now whether its entry stands? */
    struct evzk__votes votes;  /* As last listed. */
    struct evzk__read_all all; /* Votes that are read; or znodes to clear. */
    bool recovers;
    bool may_stand; /* The begin was asked for, and not refused. */
    bool vote_data;
    /* The listing's state when the entries were last looked at; and now. */
    int64_t checked_at, listed_at;
    bool decided_before; /* LISTING has seen a decision of others, .. */
    bool other_before;   /* .. or a znode that this coordinator has not read. */
    bool sought;         /* LISTING has asked for the transaction. */
    struct evzk__lasting_proof begun; /* An answer has said so. */
    int64_t czxid;          /* Of the znode that this was; 0: unknown. */
    int32_t looked_version; /* What LOOKING has seen. */
    int64_t looked_czxid;
    int making_rc; /* The first error while something missing was made. */
    evzk_tx_verdict wish;     /* The decision, if nobody else decides. */
    evzk_tx_verdict decision; /* As it was told. */
    int64_t token;
    int64_t due_us;    /* When its time is over; 0: never. */
    int refused_rc;    /* Why REFUSED or DOUBTING waits, .. */
    bool refused;      /* .. and it has waited before, .. */
    bool told_refused; /* .. and was told so. */
    evzk_tx_cb *cb;    /* NULL once the caller has freed it. */
    void *arg;
    struct evzk__acl own_acl; /* Owned. */
    const evzk_acl *acl;      /* That, or the session's. */
    uint32_t acl_count;
};

static inline struct evzk_tx *evzk__tx_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_tx, m);
}

/* two_phase/begin.c.  In tell, the callback may free the transaction; the
 * machine stays. */
void evzk__tx_tell(struct evzk_tx *tx, evzk_tx_event event,
                   const evzk_tx_vote *vote, int rc);
int evzk__tx_make_room(struct evzk_tx *tx); /* For its sites. */
void evzk__tx_begin(struct evzk__machine *m);
int evzk__tx_begun(struct evzk__machine *m, const struct evzk__event *e);
int evzk__tx_begun_again(struct evzk__machine *m, const struct evzk__event *e);
void evzk__tx_prove(struct evzk__machine *m);
int evzk__tx_proved(struct evzk__machine *m, const struct evzk__event *e);
void evzk__tx_make(struct evzk__machine *m);
int evzk__tx_made(struct evzk__machine *m, const struct evzk__event *e);
void evzk__tx_make_root(struct evzk__machine *m);
int evzk__tx_root_made(struct evzk__machine *m, const struct evzk__event *e);
void evzk__tx_resolve(struct evzk__machine *m);
int evzk__tx_resolved(struct evzk__machine *m, const struct evzk__event *e);
/* RECOVERING, and READING */
void evzk__tx_read(struct evzk__machine *m);
int evzk__tx_recovered(struct evzk__machine *m, const struct evzk__event *e);
int evzk__tx_rooted(struct evzk__machine *m, const struct evzk__event *e);

/* two_phase/decide.c */
void evzk__tx_list(struct evzk__machine *m); /* GATHERING, too. */
int evzk__tx_listed(struct evzk__machine *m, const struct evzk__event *e);
void evzk__tx_collect(struct evzk__machine *m);
int evzk__tx_collected(struct evzk__machine *m, const struct evzk__event *e);
void evzk__tx_read_votes(struct evzk__machine *m);
int evzk__tx_votes_read(struct evzk__machine *m, const struct evzk__event *e);
void evzk__tx_decide(struct evzk__machine *m);
int evzk__tx_decided(struct evzk__machine *m, const struct evzk__event *e);
/* Is the transaction undecided?  And watches it. */
void evzk__tx_look(struct evzk__machine *m);
int evzk__tx_looked(struct evzk__machine *m, const struct evzk__event *e);
/* The servers refuse the decision: it is asked for again in a while. */
void evzk__tx_be_refused(struct evzk__machine *m);
int evzk__tx_overtaken(struct evzk__machine *m, const struct evzk__event *e);
void evzk__tx_keep_time(struct evzk__machine *m);
int evzk__tx_was_read(struct evzk__machine *m, const struct evzk__event *e);

/* two_phase/clean_up.c */
void evzk__tx_await(struct evzk__machine *m);
int evzk__tx_awaited(struct evzk__machine *m, const struct evzk__event *e);
int evzk__tx_gathered(struct evzk__machine *m, const struct evzk__event *e);
void evzk__tx_check(struct evzk__machine *m);
int evzk__tx_checked(struct evzk__machine *m, const struct evzk__event *e);
void evzk__tx_clear(struct evzk__machine *m);
int evzk__tx_cleared(struct evzk__machine *m, const struct evzk__event *e);
void evzk__tx_remove(struct evzk__machine *m);
int evzk__tx_removed(struct evzk__machine *m, const struct evzk__event *e);
void evzk__tx_restore(struct evzk__machine *m);
int evzk__tx_restored(struct evzk__machine *m, const struct evzk__event *e);
void evzk__tx_end(struct evzk__machine *m);
void evzk__tx_destroy(struct evzk__machine *m);

#endif
