/* A schedule made shorter: faults are left out, in groups and one by one, as
 * long as the same rule is broken.
 *
 * Each try is a process of its own, so that a run that dies or never returns is
 * a finding like another.
 *
 * Faults are numbered by the steps before them, and a fault changes how many
 * there are.  So a group that cannot be left out is left out again with all
 * faults behind it moved by a few steps, and then by more.
 *
 * How it can fail: it comes to rest where a cleverer choice would have made the
 * schedule shorter still.  The schedule that is told was played, and breaks the
 * rule. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "search.h"
#include "world.h"

enum { FAR = 64 };

struct shortening {
    char *text; /* Shared with the process of a try. */
    char was[SEARCH_TEXT];
    unsigned tries;
};

static void play_apart(const struct run *r, char *text)
{
    alarm(SEARCH_SILENT_S);
    run_play(r);
    if (sim_violated())
        snprintf(text, SEARCH_TEXT, "%s", sim_violated());
    _exit(0);
}

/* Leaves in s->text what is wrong with the run; empty: nothing. */
static void try(struct shortening *s, const struct run *r)
{
    int status = 0;
    pid_t pid;

    s->tries++;
    s->text[0] = '\0';
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        play_apart(r, s->text);
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        perror("explore: cannot play a run apart");
        exit(2);
    }
    if (WIFSIGNALED(status))
        snprintf(s->text, SEARCH_TEXT, "the program died: %s",
                 strsignal(WTERMSIG(status)));
}

/* Runs are stuck alike, whatever the machines are at. */
static bool is_same(const char *a, const char *b)
{
    static const char stuck[] = "stuck: ";

    return search_same(a, b) || (strncmp(a, stuck, sizeof stuck - 1) == 0 &&
                                 strncmp(b, stuck, sizeof stuck - 1) == 0);
}

static bool still_shows(struct shortening *s, const struct run *r)
{
    try(s, r);
    return s->text[0] && is_same(s->text, s->was);
}

/* The run without the faults [at, at + n), and those behind moved by `by`
 * steps.  False: one of them would be before the first step, or before those
 * that stay. */
static bool without(const struct run *r, uint32_t at, uint32_t n, int by,
                    struct run *out)
{
    *out = *r;
    out->n_strikes = r->n_strikes - n;
    for (uint32_t i = at; i < out->n_strikes; i++) {
        int64_t step = (int64_t)r->strikes[i + n].n + by;

        if (step < (i > 0 ? out->strikes[i - 1].n : 0))
            return false;
        out->strikes[i] = r->strikes[i + n];
        out->strikes[i].n = (uint32_t)step;
    }
    return true;
}

/* With those behind where they are, or moved by up to `far` steps. */
static bool leave_out(struct shortening *s, struct run *r, uint32_t at,
                      uint32_t n, int far)
{
    bool last = at + n == r->n_strikes; /* Nothing is behind. */
    struct run shorter;

    for (int by = 0; by <= (last ? 0 : far); by = by > 0 ? -by : 1 - by) {
        if (without(r, at, n, by, &shorter) && still_shows(s, &shorter)) {
            *r = shorter;
            return true;
        }
    }
    return false;
}

/* Groups of `n`, from the last to the first; true: one could go. */
static bool leave_out_groups(struct shortening *s, struct run *r, uint32_t n,
                             int far)
{
    bool any = false;

    for (uint32_t end = r->n_strikes; end >= n; end--) {
        if (end > r->n_strikes)
            end = r->n_strikes;
        if (end >= n)
            any = leave_out(s, r, end - n, n, far) || any;
    }
    return any;
}

static void leave_out_all(struct shortening *s, struct run *r)
{
    for (uint32_t n = r->n_strikes; n > 0; n /= 2) {
        while (leave_out_groups(s, r, n, 0))
            ;
    }
    for (uint32_t n = 2; n > 0; n--) {
        while (leave_out_groups(s, r, n, FAR))
            ;
    }
}

static void take_plain_seed(struct shortening *s, struct run *r)
{
    struct run plain = *r;

    plain.seed = 1;
    if (still_shows(s, &plain))
        *r = plain;
}

unsigned search_shorten(struct run *r, char text[SEARCH_TEXT])
{
    struct shortening s = {.tries = 0};

    s.text = mmap(NULL, SEARCH_TEXT, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s.text == MAP_FAILED) {
        perror("explore: no memory to share");
        exit(2);
    }
    try(&s, r);
    strcpy(s.was, s.text);
    if (s.was[0]) {
        leave_out_all(&s, r);
        take_plain_seed(&s, r);
        leave_out_all(&s, r);
        try(&s, r);
    }
    strcpy(text, s.text);
    munmap(s.text, SEARCH_TEXT);
    return s.tries;
}
