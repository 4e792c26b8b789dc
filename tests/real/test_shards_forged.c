/*
 * Plans that are well-formed, and that no member has written: forged and
 * damaged plans, restored copies of members' znodes, ACLs that were set by
 * mistake.  Each is mended, nobody's object ends of it, and an end is told to
 * each shard first.  Data that is no plan at all is in test_shards_trouble.c.
 */
#include "test_shards.h"

enum { N = 20, TEXT = 8192 };

/* Each shard is led by the member that is to lead it.  Equal numbers alone say
 * nothing where a forged plan has exchanged them. */
static bool all_lead_theirs(const struct team *t)
{
    evzk_shards_member to;

    for (int i = 0; i < SHARD_MEMBERS; i++) {
        const struct member *m = &t->v[i];

        for (uint32_t k = 0; m->a && !m->finals && k < N; k++) {
            if (!evzk_shards_leader(m->a, k, &to) ||
                to.self != evzk_shards_leading(m->a, k))
                return false;
        }
    }
    return true;
}

#define TEAM_RIGHT(t, members)                                                 \
    WAIT(team_is_balanced(t, members) && shards_led(N) == N &&                 \
         all_lead_theirs(t))

/* ---- Forged plans ---- */

/* Of the team's first two, in order; `shards` is the text behind the members'.
 * Number 0: that of the plan that holds. */
struct forgery {
    const char *about;
    uint64_t version;
    int count; /* Of shards; 0: the true one. */
    bool first, second, again, ghost;
    int weight[2]; /* Of these; and the ghost's is the first one's. */
    const char *data, *shards;
};

/* clang-format off */
static const struct forgery forged[] = {
    {"all are nobody's", 9, 0, true, true, false, false, {1, 1}, "", "20*65535\n"},
    {"the same, with the number that holds", 0, 0, true, true, false, false, {1, 1}, "", "20*65535\n"},
    {"it has no members", 9, 0, false, false, false, false, {0, 0}, "", "20*65535\n"},
    {"one that is not there has all", 9, 0, false, false, false, true, {1, 1}, "", "20*0\n"},
    {"it has one that looks on, and is not there", 9, 0, false, false, false, true, {0, 0}, "", "20*65535\n"},
    {"one that is not there has nearly all", 9, 0, true, true, false, true, {2000000000, 0}, "", "10*0\n10*2\n"},
    {"all look on", 9, 0, true, true, false, false, {0, 0}, "", "20*65535\n"},
    {"the first has all", 9, 0, true, true, false, false, {1, 1}, "", "20*0\n"},
    {"and weighs as much", 9, 0, true, true, false, false, {1000, 1}, "", "20*0\n"},
    {"the second is missing", 9, 0, true, false, false, false, {1, 1}, "", "20*0\n"},
    {"one is named twice", 9, 0, true, true, true, false, {1, 1}, "", "7*0\n7*1\n6*2\n"},
    {"they say something else", 9, 0, true, true, false, false, {1, 1}, "evil:666", "10*0\n10*1\n"},
    {"the greatest number", UINT64_MAX / 16, 0, false, false, false, true, {1, 1}, "", "20*0\n"},
    {"2^32 - 1", UINT32_MAX, 0, false, false, false, true, {1, 1}, "", "20*0\n"},
    {"2^63 - 1, which is none", INT64_MAX, 0, true, true, false, false, {1, 1}, "", "10*0\n10*1\n"},
    {"another number of shards, for all", 9, 21, true, true, false, false, {1, 1}, "", "11*0\n10*1\n"},
    {"for nobody here", 9, 21, false, false, false, true, {1, 1}, "", "21*0\n"}};
/* clang-format on */
enum { FORGED = sizeof forged / sizeof forged[0] };

static char *name_of(struct team *t, int i)
{
    static char names[2][128];
    evzk_shards_member m;

    for (uint32_t k = 0; evzk_shards_member_at(t->v[i].a, k, &m); k++) {
        if (m.self)
            snprintf(names[i], sizeof names[i], "%s", m.node);
    }
    return names[i];
}

static void add_member(char *to, const char *name, int weight, const char *data)
{
    sprintf(to + strlen(to), "%s %d 0 %zu\n%s\n", name, weight, strlen(data),
            data);
}

