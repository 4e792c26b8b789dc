/* What the tree says of a queue's items, after each step.
 *
 * An item goes only when its finish was asked, or when a consumer takes at most
 * once.  Only the consumer with the turn takes, and a consumer that has waited
 * long for it; what is taken in a turn was first at one moment of that turn,
 * apart from what was taken before.
 *
 * How it can fail.  The tree does not show which consumer removes an item. */
#include <stdio.h>
#include <string.h>

#include "lib/base/name.h"
#include "recipes/parts/queue_layout.h"
#include "scene_consumer.h"

enum {
    KIDS = 64,
    CLAIM = 64,
    AGAIN_US = 4 * 1000 * 1000 /* Consumers look at a bad item so often. */
};

struct consumer_world queue;
SIM_KEEP(queue)

static char paths[2][160];
SIM_KEEP(paths)

const char *queue_path(const char *rest)
{
    snprintf(paths[0], sizeof paths[0], "%s/q%s%s",
             queue.own->chroot ? queue.own->chroot : "", rest[0] ? "/" : "",
             rest);
    return paths[0];
}

const char *side_path(const char *rest)
{
    return evzk__queue_side(paths[0], queue.own->chroot ? "/nowhere/q" : "/q",
                            queue.own->layout, rest);
}

static const char *segment_of(int i)
{
    const struct item_plan *it = &queue.own->item[i];
    const struct evzk__segment seg = {it->priority, it->segment};
    static char segment[EVZK__SEGMENT_NAME]; /* Nothing is kept in it. */

    evzk__segment_print(segment, &seg);
    return segment;
}

static void print_item_path(int i, char to[160])
{
    const struct item_plan *it = &queue.own->item[i];
    char rest[64];

    if (queue.own->layout == EVZK_QUEUE_PLAIN)
        snprintf(rest, sizeof rest, "queue-%010d", it->seq);
    else if (queue.own->layout == EVZK_QUEUE_PLAIN_PRIORITY)
        snprintf(rest, sizeof rest, "queue-%02u%010d", it->priority, it->seq);
    else
        snprintf(rest, sizeof rest, "%s/queue-%010d", segment_of(i), it->seq);
    strcpy(to, queue_path(rest));
}

/* Items are looked at after each step: so the paths of a scene are kept. */
const char *item_path(int i)
{
    static char path[ITEMS][160];
    static const void *of;

    if (of != queue.own) {
        of = queue.own;
        for (int k = 0; k < ITEMS; k++)
            print_item_path(k, path[k]);
    }
    return path[i];
}

/* The claims of an item: how many sessions have one, and the name of the first
 * of those; else that of a copy, which is no session's. */
static unsigned find_claims(int i, char name[CLAIM])
{
    const char *names[KIDS];
    size_t n = evzk__queue_is_plain(queue.own->layout)
                   ? 0
                   : ens_children(queue_path(segment_of(i)), names, KIDS);
    unsigned claims = 0;
    struct ens_seen seen;
    char rest[2 * CLAIM];
    int32_t seq;

    for (size_t k = 0; k < n && k < KIDS; k++) {
        if (!evzk__claim_parse(names[k], &seq) || seq != queue.own->item[i].seq)
            continue;
        snprintf(rest, sizeof rest, "%s/%s", segment_of(i), names[k]);
        if (claims == 0)
            snprintf(name, CLAIM, "%s", names[k]);
        claims += ens_look(queue_path(rest), &seen) && seen.owner;
    }
    return claims;
}

const char *claim_path(int i)
{
    char name[CLAIM] = "no-claim", rest[2 * CLAIM];

    find_claims(i, name);
    snprintf(rest, sizeof rest, "%s/%s", segment_of(i), name);
    return strcpy(paths[1], queue_path(rest));
}

int consumer_proc(int k) { return queue.own->consumer[k].proc; }

int64_t consumer_session(int proc)
{
    const struct process *p = process_of(proc);

    return p->n_ids ? p->ids[p->n_ids - 1] : 0;
}

bool consumer_claims(int k) { return queue.own->consumer[k].claimed; }

