/* Scenes of two-phase commit: what the processes do (scene_two_phase.c), the
 * rules (scene_two_phase_rules.c and the like), and the lists
 * (scene_two_phase*_list.c). */
#ifndef SIM_SCENE_TWO_PHASE_H
#define SIM_SCENE_TWO_PHASE_H

#include "evzk/two_phase.h"
#include "scene.h"
#include "world.h"

enum { TP_ACTS = 8, TP_TXS = 4, TP_SITES = 3, TP_AT = 12 };

enum tp_what {
    TP_NOTHING,
    TP_BEGIN,   /* A coordinator: of all sites of the scene. */
    TP_RECOVER, /* Takes the first transaction over. */
    TP_SITE,
    TP_ASK,    /* Looks transactions up. */
    TP_DELETE, /* An operator does something to `path`. */
    TP_CREATE,
    TP_WRITE,
    TP_DIE,    /* The process closes its session, whatever it is about. */
    TP_SLOW,   /* The process is slow from now on. */
    TP_FREEZE, /* The process stands still, past its session. */
    TP_DECIDE, /* An operator writes to the first transaction: commit. */
    TP_COPY,   /* An operator puts a copy of the first transaction in its place.
                */
    TP_HIDE,   /* An operator lets nobody read `path`, or do what `denied` says;
                  .. */
    TP_GIVE,   /* .. allows that again. */
    TP_SEAL,   /* An operator lets nobody do `denied` to `path`; .. */
    TP_OPEN,   /* .. allows all again. */
    TP_LEAVE   /* Its site, the act `of`, is freed. */
};

/* When the first transaction has come so far. */
enum tp_when {
    TP_AT_ONCE, /* By the clock. */
    TP_STANDS,
    TP_HERE,  /* A site is there, .. */
    TP_VOTED, /* .. or has voted; .. */
    TP_ALL_VOTED,
    TP_DECIDED,
    TP_DONE, /* A site is done; .. */
    TP_ALL_DONE,
    TP_OVER /* .. it is removed. */
};

struct tp_act {
    int proc, at_us; /* With `when`: so long after it. */
    enum tp_when when;
    enum tp_what what;
    evzk_tx_variant variant;
    uint32_t timeout_ms;
    bool vote_data;
    uint8_t denied; /* What nobody may do to what it makes; HIDE: to `path`. */
    int abort_us;   /* BEGIN, RECOVER, SITE: wants to abort after so long. */
    bool frees;     /* BEGIN, RECOVER: frees instead of that. */
    char site;      /* SITE: its name. */
    int vote;       /* 0: to commit; 1: to abort; 2: never. */
    int vote_us;    /* So long after the question. */
    bool own_acl;   /* SITE: has an ACL, of its own memory. */
    int done_us;    /* So long after the decision; -1: never. */
    int of;         /* LEAVE: the act, from 1. */
    const char *path; /* "%" stands for the id of the first transaction. */
    const char *data; /* CREATE: what it says; NULL: "x". */
};

struct tp_scene {
    const char *sites;  /* A letter each; NULL: none. */
    const char *chroot; /* NULL: none. */
    bool tree;          /* The root is there at the beginning. */
    bool lasts;         /* Something blocks: the users give up. */
    bool sites_remove;  /* The coordinator dies, and nothing is left even so. */
    bool foreign;       /* Znodes of others are in the way. */
    bool seals;         /* An operator seals something for a while. */
    bool given;         /* Later an operator gives a right back. */
    bool newer;     /* A transaction of a newer format is there: TP_NEWER. */
    uint8_t denied; /* What nobody may do to `denied_at`. */
    const char *denied_at;
    struct tp_act act[TP_ACTS];
};

/* A transaction, as the tree has it. */
struct tp_tx {
    char id[EVZK_TX_ID_LEN + 1];
    char tag[64];
    int64_t czxid, decided; /* decided: the zxid; 0: not yet; .. */
    int64_t restored;       /* .. and when a fault has written it again. */
    evzk_tx_verdict decision;
    evzk_tx_variant variant;
    uint8_t vote[TP_SITES];   /* evzk_tx_verdict, as first seen. */
    int64_t commit[TP_SITES]; /* The czxid of its standing vote to commit. */
    bool came[TP_SITES], done[TP_SITES], removed;
    bool cast[TP_SITES];     /* The site's program has voted to commit; .. */
    bool said[TP_SITES];     /* .. it has said that it is done; .. */
    bool failed[TP_SITES];   /* .. it was told that this has failed. */
    int64_t entry[TP_SITES]; /* The czxid of its entry, if that was seen. */
    bool forged[TP_SITES];   /* A vote that was forged for it was seen. */
    bool stood[TP_SITES];    /* Has it something there, as last seen? */
    bool marred;             /* A fault has written to it; .. */
    bool unreadable;         /* The text that stands now is none; .. */
    int64_t spoilt;          /* .. since then. */
    int64_t heard[TP_SITES]; /* When it was taken away: what its process could
                                have heard of. */
};

