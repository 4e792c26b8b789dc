/* Requests at which the connection ends, again and again.
 *
 * A server hangs up, without a word, at a request that is larger than it takes
 * (jute.maxbuffer).  How much that is, no client can know.  All that is on its
 * way then is lost with the connection, and its machines ask again when there
 * is another: the same request among them.  It would end every connection of
 * the session, for ever.
 *
 * So connections that end during a request are counted, until the request is
 * answered.  Which of the lost requests the server hung up at is not known: a
 * request that was lost twice in a row is a suspect.  Suspects wait in a queue
 * of their own, and are sent one by one, each alone: when all others were sent
 * and answered, or when they had their time, and on a connection that has
 * answered something.  A request during which the connection ends even so,
 * three times, fails with EVZK_ERR_TOOLARGE, and no other is to blame.
 *
 * A machine may ask for something else in between, to find out what became of
 * its request; that may be lost, too, when the server hangs up at another
 * machine's.  So the count belongs to the machine, with a number by which the
 * request is known again.  The same request that is answered clears it; or
 * others that are lost, four times in a row; or a machine that knows its next
 * request to be another one.
 *
 * A machine may end, and another may begin for the same znode: a site takes its
 * transaction up anew with each connection.  The session keeps the last counts
 * of reads that ended with a machine, each with its path, for who asks for the
 * same next.  What the next one writes may be shorter.  A read that has failed
 * so is not sent again for some 25 seconds, whoever asks for it: it fails at
 * once, and the connection stays.
 *
 * A network that fails often makes suspects of many requests.  Each that is
 * answered sets others free: one, then two, then four; the same one three times
 * at most.
 *
 * How it can fail: connections that end by chance, five times in a row, and
 * three times of these in the moment between one request and its answer.
 */
#include "lib/request/suspect.h"

#include "lib/base/hash.h"
#include "lib/base/os.h"
#include "lib/request/core.h"
#include "lib/request/transaction_internal.h"

enum {
    SUSPECT = 2,          /* Lost so often, together with others. */
    PROVED = 5,           /* The rest of it alone. */
    OTHERS_US = 50000,    /* The time of all others, between two suspects. */
    BARRED_US = 25000000, /* Objects ask again after half a minute. */
    RELEASED_MOST = 1024,
    RELEASED_OFTEN = 3, /* Then it goes alone: else it might be released, and
                           lost with others, again and again. */
    FORGET = 4 /* So many others were lost since: it is one of these. */
};

/* A number of fifteen bits by which the request is known again. */
static uint16_t likeness(const struct evzk__request *r)
{
    uint32_t n = evzk__request_is_steps(r) ? evzk__steps_likeness(r) : 0;

    if (r->op == EVZK__WATCH) /* With or without the other: it may be hidden. */
        n = r->name ? 1 : 2;
    n = n * 31 + r->op;
    return (uint16_t)((n ^ n >> 16) & EVZK__LIKENESS_MASK);
}

static void note_likeness(struct evzk__request *r)
{
    r->died_as = likeness(r) & EVZK__LIKENESS_MASK;
}

/* Is it the request that was lost last, of its owner's? */
static bool is_the_same(const struct evzk__request *r)
{
    return r->losses > 0 && likeness(r) == r->died_as;
}

bool evzk__is_suspect(const struct evzk__request *r)
{
    return r->losses >= SUSPECT && is_the_same(r);
}

bool evzk__suspect_may_be_released(const struct evzk__request *r)
{
    return r->losses == SUSPECT && r->released < RELEASED_OFTEN;
}

void evzk__suspect_release(struct evzk__request *r)
{
    r->losses = SUSPECT - 1;
    r->released++;
}

static void clear(struct evzk__request *r)
{
    r->losses = 0;
    r->released = 0;
}

static bool is_read(const struct evzk__request *r)
{
    return r->op == EVZK__READS || r->op == EVZK__EACH_READS ||
           r->op == EVZK__SOON_READS || r->op == EVZK__LOOK ||
           r->op == EVZK__LIST || r->op == EVZK__SYNC_LIST ||
           r->op == EVZK__SETTLE_LIST;
}

/* Of the directory, of the steps, and of the name that is read. */
static uint32_t key_of(const struct evzk__request *r)
{
    uint32_t key = evzk__hash_text(EVZK__HASH_BEGIN ^ likeness(r),
                                   r->dir ? r->dir->path : r->name);

    if (evzk__request_is_steps(r) && !r->for_each_name && r->dir && r->name)
        key = evzk__hash_text(key, r->name);
    return key;
}

/* Asks for the time only where it matters: each read asks here. */
static bool is_barred(const struct evzk__lost_read *l)
{
    return l->barred_until != 0 && evzk__now_us() < l->barred_until;
}

static bool is_kept(const struct evzk__lost_read *l)
{
    return l->losses > 0 || is_barred(l);
}

static bool has_lost_reads(const struct evzk__core *s)
{
    for (unsigned i = 0; i < EVZK__LOST_READS; i++) {
        if (is_kept(&s->requests.lost_reads[i]))
            return true;
    }
    return false;
}

/* NULL: the request is no read, or the same was not lost. */
static struct evzk__lost_read *lost_read(struct evzk__core *s,
                                         const struct evzk__request *r)
{
    uint32_t key;

    if (!is_read(r) || !has_lost_reads(s))
        return NULL;
    key = key_of(r);
    for (unsigned i = 0; i < EVZK__LOST_READS; i++) {
        struct evzk__lost_read *l = &s->requests.lost_reads[i];

        if (is_kept(l) && l->key == key)
            return l;
    }
    return NULL;
}

