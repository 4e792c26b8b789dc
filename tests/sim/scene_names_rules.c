/* The rules of names.
 *
 * The deltas add up to the list; an endpoint is told as its text says; a pick
 * is in the list, and may be picked; each gets its turn; what failed is picked
 * last; and at rest the list is the tree.
 *
 * How it can fail: the order of picks is judged with what was told, so a znode
 * that is made anew is another endpoint when the resolver says so. */
#include "scene_names.h"

#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "processes.h"

enum { KIDS = 32 };

struct nm_world nm;
SIM_KEEP(nm)

/* A name as it was told, and the picks since its own last one. */
struct slot {
    char name[NM_NAME];
    bool in;        /* The list. */
    bool hidden;    /* .. without its token. */
    uint64_t token; /* 0: not in the list, or hidden. */
    uint64_t last;  /* The greatest so far. */
    int64_t failed; /* Reported then; 0: not. */
    bool may_be_picked;
    bool stayed[NM_SLOTS]; /* These could be picked all that time. */
    uint8_t picked[NM_SLOTS];
};

static struct {
    struct slot slot[NM_SLOTS];
    int64_t slots;
    int64_t last_pick; /* A slot, from 1. */
    uint64_t last_token;
} told;
SIM_KEEP(told)

static const char *const texts[NM_TEXTS] = {[NM_W0] = "a.example:80 0",
                                            [NM_W1] = "b.example:81 1\nx",
                                            [NM_W2] = "[::1]:82 2",
                                            [NM_W3] = "10.0.0.1:83 3\ny\n",
                                            [NM_BAD] = "tcp://c:84",
                                            [NM_CUT] = "d.example:85",
                                            [NM_EMPTY] = ""};
static const evzk_endpoint endpoints[] = {
    [NM_W0] = {.host = "a.example", .port = 80},
    [NM_W1] = {"b.example", 81, 1, "x", 1},
    [NM_W2] = {.host = "::1", .port = 82, .weight = 2},
    [NM_W3] = {"10.0.0.1", 83, 3, "y\n", 2}};

const char *nm_text(enum nm_text text) { return texts[text]; }

void nm_path(const char *name, char to[NM_PATH])
{
    snprintf(to, NM_PATH, "/s/%s", name);
}

void nm_rules_begin(void)
{
    memset(&nm, 0, sizeof nm);
    memset(&told, 0, sizeof told);
}

void nm_rules_look(void)
{
    if (ens_has_changed(&nm.looked))
        nm.changed = sim_now();
}

/* The deltas. */

static struct slot *slot_of(const char *name)
{
    for (int i = 0; i < told.slots; i++) {
        if (strcmp(told.slot[i].name, name) == 0)
            return &told.slot[i];
    }
    if (told.slots == NM_SLOTS || strlen(name) >= NM_NAME)
        return NULL; /* One of many that a fault has put there. */
    strcpy(told.slot[told.slots].name, name);
    return &told.slot[told.slots++];
}

static bool is_text(const evzk_resolved *e, const char *text)
{
    return e->text_len == strlen(text) &&
           memcmp(e->text, text, e->text_len) == 0;
}

static bool same_endpoint(const evzk_endpoint *a, const evzk_endpoint *b)
{
    return strcmp(a->host, b->host) == 0 && a->port == b->port &&
           a->weight == b->weight && a->data_len == b->data_len &&
           (a->data_len == 0 || memcmp(a->data, b->data, a->data_len) == 0);
}

/* A fault has written it, and it happens to be right: an empty text of the
 * service's own may end in its newline. */
static bool is_other(const evzk_resolved *e)
{
    static char text[EVZK_ENDPOINT_DATA_MAX]; /* Nothing is kept in it. */
    char path[NM_PATH];
    size_t len;

    nm_path(e->name, path);
    if (e->malformed || e->hidden || !fault_said(path, e->text, e->text_len))
        return false;
    len = evzk_endpoint_print(&e->endpoint, text, sizeof text);
    if (len < sizeof text && len + 1 == e->text_len && !e->endpoint.data_len)
        text[len++] = '\n';
    return len == e->text_len && memcmp(text, e->text, len) == 0;
}

