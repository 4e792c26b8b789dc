/* What the demonstration shows: a line that moves while it runs (on a
 * terminal), a table, and the picture in letters. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "demo.h"

#define COLUMNS 60
#define REDRAW_US 100000u

/* clang-format off */
static const char *const NAME[PHASES] = {
    [JOIN]   = "A to E join",
    [ADD]    = "F joins",
    [KILL]   = "B is killed (-9)",
    [FREEZE] = "C is frozen",
    [THAW]   = "C goes on",
    [DRAIN]  = "D drains",
    [SERVER] = "a server is killed",
};
/* clang-format on */

const char *phase_name(enum phase phase) { return NAME[phase]; }

uint64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static double seconds(uint64_t us) { return (double)us / 1e6; }

void show_clear(void)
{
    if (isatty(STDOUT_FILENO))
        fputs("\r\033[K", stdout);
    fflush(stdout);
}

void show_progress(enum phase phase, uint32_t led, uint32_t all, uint64_t us)
{
    static uint64_t drawn;

    if (!isatty(STDOUT_FILENO) || now_us() - drawn < REDRAW_US)
        return;
    drawn = now_us();
    printf("\r%-20s led by those that are there: %5" PRIu32 " of %" PRIu32
           "  %5.1f s\033[K",
           NAME[phase], led, all, seconds(us));
    fflush(stdout);
}

void show_phase_end(enum phase phase, uint64_t us)
{
    show_clear();
    printf("%-20s %5.1f s\n", NAME[phase], seconds(us));
    fflush(stdout);
}

/* The table ------------------------------------------------------------ */

static void row(const struct result *r, enum phase p)
{
    printf("%-19s %5.1f s %6" PRIu32, NAME[p], seconds(r->phase[p].took_us),
           r->phase[p].moves);
    printf(p == JOIN ? "      -" : " %6" PRIu32, r->phase[p].least);
    if (r->phase[p].gaps)
        printf(" %6" PRIu32 " %7.0f %7.0f", r->phase[p].gaps,
               (double)r->phase[p].median_us / 1e3,
               (double)r->phase[p].worst_us / 1e3);
    else
        printf(" %6s %7s %7s", "-", "-", "-");
    for (unsigned i = 0; i < PROCESSES; i++)
        printf(" %5" PRIu32, r->phase[p].led[i]);
    putchar('\n');
}

static void table(const struct result *r)
{
    printf("\n%-19s %7s %13s %22s %36s\n", "", "", "shards moved",
           "without a leader, ms", "led at its end by");
    printf("%-19s %7s %6s %6s %6s %7s %7s", "what happens", "took", "moved",
           "least", "shards", "median", "worst");
    for (int i = 0; i < PROCESSES; i++)
        printf(" %5c", 'A' + i);
    putchar('\n');
    for (enum phase p = 0; p < r->phases; p++)
        row(r, p);
}

/* The picture ---------------------------------------------------------- */

/* The most of a column's samples: what is short is seen as well. */
static uint32_t most_in(const struct result *r, size_t column, unsigned who)
{
    size_t from = column * r->samples / COLUMNS;
    size_t to = (column + 1) * r->samples / COLUMNS;
    uint32_t most = 0;

    for (size_t i = from; i < to || i == from; i++)
        if (r->sample[i].led[who] > most)
            most = r->sample[i].led[who];
    return most;
}

static char shade(uint32_t led, uint32_t all)
{
    static const char shades[] = " .:-=+*#%@";
    uint64_t at = (uint64_t)led * 3 * 9 / all; /* A third is the darkest. */

    if (led > 0 && at == 0)
        at = 1;
    return shades[at > 9 ? 9 : at];
}

static char leaderless(uint32_t n)
{
    return n == 0 ? ' ' : n < 10 ? '.' : n < 100 ? ':' : n < 1000 ? '+' : '#';
}

/* Where a phase begins, its number stands. */
static void ruler(const struct result *r)
{
    char line[COLUMNS + 1];

    memset(line, '-', COLUMNS);
    line[COLUMNS] = '\0';
    for (unsigned p = 0; p < r->phases; p++) {
        uint64_t at = (r->phase[p].us - r->began_us) / SAMPLE_US;
        size_t column = at * COLUMNS / r->samples;

        line[column < COLUMNS ? column : COLUMNS - 1] = (char)('1' + p);
    }
    printf("          +%s+\n", line);
}

static void picture(const struct result *r)
{
    printf("\nShards led over %.0f s; the darker the more.\n",
           seconds(r->samples * SAMPLE_US));
    for (unsigned who = 0; who <= PROCESSES; who++) {
        if (who == NOBODY)
            printf("   nobody |");
        else
            printf("        %c |", 'A' + (int)who);
        for (size_t c = 0; c < COLUMNS; c++)
            putchar(who == NOBODY ? leaderless(most_in(r, c, who))
                                  : shade(most_in(r, c, who), r->count));
        puts("|");
    }
    ruler(r);
    for (unsigned p = 0; p < r->phases; p++)
        printf("%s%u %s", p ? "; " : "          ", p + 1, NAME[p]);
    puts("\n          nobody: . some, : tens, + hundreds, # thousands");
}

void show_result(const struct result *r)
{
    table(r);
    picture(r);
    printf("\n%-32s %" PRIu64 "\n", "elections", r->elections);
    printf("%-32s %" PRIu32 "%s\n", "two leaders at a time", r->doubles,
           r->doubles ? "   <-- wrong" : "");
    printf("%-32s %" PRIu32 "%s\n", "epochs that did not grow", r->disorder,
           r->disorder ? "   <-- wrong" : "");
    printf("%-32s %" PRIu32 "%s\n", "without a leader at the end",
           r->phase[r->phases - 1].led[NOBODY],
           r->phase[r->phases - 1].led[NOBODY] ? "   <-- wrong" : "");
    fflush(stdout);
}
