/* How it can fail: a reader in a row of a recipe, that is no function of its
 * own, is not here; the explorer's fault `malform` comes to those. */
#include "readers.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/foreign.h"
#include "lib/base/greeting.h"
#include "lib/base/mem.h"
#include "lib/base/order.h"
#include "recipes/chubby/chubby_internal.h"
#include "recipes/double_barrier/round.h"
#include "recipes/election/leader.h"
#include "recipes/lock/lock_internal.h"
#include "recipes/names/names_internal.h"
#include "recipes/parts/dialect.h"
#include "recipes/parts/queue_foreign.h"
#include "recipes/parts/queue_layout.h"
#include "recipes/shards/plan.h"
#include "recipes/two_phase/two_phase_internal.h"
#include "recipes/value/value_internal.h"

#define MUST(what)                                                             \
    do {                                                                       \
        if (!(what)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
            abort();                                                           \
        }                                                                      \
    } while (0)

/* As a listing has it: a string, up to the first zero byte. */
static char *name_of(const uint8_t *data, size_t len)
{
    char *name = malloc(len + 1);

    MUST(name);
    if (len > 0)
        memcpy(name, data, len);
    name[len] = '\0';
    return name;
}

static bool is_same(const void *a, size_t len_a, const void *b, size_t len_b)
{
    return len_a == len_b && (len_a == 0 || memcmp(a, b, len_a) == 0);
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);

    return n >= k && strcmp(text + n - k, end) == 0;
}

/* ---- Names ---- */

/* A name of known length, which another process wrote; and a path. */
static void read_path(const uint8_t *data, size_t len)
{
    char *path = name_of(data, len);
    bool sendable = evzk__path_sendable(path, false);

    if (evzk__name_ok((const char *)data, len)) {
        char child[EVZK__NAME_MAX + 2] = "/";

        memcpy(child + 1, data, len);
        MUST(len < EVZK__NAME_MAX && !memchr(data, '\0', len));
        MUST(evzk__path_ok(child));
    }
    MUST(evzk__path_ok(path) == !evzk__path_fault(path));
    if (evzk__path_ok(path))
        MUST(sendable && path[0] == '/' && !ends_in(path, "/"));
    if (sendable)
        MUST(evzk__path_sendable(path, true) && !strstr(path, "//") &&
             !strstr(path, "/../") && !ends_in(path, "/.."));
    free(path);
}

/* Cuts the text into lines; returns how many. */
enum { LINES = 40 };
static size_t cut(char *text, char *line[LINES])
{
    size_t n = 0;

    for (char *at = text; at && n < LINES; n++) {
        line[n] = at;
        at = strchr(at, '\n');
        if (at)
            *at++ = '\0';
    }
    return n;
}

/* Names of a listing, a line each, of which some are none. */
static void read_listing(const uint8_t *data, size_t len)
{
    char *text = name_of(data, len), *line[LINES];
    size_t n = cut(text, line), kept = evzk__names_keep(line, n);
    int64_t seq = -1, before;
    struct evzk__names names = {.n = kept, .v = line};

    MUST(kept <= n);
    for (size_t i = 0; i < kept; i++)
        MUST(line[i][0] && !strchr(line[i], '/') && strcmp(line[i], ".") != 0 &&
             strcmp(line[i], "..") != 0);
    for (before = seq; evzk__find_prefix(&names, "x-lock-", &seq); before = seq)
        MUST(seq > before && seq <= INT32_MAX);
    MUST(seq == before);
    free(text);
}

/* The first line is a name without its number, the second the path that a
 * server says it has made. */
static void read_made(const uint8_t *data, size_t len)
{
    char *text = name_of(data, len), *line[LINES] = {NULL};
    size_t n = cut(text, line), prefix = strlen(line[0]);
    char *name = calloc(1, prefix + 12); /* To the byte. */

    MUST(name);
    memcpy(name, line[0], prefix);
    evzk__name_complete(name, n > 1 ? line[1] : NULL);
    MUST(strlen(name) <= prefix + 11 && strncmp(name, line[0], prefix) == 0);
    free(name);
    free(text);
}

static void check_number(const char *name, const char *mark, int32_t seq)
{
    char end[EVZK__NAME_MAX + 16];

    snprintf(end, sizeof end, "%s%010" PRId32, mark, seq);
    MUST(ends_in(name, end) && strlen(name) < EVZK__NAME_MAX);
}

