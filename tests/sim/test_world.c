/* What the world's memory promises.  Where one of these fails, runs are no
 * longer repeated alike, states that differ are taken for one, or the library's
 * mistakes in the use of memory are not seen. */
#include "test_world.h"

#include "area.h"

START_TEST(foreign_free_is_a_violation)
{
    void *p;

    begin();
    p = sim_alloc(0, 40);
    sim_free(1, p);
    must_be_violated();
    ck_assert_uint_eq(sim_live(0), 1);
    sim_free(0, p);
    ck_assert_uint_eq(sim_live(0), 0);
    sim_free(0, NULL);
    all_is_well();
}
END_TEST

START_TEST(double_free_is_a_violation)
{
    void *p;

    if (!sim_can_save()) /* The sanitizers say it. */
        return;
    begin();
    p = sim_alloc(0, 40);
    sim_free(0, p);
    all_is_well();
    sim_free(0, p);
    must_be_violated();
    p = sim_alloc(0, 40);
    sim_free(0, (char *)p + 16);
    must_be_violated();
    ck_assert_uint_eq(sim_live(0), 1);
}
END_TEST

START_TEST(write_to_freed_memory_is_a_violation)
{
    unsigned char *p, *q;

    if (!sim_can_save()) /* The sanitizers say it. */
        return;
    begin();
    p = sim_alloc(0, 40);
    q = sim_alloc(0, 100);
    sim_free(0, p);
    sim_free(0, q);
    area_check_freed(0);
    all_is_well();
    p[39]--;
    area_check_freed(0); /* At the end of a run. */
    must_be_violated();
    ck_assert_ptr_eq(sim_alloc(0, 40), p); /* Allocated again. */
    must_be_violated();
    ck_assert_ptr_eq(sim_alloc(0, 100), q);
    all_is_well();
}
END_TEST

START_TEST(memory_is_only_a_process_s_own)
{
    begin();
    ck_assert_ptr_null(sim_malloc(10));
    must_be_violated();
}
END_TEST

/* True if an allocation of process 0 succeeds now. */
static bool has_memory(void)
{
    int before = sim_enter(0);
    void *p = sim_malloc(10);

    sim_mfree(p);
    sim_leave(before);
    return p != NULL;
}

START_TEST(allocations_fail_as_told)
{
    begin();
    sim_alloc_fail(0, 2, false);
    ck_assert(has_memory() && !has_memory() && has_memory());
    ck_assert(sim_alloc_failing(0)); /* Until it is healed. */
    ck_assert_uint_eq(sim_alloc_count(0), 3);
    sim_alloc_fail(0, 2, true);
    ck_assert(has_memory() && !has_memory() && !has_memory());
    sim_alloc_heal(0);
    ck_assert(has_memory() && !sim_alloc_failing(0));
    all_is_well();
}
END_TEST

/* Worlds that are saved, and told apart. */

static bool same(const struct sim_digest *a, const struct sim_digest *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static struct sim_digest after_freeing(int first)
{
    char *p[2];

    begin();
    for (int i = 0; i < 2; i++)
        p[i] = sim_strdup(0, i ? "another" : "one");
    sim_free(0, p[first]);
    sim_free(0, p[!first]);
    return sim_digest();
}

START_TEST(order_of_freeing_makes_no_difference)
{
    struct sim_digest a, b;

    if (!sim_can_save())
        return;
    a = after_freeing(0);
    b = after_freeing(1);
    ck_assert(same(&a, &b));
}
END_TEST

static struct sim_digest after_a_byte(const char *text)
{
    begin();
    sim_strdup(SIM_OUTSIDE, text);
    return sim_digest();
}

START_TEST(every_byte_makes_a_difference)
{
    struct sim_digest a, b;

    if (!sim_can_save())
        return;
    a = after_a_byte("a long text that ends with x");
    b = after_a_byte("a long text that ends with y");
    ck_assert(!same(&a, &b));
    b = after_a_byte("a long text that ends with x");
    ck_assert(same(&a, &b));
    sim_random();
    b = sim_digest();
    ck_assert(!same(&a, &b));
    sim_set_now(sim_now() + 1);
    a = sim_digest();
    ck_assert(!same(&a, &b));
}
END_TEST

START_TEST(worlds_begin_alike_and_chance_is_of_the_seed)
{
    uint64_t a, b;

    sim_world_begin(1);
    ck_assert_int_eq(sim_now(), SIM_BEGIN_US);
    a = sim_random();
    b = sim_random();
    ck_assert_uint_ne(a, b);
    sim_world_begin(1);
    ck_assert_uint_eq(sim_random(), a);
    ck_assert_uint_eq(sim_random(), b);
    sim_world_begin(2);
    ck_assert_uint_ne(sim_random(), a);
}
END_TEST

/* What a client writes and hears, with a session that expires. */
static struct sim_digest go_on(struct raw *c)
{
    raw_create(c, "/x", ZOO_EPHEMERAL);
    raw_ask(c, ZOO_EXISTS_OP, "/y", 0, true);
    pass(3 * MS);
    ens_create("/y", "", 0, ZOO_PERSISTENT);
    pass(9 * MS);
    RAW_HEARS(c, "1=0 /x, 2=-101, event 1 /y");
    pass(3000 * MS);
    return sim_digest();
}

START_TEST(saved_world_goes_on_alike)
{
    struct raw c = {0}, again;
    struct sim_digest at, end, other;
    struct sim_saved *w;

    if (!sim_can_save())
        return;
    begin();
    raw_open(&c, 1);
    w = sim_save(NULL);
    at = sim_digest();
    again = c;
    end = go_on(&again);
    ck_assert(!same(&at, &end));
    for (int i = 0; i < 2; i++) {
        sim_restore(w);
        other = sim_digest();
        ck_assert(same(&at, &other));
        again = c;
        other = go_on(&again);
        ck_assert(same(&end, &other));
    }
    sim_saved_free(w);
    all_is_well();
}
END_TEST

UNIT_MAIN("world", foreign_free_is_a_violation, double_free_is_a_violation,
          write_to_freed_memory_is_a_violation, memory_is_only_a_process_s_own,
          allocations_fail_as_told, order_of_freeing_makes_no_difference,
          every_byte_makes_a_difference,
          worlds_begin_alike_and_chance_is_of_the_seed,
          saved_world_goes_on_alike)