/* Does item a come before item b? */
static bool comes_before(int a, int b)
{
    const struct item_plan *x = &queue.own->item[a], *y = &queue.own->item[b];
    struct evzk__segment s = {x->priority, x->segment},
                         t = {y->priority, y->segment};
    int by_segment = evzk__segment_compare(&s, &t);

    return by_segment != 0 ? by_segment < 0 : x->seq < y->seq;
}

bool consumer_item_is_free(int i)
{
    return queue.t[i].czxid != 0 && queue.t[i].claim_czxid == 0;
}

/* Another after each write to `signal`, and for each other list of clients;
 * never 0. */
static uint64_t heard_now(void)
{
    const char *names[KIDS];
    size_t n = ens_children(side_path(EVZK__QUEUE_CLIENTS), names, KIDS);
    uint64_t heard = 1;
    struct ens_seen seen;

    for (size_t i = 0; i < n && i < KIDS; i++) {
        for (const char *p = names[i]; *p; p++)
            heard = heard * 31 + (unsigned char)*p;
    }
    if (ens_look(side_path(EVZK__QUEUE_SIGNAL), &seen))
        heard += (uint64_t)seen.mzxid << 32;
    return heard ? heard : 1;
}

bool consumer_item_is_known_free(int i)
{
    return consumer_item_is_free(i) && queue.t[i].unheard == 0;
}

/* Items that the operator has put in the way count as never there. */
bool consumer_item_meddled(int i)
{
    return queue.t[i].operated || queue.meddled || operator_deleted_any();
}

bool consumer_item_is_buried(int i)
{
    const char *names[KIDS];
    size_t n = ens_children(side_path(EVZK__QUEUE_DEAD), names, KIDS);

    for (size_t k = 0; k < n && k < KIDS; k++) {
        struct ens_seen seen;
        char path[160];

        snprintf(path, sizeof path, "%s/%s", side_path(EVZK__QUEUE_DEAD),
                 names[k]);
        if (!ens_look(path, &seen))
            continue;
        if ((seen.len == 1 && seen.data[0] == 'a' + i) ||
            fault_said(item_path(i), seen.data,
                       seen.len > 0 ? (size_t)seen.len : 0))
            return true;
    }
    return false;
}

bool consumer_item_is_bad(int i)
{
    const struct truth *t = &queue.t[i];

    return t->was_bad > 0 && (t->bad || sim_now() - t->good_since < AGAIN_US);
}

bool consumer_may_free(int i, int64_t session)
{
    char path[96];

    strcpy(path, item_path(i));
    *strrchr(path, '/') = '\0';
    return session && queue.t[i].claim == session &&
           (ens_perms(path) & (int)EVZK_PERM_DELETE) != 0;
}

/* The turn. */

static void look_at_turn(void)
{
    const char *names[KIDS];
    size_t n = ens_children(side_path("turn"), names, KIDS);
    int64_t turn = 0, owner = 0;
    int32_t seq, least = INT32_MAX;

    for (size_t i = 0; i < n && i < KIDS; i++) {
        struct ens_seen seen;
        char path[160];

        if (!evzk__seq_parse(names[i], "-lock-", &seq) || seq > least)
            continue;
        snprintf(path, sizeof path, "%s/%s", side_path("turn"), names[i]);
        if (!ens_look(path, &seen) || !seen.owner)
            continue;
        least = seq;
        turn = seen.czxid;
        owner = seen.owner;
    }
    if (turn == queue.turn)
        return;
    queue.turn = turn;
    queue.turn_owner = owner;
    queue.taken = 0;
    for (int i = 0; i < ITEMS; i++)
        queue.t[i].seen_free = false;
}

/* The sealed segments of the scene that stand, and are empty. */
static uint32_t empty_segments(uint32_t *there)
{
    uint32_t empty = 0;

    *there = 0;
    for (int i = 0; i < SEGMENTS; i++) {
        const struct segment_plan *plan = &queue.own->segment[i];
        struct evzk__segment seg = {plan->priority, plan->number};
        char name[EVZK__SEGMENT_NAME];
        const char *kids[KIDS];
        struct ens_seen seen;

        evzk__segment_print(name, &seg);
        if (!plan->on || !ens_look(queue_path(name), &seen))
            continue;
        *there |= 1U << i;
        if (ens_children(queue_path(name), kids, KIDS) == 0)
            empty |= 1U << i;
    }
    return empty;
}

