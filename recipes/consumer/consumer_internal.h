/* A consumer, as its files know it.  The files from the ground up; no file
 * calls one above it:
 *
 *   consumer/items.c    the items that it has, and what their user is told
 *   consumer/turn.c     its turn: the lock
 *   consumer/aside.c    items that nobody can take
 *   consumer/view.c     which items are free: the steps and the listings
 *   consumer/fence.c    no two claims of one item
 *   consumer/full.c     FULL
 *   consumer/states.c   where to go on
 *   consumer/list.c     LISTING, SCANNING, REMOVING, COUNTING, WAITING
 *   consumer/take.c     READING, CLAIMING, STAMPING, DELIVERING, TAKING
 *   consumer/mark.c     MARKING
 *   consumer/bury.c     BURYING
 *   consumer/finish.c   FINISHING, RETURNING
 *   consumer/prove.c    PROVING
 *   consumer/table.c    the other rows, and the table
 *   consumer/calls.c    the calls of evzk/consumer.h
 */
#ifndef EVZK_CONSUMER_INTERNAL_H
#define EVZK_CONSUMER_INTERNAL_H

#include <sys/queue.h>

#include "evzk/consumer.h"
#include "evzk/lock.h"
#include "lib/base/acl.h"
#include "lib/machine/machine.h"
#include "recipes/parts/proof.h"
#include "recipes/parts/queue_layout.h"
#include "recipes/parts/receipt.h"
#include "recipes/parts/tidy.h"

enum {
    CREATING,
    MAKING_DIR,
    RENEWING,
    REGISTERING,
    IDLE,
    AWAITING_TURN,
    LISTING,
    SCANNING,
    REMOVING,
    COUNTING,
    WAITING,
    READING,
    CLAIMING,
    STAMPING,
    MARKING,
    DELIVERING,
    TAKING,
    BURYING,
    FINISHING,
    RETURNING,
    PROVING,
    SETTLING,
    WITHDRAWING,
    FULL,
    CLOSING,
    ENDED,
    STATES
};

enum {
    EVZK__BATCH_ITEMS = 64, /* Items of one transaction, at most. */
    EVZK__PICKS = 2048      /* Free items that are noted. */
};

/* The watches. */
#define ON_SIGNAL EVZK__PATH
#define ON_CLIENTS (EVZK__PATH + 1)

/* Which list an item is in. */
enum evzk__item_state {
    EVZK__ITEM_READ, /* Not delivered yet. */
    EVZK__ITEM_HELD,
    EVZK__ITEM_FINISHING, /* As the user has asked. */
    EVZK__ITEM_RETURNING, /* The same; or it is lost. */
    EVZK__ITEM_DOUBTED,   /* Nobody knows whether it has made a claim. */
    EVZK__ITEM_STUCK      /* Its user has heard LOST, and its claim stands. */
};

/* Where an item is.  In a plain queue the segment's number is 1 if the name has
 * a priority, and 0 if not. */
struct evzk__pick {
    struct evzk__segment seg;
    int32_t seq;
};

/* An item that was read, and perhaps claimed.  One block, with its paths and
 * its data. */
struct evzk__item {
    evzk_item pub; /* The first member. */
    TAILQ_ENTRY(evzk__item) link;
    const struct evzk_consumer *of;
    struct evzk__pick pick;
    enum evzk__item_state state;
    bool ephemeral; /* The item goes with its producer's session. */
    bool told;      /* Its user has heard its last event, or none. */
    bool marked;    /* Its delivery is counted, and still to come. */
    uint8_t found;  /* PROVING: whose its claim is: see prove.c. */
    struct evzk__lasting_proof proof; /* Its claim is the consumer's own. */
    int32_t version;                  /* Of its data, when it was read. */
    uint16_t session_no;              /* Of the session that has claimed it. */
    const char *path;
    char *claim;       /* The paths of its claim, and of the znode ... */
    const char *tried; /* ... that counts its deliveries. */
};
TAILQ_HEAD(evzk__items, evzk__item);

