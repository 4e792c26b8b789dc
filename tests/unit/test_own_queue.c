/* Contenders in order, and their watches, against a naive model. */
#include "unit_dir.h"

enum { CONTENDERS = 24, DIRS = 3, SPAN = 40, NAMES = 64 };

/* A machine, and what the model knows of it. */
struct contender {
    struct evzk__machine m;
    char name[64], own[64], pred[64]; /* Only the text may count. */
    size_t dir;
    int64_t place; /* Its number, before it is wrapped. */
    bool placed;
    enum evzk__rank rank;
    bool seen;               /* Has read the znode that it waits for. */
    struct contender *waits; /* For this one, right before it. */
    bool on[2], armed[2];    /* Its watches. */
    unsigned pending;
};

struct line {
    struct evzk__core s;
    struct evzk__dir *d[DIRS];
    bool ours[DIRS], check_empty[DIRS];
    struct contender c[CONTENDERS];
    int64_t start;
};

static void set_up(struct line *t, struct unit_rng *rng)
{
    static const char *const paths[DIRS] = {"/a", "/a/b", "/c"};

    memset(t, 0, sizeof *t);
    unit_open(&t->s);
    for (size_t i = 0; i < DIRS; i++)
        t->d[i] = evzk__dir_get(&t->s, paths[i], "");
    for (size_t i = 0; i < CONTENDERS; i++) {
        struct contender *c = &t->c[i];

        c->dir = i % DIRS;
        unit_machine(&c->m, &t->s, t->d[c->dir]);
    }
    t->start = unit_upto(rng, 1) ? INT32_MAX - SPAN / 2 : -SPAN / 2;
}

static bool comes_before(const struct contender *a, const struct contender *b)
{
    if (a->place == b->place)
        return strcmp(a->name, b->name) < 0;
    return a->place < b->place;
}

static struct contender *before(struct line *t, const struct contender *c)
{
    struct contender *best = NULL;

    for (struct contender *o = t->c; o < t->c + CONTENDERS; o++) {
        if (o->placed && o->dir == c->dir && comes_before(o, c) &&
            (!best || comes_before(best, o)))
            best = o;
    }
    return best;
}

static struct contender *behind(struct line *t, const struct contender *c)
{
    struct contender *best = NULL;

    for (struct contender *o = t->c; o < t->c + CONTENDERS; o++) {
        if (o->placed && o->dir == c->dir && comes_before(c, o) &&
            (!best || comes_before(o, best)))
            best = o;
    }
    return best;
}

static size_t count_in(const struct line *t, size_t dir)
{
    size_t n = 0;

    for (size_t i = 0; i < CONTENDERS; i++)
        n += t->c[i].placed && t->c[i].dir == dir;
    return n;
}

/* A contender in no queue hears nothing: it has ended, or begins anew. */
static bool watches(const struct contender *c, int which, const char *name)
{
    const char *watched = which == EVZK__OWN ? c->name : c->pred;

    return c->placed && c->on[which] && strcmp(watched, name) == 0;
}

/* Of its own znode it hears, whoever has asked; of one before it only the end,
 * or that it got children. */
static bool hears(const struct contender *c, int which, const char *name,
                  enum evzk__watch_event ev)
{
    if (which == EVZK__OWN)
        return ev != EVZK__CHILDREN && c->placed && strcmp(c->name, name) == 0;
    return ev != EVZK__CHANGED && watches(c, which, name);
}

static void check_watched(const struct line *t, size_t dir, const char *name)
{
    bool on[2] = {false, false};

    for (size_t i = 0; i < CONTENDERS; i++) {
        const struct contender *c = &t->c[i];

        for (int which = EVZK__OWN; which <= EVZK__PRED; which++)
            on[which] |= c->dir == dir && watches(c, which, name);
    }
    UNIT_HOT((evzk__watch_find(&t->s, t->d[dir], name, EVZK__OWN) != NULL) ==
             on[EVZK__OWN]);
    UNIT_HOT((evzk__watch_find(&t->s, t->d[dir], name, EVZK__PRED) != NULL) ==
             on[EVZK__PRED]);
}