static struct evzk__lost_read *keep(struct evzk__core *s,
                                    const struct evzk__request *r)
{
    struct evzk__lost_read *l = lost_read(s, r);

    if (!l) {
        l = &s->requests
                 .lost_reads[s->requests.next_lost_read++ % EVZK__LOST_READS];
        l->barred_until = 0;
    }
    l->key = key_of(r);
    l->losses = r->losses;
    l->released = r->released;
    return l;
}

void evzk__suspect_asked(struct evzk__core *s, struct evzk__request *r)
{
    struct evzk__lost_read *l = r->losses > 0 ? NULL : lost_read(s, r);

    if (!l || l->losses == 0 || is_barred(l))
        return; /* While it is barred it is not sent. */
    r->losses = l->losses;
    r->released = l->released;
    note_likeness(r);
    l->losses = 0;
}

void evzk__suspect_dropped(struct evzk__core *s, const struct evzk__request *r)
{
    if (is_read(r) && is_the_same(r))
        keep(s, r);
}

static void answered(struct evzk__core *s, struct evzk__request *r)
{
    struct evzk__lost_read *l = lost_read(s, r);

    clear(r);
    if (!l)
        return;
    l->losses = 0;
    l->barred_until = 0;
}

void evzk__suspect_hold(struct evzk__core *s, struct evzk__request *r)
{
    if (TAILQ_EMPTY(&s->requests.suspects))
        s->requests.alone_at = evzk__now_us() + OTHERS_US;
    r->held = 1;
    r->others = 0; /* Its owner asks for it, and it may have to wait. */
    TAILQ_INSERT_TAIL(&s->requests.suspects, r, link);
}

/* Another of the owner's requests is suspected: this one may have been lost by
 * chance, while the owner finds out what became of the other.  True: nothing
 * follows from its loss. */
static bool is_bystander(struct evzk__request *r)
{
    if (r->losses == 0 || is_the_same(r))
        return false;
    if (++r->others < FORGET)
        return true;
    clear(r);
    return false;
}

static void blame(struct evzk__core *s, struct evzk__request *r)
{
    if (r->blamed || r->op == EVZK__SYNC)
        return;
    r->blamed = 1;
    s->requests.trusted = 0;
    if (is_bystander(r))
        return;
    note_likeness(r);
    r->others = 0;
    if (r->losses < SUSPECT || s->requests.alone == r)
        r->losses++;
    if (r->losses == PROVED)
        evzk__session_log(s, EVZK_LOG_WARN, "%s: %s",
                          r->dir ? r->dir->path : r->name,
                          evzk_strerror(EVZK_ERR_TOOLARGE));
}

int evzk__suspect_lost(struct evzk__core *s, struct evzk__request *r)
{
    struct evzk__request *item;

    for (unsigned i = 0; (item = evzk__batch_item(r, i)) != NULL; i++)
        blame(s, item);
    item = evzk__batch_item(r, 0);
    return item->losses == PROVED ? EVZK_ERR_TOOLARGE : EVZK_ERR_CONNLOSS;
}

void evzk__suspect_shared(const struct evzk__request *r,
                          struct evzk__request *other)
{
    other->blamed = r->blamed;
    if (!r->blamed || (other->losses > 0 && !is_the_same(other)))
        return;
    other->losses = r->losses;
    note_likeness(other);
    other->others = 0;
}

void evzk__suspect_forget(struct evzk__request *r)
{
    clear(r);
    r->others = 0;
}

/* The request waited, for a suspect or as one: its end is no answer. */
void evzk__suspect_unheard(struct evzk__request *r) { r->blamed = 1; }

void evzk__suspects_cut(struct evzk__core *s)
{
    s->requests.alone = NULL;
    s->requests.heard = false;
}

static void trust_others(struct evzk__core *s)
{
    uint32_t n = s->requests.trusted;

    n = n == 0 ? 1 : 2 * n;
    s->requests.trusted = n < RELEASED_MOST ? n : RELEASED_MOST;
    s->requests.to_release = s->requests.trusted;
}

void evzk__suspect_left(struct evzk__core *s, const struct evzk__request *r)
{
    if (s->requests.alone != r)
        return;
    s->requests.alone = NULL;
    s->requests.alone_at = evzk__now_us() + OTHERS_US;
}

/* After the proof the count stays: if the same is asked for again, the next
 * connection that ends will do. */
void evzk__suspect_back(struct evzk__core *s, struct evzk__request *r)
{
    if (s->requests.alone == r && !r->blamed)
        trust_others(s);
    evzk__suspect_left(s, r);
    if (r->losses == PROVED) {
        r->losses--;
        if (is_read(r))
            keep(s, r)->barred_until = evzk__now_us() + BARRED_US;
    } else if (!r->blamed && is_the_same(r)) {
        answered(s, r);
    }
}

bool evzk__suspect_is_barred(struct evzk__core *s,
                             const struct evzk__request *r)
{
    const struct evzk__lost_read *l = lost_read(s, r);

    return l && is_barred(l);
}

bool evzk__suspects_due(const struct evzk__core *s)
{
    return evzk__now_us() >= s->requests.alone_at;
}

bool evzk__suspects_may_go(const struct evzk__core *s)
{
    return s->requests.in_flight == 0 && s->requests.heard;
}