/* REMOVING deletes at least one segment, if any was empty before; but for what
 * another program has put into a segment, and perhaps takes out again. */
static void check_removed(int proc, const evzk_trace *t)
{
    uint32_t *before = &queue.there[proc], now;

    if (strcmp(t->from, "REMOVING") != 0) {
        if (strcmp(t->to, "REMOVING") == 0)
            queue.empty[proc] = empty_segments(before);
    } else if (strcmp(t->event, "reply") == 0 && queue.empty[proc] &&
               t->rc != EVZK_ERR_NOTEMPTY && !ens_refused(proc) &&
               (empty_segments(&now), (now & *before) == *before))
        sim_violation("process %d has deleted no empty segment", proc);
}

/* Servers that hang up at the look at the receipt do not say what the removal
 * has done. */
static void note_unsaid(int proc, const evzk_trace *t)
{
    bool looked =
        strcmp(t->from, "SETTLING") == 0 || strcmp(t->from, "WITHDRAWING") == 0;

    if (looked && strcmp(t->to, "RENEWING") == 0 &&
        t->rc == EVZK_ERR_TOOLARGE && ens_shut(proc))
        queue.unsaid[proc] = true;
}

void consumer_traced(int proc, const evzk_trace *t)
{
    if (strcmp(t->kind, "consumer") != 0 || !t->entered || !t->from)
        return;
    check_removed(proc, t);
    note_unsaid(proc, t);
    if (strcmp(t->from, "LISTING") == 0 && strcmp(t->to, "SCANNING") == 0)
        queue.listed[proc] = sim_now();
}

/* No dead letter could be made: the consumer has told so, and tries again after
 * a round. */
static bool is_aside(int item)
{
    for (int k = 0; ens_full_at() && k < CONSUMERS; k++) {
        if (queue.aside[k][item])
            return true;
    }
    return false;
}

/* An item was claimed, or removed by a consumer that claims nothing. */
static void taken(int i, const char *how, int64_t owner)
{
    uint32_t left;

    queue.taken |= 1U << i;
    if (queue.meddled || operator_deleted_any())
        return;
    if (!queue.turn || (owner && owner != queue.turn_owner))
        sim_violation("item %d is %s without the turn", i, how);
    left = queue.t[i].seen_free ? queue.t[i].before & ~queue.taken : 0;
    for (int k = 0; k < ITEMS; k++) {
        if (left & 1U << k &&
            (queue.t[k].operated || is_aside(k) || consumer_item_is_bad(k)))
            left &= ~(1U << k);
    }
    if (left)
        sim_violation("item %d is %s, and items %x are before it", i, how,
                      (unsigned)left);
}

/* The items. */

/* Was it delivered as often as it may be, and may no letter be made of it?  A
 * claim counts, also where nobody was told of the item. */
static bool is_unburiable(int i)
{
    uint32_t most = queue.own->consumer[0].max_deliveries;
    bool was = queue.deliveries[i] >= most || queue.t[i].claims >= most;
    int perms = ens_perms(side_path(EVZK__QUEUE_DEAD));

    return most && was && perms >= 0 && !(perms & (int)EVZK_PERM_CREATE);
}

/* Is something below it, or a right missing? */
static void look_at_state(int i)
{
    const int writable = EVZK_PERM_WRITE;
    const int needed =
        EVZK_PERM_READ |
        (queue.own->item[i].ephemeral ? writable
                                      : EVZK_PERM_CREATE | EVZK_PERM_DELETE);
    struct truth *t = &queue.t[i];
    int perms = ens_perms(item_path(i));
    const char *names[1];
    bool was = t->bad;

    t->bad = t->czxid && (ens_children(item_path(i), names, 1) > 0 ||
                          (perms & needed) != needed || is_unburiable(i));
    t->was_bad += t->bad && !was;
    t->was_fixed = t->was_fixed || (t->czxid && !(perms & writable));
    if (was && !t->bad)
        t->good_since = sim_now();
}