static void check_contender(struct line *t, struct contender *c)
{
    const struct contender *o = c->placed ? before(t, c) : NULL;
    struct evzk__dir *d = c->m.place.dir;
    bool lone = c->placed && count_in(t, c->dir) == 1;

    UNIT_HOT((c->m.place.where == EVZK__IN_QUEUE) == c->placed);
    UNIT_HOT(c->m.place.before == (c->waits ? &c->waits->m.place : NULL));
    UNIT_HOT(c->m.place.rank == c->rank);
    UNIT_HOT(c->m.place.before_seen == c->seen);
    UNIT_HOT(c->m.place.news == c->pending);
    UNIT_HOT((c->m.listed == EVZK__L_RUNNING) == (c->pending != 0));
    UNIT_HOT(evzk__queue_before(&c->m.place) == (o ? &o->m.place : NULL));
    if (c->name[0] != '\0') {
        UNIT_HOT(evzk__queue_find(d, c->name) ==
                 (c->placed ? &c->m.place : NULL));
        UNIT_HOT(evzk__queue_lone(d, c->name) == lone);
        check_watched(t, c->dir, c->name);
    }
    UNIT_HOT(evzk__watch_listed(&c->m.place.own_watch) == c->on[EVZK__OWN]);
    UNIT_HOT(evzk__watch_armed(&c->m.place.own_watch) == c->armed[EVZK__OWN]);
    UNIT_HOT(evzk__watch_listed(&c->m.place.pred_watch) == c->on[EVZK__PRED]);
    UNIT_HOT(evzk__watch_armed(&c->m.place.pred_watch) == c->armed[EVZK__PRED]);
}

static void check(struct line *t)
{
    uint32_t remote[DIRS] = {0}, all = 0;

    for (struct contender *c = t->c; c < t->c + CONTENDERS; c++) {
        check_contender(t, c);
        remote[c->dir] += c->on[EVZK__PRED];
        all += (uint32_t)c->on[EVZK__PRED] + c->on[EVZK__OWN];
    }
    for (size_t i = 0; i < DIRS; i++) {
        UNIT_HOT(t->d[i]->remote == remote[i]);
        UNIT_HOT(evzk__dir_busy(t->d[i]) == (count_in(t, i) > 0));
        UNIT_HOT(t->d[i]->made_by_us == t->ours[i]);
        UNIT_HOT(t->d[i]->check_empty == t->check_empty[i]);
    }
    UNIT_HOT(t->s.watches == all);
}

/* Our own ones are odd, so that there is room for others. */
static void enter(struct line *t, struct contender *c, struct unit_rng *rng)
{
    int32_t seq;

    c->place = t->start + unit_upto(rng, SPAN / 2) * 2 + 1;
    seq = (int32_t)(uint32_t)c->place;
    snprintf(c->name, sizeof c->name, "%08" PRIx32 "-lock-%010" PRId32,
             (uint32_t)unit_next(rng), seq);
    strcpy(c->own, c->name);
    evzk__queue_enter(&c->m.place, c->own, seq);
    c->placed = true;
}

/* What a recipe does when it has looked who is before it. */
static void look(struct line *t, struct contender *c)
{
    struct contender *o = before(t, c);

    if (!o || o->rank == EVZK__PASSED)
        c->m.place.rank = c->rank = EVZK__LEADS;
    else {
        for (struct contender *k = t->c; k < t->c + CONTENDERS; k++)
            k->waits = k->waits == o ? NULL : k->waits;
        c->waits = o;
        c->seen = false;
        evzk__queue_follow(&c->m.place, &o->m.place);
    }
}

static void tell_next(struct line *t, struct contender *c, bool first)
{
    struct contender *o = behind(t, c);

    for (; o && o->waits != c; first = false)
        o = behind(t, o);
    if (!o)
        return;
    o->waits = NULL;
    o->rank = first ? EVZK__LEADS : EVZK__BEHIND;
    o->pending |= EVZK__NEWS_BEFORE;
}

static void leave(struct line *t, struct contender *c)
{
    evzk__queue_remove(&c->m.place);
    if (!c->placed)
        return;
    tell_next(t, c, false);
    c->placed = false;
    c->waits = NULL;
    c->rank = EVZK__BEHIND;
    if (t->ours[c->dir] && count_in(t, c->dir) == 0) {
        t->ours[c->dir] = false;
        t->check_empty[c->dir] = true;
    }
}

