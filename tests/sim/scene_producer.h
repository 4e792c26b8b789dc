/* Scenes of producers: what they do, and what is kept of it.
 *
 *   scene_producer.c        the processes
 *   scene_producer_others.c consumers, operators
 *   scene_producer_rules.c  the rules
 *   scene_producer_list.c   the scenes */
#ifndef SIM_SCENE_PRODUCER_H
#define SIM_SCENE_PRODUCER_H

#include <stdbool.h>
#include <stdint.h>

#include "evzk/producer.h"
#include "scene.h"
#include "wire.h"
#include "world.h"

enum { PRODUCERS = 3, PUTS = 8, ITEMS = 24, NAMES = 64, ROOM = 160 };

/* How a producer ends when it has put all. */
enum ending { CLOSES, CLOSES_LATE, CANCELS, FREES };

/* The bytes of another program's item: of Curator's frame.  And those of an
 * item that is larger than the servers take. */
enum { ALIEN = 11, LARGE = 400 };

struct producer_plan {
    int proc, start_ms;
    int puts, items; /* So many puts of so many items. */
    int gap_ms;      /* Between two puts; 0: all at once. */
    int priorities;  /* Items have these in turn; 0: one. */
    enum ending ending;
    size_t pending_max;
    bool ephemeral;
};

struct producer_scene {
    struct producer_plan plan[PRODUCERS];
    evzk_queue_layout layout;
    uint32_t segment, batch; /* Limits; 0: many. */
    const char *chroot;
    bool stands;     /* The queue's directory is there from the beginning .. */
    bool refuses;    /* .. and nobody may make anything there. */
    bool hidden;     /* .. or list it. */
    bool sealed_off; /* The receipts may not be written. */
    bool denied;     /* .. or put anything of the second priority. */
    bool taken;      /* A consumer takes each item at once. */
    int cut_ms;      /* The first process loses its connection then. */
    int open_ms;     /* An operator deletes the first segment's `open` then. */
    int gone_ms;     /* An operator deletes the receipts then, and again. */
    bool full;       /* The numbers of the items are used up. */
    bool copied;     /* The first segment has an item of the next number. */
    bool last;       /* The second priority's segments have no number left. */
    uint32_t most;   /* A plain queue has at most so many items; 0: many. */
    const char *foreign, *data; /* Another program's item is there; .. */
    bool theirs;   /* .. and that program does not know evzk's items. */
    int64_t takes; /* The servers hang up at what is longer; 0: at nothing. */
    int large;     /* The item of this number has LARGE bytes; 0: none has. */
};

struct put {
    uint16_t first, n; /* Its items. */
    bool told;
    uint16_t done;
    int rc;
};

struct item {
    int64_t made; /* The czxid; 0: never. */
    uint32_t segment;
    int32_t seq;
    uint8_t priority;
    bool there;
    bool refused; /* Must not be made any more. */
    bool large;   /* Was sent alone, and is longer than the servers take. */
};

struct producer_world {
    const struct producer_scene *own;
    int64_t gone_times;
    int64_t looked; /* The newest zxid when the rules saw the tree. */
    struct producer {
        evzk_producer *p;
        bool begun, over, closed, canceled;
        int64_t n_puts, n_items, n_told, extra;
        /* The last transaction of several items that was longer than the
         * servers take: how many, and the first of them. */
        int64_t n_long, first_long;
        struct put put[PUTS];
        struct item item[ITEMS];
    } of[PRODUCERS];
};
extern struct producer_world putting;

static inline const struct producer_plan *plan_of(int i)
{
    return &putting.own->plan[i];
}

static inline bool is_plain(void)
{
    return putting.own->layout != EVZK_QUEUE_SEGMENTS;
}

/* The receipts. */
static inline const char *receipts_path(void)
{
    return is_plain() ? "/q.evzk/receipts" : "/q/receipts";
}

/* ---- scene_producer.c ---- */

void producer_begin(const struct sim_scene *sc);
bool producer_done(void);
extern const char *const producer_calls[];
bool producer_call(int proc, unsigned which);

/* ---- scene_producer_others.c ---- */

void producer_others_begin(void);
/* Has a consumer take all items, soon. */
void producer_take_soon(void);

/* ---- scene_producer_rules.c ---- */

/* The client has taken this over from a process. */
void producer_sends(int proc, const struct wire_msg *m);
/* May a producer tell this result? */
bool producer_rc_ok(int i, int rc);
/* A put was told. */
void producer_check_told(int i, const struct put *put);
void producer_check(void);
void producer_owes(int proc, struct sim_debt *debt);
void producer_check_end(void);

#endif
