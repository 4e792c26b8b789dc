/*
 * Groups on a real server: thousands of members at once, with a view of all of
 * them; a member that comes back when its session has ended, or an operator has
 * deleted its znode; an identity that goes to the next process.
 */
#define _GNU_SOURCE 1
#include "test_lock.h"

/* A member, and what it said. */
struct one {
    evzk_member *m;
    int joined, updated, conflicts, rejoining, finals;
    int rc;
};

static void on_member(evzk_member *m, evzk_member_event event, int rc,
                      void *arg)
{
    struct one *o = arg;

    ck_assert_ptr_eq(m, o->m);
    o->joined += event == EVZK_MEMBER_JOINED;
    o->updated += event == EVZK_MEMBER_UPDATED;
    o->conflicts += event == EVZK_MEMBER_CONFLICT;
    o->rejoining += event == EVZK_MEMBER_REJOINING;
    o->finals += evzk_member_event_is_final(event);
    o->rc = rc;
    if (event == EVZK_MEMBER_JOINED)
        ck_assert(evzk_member_joined(m));
}

static void join(struct one *o, evzk_session *s, const char *group,
                 const char *name, const char *data)
{
    evzk_member_options opt = {.data = data, .data_len = strlen(data)};

    *o = (struct one){0};
    ck_assert_int_eq(evzk_group_join(s, group, name, &opt, on_member, o, &o->m),
                     EVZK_OK);
}

static void leave(struct one *o)
{
    ck_assert_int_eq(evzk_member_leave(o->m), EVZK_OK);
    ck_assert(!evzk_member_joined(o->m));
    WAIT(o->finals == 1);
    ck_assert_int_eq(o->rc, EVZK_OK);
    evzk_member_free(o->m);
    o->m = NULL;
}

/* A view, and how often it said what. */
struct view {
    evzk_group_view *v;
    int joined, left, changed, ready, ended;
};

static void on_view(evzk_group_view *v, evzk_group_event event, int rc,
                    const evzk_group_member *m, void *arg)
{
    struct view *w = arg;

    (void)rc;
    ck_assert_ptr_eq(v, w->v);
    ck_assert_int_eq(m != NULL, event <= EVZK_GROUP_CHANGED);
    if (m)
        ck_assert(m->name[0] != '.');
    w->joined += event == EVZK_GROUP_JOINED;
    w->left += event == EVZK_GROUP_LEFT;
    w->changed += event == EVZK_GROUP_CHANGED;
    w->ready += event == EVZK_GROUP_READY;
    w->ended += event == EVZK_GROUP_ENDED;
}

static void watch(struct view *w, evzk_session *s, const char *group)
{
    *w = (struct view){0};
    ck_assert_int_eq(evzk_group_watch(s, group, NULL, on_view, w, &w->v),
                     EVZK_OK);
    WAIT(w->ready == 1);
    ck_assert(evzk_group_view_ready(w->v));
}

/* ---- Many ---- */

enum { SESSIONS = 10, EACH = 200 };

static bool all_have(const struct one *v, int n, bool final)
{
    for (int i = 0; i < n; i++) {
        if (final ? !v[i].finals : !v[i].joined)
            return false;
    }
    return true;
}

static uint64_t requests_of_all(struct peer *p)
{
    uint64_t n = 0;

    for (int i = 0; i < SESSIONS; i++)
        n += requests_of(p[i].s);
    return n;
}

static void check_view(struct view *w, int n)
{
    evzk_group_member m;
    char last[64] = "";
    int found = 0;
    bool ok;

    WAIT(evzk_group_view_count(w->v) == (size_t)n);
    for (ok = evzk_group_view_first(w->v, &m); ok;
         ok = evzk_group_view_next(w->v, &m), found++) {
        ck_assert_int_lt(strcmp(last, m.name), 0);
        ck_assert_uint_eq(m.data_len, 4);
        ck_assert_int_eq(memcmp(m.data, "here", 4), 0);
        ck_assert_int_ne(m.session, 0);
        snprintf(last, sizeof last, "%s", m.name);
    }
    ck_assert_int_eq(found, n);
    ck_assert_int_eq(w->joined, n);
}