static void forge(struct team *t, const struct forgery *f, char text[TEXT])
{
    static const char ghost[] =
        "00000000-0000-4000-8000-000000000000-n_0000000007";
    uint64_t version = f->version ? f->version : stats_of(&t->v[0]).plan;

    sprintf(text, "evzk-plan 1 %llu %d %d\n", (unsigned long long)version,
            f->count ? f->count : N,
            f->first + f->second + f->again + f->ghost);
    if (f->first)
        add_member(text, name_of(t, 0), f->weight[0], f->data);
    if (f->second)
        add_member(text, name_of(t, 1), f->weight[1], f->data);
    if (f->again)
        add_member(text, name_of(t, 0), f->weight[0], f->data);
    if (f->ghost)
        add_member(text, ghost, f->weight[0], f->data);
    strcat(text, f->shards);
}

static bool plan_says(struct team *t, const char *want)
{
    static char text[TEXT];
    int len = sizeof text - 1;

    memset(text, 0, sizeof text);
    ck_assert_int_eq(raw_get(op(), plan_path(t), text, &len, NULL), ZOK);
    return strncmp(text, want, sizeof text - 1) == 0;
}

/* Nobody has ended; nothing was lost. */
static void check_unharmed(const struct team *t)
{
    for (int i = 0; i < SHARD_MEMBERS; i++)
        ck_assert_int_eq(t->v[i].finals + t->v[i].lost, 0);
}

/* Nobody comes or goes: what was read is all there is to see it by. */
START_TEST(plan_is_forged)
{
    const evzk_shards_options opt = {.count = N};
    static char text[TEXT], path[64];
    struct team *t;
    uint64_t plan;

    snprintf(path, sizeof path, "/shards-forged-%d", _i);
    t = team_start(path, 3, 2, N);

    forge(t, &forged[_i], text);
    ck_assert_int_eq(raw_set(op(), plan_path(t), text, (int)strlen(text)), ZOK);
    WAIT(!plan_says(t, text));
    settle(t->v[0].s);
    settle(t->v[1].s);
    TEAM_RIGHT(t, 2);
    ck_assert_uint_eq(led_by(&t->v[0]), N / 2);
    plan = stats_of(&t->v[0]).plan;
    settle(t->v[0].s);
    ck_assert_uint_eq(stats_of(&t->v[0]).plan, plan); /* And that is all. */
    team_join(t, 2, &opt);
    TEAM_RIGHT(t, 3);
    check_unharmed(t);
    team_close(t);
}
END_TEST

/* A forged plan that could be the next one does no harm: all go where it says.
 */
START_TEST(plan_is_changed_well)
{
    static const struct forgery swapped = {
        "they change places", 9, 0, true, true, false, false, {1, 1}, "",
        "10*1\n10*0\n"};
    struct team *t = team_open("/shards-swapped", 2);
    static char text[TEXT];

    for (int i = 0; i < 2; i++)
        team_join(t, i, &(evzk_shards_options){.count = N});
    TEAM_RIGHT(t, 2);
    forge(t, &swapped, text);
    ck_assert_int_eq(raw_set(op(), plan_path(t), text, (int)strlen(text)), ZOK);
    WAIT(stats_of(&t->v[0]).plan == 9 && stats_of(&t->v[1]).plan == 9);
    TEAM_RIGHT(t, 2);
    ck_assert(evzk_shards_leading(t->v[1].a, 0));
    ck_assert(plan_says(t, text));
    check_unharmed(t);
    team_close(t);
}
END_TEST

/* A megabyte of text (0); deleted again and again (1); the plan of before the
 * second came (2). */
START_TEST(plan_is_spoilt_anyhow)
{
    enum { HUGE_TEXT = 1000000 };
    struct team *t = team_start("/shards-anyhow", 2, 1, N);
    static char old[TEXT], huge[HUGE_TEXT];
    int len = sizeof old - 1;

    ck_assert_int_eq(raw_get(op(), plan_path(t), old, &len, NULL), ZOK);
    team_join(t, 1, &(evzk_shards_options){.count = N});
    TEAM_RIGHT(t, 2);
    memset(huge, 'x', sizeof huge);
    if (_i == 0)
        ck_assert_int_eq(raw_set(op(), plan_path(t), huge, HUGE_TEXT), ZOK);
    for (int n = 0; _i == 1 && n < 10; n++)
        WAIT(raw_delete(op(), plan_path(t)) == ZOK);
    if (_i == 2)
        ck_assert_int_eq(raw_set(op(), plan_path(t), old, len), ZOK);
    WAIT(raw_exists(op(), plan_path(t), NULL) == ZOK && !plan_says(t, old) &&
         !plan_says(t, huge));
    TEAM_RIGHT(t, 2);
    check_unharmed(t);
    team_close(t);
}
END_TEST

