/* Requests at which the connection ends: what is counted of them, without any
 * connection. */
#include "unit_dir.h"

#include "evzk/error.h"
#include "lib/request/suspect.h"

enum { PROOF = 5, ASKED = 20 };

static struct evzk__core s;

/* What a machine asks for, a delete. */
static struct evzk__request request(void)
{
    return (struct evzk__request){.op = EVZK__DELETE,
                                  .dir = evzk__dir_get(&s, "/a", "")};
}

static void set_up(void)
{
    unit_open(&s);
    evzk__requests_init(&s.requests);
}

static void tear_down(struct evzk__request *r) { evzk__dir_put(&s, r->dir); }

/* The request is sent, with others or alone, and the connection ends. */
static int lose(struct evzk__request *r, bool alone)
{
    int rc;

    r->blamed = 0;
    s.requests.alone = alone ? r : NULL;
    rc = evzk__suspect_lost(&s, r);
    evzk__suspect_back(&s, r);
    evzk__suspects_cut(&s);
    return rc;
}

static void answer(struct evzk__request *r, bool alone)
{
    r->blamed = 0;
    s.requests.alone = alone ? r : NULL;
    evzk__suspect_back(&s, r);
}

START_TEST(test_proof)
{
    struct evzk__request r;

    set_up();
    r = request();
    ck_assert_int_eq(lose(&r, false), EVZK_ERR_CONNLOSS);
    ck_assert(!evzk__is_suspect(&r));
    ck_assert_int_eq(lose(&r, false), EVZK_ERR_CONNLOSS);
    ck_assert(evzk__is_suspect(&r));
    ck_assert_int_eq(lose(&r, true), EVZK_ERR_CONNLOSS);
    ck_assert_int_eq(lose(&r, true), EVZK_ERR_CONNLOSS);
    ck_assert_int_eq(lose(&r, true), EVZK_ERR_TOOLARGE);
    ck_assert_int_eq(lose(&r, true), EVZK_ERR_TOOLARGE); /* Asked again. */
    tear_down(&r);
}
END_TEST

/* With others it is never proved, and each of its parts counts once. */
START_TEST(test_no_proof_with_others)
{
    struct evzk__request r;

    set_up();
    r = request();
    for (int i = 0; i < 10 * PROOF; i++)
        ck_assert_int_eq(lose(&r, false), EVZK_ERR_CONNLOSS);
    answer(&r, false);
    for (int i = 0; i < PROOF; i++)
        evzk__suspect_lost(&s, &r); /* One connection, and many parts. */
    ck_assert(!evzk__is_suspect(&r));
    tear_down(&r);
}
END_TEST

START_TEST(test_answer_clears)
{
    struct evzk__request r;

    set_up();
    r = request();
    for (int i = 1; i < PROOF; i++)
        ck_assert_int_eq(lose(&r, i > 2), EVZK_ERR_CONNLOSS);
    answer(&r, true);
    ck_assert(!evzk__is_suspect(&r));
    ck_assert_int_eq(lose(&r, false), EVZK_ERR_CONNLOSS);
    ck_assert(!evzk__is_suspect(&r));
    tear_down(&r);
}
END_TEST

/* What its owner asks for next is like it, and is another. */
START_TEST(test_begins_anew)
{
    struct evzk__request r;

    set_up();
    r = request();
    for (int i = 1; i <= PROOF; i++)
        lose(&r, i > 2);
    evzk__suspect_forget(&r);
    ck_assert(!evzk__is_suspect(&r));
    for (int i = 1; i < PROOF; i++)
        ck_assert_int_eq(lose(&r, i > 2), EVZK_ERR_CONNLOSS);
    ck_assert_int_eq(lose(&r, true), EVZK_ERR_TOOLARGE);
    tear_down(&r);
}
END_TEST

/* Between two losses its owner asks what became of the first. */
START_TEST(test_another_in_between)
{
    struct evzk__request r;

    set_up();
    r = request();
    for (int i = 1; i < PROOF; i++) {
        ck_assert_int_eq(lose(&r, i > 2), EVZK_ERR_CONNLOSS);
        r.op = EVZK__LIST;
        ck_assert(!evzk__is_suspect(&r));
        answer(&r, false);
        r.op = EVZK__DELETE;
    }
    ck_assert_int_eq(lose(&r, true), EVZK_ERR_TOOLARGE);
    tear_down(&r);
}
END_TEST

/* The owner asks for something else, and is answered: as often as it may be,
 * that says nothing of the lost request.  Its own answer does. */
