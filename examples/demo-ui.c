/* What the demonstration shows: a progress bar while it runs (on a terminal; a
 * plain line for each phase elsewhere), and a table at its end. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <evzk/error.h>

#include "demo.h"

#define BAR_WIDTH 28

/* clang-format off */
static const char *const NAME[PHASES] = {
    [PHASE_CONNECT] = "A and B connect",
    [PHASE_TAKE]    = "A takes all locks",
    [PHASE_QUEUE]   = "B queues for all",
    [PHASE_CUT]     = "A is cut, keeps all",
    [PHASE_PASS]    = "all pass from A to B",
    [PHASE_DROP]    = "B releases all",
    [PHASE_CLOSE]   = "A and B close",
};
/* clang-format on */

const char *ui_phase_name(enum demo_phase phase) { return NAME[phase]; }

/* 12345 as "12,345". */
static const char *grouped(uint64_t n, char *buf, size_t size)
{
    char digits[24];
    size_t len = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n);
    size_t at = 0;

    for (size_t i = 0; i < len && at + 2 < size; i++) {
        if (i && (len - i) % 3 == 0)
            buf[at++] = ',';
        buf[at++] = digits[i];
    }
    buf[at] = '\0';
    return buf;
}

#define GROUPED(n) grouped((n), (char[32]){0}, 32)

static double seconds(uint64_t us) { return (double)us / 1e6; }

static double milliseconds(uint64_t us) { return (double)us / 1e3; }

/* While it runs ---------------------------------------------------------- */

void ui_bar(enum demo_phase phase, size_t done, size_t all, uint64_t us)
{
    char bar[BAR_WIDTH + 1] = "";

    if (!isatty(STDOUT_FILENO))
        return;
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', all ? done * BAR_WIDTH / all : 0);
    printf("\r%-20s [%s] %6s/%s %6.1f s", NAME[phase], bar, GROUPED(done),
           GROUPED(all), seconds(us));
    fflush(stdout);
}

void ui_phase_end(enum demo_phase phase, size_t done, size_t all, uint64_t us)
{
    if (isatty(STDOUT_FILENO)) {
        ui_bar(phase, done, all, us);
        putchar('\n');
    } else {
        printf("%-20s %s of %s in %.2f s\n", NAME[phase], GROUPED(done),
               GROUPED(all), seconds(us));
    }
    fflush(stdout);
}

void ui_clear(void)
{
    if (isatty(STDOUT_FILENO))
        fputs("\r\033[K", stdout);
    fflush(stdout);
}

/* At the end ------------------------------------------------------------- */

static void row(const struct demo_result *r, enum demo_phase p)
{
    const struct demo_cost *a = &r->worker[ROLE_A].cost[p];
    const struct demo_cost *b = &r->worker[ROLE_B].cost[p];
    double locks = (double)r->opt->locks;
    double took = seconds(r->phase_us[p]);

    if (p == PHASE_CONNECT || p == PHASE_CLOSE)
        printf("%-20s %7.2f s %9s %9s %9s", NAME[p], took, "", "", "");
    else
        printf("%-20s %7.2f s %9s %6.1f us %6.1f us", NAME[p], took,
               GROUPED(took > 0 ? (uint64_t)(locks / took) : 0),
               (double)a->cpu_us / locks, (double)b->cpu_us / locks);
    printf(" %6.1f ms %6.1f ms\n", milliseconds(a->stall_us),
           milliseconds(b->stall_us));
}

static void phases(const struct demo_result *r)
{
    printf("\n%-20s %9s %9s %19s %19s\n", "", "", "", "CPU per lock",
           "longest stall");
    printf("%-20s %9s %9s %9s %9s %9s %9s\n", "phase", "time", "locks/s", "A",
           "B", "A", "B");
    for (enum demo_phase p = 0; p < r->ended; p++)
        row(r, p);
    putchar('\n');
}

static void count(const char *what, unsigned is, size_t should)
{
    printf("%-24s %7s", what, GROUPED(is));
    if (should)
        printf(" of %s", GROUPED(should));
    puts(is == should ? "" : "   <-- wrong");
}

static void counts(const struct demo_result *r)
{
    const struct demo_worker *a = &r->worker[ROLE_A];
    const struct demo_worker *b = &r->worker[ROLE_B];
    size_t n = r->opt->locks;

    count("granted to A", a->granted, n);
    count("queued for by B", b->waiting, n);
    count("resumed after the cut", a->resumed, n);
    count("still held after it", a->kept, n);
    count("handed over to B", b->granted, n);
    count("released by B", b->released, n);
    count("lost", a->lost + b->lost, 0);
    count("two holders at once", b->early, 0);
    count("tokens out of order", b->disorder, 0);
    count("sessions closed", a->closed + b->closed, ROLES);
}

static void memory(const struct demo_result *r)
{
    int64_t n = (int64_t)r->opt->locks;
    int64_t held = r->worker[ROLE_A].cost[PHASE_TAKE].memory / n;
    int64_t waiting = r->worker[ROLE_B].cost[PHASE_QUEUE].memory / n;

    if (r->ended > PHASE_QUEUE)
        printf("%-24s %" PRId64 " bytes held (A), %" PRId64
               " bytes waiting (B)\n",
               "memory per lock", held, waiting);
}

/* The longest stalls of one process in all phases. */
static struct demo_cost stall_of(const struct demo_worker *w)
{
    struct demo_cost longest = w->cost[0];

    for (enum demo_phase p = 1; p < PHASES; p++) {
        const struct demo_cost *c = &w->cost[p];

        if (c->stall_us > longest.stall_us) {
            longest.stall_us = c->stall_us;
            longest.stall_wait_us = c->stall_wait_us;
        }
        if (c->stall_own_us > longest.stall_own_us)
            longest.stall_own_us = c->stall_own_us;
    }
    return longest;
}

static void pair(const char *what, uint64_t a_us, uint64_t b_us)
{
    printf("%-24s %6.1f ms (A) %6.1f ms (B)\n", what, milliseconds(a_us),
           milliseconds(b_us));
}

static void stalls(const struct demo_result *r)
{
    const struct demo_worker *w = r->worker;
    struct demo_cost a = stall_of(&w[ROLE_A]);
    struct demo_cost b = stall_of(&w[ROLE_B]);
    uint64_t longest = a.stall_us > b.stall_us ? a.stall_us : b.stall_us;

    pair("longest turn of evzk", w[ROLE_A].turn_max_us, w[ROLE_B].turn_max_us);
    pair("longest stall of a loop", a.stall_us, b.stall_us);
    pair("  without a CPU in it", a.stall_wait_us, b.stall_wait_us);
    pair("  not counting such", a.stall_own_us, b.stall_own_us);
    printf("  the longest is %s of %.0f ms\n",
           longest < DEMO_STALL_GOAL_US ? "within the goal" : "ABOVE the goal",
           milliseconds(DEMO_STALL_GOAL_US));
}

void ui_table(const struct demo_result *r)
{
    phases(r);
    counts(r);
    memory(r);
    stalls(r);
    fflush(stdout);
}