/* ---- Copies of members' znodes, which no session owns ---- */

static void copy_member(const char *dir, int number, bool closed)
{
    struct ACL one = {ZOO_PERM_ADMIN | ZOO_PERM_DELETE, {"world", "anyone"}};
    struct ACL_vector acl = {1, &one};
    char path[256];

    snprintf(path, sizeof path, "%s/00000000-0000-4000-8000-%012d-n_%010d", dir,
             number, number);
    ck_assert_int_eq(raw_create_acl(op(), path, "1 0 0\n", 6, 0,
                                    closed ? &acl : &ZOO_OPEN_ACL_UNSAFE, NULL,
                                    0),
                     ZOK);
}

/* Before all others (0); the same, and it may not be read (1); more of them
 * than a plan has room for (2); behind all others (3).  They lead nothing, and
 * keep nobody from making the plans; whoever makes them may go. */
START_TEST(members_are_copies)
{
    const evzk_shards_options opt = {.count = N};
    int copies = _i == 2 ? 513 : 1;
    static char path[64];
    struct team *t;

    snprintf(path, sizeof path, "/shards-copies-%d", _i);
    t = team_open(path, 3);

    raw_mkdirs(op(), members_path(t));
    for (int n = 0; _i < 3 && n < copies; n++)
        copy_member(members_path(t), n, _i == 1);
    for (int i = 0; i < 2; i++) {
        team_join(t, i, &opt);
        TEAM_RIGHT(t, (uint32_t)i + 1);
    }
    if (_i == 3)
        copy_member(members_path(t), 2, false);
    member_leave(&t->v[0], 0);
    WAIT(shards_led(N) == N);
    TEAM_RIGHT(t, 1);
    team_join(t, 2, &opt);
    TEAM_RIGHT(t, 2);
    check_unharmed(t);
    raw_delete_tree(op(), members_path(t)); /* Ours, too: they join again. */
    WAIT(raw_count(op(), members_path(t)) == 2);
    TEAM_RIGHT(t, 2);
    team_close(t);
}
END_TEST

/* ---- ACLs that are set by mistake, and set right ---- */

static const char *member_path(struct team *t, int i)
{
    return node_path(members_path(t), name_of(t, i));
}

static void set_perms(const char *path, int perms)
{
    struct ACL one = {perms, {"world", "anyone"}};
    struct ACL_vector acl = {1, &one};

    ck_assert_int_eq(raw_set_acl(op(), path, &acl), ZOK);
}

static int troubled(const struct team *t)
{
    int n = 0;

    for (int i = 0; i < SHARD_MEMBERS; i++) {
        if (t->v[i].a && stats_of(&t->v[i]).trouble != EVZK_OK) {
            ck_assert_int_eq(stats_of(&t->v[i]).trouble, EVZK_ERR_NOAUTH);
            n++;
        }
    }
    return n;
}

/* The plan may not be read (0), nor written (1); the list of members not read
 * (2); nor the first one (3), the second (4), both (5); nothing of it all (6).
 * Meanwhile one joins, and all who were there connect anew. */
START_TEST(acl_is_mistaken)
{
    const int blind = ZOO_PERM_ALL & ~ZOO_PERM_READ;
    const evzk_shards_options opt = {.count = N};
    static char root[64];
    char path[5][256];
    struct proxy *proxy[2];
    struct team *t;

    snprintf(root, sizeof root, "/shards-acl-%d", _i);
    t = team_open(root, 0);
    for (int i = 0; i < 2; i++)
        proxy[i] = behind_proxy(t, i, SESSION_MS);
    peer_open(&t->v[2].p, the_server());
    t->sessions++;
    for (int i = 0; i < 2; i++) {
        team_join(t, i, &opt);
        TEAM_RIGHT(t, (uint32_t)i + 1);
    }
    strcpy(path[0], plan_path(t));
    strcpy(path[1], members_path(t));
    strcpy(path[2], member_path(t, 0));
    strcpy(path[3], member_path(t, 1));
    strcpy(path[4], t->path);
    for (int i = 0; i < 5; i++) {
        static const int closed[] = {1, 1, 2, 4, 8, 12, 31};

        if (closed[_i] & 1 << i)
            set_perms(path[i],
                      _i == 1 ? ZOO_PERM_ALL & ~ZOO_PERM_WRITE : blind);
    }
    for (int i = 0; i < 2; i++)
        proxy_cut(proxy[i]);
    team_join(t, 2, &opt);
    WAIT(troubled(t) > 0);
    for (int i = 0; i < 2; i++) {
        WAIT(evzk_session_connected(t->v[i].s));
        settle(t->v[i].s);
    }
    WAIT(shards_led(N) == N);
    check_unharmed(t);
    for (int i = 4; i >= 0; i--)
        set_perms(path[i], ZOO_PERM_ALL);
    TEAM_RIGHT(t, 3);
    WAIT(troubled(t) == 0);
    check_unharmed(t);
    team_close(t);
}
END_TEST