START_TEST(test_forgets)
{
    struct evzk__request r;

    set_up();
    r = request();
    lose(&r, false);
    lose(&r, false);
    r.op = EVZK__LIST;
    for (int i = 0; i < ASKED; i++)
        answer(&r, false);
    r.op = EVZK__DELETE;
    ck_assert(evzk__is_suspect(&r));
    answer(&r, true);
    ck_assert(!evzk__is_suspect(&r));
    tear_down(&r);
}
END_TEST

/* A read that was proved is not sent again soon, whoever asks: a write is. */
START_TEST(test_read_is_barred)
{
    struct evzk__request r, other;

    set_up();
    r = request();
    for (int i = 1; i <= PROOF; i++)
        lose(&r, i > 2);
    ck_assert(!evzk__suspect_is_barred(&s, &r));
    r.losses = 0;
    r.op = EVZK__LIST;
    other = r;
    for (int i = 1; i <= PROOF; i++) {
        ck_assert(!evzk__suspect_is_barred(&s, &r));
        lose(&r, i > 2);
    }
    ck_assert(evzk__suspect_is_barred(&s, &r));
    ck_assert(evzk__suspect_is_barred(&s, &other));
    other.losses = 0;
    evzk__suspect_asked(&s, &other); /* Another machine: it fails, unsent. */
    ck_assert(!evzk__is_suspect(&other));
    evzk__suspect_unheard(&other);
    evzk__suspect_back(&s, &other);
    evzk__suspect_unheard(&r);
    evzk__suspect_back(&s, &r);
    ck_assert(evzk__suspect_is_barred(&s, &other));
    answer(&r, true); /* On a connection that was open before, say. */
    ck_assert(!evzk__suspect_is_barred(&s, &other));
    tear_down(&r);
}
END_TEST

/* The owner asks for something else from then on, and that is lost, too. */
START_TEST(test_blames_another)
{
    struct evzk__request r;
    int n = 0;

    set_up();
    r = request();
    lose(&r, false);
    lose(&r, false);
    r.op = EVZK__LIST;
    while (!evzk__is_suspect(&r) && n++ < ASKED)
        ck_assert_int_eq(lose(&r, false), EVZK_ERR_CONNLOSS);
    ck_assert(evzk__is_suspect(&r));
    r.op = EVZK__DELETE;
    ck_assert(!evzk__is_suspect(&r));
    tear_down(&r);
}
END_TEST

/* A suspect that is answered sets others free: one, then two, then four. */
START_TEST(test_trust_grows)
{
    struct evzk__request r;

    set_up();
    r = request();
    for (uint32_t n = 1, i = 0; i < 20; i++) {
        lose(&r, false);
        s.requests.trusted = n == 1 ? 0 : n / 2;
        answer(&r, true);
        ck_assert_uint_eq(s.requests.to_release, n);
        n = n < 1024 ? 2 * n : 1024;
    }
    lose(&r, false);
    ck_assert_uint_eq(s.requests.trusted, 0);
    tear_down(&r);
}
END_TEST

/* A suspect waits until nothing is on its way, and the connection has answered
 * something; and all others have their time. */
START_TEST(test_its_turn)
{
    struct evzk__request r;

    set_up();
    r = request();
    ck_assert(!evzk__suspects_may_go(&s));
    s.requests.heard = true;
    ck_assert(evzk__suspects_may_go(&s));
    s.requests.in_flight = 1;
    ck_assert(!evzk__suspects_may_go(&s));
    evzk__suspect_hold(&s, &r);
    ck_assert(r.held && !evzk__suspects_due(&s));
    s.requests.alone_at = 0;
    ck_assert(evzk__suspects_due(&s));
    s.requests.alone = &r;
    evzk__suspect_left(&s, &r);
    ck_assert(!s.requests.alone && !evzk__suspects_due(&s));
    tear_down(&r);
}
END_TEST

/* A read that several share is lost for all of them. */
START_TEST(test_shared)
{
    struct evzk__request r, other;

    set_up();
    r = request();
    other = request();
    for (int i = 0; i < 2; i++) {
        lose(&r, false);
        evzk__suspect_shared(&r, &other);
    }
    ck_assert(evzk__is_suspect(&other));
    tear_down(&other);
    tear_down(&r);
}
END_TEST

UNIT_MAIN("suspect", test_proof, test_no_proof_with_others, test_answer_clears,
          test_begins_anew, test_another_in_between, test_forgets,
          test_read_is_barred, test_blames_another, test_trust_grows,
          test_its_turn, test_shared)