static void check_reading(const evzk_resolved *e)
{
    static const evzk_endpoint nothing;
    int i = NM_W0;

    if (is_other(e))
        return;
    while (i <= NM_W3 && !is_text(e, texts[i]))
        i++;
    if (e->hidden ? e->malformed : e->malformed != (i > NM_W3))
        sim_violation("%s: malformed: %d", e->name, e->malformed);
    if (!same_endpoint(&e->endpoint,
                       i > NM_W3 || e->hidden ? &nothing : &endpoints[i]))
        sim_violation("%s is read as another endpoint", e->name);
}

static bool may_be_picked(const evzk_resolved *e)
{
    return !e->malformed && !e->hidden && e->endpoint.weight > 0;
}

static void forget_turns(const struct slot *s)
{
    int i = (int)(s - told.slot);

    for (int k = 0; k < NM_SLOTS; k++) {
        told.slot[k].stayed[i] = false;
        told.slot[i].stayed[k] = false;
    }
}

static void note_told(struct slot *s, evzk_resolver_event event,
                      const evzk_resolved *e)
{
    bool may = event != EVZK_RESOLVER_REMOVED && may_be_picked(e);

    if (event != EVZK_RESOLVER_CHANGED)
        s->failed = 0;
    if (event != EVZK_RESOLVER_CHANGED || may != s->may_be_picked)
        forget_turns(s);
    s->may_be_picked = may;
    s->in = event != EVZK_RESOLVER_REMOVED;
    s->hidden = s->in && e->hidden;
    s->token = s->in ? e->token : 0;
    if (e->token > s->last)
        s->last = e->token;
}

static void check_delta(const struct slot *s, evzk_resolver_event event,
                        const evzk_resolved *e)
{
    bool known = !s->hidden && !e->hidden;

    if (s->in != (event != EVZK_RESOLVER_ADDED))
        sim_violation("%s: %s out of turn", e->name,
                      evzk_resolver_event_name(event));
    if (event == EVZK_RESOLVER_ADDED && known && e->token <= s->last)
        sim_violation("an old %s is told", e->name);
    if (event != EVZK_RESOLVER_ADDED && known && e->token != s->token)
        sim_violation("%s of another %s", evzk_resolver_event_name(event),
                      e->name);
}

void nm_rules_told(evzk_resolver_event event, const evzk_resolved *e)
{
    struct slot *s = e ? slot_of(e->name) : NULL;

    nm.removed = event == EVZK_RESOLVER_REMOVED;
    if ((e != NULL) != (event <= EVZK_RESOLVER_REMOVED))
        sim_violation("%s with an endpoint, or without one",
                      evzk_resolver_event_name(event));
    if (!e)
        return;
    check_reading(e);
    if (!s)
        return;
    check_delta(s, event, e);
    note_told(s, event, e);
}

/* The picks. */

/* Then an endpoint may be without its turn. */
static bool lacks_memory(void)
{
    return process_lacked_memory_since(0, sim_now());
}

static size_t count_pickable(void)
{
    evzk_resolved e;
    size_t n = 0, all = 0;
    bool ok;

    for (ok = evzk_resolver_first(nm.r, &e); ok;
         ok = evzk_resolver_next(nm.r, &e), all++)
        n += may_be_picked(&e);
    if (all != evzk_resolver_count(nm.r))
        sim_violation("the list has %zu, and counts %zu", all,
                      evzk_resolver_count(nm.r));
    return n;
}

static void check_turn(const struct slot *s)
{
    int x = (int)(s - told.slot);

    for (int i = 0; i < told.slots; i++) {
        if (i != x && s->stayed[i] && s->picked[i] != 1)
            sim_violation("between two picks of %s, %s was picked %d times",
                          s->name, told.slot[i].name, s->picked[i]);
    }
}

static void note_turn(struct slot *s)
{
    int x = (int)(s - told.slot);

    for (int i = 0; i < NM_SLOTS; i++) {
        s->picked[i] = 0;
        s->stayed[i] = i != x && told.slot[i].may_be_picked;
        if (told.slot[i].picked[x] < UINT8_MAX)
            told.slot[i].picked[x]++;
    }
}

static bool has_failed(const struct slot *s)
{
    uint32_t ms =
        nm.own->forgive_ms ? nm.own->forgive_ms : EVZK_RESOLVER_FORGIVE_MS;

    return s->failed && s->failed > sim_now() - in_us(ms);
}