START_TEST(thousands_at_once)
{
    enum { MANY = SESSIONS * EACH };
    struct one *v = calloc(MANY, sizeof *v);
    struct peer p[SESSIONS], viewer;
    struct view w;
    uint64_t requests;
    int64_t ms, left_ms;
    char name[64];

    ck_assert_ptr_nonnull(v);
    for (int i = 0; i < SESSIONS; i++)
        peer_open(&p[i], the_server());
    peer_open(&viewer, the_server());
    watch(&w, viewer.s, "/many");
    requests = requests_of_all(p);
    ms = now_ms();
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "member-%d", i);
        join(&v[i], p[i % SESSIONS].s, "/many", name, "here");
    }
    WAIT(all_have(v, MANY, false));
    ms = now_ms() - ms;
    requests = requests_of_all(p) - requests;
    check_view(&w, MANY);
    ck_assert_int_eq(raw_count(op(), "/many"), MANY + 1);
    left_ms = now_ms();
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(evzk_member_leave(v[i].m), EVZK_OK);
    WAIT(all_have(v, MANY, true));
    left_ms = now_ms() - left_ms;
    printf("group members=%d sessions=%d joined_ms=%d requests_each=%.1f "
           "left_ms=%d\n",
           MANY, SESSIONS, (int)ms, (double)requests / MANY, (int)left_ms);
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(v[i].joined, 1);
        ck_assert_int_eq(v[i].conflicts + v[i].rejoining, 0);
        ck_assert_int_eq(v[i].rc, EVZK_OK);
        evzk_member_free(v[i].m);
    }
    ck_assert_uint_le(requests, (uint64_t)MANY * 6);
    WAIT(evzk_group_view_count(w.v) == 0);
    ck_assert_int_eq(w.left, MANY);
    evzk_group_view_free(w.v);
    nothing_left("/many/.evzk", viewer.s);
    for (int i = 0; i < SESSIONS; i++)
        peer_close(&p[i]);
    peer_close(&viewer);
    free(v);
}
END_TEST

/* ---- Healing ---- */

START_TEST(comes_back)
{
    struct peer p, viewer;
    struct view w;
    struct one o;
    evzk_group_member m;
    uint64_t first, second;

    peer_open(&p, the_server());
    peer_open(&viewer, the_server());
    watch(&w, viewer.s, "/back");
    join(&o, p.s, "/back", "me", "one");
    WAIT(o.joined == 1);
    first = evzk_member_token(o.m);
    ck_assert_int_eq(raw_delete(op(), "/back/me"), ZOK);
    WAIT(o.joined == 2);
    ck_assert_int_eq(o.rejoining, 1);
    second = evzk_member_token(o.m);
    ck_assert_uint_gt(second, first);
    ck_assert_int_eq(evzk_member_update(o.m, "two", 3), EVZK_OK);
    ck_assert_int_eq(evzk_member_update(o.m, "three", 5), EVZK_OK);
    WAIT(o.updated == 1);
    raw_expire(the_server(), evzk_session_id(p.s));
    WAIT(o.joined == 3);
    ck_assert_int_eq(o.rejoining, 2);
    ck_assert_uint_gt(evzk_member_token(o.m), second);
    WAIT(evzk_group_view_find(w.v, "me", &m) &&
         m.token == evzk_member_token(o.m));
    ck_assert_uint_eq(m.data_len, 5);
    ck_assert_int_eq(memcmp(m.data, "three", 5), 0);
    ck_assert_int_eq(m.session, evzk_session_id(p.s));
    ck_assert_int_eq(w.joined, w.left + 1);
    leave(&o);
    WAIT(evzk_group_view_count(w.v) == 0);
    ck_assert_int_eq(evzk_group_view_cancel(w.v), EVZK_OK);
    ck_assert_int_eq(evzk_group_view_cancel(w.v), EVZK_ERR_STATE);
    WAIT(w.ended == 1);
    evzk_group_view_free(w.v);
    nothing_left("/back/.evzk", p.s);
    peer_close(&p);
    peer_close(&viewer);
}
END_TEST