/* The follower is right behind the contender, and has read its znode. */
static void hand_on(struct line *t, struct contender *c)
{
    const struct contender *o = behind(t, c);

    if (o && o->waits == c && o->seen)
        tell_next(t, c, true);
}

static void see(struct line *t, struct contender *c)
{
    evzk__queue_seen(&c->m.place);
    c->seen = true;
    if (c->waits && c->waits->rank == EVZK__PASSED)
        hand_on(t, c->waits);
}

static void pass(struct line *t, struct contender *c)
{
    evzk__queue_hand_over(&c->m.place);
    if (c->pending & EVZK__NEWS_BEFORE)
        c->rank = EVZK__BEHIND;
    if (!c->placed || c->rank == EVZK__BEHIND)
        return;
    c->rank = EVZK__PASSED;
    hand_on(t, c);
}

/* A contender of another session, one of ours, or what is none. */
static void pick_name(struct line *t, size_t dir, char *out,
                      struct unit_rng *rng)
{
    int64_t place = t->start + unit_upto(rng, SPAN / 2) * 2;
    const struct contender *c = &t->c[unit_upto(rng, CONTENDERS - 1)];

    if (unit_upto(rng, 9) == 0)
        strcpy(out, unit_upto(rng, 1) ? "config" : "x-lock-5");
    else if (c->dir == dir && c->name[0] != '\0')
        strcpy(out, c->name);
    else
        snprintf(out, NAMES, "f-lock-%010" PRId32, (int32_t)(uint32_t)place);
}

static void add(struct line *t, struct contender *c, int which,
                struct unit_rng *rng)
{
    if (c->on[which] || (which == EVZK__OWN && c->name[0] == '\0'))
        return;
    if (which == EVZK__OWN)
        evzk__watch_add(&c->m.place, &c->m.place.own_watch, c->own);
    else {
        pick_name(t, c->dir, c->pred, rng);
        evzk__watch_add(&c->m.place, &c->m.place.pred_watch, c->pred);
    }
    c->on[which] = true;
}

static struct evzk__watch *watch_of(struct contender *c, int which)
{
    return which == EVZK__OWN ? &c->m.place.own_watch : &c->m.place.pred_watch;
}

static void arm(struct contender *c, int which)
{
    if (c->on[which]) {
        watch_of(c, which)->is = EVZK__ARMED;
        c->armed[which] = true;
    }
}

static void take_off(struct contender *c, int which)
{
    UNIT_HOT(evzk__watch_remove(&c->m.place, watch_of(c, which)) ==
             c->armed[which]);
    c->on[which] = c->armed[which] = false;
}

static void fire(struct line *t, size_t dir, struct unit_rng *rng)
{
    enum evzk__watch_event ev = (enum evzk__watch_event)unit_upto(rng, 2);
    char name[NAMES];

    pick_name(t, dir, name, rng);
    check_watched(t, dir, name);
    evzk__watch_fired(&t->s, t->d[dir], name, ev);
    for (struct contender *c = t->c; c < t->c + CONTENDERS; c++) {
        for (int which = EVZK__OWN; which <= EVZK__PRED; which++) {
            if (c->dir != dir || !hears(c, which, name, ev))
                continue;
            c->on[which] = c->armed[which] = false;
            c->pending |= (ev == EVZK__DELETED ? 1u : 4u) << which;
        }
    }
    check_watched(t, dir, name);
}

/* The machine has looked, and has nothing more to do. */
static void settle(struct line *t, struct contender *c)
{
    if (c->pending == 0)
        return;
    TAILQ_REMOVE(&t->s.running, &c->m, run);
    c->m.listed = EVZK__L_NONE;
    c->m.place.news = 0;
    c->pending = 0;
}

static void move(struct line *t, struct contender *c, struct unit_rng *rng)
{
    switch (unit_upto(rng, 4)) {
    case 0:
    case 1:
        if (!c->placed && !c->on[EVZK__OWN])
            enter(t, c, rng);
        break;
    case 2:
        pass(t, c);
        break;
    case 3:
        if (c->placed)
            see(t, c);
        break;
    default:
        leave(t, c);
        break;
    }
}

