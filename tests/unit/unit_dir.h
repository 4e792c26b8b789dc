/* What the tests of directories and of contenders share. */
#ifndef EVZK_UNIT_DIR_H
#define EVZK_UNIT_DIR_H

#include "unit.h"

#include <string.h>

#include "lib/machine/machine.h"
#include "lib/request/core.h"
#include "lib/request/idle_dirs.h"
#include "lib/request/own_queue.h"
#include "lib/request/watch.h"

static const struct evzk__mark unit_marks[] = {{"-lock-", 0}, {NULL, 0}};
static const struct evzk__kind unit_kind = {.name = "lock",
                                            .marks = unit_marks};

/* All that this looks at.  In a turn of the loop none is asked for. */
static inline void unit_open(struct evzk__core *s)
{
    memset(s, 0, sizeof *s);
    s->turn = EVZK__IN_TURN;
    s->wake = &evzk__machine_wake;
    RB_INIT(&s->dirs);
    TAILQ_INIT(&s->idle);
    LIST_INIT(&s->idle_dir_checks);
    RB_INIT(&s->path_watches);
    RB_INIT(&s->onlookers);
    TAILQ_INIT(&s->running);
    TAILQ_INIT(&s->later);
}

static inline void unit_machine(struct evzk__machine *m, struct evzk__core *s,
                                struct evzk__dir *d)
{
    m->kind = &unit_kind;
    m->place.s = s;
    m->place.dir = d;
    m->place.own_watch.which = EVZK__OWN;
    m->place.pred_watch.which = EVZK__PRED;
}

#endif
