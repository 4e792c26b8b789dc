/* A transaction at a site: its states, as their files know them. */
#ifndef EVZK_SITE_TX_INTERNAL_H
#define EVZK_SITE_TX_INTERNAL_H

#include "recipes/two_phase/site_internal.h"

enum {
    LOOKING,
    DENIED,
    ENTERING,
    ASKED,
    VOTING,
    VOTED,
    LISTING,
    DECIDING,
    READING,
    APPLYING,
    ACKNOWLEDGING,
    DROPPING,
    LINGERING,
    REMOVING,
    OUTLASTING,
    LEAVING,
    TAKING_BACK,
    ENDED,
    STATES
};

/* two_phase/cast.c */
void evzk__site_tx_tell(struct evzk_site_tx *t, evzk_site_event event, int rc);
/* Adds the steps that delete the site's own znode. */
void evzk__site_tx_delete_own(struct evzk_site_tx *t);
/* Takes a decision; not one to commit without a vote of its own. */
int evzk__site_tx_take(struct evzk_site_tx *t, evzk_tx_verdict verdict,
                       int64_t token);
void evzk__site_tx_look(struct evzk__machine *m);
int evzk__site_tx_looked(struct evzk__machine *m, const struct evzk__event *e);
void evzk__site_tx_be_denied(struct evzk__machine *m);
/* The transaction waits until the site looks again, since this happened. */
int evzk__site_tx_deny(struct evzk_site_tx *t, int rc);
/* The servers did not say what was asked for.  A read at which servers hang up,
 * each time, is asked for again in half a minute. */
int evzk__site_tx_unanswered(struct evzk_site_tx *t, int rc);
/* What the transaction says is nothing that a coordinator has written. */
int evzk__site_tx_spoiled(struct evzk_site_tx *t);
int evzk__site_tx_denied(struct evzk__machine *m, const struct evzk__event *e);
void evzk__site_tx_enter(struct evzk__machine *m);
int evzk__site_tx_entered(struct evzk__machine *m, const struct evzk__event *e);
void evzk__site_tx_ask(struct evzk__machine *m);
int evzk__site_tx_answered(struct evzk__machine *m,
                           const struct evzk__event *e);
void evzk__site_tx_cast(struct evzk__machine *m);
int evzk__site_tx_was_cast(struct evzk__machine *m,
                           const struct evzk__event *e);
void evzk__site_tx_leave(struct evzk__machine *m);
int evzk__site_tx_left(struct evzk__machine *m, const struct evzk__event *e);
void evzk__site_tx_take_back(struct evzk__machine *m);
int evzk__site_tx_taken_back(struct evzk__machine *m,
                             const struct evzk__event *e);
/* Nothing says any more that the site is there. */
void evzk__site_tx_has_left(struct evzk_site_tx *t);
bool evzk__site_tx_leaves(struct evzk__machine *m, unsigned i,
                          struct evzk__left *out);

/* two_phase/settle.c */
/* The transaction that stands is the one that this site has looked at, and
 * nobody has written to it since. */
bool evzk__site_tx_has_watched(const struct evzk_site_tx *t);
void evzk__site_tx_wait(struct evzk__machine *m);
int evzk__site_tx_waited(struct evzk__machine *m, const struct evzk__event *e);
void evzk__site_tx_list(struct evzk__machine *m);
int evzk__site_tx_listed(struct evzk__machine *m, const struct evzk__event *e);
void evzk__site_tx_decide(struct evzk__machine *m);
int evzk__site_tx_decided(struct evzk__machine *m, const struct evzk__event *e);
void evzk__site_tx_read(struct evzk__machine *m);
int evzk__site_tx_was_read(struct evzk__machine *m,
                           const struct evzk__event *e);

/* two_phase/finish.c */
void evzk__site_tx_apply(struct evzk__machine *m);
int evzk__site_tx_applied(struct evzk__machine *m, const struct evzk__event *e);
void evzk__site_tx_acknowledge(struct evzk__machine *m);
int evzk__site_tx_acknowledged(struct evzk__machine *m,
                               const struct evzk__event *e);
void evzk__site_tx_drop(struct evzk__machine *m);
int evzk__site_tx_dropped(struct evzk__machine *m, const struct evzk__event *e);
void evzk__site_tx_linger(struct evzk__machine *m);
int evzk__site_tx_lingered(struct evzk__machine *m,
                           const struct evzk__event *e);
void evzk__site_tx_remove(struct evzk__machine *m);
int evzk__site_tx_removed(struct evzk__machine *m, const struct evzk__event *e);
void evzk__site_tx_outlast(struct evzk__machine *m);
int evzk__site_tx_outlasted(struct evzk__machine *m,
                            const struct evzk__event *e);
void evzk__site_tx_end(struct evzk__machine *m);
void evzk__site_tx_destroy(struct evzk__machine *m);

#endif