static void act(struct line *t, struct unit_rng *rng)
{
    struct contender *c = &t->c[unit_upto(rng, CONTENDERS - 1)];
    int which = (int)unit_upto(rng, 1);

    switch (unit_upto(rng, 9)) {
    case 0:
    case 1:
    case 2:
        move(t, c, rng);
        break;
    case 3:
        if (c->placed && !c->waits && c->rank == EVZK__BEHIND)
            look(t, c);
        break;
    case 4:
    case 5:
        add(t, c, which, rng);
        break;
    case 6:
        arm(c, which);
        break;
    case 7:
        take_off(c, which); /* Listed or not. */
        break;
    case 8:
        settle(t, c);
        t->ours[c->dir] = t->ours[c->dir] || c->placed;
        t->d[c->dir]->made_by_us = t->ours[c->dir];
        break;
    default:
        fire(t, c->dir, rng);
        break;
    }
}

static void tear_down(struct line *t)
{
    for (struct contender *c = t->c; c < t->c + CONTENDERS; c++) {
        take_off(c, EVZK__OWN);
        take_off(c, EVZK__PRED);
        leave(t, c);
        check(t);
    }
    for (size_t i = 0; i < DIRS; i++)
        evzk__dir_put(&t->s, t->d[i]);
    evzk__idle_dirs_clear(&t->s);
    ck_assert(RB_EMPTY(&t->s.dirs));
    ck_assert_uint_eq(t->s.watches, 0);
}

START_TEST(test_line_random)
{
    struct unit_rng rng = unit_seeded("line");
    static struct line t;

    for (int round = 0; round < 25; round++) {
        set_up(&t, &rng);
        for (int n = 0; n < 1000; n++) {
            act(&t, &rng);
            check(&t);
        }
        tear_down(&t);
    }
}
END_TEST

/* Scenes by hand: contenders 0, 3, 6, ... are in one directory. */

static struct contender *place_at(struct line *t, size_t i, int32_t seq)
{
    struct contender *c = &t->c[i * DIRS];

    c->place = seq;
    snprintf(c->name, sizeof c->name, "x-lock-%010" PRId32, seq);
    strcpy(c->own, c->name);
    evzk__queue_enter(&c->m.place, c->own, seq);
    c->placed = true;
    look(t, c);
    if (c->waits)
        see(t, c);
    return c;
}

static void three(struct line *t)
{
    struct unit_rng rng = {1};

    set_up(t, &rng);
    for (int32_t i = 0; i < 3; i++)
        place_at(t, (size_t)i, i);
    check(t);
}

/* A contender that was told to be first, and leaves before it has looked, tells
 * no other. */
START_TEST(test_pass_unseen)
{
    static struct line t;
    struct contender *c = t.c;

    three(&t);
    pass(&t, &c[0]);
    ck_assert_uint_eq(c[DIRS].m.place.news, EVZK__NEWS_BEFORE);
    pass(&t, &c[DIRS]);
    ck_assert(c[DIRS].m.place.rank == EVZK__BEHIND &&
              c[(size_t)2 * DIRS].m.place.rank == EVZK__BEHIND);
    settle(&t, &c[DIRS]);
    pass(&t, &c[DIRS]); /* The lead does not come back. */
    ck_assert(c[(size_t)2 * DIRS].m.place.rank == EVZK__BEHIND);
    check(&t);
    tear_down(&t);
}
END_TEST

/* The first hands on while the next one has not yet read its znode: the next
 * one leads as soon as it has. */
START_TEST(test_pass_not_seen)
{
    static struct line t;
    struct contender *c = t.c;

    three(&t);
    c[DIRS].m.place.before_seen = c[DIRS].seen = false;
    pass(&t, &c[0]);
    ck_assert(c[DIRS].m.place.rank == EVZK__BEHIND &&
              c[DIRS].m.place.before == &c[0].m.place);
    ck_assert_uint_eq(c[DIRS].m.place.news, 0);
    see(&t, &c[DIRS]);
    ck_assert(c[DIRS].m.place.rank == EVZK__LEADS && !c[DIRS].m.place.before);
    ck_assert_uint_eq(c[DIRS].m.place.news, EVZK__NEWS_BEFORE);
    check(&t);
    tear_down(&t);
}
END_TEST