/* The member may not stand for a shard, nor acknowledge another: both are told
 * once, and tried again when that was put right, though there is no other plan.
 */
START_TEST(shard_is_refused_for_a_while)
{
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_open("/shards-refused-a-while", 1);
    struct member *m = &t->v[0];
    char path[128];

    strcpy(path, shard_path(t, 3));
    raw_mkdirs(op(), path);
    set_perms(path, ZOO_PERM_ALL & ~ZOO_PERM_CREATE);
    raw_mkdirs(op(), "/shards-refused-a-while/shard-4/leader/child");
    team_join(t, 0, &opt);
    WAIT(m->failed == 1 && m->refused == 1 && led_by(m) == N - 2);
    run_for(harness_base(), 6000); /* Tried again, and refused again. */
    ck_assert_int_eq(m->failed + m->refused, 2);
    set_perms(path, ZOO_PERM_ALL);
    raw_delete_tree(op(), "/shards-refused-a-while/shard-4/leader");
    TEAM_RIGHT(t, 1);
    ck_assert_uint_eq(stats_of(m).plan, 1);
    ck_assert_int_eq(m->failed + m->refused, 2);
    team_close(t);
}
END_TEST

/* ---- The end ---- */

static void free_it(struct member *m) { member_free(m); }

static void close_it(struct member *m)
{
    ck_assert_int_eq(evzk_session_close(m->s), EVZK_OK);
}

/* The session is closed: by a call (0), in a callback of a shard (1), in one of
 * all (2); every shard that was led hears its end, and then the object does.
 * It is freed in the first of these callbacks (3): no other one comes. */
START_TEST(each_end_is_told)
{
    const evzk_shards_options opt = {.count = N};
    static char path[64];
    struct member *m;
    struct team *t;

    snprintf(path, sizeof path, "/shards-ends-%d", _i);
    t = team_start(path, 3, 2, N);
    m = &t->v[1];

    if (_i == 1 || _i == 2) {
        m->act = close_it;
        m->at_shard = _i == 1 ? EVZK_ELECTION_RESIGNED : 0;
        m->at_all = _i == 2 ? EVZK_SHARDS_PLANNED : 0;
        team_join(t, 2, &opt);
        WAIT(m->acted);
    } else {
        m->act = _i == 3 ? free_it : NULL;
        m->at_shard = _i == 3 ? EVZK_ELECTION_LOST : 0;
        close_it(m);
    }
    if (_i == 3) {
        WAIT(m->acted);
        WAIT(m->p.rec.finals == 1);
        ck_assert_int_eq(m->lost, 1);
        ck_assert_int_eq(m->finals, 0);
    } else {
        wait_failed(m, EVZK_ERR_CLOSED);
        ck_assert_int_eq(m->lost, m->elected - m->resigned);
        ck_assert_int_eq(m->lost_rc, EVZK_ERR_CLOSED);
        WAIT(m->p.rec.finals == 1);
    }
    TEAM_RIGHT(t, _i == 1 || _i == 2 ? 2 : 1);
    team_close(t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shards_forged");
    TCase *tests = lock_tests(suite, "shards_forged", 60000);

    tcase_add_loop_test(tests, plan_is_forged, 0, FORGED);
    tcase_add_test(tests, plan_is_changed_well);
    tcase_add_loop_test(tests, plan_is_spoilt_anyhow, 0, 3);
    tcase_add_loop_test(tests, members_are_copies, 0, 4);
    tcase_add_loop_test(tests, acl_is_mistaken, 0, 7);
    tcase_add_test(tests, shard_is_refused_for_a_while);
    tcase_add_loop_test(tests, each_end_is_told, 0, 4);
    return lock_suite_run(suite);
}