static bool holds(const char *path, const char *data, int64_t owner)
{
    struct Stat stat = {0};
    char text[16];
    int len = sizeof text;

    return raw_get(op(), path, text, &len, &stat) == ZOK &&
           len == (int)strlen(data) && memcmp(text, data, strlen(data)) == 0 &&
           stat.ephemeralOwner == owner;
}

/* A persistent ephemeral node, as other libraries call it: one znode at any
 * path, which comes again with its latest data, whatever befalls it. */
START_TEST(persistent_node)
{
    const char *path = "/services/web/primary/address";
    struct peer p;
    struct one o;

    peer_open(&p, the_server());
    join(&o, p.s, "/services/web/primary", "address", "one");
    WAIT(o.joined == 1);
    ck_assert(holds(path, "one", evzk_session_id(p.s)));
    ck_assert_int_eq(evzk_member_update(o.m, "two", 3), EVZK_OK);
    WAIT(o.updated == 1);
    ck_assert_int_eq(raw_delete(op(), path), ZOK);
    WAIT(o.joined == 2);
    ck_assert(holds(path, "two", evzk_session_id(p.s)));
    ck_assert_int_eq(raw_set(op(), path, "three", 5), ZOK);
    WAIT(holds(path, "two", evzk_session_id(p.s)));
    raw_expire(the_server(), evzk_session_id(p.s));
    WAIT(o.joined == 3);
    ck_assert(holds(path, "two", evzk_session_id(p.s)));
    ck_assert_int_eq(
        raw_delete_both(op(), path, "/services/web/primary/.evzk/address"),
        ZOK);
    WAIT(o.joined == 4);
    ck_assert(holds(path, "two", evzk_session_id(p.s)));
    leave(&o);
    ck_assert_int_eq(raw_exists(op(), path, NULL), ZNONODE);
    nothing_left("/services/web/primary/.evzk", p.s);
    peer_close(&p);
}
END_TEST

/* Two of the same name: the second one waits for the session of the first. */
START_TEST(goes_to_the_next)
{
    struct peer p, q;
    struct one first, second;

    peer_open(&p, the_server());
    peer_open(&q, the_server());
    join(&first, p.s, "/next", "me", "first");
    WAIT(first.joined == 1);
    join(&second, q.s, "/next", "me", "second");
    WAIT(second.conflicts == 1);
    ck_assert_str_eq(evzk_member_state(second.m), "WAITING");
    ck_assert_int_eq(second.joined, 0);
    evzk_member_free(first.m); /* In the background. */
    WAIT(second.joined == 1);
    leave(&second);
    nothing_left("/next/.evzk", q.s);
    peer_close(&p);
    peer_close(&q);
}
END_TEST

/* A znode that was made by hand is nobody's to delete. */
START_TEST(made_by_hand)
{
    struct peer p;
    struct one o;

    peer_open(&p, the_server());
    raw_create(op(), "/hand", "", 0, 0, NULL, 0);
    ck_assert_int_eq(raw_create(op(), "/hand/me", "mine", 4, 0, NULL, 0), ZOK);
    join(&o, p.s, "/hand", "me", "his");
    WAIT(o.conflicts == 1);
    leave(&o);
    ck_assert_int_eq(raw_exists(op(), "/hand/me", NULL), ZOK);
    join(&o, p.s, "/hand", "me", "his");
    WAIT(o.conflicts == 1);
    ck_assert_int_eq(raw_delete(op(), "/hand/me"), ZOK);
    WAIT(o.joined == 1);
    leave(&o);
    nothing_left("/hand/.evzk", p.s);
    peer_close(&p);
}
END_TEST

/* All znodes of a member have its ACL: nobody else may change or delete them.
 */