static void check_failures(const struct slot *s)
{
    for (int i = 0; i < told.slots; i++) {
        const struct slot *o = &told.slot[i];

        if (o == s || !o->may_be_picked || !has_failed(s))
            continue;
        if (!has_failed(o) || o->failed < s->failed)
            sim_violation("%s is picked, and %s failed before, or not", s->name,
                          o->name);
    }
}

static void check_picked(const evzk_resolved *e)
{
    struct slot *s = slot_of(e->name);
    evzk_resolved found;

    if (!may_be_picked(e))
        sim_violation("%s is picked", e->name);
    if (!evzk_resolver_find(nm.r, e->name, &found) || found.token != e->token)
        sim_violation("%s is picked, and not in the list", e->name);
    if (!s)
        return;
    if (s->token != e->token && !(nm.removed && process_lacked_memory(0)))
        sim_violation("%s is picked, and was not told", e->name);
    if (s->token != e->token)
        return;
    if (nm.own->pick == EVZK_PICK_IN_TURN && !lacks_memory())
        check_turn(s);
    if (nm.own->pick == EVZK_PICK_LEAST_RECENTLY_FAILED && !lacks_memory())
        check_failures(s);
    note_turn(s);
    if (lacks_memory())
        forget_turns(s); /* Some may have no turn yet. */
    told.last_pick = s - told.slot + 1;
    told.last_token = e->token;
}

void nm_pick(void)
{
    evzk_resolved e;
    size_t n = count_pickable();
    bool picked;

    process_call_begins(0);
    picked = evzk_resolver_pick(nm.r, &e);
    process_call_ends(0);
    nm.picks++;
    told.last_pick = 0;
    if (picked) {
        sim_say("p0 picks %s", e.name);
        check_picked(&e);
    } else {
        sim_say("p0 picks nobody of %zu", n);
        for (int i = 0; i < told.slots; i++) {
            if (told.slot[i].may_be_picked && !lacks_memory())
                sim_violation("%s is not picked", told.slot[i].name);
        }
    }
}

void nm_report(bool failed)
{
    struct slot *s = told.last_pick ? &told.slot[told.last_pick - 1] : NULL;
    bool ok;

    if (!s)
        return;
    process_call_begins(0);
    ok = failed ? evzk_resolver_failed(nm.r, s->name, told.last_token)
                : evzk_resolver_worked(nm.r, s->name, told.last_token);
    process_call_ends(0);
    sim_say("p0 says that %s %s", s->name, failed ? "failed" : "worked");
    if (ok != (s->token == told.last_token))
        sim_violation("a report on %s is %staken", s->name, ok ? "" : "not ");
    if (ok)
        s->failed = failed ? sim_now() : 0;
}

/* At rest. */

static bool is_as_told(const char *name)
{
    const struct slot *s = slot_of(name);
    char path[NM_PATH];
    struct ens_seen seen;
    evzk_resolved e;

    nm_path(name, path);
    if (!evzk_resolver_find(nm.r, name, &e) || !ens_look(path, &seen))
        return false;
    if (e.hidden)
        return true; /* The cache's rules know when that is right. */
    return e.token == (uint64_t)seen.czxid && (!s || s->token == e.token) &&
           e.session == seen.owner && (int32_t)e.text_len == seen.len &&
           (seen.len == 0 || memcmp(e.text, seen.data, e.text_len) == 0);
}

void nm_pick_all(void)
{
    size_t n = count_pickable(), seen = 0;
    bool picked[NM_SLOTS] = {false};

    for (size_t k = 0; k < n && n <= NM_SLOTS / 2 && !lacks_memory(); k++) {
        nm_pick();
        if (told.last_pick && !picked[told.last_pick - 1]) {
            picked[told.last_pick - 1] = true;
            seen++;
        }
    }
    if (nm.own->pick == EVZK_PICK_IN_TURN && seen < n && n <= NM_SLOTS / 2 &&
        !lacks_memory())
        sim_violation("%zu of %zu are picked", seen, n);
}

bool nm_is_right(void)
{
    const char *names[KIDS];
    size_t n = ens_children("/s", names, KIDS), there = 0;

    for (size_t i = 0; i < n && i < KIDS; i++) {
        if (names[i][0] == '.')
            continue;
        there++;
        if (strlen(names[i]) < NM_NAME && !is_as_told(names[i]))
            return false;
    }
    return n > KIDS || evzk_resolver_count(nm.r) == there;
}