static void check_contender(const char *name, const struct evzk__mark *marks)
{
    struct evzk__contender c = {0};
    char said[EVZK__PRIORITY_MAX];
    bool known = false;

    if (!evzk__contender_parse(name, marks, &c))
        return;
    MUST(c.name == name && !evzk__contender_before(&c, &c));
    for (; marks->text; marks++) {
        int32_t seq;

        if (!evzk__seq_parse(name, marks->text, &seq) || seq != c.seq)
            continue;
        check_number(name, marks->text, seq);
        known = true;
        if (marks->flags == c.flags && c.flags & EVZK__WHOLE)
            MUST(evzk__guid_leads(name) &&
                 strncmp(name + EVZK__GUID_LEN, marks->text,
                         strlen(marks->text)) == 0);
    }
    MUST(known && !(c.flags & EVZK__STRANGE) && c.handicap >= 0);
    snprintf(said, sizeof said, "-p%u", (unsigned)c.priority);
    MUST(c.priority == 0 || strstr(name, said));
}

static void read_contender(const uint8_t *data, size_t len)
{
    static const char *const marks[] = {"-lock-", EVZK__IN, "-n_", "-lease-"};
    char *name = name_of(data, len);
    struct evzk__foreign f = {0};
    int32_t seq;

    check_contender(name, evzk__lock_marks);
    check_contender(name, evzk__lock_all_marks);
    check_contender(name, evzk__round_marks);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (evzk__seq_parse(name, marks[i], &seq))
            check_number(name, marks[i], seq);
    }
    if (evzk__foreign_parse(name, &f))
        MUST(f.library && strlen(name) < EVZK__NAME_MAX);
    (void)evzk__foreign_maker(name);
    free(name);
}

static bool is_double(char *const *line, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (strcmp(line[k], line[i]) == 0)
            return true;
    }
    return false;
}

/* No listing has a name twice. */
static size_t cut_listing(char *text, char *line[LINES])
{
    size_t n = cut(text, line), kept = 0;

    n = evzk__names_keep(line, n);
    for (size_t i = 0; i < n; i++) {
        if (!is_double(line, i))
            line[kept++] = line[i];
    }
    return kept;
}

/* The first name looks for its place, in the listing as it is, and in the one
 * that is put in order. */
static void read_order(const uint8_t *data, size_t len)
{
    char *text = name_of(data, len), *line[LINES];
    struct evzk__ordered ordered = {0};
    struct evzk__order a, b;
    struct evzk__names names = {.n = cut_listing(text, line), .v = line};
    const char *own = names.n > 0 ? line[0] : "";

    evzk__order(&a, &names, evzk__lock_marks, own);
    names.ordered = &ordered;
    evzk__order(&b, &names, evzk__lock_marks, own);
    MUST(a.found == b.found && a.before == b.before && a.next == b.next);
    MUST(!a.pred == !b.pred && !a.foreign == !b.foreign);
    MUST(a.before < LINES && (a.found || !a.next));
    if (a.pred && a.before > 0)
        MUST(strcmp(a.pred, b.pred) == 0 && strcmp(a.pred, own) != 0);
    evzk__ordered_free(&ordered);
    free(text);
}

static void read_queue_name(const uint8_t *data, size_t len)
{
    char *name = name_of(data, len), again[64];
    struct evzk__segment seg;
    uint32_t priority;
    int32_t seq;

    if (evzk__segment_parse(name, &seg)) {
        evzk__segment_print(again, &seg);
        MUST(strcmp(again, name) == 0);
    }
    if (evzk__claim_parse(name, &seq)) {
        snprintf(again, sizeof again, EVZK__QUEUE_CLAIM "%010" PRId32 "-", seq);
        MUST(seq >= 0 && strncmp(again, name, strlen(again)) == 0);
        MUST(!evzk__item_parse(name, &seq));
    }
    if (evzk__plain_item_parse(name, &priority, &seq)) {
        snprintf(again, sizeof again, "%010" PRId32, seq);
        MUST(seq >= 0 && priority < 100 && ends_in(name, again));
        MUST(!evzk__queue_name_is_foreign(name));
    }
    (void)evzk__queue_name_is_foreign(name);
    free(name);
}

static void read_tx_name(const uint8_t *data, size_t len)
{
    char *name = name_of(data, len);
    const char *site;
    enum evzk__standing s = evzk__standing_parse(name, &site);

    MUST(site >= name && site <= name + strlen(name));
    MUST((s == EVZK__ABSENT) == (site == name) && s < EVZK__STANDINGS);
    if (evzk__is_tx_id(name))
        MUST(strlen(name) == EVZK_TX_ID_LEN && evzk__name_ok(name, 36));
    free(name);
}