START_TEST(has_its_acl)
{
    const evzk_acl own = {EVZK_PERM_ALL, "auth", ""};
    const evzk_member_options opt = {
        .data = "here", .data_len = 4, .acl = &own, .acl_count = 1};
    struct one o = {0};
    struct peer p;

    peer_open(&p, the_server());
    ck_assert_int_eq(evzk_session_add_auth(p.s, "digest", "me:secret", 9),
                     EVZK_OK);
    ck_assert_int_eq(
        evzk_group_join(p.s, "/sealed", "a", &opt, on_member, &o, &o.m),
        EVZK_OK);
    WAIT(o.joined == 1);
    ck_assert_int_eq(raw_set(op(), "/sealed/a", "x", 1), ZNOAUTH);
    ck_assert_int_eq(raw_set(op(), "/sealed/.evzk/a", "x", 1), ZNOAUTH);
    ck_assert_int_eq(raw_delete(op(), "/sealed/a"), ZNOAUTH);
    ck_assert_int_eq(evzk_member_update(o.m, "gone", 4), EVZK_OK);
    WAIT(o.updated == 1);
    leave(&o);
    peer_close(&p);
}
END_TEST

/* ---- Refused ---- */

static void set_perms(const char *path, uint32_t perms)
{
    struct ACL acl = {(int32_t)perms, ZOO_ANYONE_ID_UNSAFE};
    struct ACL_vector v = {1, &acl};

    ck_assert_int_eq(raw_set_acl(op(), path, &v), ZOK);
}

/* A first join that is refused fails.  A member that has joined waits until it
 * may join again, and says so. */
START_TEST(refused_for_a_while)
{
    struct peer p;
    struct one o, late;

    peer_open(&p, the_server());
    join(&o, p.s, "/shut", "me", "one");
    WAIT(o.joined == 1);
    set_perms("/shut/.evzk", EVZK_PERM_ALL & ~(uint32_t)EVZK_PERM_CREATE);
    join(&late, p.s, "/shut", "late", "one");
    WAIT(late.finals == 1);
    ck_assert_int_eq(late.rc, EVZK_ERR_NOAUTH);
    evzk_member_free(late.m);
    ck_assert_int_eq(raw_delete_both(op(), "/shut/me", "/shut/.evzk/me"), ZOK);
    WAIT(o.rejoining == 2);
    ck_assert_int_eq(o.rc, EVZK_ERR_NOAUTH);
    ck_assert_str_eq(evzk_member_state(o.m), "REFUSED");
    raw_expire(the_server(), evzk_session_id(p.s));
    ck_assert_int_eq(evzk_member_update(o.m, "two", 3), EVZK_OK);
    set_perms("/shut/.evzk", EVZK_PERM_ALL);
    WAIT(o.joined == 2 && o.updated == 1);
    ck_assert_int_eq(o.finals, 0);
    ck_assert(holds("/shut/me", "two", evzk_session_id(p.s)));
    leave(&o);
    peer_close(&p);
}
END_TEST

/* An update that may not be written waits, and the member stays. */
START_TEST(update_refused_for_a_while)
{
    struct peer p;
    struct one o;

    peer_open(&p, the_server());
    join(&o, p.s, "/mute", "me", "one");
    WAIT(o.joined == 1);
    set_perms("/mute/me", EVZK_PERM_READ | EVZK_PERM_ADMIN);
    ck_assert_int_eq(evzk_member_update(o.m, "two", 3), EVZK_OK);
    WAIT(strcmp(evzk_member_state(o.m), "UPDATING") == 0);
    WAIT(strcmp(evzk_member_state(o.m), "JOINED") == 0);
    ck_assert(evzk_member_joined(o.m));
    set_perms("/mute/me", EVZK_PERM_ALL);
    WAIT(o.updated == 1);
    ck_assert_int_eq(o.rc, EVZK_OK);
    ck_assert_int_eq(o.rejoining, 0);
    leave(&o);
    peer_close(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("group");
    TCase *many = lock_tests(suite, "many", 120000);
    TCase *few = lock_tests(suite, "few", 60000);

    tcase_add_test(many, thousands_at_once);
    tcase_add_test(few, comes_back);
    tcase_add_test(few, persistent_node);
    tcase_add_test(few, goes_to_the_next);
    tcase_add_test(few, made_by_hand);
    tcase_add_test(few, has_its_acl);
    tcase_add_test(few, refused_for_a_while);
    tcase_add_test(few, update_refused_for_a_while);
    return lock_suite_run(suite);
}