/* Items that are set aside, in the order of the queue: see aside.c. */
struct evzk__aside {
    struct evzk__pick pick;
    uint8_t doublings; /* Of the time until it is tried again. */
    int64_t until_us;
};
struct evzk__asides {
    struct evzk__aside *v; /* Owned. */
    uint32_t n, room;
    int64_t looked_us; /* When the last look at the queue began. */
    int64_t next_us;   /* When the next item is due after that; 0: none is. */
};

/* Tests set smaller numbers, before they start any consumer. */
struct evzk__consumer_limits {
    int64_t aside_us;   /* So long an item is set aside at first. */
    size_t batch_bytes; /* Of a transaction.  Servers take 1,048,575. */
};
extern struct evzk__consumer_limits evzk__consumer_limits;

struct evzk__seen_segment {
    struct evzk__segment id; /* The first member. */
    int32_t version;         /* As it was listed; and its own claims since. */
    bool empty;              /* And sealed: it is to be deleted. */
    bool cut; /* The next segment of its priority is not scanned. */
};

struct evzk__view {
    /* In the order of the queue; of the latest listing. */
    struct evzk__seen_segment *segments;
    uint32_t n_segments, n_empty;
    /* So many segments of each priority are scanned together. */
    uint32_t width;
    uint32_t *order;          /* The segments in the order of the scan. */
    struct evzk__step *steps; /* Of the scan; both are in one block. */
    uint32_t n_order;
    /* Items that are free, as the servers have said in this turn.  A stack: the
     * first item of the queue is on top. */
    struct evzk__pick *picks;
    uint32_t n_picks;
    /* The scan has come to its end; there may be items behind the picks. */
    bool scanned, more;
    bool claimed; /* The scan has shown items that are claimed. */
    bool absent;  /* The plain queue does not exist. */
};

/* The transaction whose outcome is not known. */
enum evzk__change {
    EVZK__NO_CHANGE,
    EVZK__CLAIM,
    EVZK__CLAIMED, /* Its outcome is known; its items were not delivered. */
    EVZK__MARK,    /* Of the first of those. */
    EVZK__TAKE,
    EVZK__BURY,
    EVZK__FINISH,
    EVZK__RETURN
};

/* The take that the user has asked for. */
struct evzk__take {
    bool on;
    uint32_t max, got;
    int rc; /* The take is to end: canceled, or too late. */
};

struct evzk_consumer {
    struct evzk__machine m; /* Its directory has all clients' znodes. */
    struct evzk__path_watch watch[2];
    evzk_consumer_cb *cb; /* NULL once the user has freed the consumer. */
    void *arg;
    evzk_consumer_options opt;            /* Without pointers. */
    struct evzk__acl acl;                 /* Owned; empty: the session's. */
    char *path, *turn_path, *signal_path; /* Owned. */
    char *base; /* Owned: what is beside the items is below it. */
    char *dead_path, *letter_path; /* Owned: of dead letters. */

    /* Its own znodes.  Each receipt, and each session's znode, has a name of
     * its own: a create that is sent twice makes one znode. */
    char guid[EVZK__GUID_LEN + 1];
    uint32_t receipts, sessions; /* So many names were used. */
    char receipt_name[EVZK__NAME_MAX], old_receipt[EVZK__NAME_MAX];
    char alive[EVZK__NAME_MAX];
    bool may_stand; /* These znodes were asked for, and are not proved gone. */
    bool outlaw;    /* The znode of its session is refused for good. */
    bool full_told; /* Its user has heard that a quota is used up. */
    int full_to;    /* FULL: what is tried again, .. */
    int64_t full_until_us; /* .. and when. */
    struct evzk__receipt receipt;
    struct evzk__tidier tidier;
    int unsaid; /* Why the change is withdrawn, and not asked for again. */

    /* The turn. */
    evzk_lock *turn;   /* Owned; NULL: it has not asked for a turn. */
    bool has_turn;     /* The turn was granted. */
    int turn_rc;       /* Why no turn will be granted. */
    uint32_t turn_got; /* Items that it got in this turn. */
    bool turn_aside;   /* In this turn an item was set aside. */
    char *turn_node;   /* Owned: the path of the lock's znode; has room. */
    struct evzk__timer *again; /* For want of memory, or of a quota. */
    struct evzk__view view;
    struct evzk__asides asides;
    struct evzk__timer *retry; /* Of what nobody tells: see states.c. */