static void read_chubby_name(const uint8_t *data, size_t len)
{
    char *name = name_of(data, len), again[EVZK__CHUBBY_MARK_MAX];
    struct evzk__delay d, same;

    if (evzk__chubby_mark_parse(name, &d)) {
        MUST(d.ms <= EVZK_CHUBBY_DELAY_MAX_MS);
        evzk__chubby_mark(again, d.node, d.ms);
        MUST(evzk__chubby_mark_parse(again, &same) && same.ms == d.ms &&
             same.shared == d.shared && strcmp(same.node, d.node) == 0);
    }
    if (evzk__chubby_is_anchor(name))
        MUST(strlen(name) == EVZK__GUID_LEN + strlen(EVZK__CHUBBY_ANCHOR));
    (void)evzk__chubby_reserved(name);
    free(name);
}

/* ---- What znodes say ---- */

/* Each path that comes of it can be sent. */
static void check_paths(struct evzk__tx_text *t)
{
    struct evzk__tx_steps s = {0};

    MUST(evzk__tx_steps_init(&s, t, "3f2504e0-4f89-41d3-9a0c-0305e82c3301") ==
         EVZK_OK);
    for (uint32_t i = 0; i < t->n; i++) {
        char path[512] = "/";

        evzk__tx_steps_clear(&s);
        strcat(path, evzk__tx_step_site(&s, EVZK__STEP_DELETE, EVZK__COMMITS,
                                        t->site[i])
                         ->name);
        MUST(evzk__path_ok(path));
        strcpy(path + 1,
               evzk__tx_step_inbox(&s, EVZK__STEP_DELETE, t->site[i])->name);
        MUST(evzk__path_ok(path));
    }
    evzk__tx_steps_decide(&s, t, EVZK_TX_COMMIT);
    MUST(s.n == t->n + 1 && s.v[t->n].len == t->len);
    MUST(evzk__tx_text_decision(t->data, t->len) == EVZK_TX_COMMIT);
    evzk__tx_steps_free(&s);
}

static void read_tx(const uint8_t *data, size_t len)
{
    struct evzk__tx_text t = {0};
    char tag[EVZK__TAG_LEN + 2] = "/";
    evzk_tx_verdict said = evzk__tx_text_decision(data, len);

    if (evzk__tx_text_parse(&t, data, len) != EVZK_OK)
        return;
    MUST(is_same(t.data, t.len, data, len));
    MUST(evzk__tx_text_verdict(&t, data, len) == said);
    MUST(t.question >= t.data && t.question + t.question_len == t.data + t.len);
    memcpy(tag + 1, t.tag, EVZK__TAG_LEN);
    MUST(evzk__path_ok(tag) && strlen(tag) == EVZK__TAG_LEN + 1 &&
         !strchr(tag + 1, '/'));
    for (uint32_t i = 0; i < t.n; i++)
        MUST(!evzk__site_name_fault(t.site[i]) &&
             evzk__tx_text_find(&t, t.site[i]) == (int)i);
    check_paths(&t);
    evzk__tx_text_free(&t);
}

/* Shards in a row that have one owner are one line, or several. */
static void read_plan(const uint8_t *data, size_t len)
{
    struct evzk__plan p, same;
    size_t n = 0;
    char *again;

    if (evzk__plan_parse(&p, data, len) != EVZK_OK)
        return;
    again = evzk__plan_print(&p, &n);
    MUST(again && n <= len);
    MUST(evzk__plan_parse(&same, again, n) == EVZK_OK &&
         evzk__plan_same(&p, &same) && same.version == p.version);
    evzk__plan_free(&same);
    for (uint32_t i = 0; i < p.n_shards; i++)
        MUST(p.owner[i] < p.n_members || p.owner[i] == EVZK__NOBODY);
    (void)evzk__plan_is_even(&p);
    evzk__free(again);
    evzk__plan_free(&p);
}

static void read_member(const uint8_t *data, size_t len)
{
    char again[EVZK__PLAN_DATA + 100];
    struct evzk__member m = {0};
    uint64_t ready;
    int n;

    if (!evzk__member_parse(&m, &ready, data, len))
        return;
    n = evzk__member_print(again, sizeof again, &m, ready);
    MUST(n >= 0 && is_same(again, (size_t)n, data, len));
}

static bool same_endpoint(const evzk_endpoint *a, const evzk_endpoint *b)
{
    return strcmp(a->host, b->host) == 0 && a->port == b->port &&
           a->weight == b->weight &&
           is_same(a->data, a->data_len, b->data, b->data_len);
}