/* The first hands on before its znode is gone, and only once. */
START_TEST(test_pass_then_leave)
{
    static struct line t;
    struct contender *c = t.c;

    three(&t);
    ck_assert(c[0].m.place.rank == EVZK__LEADS && c[DIRS].waits == &c[0]);
    pass(&t, &c[0]);
    ck_assert(c[DIRS].m.place.rank == EVZK__LEADS && !c[DIRS].m.place.before);
    ck_assert_uint_eq(c[DIRS].m.place.news, EVZK__NEWS_BEFORE);
    settle(&t, &c[DIRS]);
    leave(&t, &c[0]);
    check(&t);
    ck_assert_uint_eq(c[DIRS].m.place.news, 0);
    ck_assert_uint_eq(c[2 * DIRS].m.place.news, 0);
    tear_down(&t);
}
END_TEST

/* A contender from the middle goes: the next one hears, and is not first. */
START_TEST(test_leave_middle)
{
    static struct line t;
    struct contender *last = &t.c[2 * DIRS];

    three(&t);
    pass(&t, &t.c[DIRS]); /* This contender does not lead. */
    ck_assert_uint_eq(last->m.place.news, 0);
    leave(&t, &t.c[DIRS]);
    check(&t);
    ck_assert_uint_eq(last->m.place.news, EVZK__NEWS_BEFORE);
    ck_assert(last->m.place.rank == EVZK__BEHIND && !last->m.place.before);
    leave(&t, &t.c[0]); /* `last` waits for none now. */
    check(&t);
    ck_assert(last->m.place.rank == EVZK__BEHIND);
    tear_down(&t);
}
END_TEST

/* A contender that came between, and did not see the first one, has nothing to
 * do with it; nor has who waited for the first, and is not behind it any more.
 */
START_TEST(test_come_between)
{
    static struct line t;
    struct unit_rng rng = {1};
    struct contender *between = &t.c[2 * DIRS], *last;

    set_up(&t, &rng);
    place_at(&t, 0, 1);
    last = place_at(&t, 1, 9);
    place_at(&t, 2, 5);
    between->waits = NULL;
    evzk__queue_follow(&between->m.place, NULL);
    between->seen = false;
    pass(&t, &t.c[0]);
    leave(&t, &t.c[0]);
    check(&t);
    ck_assert(between->m.place.rank == EVZK__BEHIND &&
              last->m.place.rank == EVZK__BEHIND);
    ck_assert_uint_eq(between->m.place.news, 0);
    ck_assert_uint_eq(last->m.place.news, 0);
    tear_down(&t);
}
END_TEST

/* A contender that waits for none any more is not looked for: many who leave
 * together would each look through the whole queue. */
START_TEST(test_stray)
{
    static struct line t;
    struct contender *c = t.c;

    three(&t);
    ck_assert(c[0].m.place.followed && c[DIRS].m.place.followed);
    evzk__queue_unfollow(&c[DIRS].m.place);
    ck_assert(!c[0].m.place.followed && !c[DIRS].m.place.before);
    leave(&t, &c[DIRS]);
    ck_assert(!c[DIRS].m.place.followed);
    tear_down(&t);
}
END_TEST

/* One znode of another's, and all who wait for it hear; nobody else does. */
START_TEST(test_many_watch_one)
{
    static const char foreign[] = "f-lock-0000000000";
    static struct line t;
    struct unit_rng rng = {1};

    set_up(&t, &rng);
    for (size_t i = 0; i < 8; i++) {
        struct contender *c = place_at(&t, i, (int32_t)(2 * i + 1));

        evzk__watch_add(&c->m.place, &c->m.place.pred_watch,
                        i == 5 ? c[-DIRS].own : foreign);
    }
    ck_assert_uint_eq(t.d[0]->remote, 8);
    ck_assert(evzk__watch_find(&t.s, t.d[0], foreign, EVZK__PRED));
    ck_assert(!evzk__watch_find(&t.s, t.d[0], foreign, EVZK__OWN));
    ck_assert(!evzk__watch_find(&t.s, t.d[1], foreign, EVZK__PRED));
    evzk__watch_fired(&t.s, t.d[1], foreign, EVZK__DELETED); /* Elsewhere. */
    ck_assert_uint_eq(t.d[0]->remote, 8);
    evzk__watch_fired(&t.s, t.d[0], foreign, EVZK__DELETED);
    ck_assert_uint_eq(t.d[0]->remote, 1);
    ck_assert_uint_eq(t.s.watches, 1);
    for (size_t i = 0; i < 8; i++)
        ck_assert_uint_eq(t.c[i * DIRS].m.place.news,
                          i == 5 ? 0u : (unsigned)EVZK__NEWS_DELETED << 1);
}
END_TEST