    /* The items, in the order in which they came there. */
    struct evzk__items batch, held, finishing, returning, doubted, stuck;
    uint32_t n_batch, n_held, n_finishing, n_returning, n_doubted, n_stuck;
    int64_t stuck_until_us; /* Then what is stuck is tried again. */
    struct evzk__take take;

    /* The request. */
    enum evzk__change change;
    uint32_t n_change;            /* Its items, from the head of their list. */
    enum evzk__item_state proves; /* The list whose claims are looked at. */
    bool taken_over;              /* A claim of the change is another's. */
    uint32_t batch_items;         /* So many are in a transaction at most. */
    struct evzk__step *steps;     /* Owned: room for the longest one. */
    uint32_t n_steps, n_fences; /* CLAIMING: so many, at its end, are fences. */
    char *guard; /* Owned: without this znode the change is refused. */
    char *names; /* Owned: paths of items that are read, or of fences. */
    int error;   /* Of a step of the present request. */
    /* The znode `signal`, or the directory of dead letters, is to be made. */
    bool new_signal, new_dead;
    bool own_letters; /* The dead letters have names that no other has. */
};

static inline struct evzk_consumer *evzk__consumer_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_consumer, m);
}

static inline uint32_t evzk__least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline struct evzk__item *evzk__item_of(evzk_item *item)
{
    return (struct evzk__item *)(void *)item;
}

static inline bool evzk__consumer_claims(const struct evzk_consumer *c)
{
    return c->opt.mode == EVZK_CONSUMER_CLAIMED;
}

/* ---- consumer/items.c ---- */

void evzk__consumer_tell(struct evzk_consumer *c, evzk_consumer_event event,
                         int rc, struct evzk__item *it);

/* Priority and number of an item that was not read yet. */
evzk_item evzk__pick_item(const struct evzk_consumer *c,
                          const struct evzk__pick *pick);
/* The path of an item's znode, or of one that goes with it; `to` has room for
 * the queue's path and EVZK__QUEUE_NAME. */
char *evzk__pick_print(const struct evzk_consumer *c, char *to,
                       const struct evzk__pick *pick, const char *mark,
                       const char *tail);
/* Room for the path of item i of those that go together. */
char *evzk__name_room(struct evzk_consumer *c, uint32_t i);
/* An item of the batch that was delivered too often; NULL: none. */
struct evzk__item *evzk__batch_exhausted(const struct evzk_consumer *c);
/* A block for an item that was read.  NULL: no memory. */
struct evzk__item *evzk__item_new(struct evzk_consumer *c,
                                  const struct evzk__pick *pick,
                                  const struct evzk__result *res);
void evzk__item_add(struct evzk_consumer *c, struct evzk__item *it);
/* Moves the item to the end of another list. */
void evzk__item_move(struct evzk_consumer *c, struct evzk__item *it,
                     enum evzk__item_state state);
/* Nobody is told. */
void evzk__item_drop(struct evzk_consumer *c, struct evzk__item *it);
void evzk__batch_clear(struct evzk_consumer *c);
void evzk__consumer_free_items(struct evzk_consumer *c);
/* Its claim is given back if it is the consumer's own: see prove.c. */
void evzk__item_doubt(struct evzk_consumer *c, struct evzk__item *it,
                      bool told);
/* Clears the batch; if the batch was claimed, it is given back. */
void evzk__batch_give_back(struct evzk_consumer *c);

/* Takes the item out of its list, tells its user, and frees it. */
void evzk__item_end(struct evzk_consumer *c, struct evzk__item *it,
                    evzk_consumer_event event, int rc);
/* Its claim is to be given back.  `told`: its user hears nothing more. */
void evzk__item_give_back(struct evzk_consumer *c, struct evzk__item *it,
                          bool told);
/* The same, and its user hears LOST. */
void evzk__item_lose(struct evzk_consumer *c, struct evzk__item *it, int rc);

/* The claim stands, and the servers do not let it be deleted now: its user
 * hears LOST, and the claim is tried again once in a round; and in the end, by
 * the session. */
void evzk__item_stick(struct evzk_consumer *c, struct evzk__item *it, int rc);
/* All of them are to be given back, once more. */
void evzk__stuck_return(struct evzk_consumer *c);