static void read_endpoint(const uint8_t *data, size_t len)
{
    evzk_endpoint e, same;
    size_t n;
    char *again;

    if (!evzk_endpoint_parse(data, len, &e))
        return;
    MUST(!evzk__endpoint_fault(&e));
    n = evzk_endpoint_print(&e, NULL, 0);
    MUST(n == len || (n + 1 == len && data[n] == '\n')); /* No data in it. */
    again = malloc(n + 1);
    MUST(again && evzk_endpoint_print(&e, again, n + 1) == n);
    MUST(is_same(again, n, data, n) && evzk_endpoint_parse(again, n, &same) &&
         same_endpoint(&e, &same));
    free(again);
}

static void read_round(const uint8_t *data, size_t len)
{
    struct evzk__round round;
    char again[EVZK__ROUND_TEXT];

    if (!evzk__round_parse(&round, data, len))
        return;
    MUST(is_same(again, evzk__round_print(again, &round), data, len));
    MUST(evzk__round_covers(&round, round.last));
}

static void read_number(const uint8_t *data, size_t len)
{
    char again[EVZK__NUMBER_SIZE];
    int64_t n, same;

    if (evzk__number_parse(data, len, &n)) {
        MUST(evzk__number_parse(again, evzk__number_print(again, n), &same) &&
             same == n);
        MUST(n >= 0 || data[0] == '-');
        MUST(n <= 0 || data[0] != '-');
    }
    (void)evzk__kazoo_other_number(3, data, len);
}

static void read_leader(const uint8_t *data, size_t len)
{
    char *text = evzk__memdup(data, len), epoch[24];
    evzk_leader leader = {0};

    MUST(text);
    if (evzk__leader_parse(text, len, &leader)) {
        size_t n = strlen(leader.node);

        MUST(evzk__name_ok(leader.node, n) && n > 0);
        MUST((const char *)leader.data + leader.data_len == text + len);
        snprintf(epoch, sizeof epoch, "%" PRIu64 " ", leader.epoch);
        MUST(leader.epoch == UINT64_MAX ||
             strncmp(text, epoch, strlen(epoch)) == 0);
    }
    evzk__free(text);
}

/* Curator's frame. */
static void read_frame(const uint8_t *data, size_t len)
{
    if (evzk__queue_data_is_foreign(data, len))
        MUST(len > 4 && data[len - 1] == 2 && data[0] == 0);
}

static void read_sequencer(const uint8_t *data, size_t len)
{
    char *text = name_of(data, len), *again = malloc(len + 2);
    struct evzk__sequencer q;

    MUST(again);
    if (evzk__sequencer_parse(&q, text) == EVZK_OK) {
        MUST(evzk__path_ok(q.dir) && q.czxid > 0);
        MUST(evzk__sequencer_print(again, len + 2, q.dir, q.node,
                                   (uint64_t)q.czxid, q.shared) &&
             strcmp(again, text) == 0);
        evzk__sequencer_clear(&q);
    }
    free(again);
    free(text);
}

/* A wrong greeting stays wrong, whatever follows. */
static void read_greeting(const uint8_t *data, size_t len)
{
    struct evzk__greeting g = {0};
    enum evzk__verdict is = EVZK__GREETING_SHORT, was;

    len = len < EVZK__GREETING ? len : EVZK__GREETING;
    for (size_t n = 0; n <= len; n++) {
        was = is;
        is = evzk__greeting_judge(&g, data, n);
        MUST(was != EVZK__GREETING_WRONG || is == EVZK__GREETING_WRONG);
        MUST(memchr(g.why, '\0', sizeof g.why));
    }
    MUST(len < EVZK__GREETING || is != EVZK__GREETING_SHORT);
}

const struct reader readers[] = {
    {"path", "names and paths, to the byte", read_path},
    {"listing", "a listing, with what no znode is called", read_listing},
    {"made", "the path that a create has made", read_made},
    {"contender", "names of contenders, members and participants",
     read_contender},
    {"order", "who is before whom in a listing", read_order},
    {"queue-name", "segments, items and claims, others' too", read_queue_name},
    {"tx-name", "znodes of sites, and ids of transactions", read_tx_name},
    {"chubby-name", "marks and anchors", read_chubby_name},
    {"tx", "a transaction", read_tx},
    {"plan", "a plan of the shards", read_plan},
    {"member", "a member of shards", read_member},
    {"endpoint", "an endpoint", read_endpoint},
    {"round", "a round of a double barrier", read_round},
    {"number", "a counter, and Kazoo's number of leases", read_number},
    {"leader", "the leader of an election", read_leader},
    {"frame", "an item of Curator's queue", read_frame},
    {"sequencer", "a sequencer", read_sequencer},
    {"greeting", "a server's greeting", read_greeting},
    {NULL, NULL, NULL}};

const struct reader *reader_of(const char *name)
{
    const struct reader *r = readers;

    while (r->name && strcmp(r->name, name) != 0)
        r++;
    return r->name ? r : NULL;
}