/* A znode by hand, half the ring of numbers before its watcher, is behind those
 * that come after the watcher: the watcher is found all the same. */
START_TEST(test_watches_far)
{
    static const char foreign[] = "f-lock--2147483647";
    static struct line t;
    struct unit_rng rng = {1};

    set_up(&t, &rng);
    for (size_t i = 0; i < 3; i++) {
        struct contender *c = place_at(&t, i, (int32_t)i + 1);

        if (i == 0)
            evzk__watch_add(&c->m.place, &c->m.place.pred_watch, foreign);
    }
    ck_assert(evzk__watch_find(&t.s, t.d[0], foreign, EVZK__PRED));
    evzk__watch_fired(&t.s, t.d[0], foreign, EVZK__DELETED);
    ck_assert_uint_eq(t.c[0].m.place.news, (unsigned)EVZK__NEWS_DELETED << 1);
    ck_assert_uint_eq(t.s.watches, 0);
}
END_TEST

/* A watch may stand while so many others come and go that their count begins
 * anew: those that have the same number then are all found, and all go. */
START_TEST(test_onlookers_count_anew)
{
    static const struct evzk__kind none = {.name = "onlooker"};
    static struct line t;
    struct unit_rng rng = {1};

    set_up(&t, &rng);
    for (size_t i = 0; i < 3; i++) {
        struct evzk__machine *m = &t.c[i * DIRS].m;

        m->kind = &none;
        t.s.onlooked = UINT32_MAX;
        evzk__watch_add(&m->place, &m->place.own_watch, "x");
    }
    evzk__watch_fired(&t.s, t.d[0], "x", EVZK__DELETED);
    for (size_t i = 0; i < 3; i++)
        ck_assert_uint_eq(t.c[i * DIRS].m.place.news, EVZK__NEWS_DELETED);
    ck_assert(RB_EMPTY(&t.s.onlookers));
}
END_TEST

/* The same of watches by path. */
START_TEST(test_path_watches_count_anew)
{
    struct looker {
        struct evzk__machine m;
        struct evzk__path_watch watch[3];
    };
    static const struct evzk__kind kind = {
        .name = "looker", EVZK__PATH_WATCHES(struct looker, m, watch)};
    static struct looker l;
    static struct line t;
    struct unit_rng rng = {1};

    set_up(&t, &rng);
    t.s.chroot = "";
    unit_machine(&l.m, &t.s, t.d[0]);
    l.m.kind = &kind;
    evzk__path_watches_init(&l.m.place);
    for (size_t i = 0; i < 3; i++) {
        t.s.onlooked = UINT32_MAX;
        evzk__watch_add(&l.m.place, &l.watch[i].w, "/x");
    }
    evzk__watch_fired_at(&t.s, "/x", EVZK__DELETED);
    for (size_t i = 0; i < 3; i++)
        ck_assert(l.watch[i].deleted);
    ck_assert(RB_EMPTY(&t.s.path_watches));
}
END_TEST

/* The size of a waiter in bytes: the pages promise how many. */
START_TEST(test_size)
{
    ck_assert_uint_le(sizeof(struct evzk__machine), 34 * sizeof(void *));
}
END_TEST

UNIT_MAIN("queue", test_line_random, test_pass_unseen, test_pass_not_seen,
          test_pass_then_leave, test_leave_middle, test_come_between,
          test_stray, test_many_watch_one, test_watches_far,
          test_onlookers_count_anew, test_path_watches_count_anew, test_size)