/* All items that are held are lost, and so are their claims. */
void evzk__consumer_lose_gone(struct evzk_consumer *c, int rc);
/* Ends the items that an earlier session has claimed. */
bool evzk__item_is_old(const struct evzk_consumer *c,
                       const struct evzk__item *it);
void evzk__consumer_drop_old(struct evzk_consumer *c);
/* Gives back all that was claimed, and is not to be finished. */
void evzk__consumer_return_all(struct evzk_consumer *c);

/* Hears SUSPENDED and LEASE_END. */
int evzk__consumer_doubted(struct evzk_consumer *c,
                           const struct evzk__event *e);

/* How many items it wants to take now. */
uint32_t evzk__consumer_wants(const struct evzk_consumer *c);
/* Tells TAKEN. */
void evzk__take_end(struct evzk_consumer *c);

/* ---- consumer/turn.c ---- */

void evzk__turn_ask(struct evzk_consumer *c);
void evzk__turn_again(void *consumer); /* The timer's. */
/* No request is under way. */
void evzk__turn_end(struct evzk_consumer *c);

/* ---- consumer/aside.c ---- */

void evzk__asides_free(struct evzk__asides *a);
/* A look at the queue begins. */
void evzk__asides_look(struct evzk__asides *a);
/* Is the item left out of this look? */
bool evzk__aside_has(const struct evzk__asides *a,
                     const struct evzk__pick *pick);
/* Sets the item aside for a while; `rc` says why.  The first time its user
 * hears so: `item` is what is known of it. */
void evzk__aside_add(struct evzk_consumer *c, const struct evzk__pick *pick,
                     int rc, const evzk_item *item);
/* Takes the item out of the batch, and sets it aside. */
void evzk__item_set_aside(struct evzk_consumer *c, struct evzk__item *it,
                          int rc);

/* Is an item to be tried again? */
bool evzk__asides_due(const struct evzk__asides *a);
/* All of the queue was seen. */
void evzk__asides_seen(struct evzk__asides *a);

/* ---- consumer/view.c ---- */

void evzk__view_clear(struct evzk__view *v);
/* Notes the segments that a listing shows.  False: no memory. */
bool evzk__view_take(struct evzk__view *v, const struct evzk__names *names);
/* Notes the first items of a plain queue, but for those that are set aside.
 * False: no memory. */
bool evzk__view_take_plain(struct evzk__view *v,
                           const struct evzk__names *names,
                           const struct evzk__asides *asides);
/* Makes the steps of a scan, which list segments.  False: no memory. */
bool evzk__view_scan(struct evzk__view *v, const char *path);
/* Notes what is in the segment of that step.  False: no memory. */
bool evzk__view_note(struct evzk__view *v, uint32_t step,
                     const struct evzk__result *res,
                     const struct evzk__asides *asides);
/* The segment, as it is in the view; NULL: it is not any more. */
struct evzk__seen_segment *evzk__view_find(const struct evzk__view *v,
                                           const struct evzk__segment *id);
/* Items that were picked are still free: the queue is to be listed again. */
void evzk__view_forget(struct evzk__view *v);
/* The scan is over.  False: no item is free there, and it has to go on. */
bool evzk__view_done(struct evzk__view *v);
/* Makes the steps that delete the empty segments.  False: no memory. */
bool evzk__view_remove(struct evzk__view *v, const char *path);
void evzk__view_removed(struct evzk__view *v);

/* ---- consumer/fence.c ---- */

/* Adds the fences of the batch to a claim, as its last steps; and notes that
 * the claim was done. */
void evzk__fences_add(struct evzk_consumer *c);
void evzk__fences_written(struct evzk_consumer *c);
/* Has another consumer claimed something in spite of the turn? */
bool evzk__fence_stops(const struct evzk_consumer *c,
                       const struct evzk__reply *reply);

/* ---- consumer/full.c ---- */

/* A quota has refused what `to` would have made: IDLE, RENEWING or REGISTERING.
 */
int evzk__consumer_full(struct evzk_consumer *c, int to);
void evzk__consumer_wait_full(struct evzk__machine *m);
int evzk__consumer_waited_full(struct evzk__machine *m,
                               const struct evzk__event *e);

