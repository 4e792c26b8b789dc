/* Which arrows are drawn, and what they are called.
 *
 * Not drawn: what the columns say (stop, expiry) and what an error does, since
 * nearly all rows have that; entering the same row again; what the table calls
 * rare; and, of the rows on the straight way, shortcuts and returns to the
 * first row.  The notes tell of these. */
#include "tools/diagram.h"

#include <stdio.h>

/* More of them than that are not drawn. */
enum { SHORTCUTS = 2, RETURNS = 4 };

static uint32_t next(const struct evzk__kind *k, int from, int cause)
{
    return evzk__row_next(k, from, (enum evzk__cause)cause);
}

bool diagram_on_main(const struct evzk__kind *k, int state)
{
    return k->rows[state].main != EVZK__ASIDE || state == diagram_end(k);
}

/* Where stops lead, and the end. */
static uint32_t exits(const struct evzk__kind *k)
{
    uint32_t set = EVZK__BIT(diagram_end(k));

    for (int i = 0; i < k->n_rows; i++) {
        if (k->rows[i].stop != EVZK__STAY)
            set |= EVZK__BIT(k->rows[i].stop);
    }
    return set;
}

/* A way out beside others: a stop or an error that comes with the reply. */
static bool leaves(const struct evzk__kind *k, int from, int cause, int to)
{
    uint32_t out = exits(k);

    return diagram_in(out, to) && !diagram_in(out, from) &&
           out != EVZK__BIT(diagram_end(k)) && (next(k, from, cause) & ~out);
}

/* On the straight way, and by nothing else. */
static bool only_stops(const struct evzk__kind *k, int from, int to)
{
    for (int c = 0; c < EVZK__ON_STOP; c++) {
        if (c != EVZK__ON_DEADLINE && diagram_in(next(k, from, c), to) &&
            k->rows[from].on[c] & EVZK__BIT(to))
            return false;
    }
    return k->rows[from].main == to &&
           diagram_in(next(k, from, EVZK__ON_STOP), to);
}

/* Does a row lead there by this event, and does the table list that? */
static bool leads(const struct evzk__kind *k, int from, int cause, int to)
{
    if (!diagram_event(k, cause) || from == to)
        return false;
    if (cause == EVZK__ON_STOP)
        return only_stops(k, from, to);
    if (k->rows[from].main == to)
        return diagram_in(next(k, from, cause), to);
    return !leaves(k, from, cause, to) &&
           diagram_in(next(k, from, cause) & k->rows[from].on[cause], to);
}

static bool leads_at_all(const struct evzk__kind *k, int from, int to)
{
    for (int c = 0; c < EVZK__CAUSES; c++) {
        if (leads(k, from, c, to))
            return true;
    }
    return false;
}

uint32_t diagram_shortcuts(const struct evzk__kind *k, int from)
{
    int main = k->rows[from].main;
    uint32_t set = 0;

    if (main == EVZK__ASIDE || !leads(k, from, EVZK__ON_REPLY, main))
        return 0;
    for (int to = 0; to < k->n_rows; to++) {
        if (to != main && leads(k, from, EVZK__ON_REPLY, to) &&
            leads(k, main, EVZK__ON_REPLY, to))
            set |= EVZK__BIT(to);
    }
    return __builtin_popcount(set) > SHORTCUTS ? set : 0;
}

/* The rows to which a row leads. */
static uint32_t reach(const struct evzk__kind *k, int from)
{
    uint32_t set = 0;

    for (int to = 0; to < k->n_rows; to++) {
        if (leads_at_all(k, from, to))
            set |= EVZK__BIT(to);
    }
    return set & ~diagram_shortcuts(k, from);
}

/* All but the excursions of the first row. */
static uint32_t returns(const struct evzk__kind *k)
{
    uint32_t set = 0;
    int n = 0;

    for (int i = 1; i < k->n_rows; i++) {
        if (!diagram_in(reach(k, i), 0))
            continue;
        n++;
        if (diagram_on_main(k, i) || !diagram_in(reach(k, 0), i) ||
            diagram_in_block(k, i))
            set |= EVZK__BIT(i);
    }
    return n > RETURNS ? set : 0;
}

uint32_t diagram_detours(const struct evzk__kind *k)
{
    uint32_t set = returns(k);

    for (int i = 0; i < k->n_rows; i++) {
        if (reach(k, i) != EVZK__BIT(0))
            set &= ~EVZK__BIT(i);
    }
    return set;
}

uint32_t diagram_anew(const struct evzk__kind *k)
{
    return returns(k) & ~diagram_detours(k);
}

/* With a row that cleans up before the end, only a loss leads past it. */
uint32_t diagram_broken(const struct evzk__kind *k)
{
    uint32_t out = exits(k), set = 0;

    for (int i = 0; out != EVZK__BIT(diagram_end(k)) && i < k->n_rows; i++) {
        if (leads(k, i, EVZK__ON_OWN_DELETED, diagram_end(k)))
            set |= EVZK__BIT(i);
    }
    return set & ~out;
}

static bool is_drawn(const struct evzk__kind *k, int from, int cause, int to)
{
    return leads(k, from, cause, to) && !diagram_in(diagram_detours(k), to) &&
           !(to == diagram_end(k) && diagram_in(diagram_broken(k), from)) &&
           !(to == 0 && diagram_in(returns(k), from)) &&
           !(cause == EVZK__ON_REPLY &&
             diagram_in(diagram_shortcuts(k, from), to));
}

bool diagram_has_arrow(const struct evzk__kind *k, int from, int to)
{
    for (int c = 0; c < EVZK__CAUSES; c++) {
        if (is_drawn(k, from, c, to))
            return true;
    }
    return false;
}

void diagram_print_names(const struct evzk__kind *k, int from, int to)
{
    const char *said =
        diagram_reply(k->name, k->rows[from].name, k->rows[to].name);
    int last = EVZK__CAUSES;

    while (--last > 0 && !is_drawn(k, from, last, to))
        ;
    for (int c = 0; c <= last; c++) {
        const char *comma = c < last ? "," : "";

        if (!is_drawn(k, from, c, to))
            continue;
        if (c == EVZK__ON_REPLY && said)
            diagram_print_label("\xe2\x80\x9c", said, "\xe2\x80\x9d", comma);
        else
            diagram_print_label("", diagram_event(k, c), "", comma);
    }
}

int diagram_circle(const struct evzk__kind *k)
{
    for (int i = 0; i < k->n_rows; i++) {
        int at = k->rows[i].main;

        for (int n = 0; n < k->n_rows && at != EVZK__ASIDE; n++) {
            if (at == i)
                return i;
            at = k->rows[at].main;
        }
    }
    return -1;
}

/* How far down: the straight way's rows by their order, others below the first
 * of those that lead there. */
int diagram_place(const struct evzk__kind *k, int state)
{
    int at = 0, place = 0;

    for (; at != EVZK__ASIDE; at = k->rows[at].main, place += 10) {
        if (at == state)
            return place;
        if (!diagram_on_main(k, state) && diagram_has_arrow(k, at, state))
            return place + 5;
    }
    return place + 1 + state;
}