static void look_at_item(int i, uint32_t *came)
{
    struct truth *t = &queue.t[i];
    struct ens_seen seen;
    bool there = ens_look(item_path(i), &seen);

    if (there && t->gone && !t->operated)
        sim_violation("item %d is there again", i);
    if (!there && t->czxid) {
        t->gone = true;
        t->operated = t->operated || operator_deleted(t->czxid);
        *came |= 1U << i;
    }
    t->czxid = there ? seen.czxid : 0;
    t->rewritten += there && seen.mzxid != t->mzxid && fault_wrote(seen.mzxid);
    t->mzxid = there ? seen.mzxid : 0;
    t->put = t->put || there;
    look_at_state(i);
}

/* The count of an ephemeral item cannot be taken back. */
static void check_uncounted(int i, int64_t claim_czxid)
{
    struct ens_seen seen;

    if (ens_look(item_path(i), &seen) && seen.owner &&
        seen.mzxid == claim_czxid)
        sim_violation("item %d is ephemeral, and counted with its claim", i);
}

/* Not even where operators delete what they like, and copy it. */
static void check_claimed_once(int i)
{
    char name[CLAIM];

    if (find_claims(i, name) > 1)
        sim_violation("item %d is claimed twice", i);
}

static void look_at_claim(int i, uint64_t heard, uint32_t *claimed)
{
    struct truth *t = &queue.t[i];
    struct ens_seen seen;
    bool there = ens_look(claim_path(i), &seen);

    check_claimed_once(i);
    if (there && seen.czxid != t->claim_czxid && seen.owner) {
        *claimed |= 1U << i;
        t->claims++;
        check_uncounted(i, seen.czxid);
    }
    if ((t->claim_czxid && operator_deleted(t->claim_czxid) &&
         (!there || seen.czxid != t->claim_czxid)) ||
        (there && !seen.owner)) /* A copy. */
        queue.meddled = queue.claims_meddled = true;
    if (!there && t->claim_czxid && heard == queue.heard) {
        t->unheard = heard;
    } else if (there || heard != t->unheard) {
        queue.moves += t->unheard != 0; /* From now on it is known. */
        t->unheard = 0;
    }
    t->claim = there ? seen.owner : 0;
    t->claim_czxid = there ? seen.czxid : 0;
}

/* The tree does not show which consumer has removed an item. */
static void item_went(int i)
{
    struct truth *t = &queue.t[i];
    bool any = false;

    t->buried = queue.own->buries && consumer_item_is_buried(i);
    if (t->operated)
        return;
    for (int k = 0; k < CONSUMERS; k++)
        any = any || (queue.own->consumer[k].on && !consumer_claims(k));
    if (t->finish_asked || t->dead || queue.own->buries)
        return;
    if (any)
        taken(i, "removed", 0);
    else
        sim_violation("item %d is gone, and nobody has finished it", i);
}

/* Notes the items that were free before an item, when that one came. */
static void note_free(int i)
{
    struct truth *t = &queue.t[i];

    if (!consumer_item_is_free(i)) {
        t->seen_free = false;
        return;
    }
    if (t->seen_free)
        return;
    t->seen_free = true;
    t->before = 0;
    for (int k = 0; k < ITEMS; k++) {
        if (queue.own->item[k].seq && consumer_item_is_free(k) &&
            comes_before(k, i))
            t->before |= 1U << k;
    }
}

void consumer_look(void)
{
    uint32_t went = 0, claimed = 0;
    uint64_t heard;

    if (!ens_has_changed(&queue.looked))
        return;
    heard = heard_now();
    for (int i = 0; i < ITEMS; i++) {
        if (queue.own->item[i].seq) {
            look_at_item(i, &went);
            look_at_claim(i, heard, &claimed);
        }
    }
    queue.heard = heard;
    queue.taken |= claimed | went;
    queue.moves += (claimed | went) != 0;
    for (int i = 0; i < ITEMS; i++) {
        if (went & 1U << i)
            item_went(i);
        if (claimed & 1U << i)
            taken(i, "claimed", queue.t[i].claim);
    }
    look_at_turn();
    for (int i = 0; i < ITEMS; i++) {
        if (queue.own->item[i].seq)
            note_free(i);
    }
}