/* A transaction at a site. */
struct tp_at {
    evzk_site_tx *t;
    int act, tx, site;
    bool asked, voted, decided;
};

struct tp_slot {
    evzk_tx *tx;
    evzk_site *site;
    evzk_tx_query *q;
    int64_t began;
    int32_t of;                  /* The transaction, from 1. */
    char id[EVZK_TX_ID_LEN + 1]; /* BEGIN: of what it was to begin. */
    bool begun, over, stopped, told_begun, told_decided, watched;
    bool lived;   /* RECOVER: the coordinator's session, when this began. */
    bool refused; /* SITE: was told that it may not read.  Others: that the
                     servers refuse. */
    bool foreign; /* SITE: was told of something foreign. */
    int32_t failed[TP_TXS]; /* SITE: what each has failed with, as told last. */
    const void *told_by[TP_TXS]; /* By which: its number. */
    uint8_t told; /* SITE: a bit for each transaction that it was told of. */
    bool ready;   /* SITE: has watched its inbox. */
};

struct tp_world {
    const struct tp_scene *own;
    struct tp_tx tx[TP_TXS];
    struct tp_slot slot[TP_ACTS];
    struct tp_at at[TP_AT];
    int64_t txs;
    int64_t looked;      /* The newest zxid when the rules saw the tree. */
    int64_t asked_txs;   /* When a look-up was asked for. */
    bool overruled;      /* An operator has decided. */
    bool shown;          /* An operator has given the right back. */
    bool sealed;         /* Something is sealed now. */
    bool hidden;         /* The first transaction may not be read. */
    bool hid;            /* An operator has taken a right away; .. */
    bool unlisted;       /* .. has deleted an entry; .. */
    bool copied;         /* .. has copied the first transaction; .. */
    bool copied_late;    /* .. while a decision may have been on its way. */
    bool rough;          /* Something was cut short. */
    intptr_t numbers;    /* Of what sites have begun. */
    bool due[SIM_PROCS]; /* The users wait for what is still due. */
    bool last;           /* The users have given up; .. */
    bool deserted;       /* .. while a site was there to go on. */
};
extern struct tp_world tp;

/* A transaction of a newer format, of site a. */
#define TP_NEWER "222e4567-e89b-42d3-a456-426614174000"

/* scene_two_phase_tree.c */
int tp_n_sites(void);
int tp_site(char name); /* Its number. */
struct tp_tx *tp_find(const char *id);
void tp_path(char *to, size_t size, const char *path);
void tp_note_delete(const char *path, int64_t heard);
void tp_look(void);          /* What the tree says now. */
bool tp_is_tampered(void);   /* Has an operator had a hand in this? */
int tp_count(const bool *v); /* Of how many sites is that so? */
bool tp_come_to(enum tp_when when);

/* scene_two_phase.c, for the list of scenes */
void two_phase_begin(const struct sim_scene *sc);
void two_phase_check(void);
bool two_phase_done(void);
void two_phase_check_end(void);
extern const char *const two_phase_calls[];
bool two_phase_call(int proc, unsigned which);

/* scene_two_phase_told.c */
bool tp_begun_by_living(const struct tp_tx *x);
/* Has a fault written to any transaction?  Its readers end then. */
bool tp_is_marred(void);
bool tp_excused(int act, int rc);
bool tp_site_may_end(int act, int rc);
void tp_check_tx(int act, evzk_tx *t, evzk_tx_event ev,
                 const evzk_tx_vote *vote, int rc);
void tp_check_site(struct tp_at *at, evzk_site_event ev, int rc);
void tp_check_answer(int act, int rc, const evzk_tx_info *v, size_t n);

/* scene_two_phase_rules.c */
void tp_check(void); /* After every step. */
void two_phase_owes(int proc, struct sim_debt *debt);
void tp_check_end(void);

#endif
