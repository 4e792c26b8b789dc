/*
 * Real servers whose watches tell nothing: a znode changes while it may not be
 * read, or the servers were restored from an older state.
 */
#define _GNU_SOURCE 1
#include "test_lock.h"

/* What a follower said last. */
struct said {
    int told, ended;
    bool exists;
    size_t len;
    char data[16];
};

static void on_follower(evzk_value_follower *f, evzk_value_follower_event event,
                        int rc, const evzk_value *value, void *arg)
{
    struct said *s = arg;

    (void)f;
    (void)rc;
    if (evzk_value_follower_event_is_final(event)) {
        s->ended++;
        return;
    }
    s->told++;
    s->exists = value->exists;
    s->len = value->len;
    ck_assert_uint_lt(value->len, sizeof s->data);
    memset(s->data, 0, sizeof s->data);
    if (value->len)
        memcpy(s->data, value->data, value->len);
}

static evzk_value_follower *follow(struct peer *p, const char *path,
                                   struct said *s)
{
    evzk_value_follower *f;

    memset(s, 0, sizeof *s);
    ck_assert_int_eq(evzk_value_follow(p->s, path, NULL, on_follower, s, &f),
                     EVZK_OK);
    WAIT(s->told > 0);
    return f;
}

static void stop(evzk_value_follower *f, const struct said *s)
{
    ck_assert_int_eq(s->ended, 0);
    evzk_value_follower_free(f);
}

/* Everybody may do this to a znode. */
static void allow(const char *path, int perms)
{
    static char world[] = "world", anyone[] = "anyone";
    struct ACL one = {perms, {world, anyone}};
    struct ACL_vector all = {1, &one};

    ck_assert_int_eq(raw_set_acl(op(), path, &all), ZOK);
}

static bool says(const struct said *s, const char *text)
{
    return s->exists && strcmp(s->data, text) == 0;
}

/* No server sends an event for this. */
START_TEST(changed_unseen)
{
    const char *path = "/changed-unseen";
    evzk_value_follower *f;
    struct said s;
    struct peer p;

    ck_assert_int_eq(raw_create(op(), path, "first", 5, 0, NULL, 0), ZOK);
    peer_short(&p, the_server());
    f = follow(&p, path, &s);
    ck_assert(says(&s, "first"));
    allow(path, ZOO_PERM_ALL & ~ZOO_PERM_READ);
    ck_assert_int_eq(raw_set(op(), path, "second", 6), ZOK);
    allow(path, ZOO_PERM_ALL);
    WAIT(says(&s, "second"));
    allow(path, ZOO_PERM_ALL & ~ZOO_PERM_READ);
    ck_assert_int_eq(raw_delete(op(), path), ZOK);
    WAIT(!s.exists);
    ck_assert_int_eq(raw_create(op(), path, "third", 5, 0, NULL, 0), ZOK);
    WAIT(says(&s, "third"));
    stop(f, &s);
    peer_close(&p);
    raw_delete_tree(op(), path);
}
END_TEST

static void on_member(evzk_member *d, evzk_member_event event, int rc,
                      void *arg)
{
    (void)d;
    (void)event;
    (void)rc;
    (void)arg;
}

/* One member believes that it has the name, and its session has the znode. */
static bool one_has(const char *name, const evzk_member *m,
                    const struct peer *p, const evzk_member *rival,
                    const struct peer *q)
{
    bool first = evzk_member_joined(m);
    struct Stat stat;

    return first != evzk_member_joined(rival) &&
           raw_exists(op(), name, &stat) == ZOK &&
           stat.ephemeralOwner == evzk_session_id(first ? p->s : q->s);
}

/* The member's znode and its claim go unseen, and a rival takes the name. */
START_TEST(member_replaced_unseen)
{
    const char *group = "/member-unseen", *name = "/member-unseen/m",
               *claim = "/member-unseen/.evzk/m";
    evzk_member *m, *rival;
    struct peer p, q;

    peer_short(&p, the_server());
    peer_short(&q, the_server());
    ck_assert_int_eq(
        evzk_group_join(p.s, group, "m", NULL, on_member, NULL, &m), EVZK_OK);
    WAIT(evzk_member_joined(m));
    allow(name, ZOO_PERM_ALL & ~ZOO_PERM_READ);
    allow(claim, ZOO_PERM_ALL & ~ZOO_PERM_READ);
    ck_assert_int_eq(raw_delete_both(op(), name, claim), ZOK);
    ck_assert_int_eq(
        evzk_group_join(q.s, group, "m", NULL, on_member, NULL, &rival),
        EVZK_OK);
    WAIT(one_has(name, m, &p, rival, &q));
    evzk_member_free(m);
    evzk_member_free(rival);
    peer_close(&p);
    peer_close(&q);
    raw_delete_tree(op(), group);
}
END_TEST

static void data_folder(const struct zk *zk, const char *command)
{
    char text[600];

    snprintf(text, sizeof text, command, zk_folder(zk), zk_folder(zk));
    ck_assert_int_eq(system(text), 0);
}

static struct raw *operator_of(const struct zk *zk)
{
    struct raw *r = raw_open(zk_server(zk, 0), OPERATOR_MS, NULL);

    raw_drive(r, harness_base());
    return r;
}

/* One session is in the older state, too, and lives on; the other is not. */
START_TEST(restored)
{
    const char *path = "/restored";
    struct zk *zk = zk_start(NULL);
    struct raw *r = operator_of(zk);
    evzk_value_follower *f, *g;
    evzk_session_options opt = {.timeout_ms = 30000};
    struct said s, t;
    struct peer p, q;

    ck_assert_int_eq(raw_create(r, path, "old", 3, 0, NULL, 0), ZOK);
    peer_start(&p, zk_server(zk, 0), &opt);
    f = follow(&p, path, &s);
    raw_abandon(r);
    zk_kill(zk, 0);
    data_folder(zk, "cp -a %s/0/data %s/older");
    zk_revive(zk, 0);
    zk_wait(zk, 0);
    WAIT(evzk_session_connected(p.s));
    r = operator_of(zk);
    peer_start(&q, zk_server(zk, 0), &opt);
    g = follow(&q, path, &t);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(raw_set(r, path, "lost", 4), ZOK);
    WAIT(says(&s, "lost") && says(&t, "lost"));
    raw_abandon(r);
    zk_kill(zk, 0);
    data_folder(zk, "cd %s && rm -rf 0/data && mv older 0/data # %s");
    zk_revive(zk, 0);
    WAIT(says(&s, "old") && says(&t, "old"));
    r = operator_of(zk);
    ck_assert_int_eq(raw_set(r, path, "new", 3), ZOK);
    WAIT(says(&s, "new") && says(&t, "new"));
    stop(f, &s);
    stop(g, &t);
    raw_close(r);
    peer_close(&p);
    peer_close(&q);
    zk_stop(zk);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("followed");
    TCase *all = lock_tests(suite, "all", 120000);

    tcase_add_test(all, changed_unseen);
    tcase_add_test(all, member_replaced_unseen);
    tcase_add_test(all, restored);
    return lock_suite_run(suite);
}