/* ---- consumer/states.c ---- */

/* The names of a new receipt, and of the znode of a new session. */
void evzk__consumer_name_receipt(struct evzk_consumer *c);
void evzk__consumer_name_alive(struct evzk_consumer *c);

/* Goes on with what there is to do; a machine that is to stop goes to its end.
 */
int evzk__consumer_go_on(struct evzk_consumer *c);
/* A list of items whose claims are to be looked at first. */
int evzk__consumer_prove_first(struct evzk_consumer *c,
                               enum evzk__item_state list);
/* Makes a new receipt before. */
int evzk__consumer_renew(struct evzk_consumer *c);
/* The znode of its session is missing. */
int evzk__consumer_unguarded(struct evzk_consumer *c);
/* Sets the timer for what is to be tried again, or looked at again, without a
 * word from anybody. */
void evzk__consumer_set_retry(struct evzk_consumer *c);
/* The state in which there is something to do; IDLE: there is nothing. */
int evzk__consumer_due(struct evzk_consumer *c);

/* The same as evzk__consumer_doubted(), in a row in which nothing is under way:
 * what was lost is given back. */
int evzk__consumer_doubted_idle(struct evzk_consumer *c,
                                const struct evzk__event *e);

/* The ACL of what it makes. */
void evzk__consumer_give_acl(const struct evzk_consumer *c,
                             struct evzk__step *step);

/* For replies to each step: keeps an error until the last one.  True: that was
 * the last one. */
bool evzk__consumer_note(struct evzk_consumer *c,
                         const struct evzk__reply *reply, int rc);

/* A change begins with these steps, or has such culprits. */
enum { EVZK__AT_RECEIPT, EVZK__AT_GUARD, EVZK__AT_ITEMS };

/* Makes the first steps of a transaction of `n` items; adds a step; asks for
 * it, as often as its row is entered. */
void evzk__change_begin(struct evzk_consumer *c, enum evzk__change change,
                        uint32_t n, const char *guard);
struct evzk__step *evzk__change_add(struct evzk_consumer *c,
                                    enum evzk__verb verb, const char *path);
void evzk__change_ask(struct evzk_consumer *c);
/* The session has ended: asks what became of it. */
void evzk__change_settle(struct evzk_consumer *c);
enum evzk__outcome evzk__change_answered(struct evzk_consumer *c,
                                         const struct evzk__reply *reply);
/* Of an answer by which the outcome is unknown: can the receipt tell? */
bool evzk__change_is_unsaid(const struct evzk__reply *reply);
/* Is there perhaps no receipt any more? */
bool evzk__change_lost_receipt(enum evzk__outcome outcome,
                               const struct evzk__reply *reply);

/* A change that was not done: no receipt and no item is to blame. */
int evzk__change_refused(struct evzk_consumer *c,
                         const struct evzk__reply *reply);
/* How many items go into one transaction, by its bytes. */
uint32_t evzk__consumer_batch_items(const struct evzk_consumer *c,
                                    const evzk_session *s);
/* Goes on with the batch that was read. */
int evzk__batch_go_on(struct evzk_consumer *c);

/* ---- consumer/list.c ---- */

void evzk__consumer_count(struct evzk__machine *m);
int evzk__consumer_counted(struct evzk__machine *m,
                           const struct evzk__event *e);

void evzk__consumer_list(struct evzk__machine *m);
int evzk__consumer_listed(struct evzk__machine *m, const struct evzk__event *e);
void evzk__consumer_scan(struct evzk__machine *m);
int evzk__consumer_scanned(struct evzk__machine *m,
                           const struct evzk__event *e);
void evzk__consumer_remove(struct evzk__machine *m);
int evzk__consumer_removed(struct evzk__machine *m,
                           const struct evzk__event *e);
void evzk__consumer_wait(struct evzk__machine *m);
int evzk__consumer_waited(struct evzk__machine *m, const struct evzk__event *e);

/* ---- consumer/take.c ---- */

void evzk__consumer_read(struct evzk__machine *m);
int evzk__consumer_has_read(struct evzk__machine *m,
                            const struct evzk__event *e);
void evzk__consumer_claim(struct evzk__machine *m);
int evzk__consumer_claimed(struct evzk__machine *m,
                           const struct evzk__event *e);
void evzk__consumer_stamp(struct evzk__machine *m);
int evzk__consumer_stamped(struct evzk__machine *m,
                           const struct evzk__event *e);
void evzk__consumer_deliver(struct evzk__machine *m);
int evzk__consumer_delivered(struct evzk__machine *m,
                             const struct evzk__event *e);
void evzk__consumer_take_away(struct evzk__machine *m);
int evzk__consumer_took_away(struct evzk__machine *m,
                             const struct evzk__event *e);
void evzk__take_settled(struct evzk_consumer *c, enum evzk__outcome outcome);
/* Nobody can say any more whether the batch was removed. */
void evzk__take_lost(struct evzk_consumer *c, const char *why);

/* ---- consumer/mark.c ---- */

static inline bool evzk__consumer_counts(const struct evzk_consumer *c)
{
    return c->opt.max_deliveries > 0;
}

/* Is the first item of the batch counted in the transaction that claims it? */
bool evzk__mark_with_claim(const struct evzk_consumer *c);
/* Is it the fault of an item that the servers refuse to count it? */
bool evzk__mark_is_own_fault(int rc);
/* Adds the steps that count a delivery, two or one; the step that takes one
 * back, unless the item is ephemeral. */
void evzk__mark_add(struct evzk_consumer *c, const struct evzk__item *it);
void evzk__unmark_add(struct evzk_consumer *c, const struct evzk__item *it);

void evzk__consumer_mark(struct evzk__machine *m);
int evzk__consumer_marked(struct evzk__machine *m, const struct evzk__event *e);

/* ---- consumer/bury.c ---- */

void evzk__consumer_bury(struct evzk__machine *m);
int evzk__consumer_buried(struct evzk__machine *m, const struct evzk__event *e);
void evzk__bury_settled(struct evzk_consumer *c, enum evzk__outcome outcome);

/* ---- consumer/finish.c ---- */

void evzk__consumer_finish(struct evzk__machine *m);
int evzk__consumer_finished(struct evzk__machine *m,
                            const struct evzk__event *e);
void evzk__consumer_return(struct evzk__machine *m);
int evzk__consumer_returned(struct evzk__machine *m,
                            const struct evzk__event *e);
/* So many items go together, from the head of a list. */
uint32_t evzk__finish_together(const struct evzk_consumer *c);
uint32_t evzk__return_together(const struct evzk_consumer *c);
/* So many items at the head of the list have a claim that is proved, and that
 * is all of the change, if one is under way; 0: they are to be looked at. */
uint32_t evzk__change_proved(const struct evzk_consumer *c,
                             const struct evzk__items *list, uint32_t most);
/* Nobody knows whether the items of the change, or their claims, are there. */
int evzk__change_doubt(struct evzk_consumer *c, struct evzk__items *list);
/* Of these items the session has ended since. */
void evzk__finish_settled(struct evzk_consumer *c, enum evzk__outcome outcome);
void evzk__return_settled(struct evzk_consumer *c);

/* ---- consumer/prove.c ---- */

void evzk__consumer_prove(struct evzk__machine *m);
int evzk__consumer_proved(struct evzk__machine *m, const struct evzk__event *e);

/* ---- consumer/register.c ---- */

/* The receipt, and the directory that it is in. */
void evzk__consumer_create(struct evzk__machine *m);
int evzk__consumer_created(struct evzk__machine *m,
                           const struct evzk__event *e);
void evzk__consumer_make_dir(struct evzk__machine *m);
int evzk__consumer_dir_made(struct evzk__machine *m,
                            const struct evzk__event *e);
/* Makes a new receipt, and deletes the old one, if that still exists. */
void evzk__consumer_replace(struct evzk__machine *m);
int evzk__consumer_replaced(struct evzk__machine *m,
                            const struct evzk__event *e);
/* The session's znode: when it goes, others look for free items. */
void evzk__consumer_enroll(struct evzk__machine *m);
int evzk__consumer_enrolled(struct evzk__machine *m,
                            const struct evzk__event *e);

/* ---- consumer/table.c ---- */

void evzk__consumer_destroy(struct evzk__machine *m);

#endif
