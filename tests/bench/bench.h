/*
 * The benchmark: what one run is, and what its parts share.
 *
 * bench.c     reads the command line, and runs round by round
 * runs.c      one run: a process of its own, with a limit of time
 * workloads.c the list of what is measured
 * play*.c     the workloads themselves, the same for every way
 * crew.c      several processes of one run
 * team.c      the same that lead shards, and do as they are told
 * way_*.c     the ways: the raw C client, and evzk
 * plain.c     the C client on a libevent loop, without any library
 * raw_way.c   the same with a list of work, for several raw ways
 * library.c   the library's session on it
 * batch.c     many creates or deletes in large transactions
 * fill.c      znodes that must be there before, and gone after
 * holder.c    a process that holds locks, for others to wait for
 * meter.c     CPU, memory, stalls; wire.c: bytes and round trips
 * mntr.c      the server's own counters
 * report.c    medians, the table, the file of figures
 * goals.c     what is asked of the library, and what was measured
 */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    WINDOW = 1000, /* Requests in flight, as by the library's default. */
    SLICE = 1000,  /* Calls that an application makes in one turn. */
    PATH_SIZE = 192,
    PROCESSES_MAX = 10,
    ROUNDS_MAX = 99,
    WAYS_MAX = 3
};

/* X(name, column of the file of figures) */
/* clang-format off */
#define METRICS(X) \
    X(RATE,      "rate_per_s")       /* Acquired, or handed over. */ \
    X(RELEASE,   "release_per_s") \
    X(CPU,       "cpu_us")           /* Of a lock's whole life. */ \
    X(HEAP,      "heap_bytes")       /* In use, for each lock. */ \
    X(RSS,       "rss_bytes") \
    X(STALL,     "stall_ms") \
    X(OWN,       "stall_own_ms")     /* Less the wait for a CPU. */ \
    X(BUSY,      "stall_cpu_ms")     /* The CPU used in one. */ \
    X(REQUESTS,  "requests")         /* Of a lock, by the server's count. */ \
    X(WIRE,      "wire_bytes")       /* Of a lock, both ways. */ \
    X(TRIPS,     "round_trips")      /* To acquire. */ \
    X(LATENCY,   "latency_us")       /* End to next grant: median ... */ \
    X(LATENCY99, "latency_p99_us")   /* ... and 99 of 100. */ \
    X(REARM,     "rearm_s")          /* Each can be woken again. */ \
    X(REARM_OWN, "rearm_own_s")      /* And is watched itself. */ \
    X(OTHER,     "other_callbacks") \
    X(IDLE_CPU,  "idle_cpu_percent") \
    X(FRAMES,    "idle_frames_per_s") \
    X(LATENCY_MAX, "latency_max_us") \
    X(ALL_LED,   "all_led_s")        /* Since the call. */ \
    X(AFTER_END, "after_end_s")      /* Likewise, since a session's end. */ \
    X(AFTER_KILL, "after_kill_s")    /* And since that process's. */ \
    X(TRANSACTIONS, "transactions")     /* The server's, all told. */ \
    X(UNEVEN,    "uneven_percent")   /* The most that a share is off. */ \
    X(MOVED,     "moved_of_least")
/* clang-format on */

enum metric {
#define NAME(name, column) name,
    METRICS(NAME)
#undef NAME
        METRIC_COUNT
};

/* NAN where nothing was measured. */
struct result {
    double v[METRIC_COUNT];
};

struct run;
struct event_base;

/* One way of locking.  A process plays one at a time. */
struct way {
    const char *name;
    const char *note; /* Says what the name does not; or NULL. */
    bool makes_dirs;  /* Else they are there before. */
    int takes;        /* Of a queue: so many of its items are taken; 0: all. */
    /* Connects, and waits for it. */
    void (*open)(struct run *r, const char *servers);
    /* Call run_granted() and run_released() some time. */
    void (*acquire)(int i);
    void (*release)(int i);
    bool (*busy)(void); /* Something was asked and not yet answered. */
    bool (*connected)(void);
    void (*close)(void);
    int64_t (*watches)(void); /* How many it has set; NULL: does not know. */
    /* Of shards: process @k of the run is to lead its part, and stands behind
     * the others where it may come to; and hands over all that it leads. */
    void (*join)(int k);
    void (*drain)(void);
};

extern const struct way way_raw, way_raw_steps, way_raw_piped, way_evzk,
    way_evzk_priority, way_raw_election, way_evzk_election, way_raw_observe,
    way_evzk_observe, way_evzk_shards, way_raw_queue, way_raw_claims,
    way_raw_queue_calls, way_raw_claims_calls, way_evzk_queue, way_evzk_claims,
    way_raw_double_barrier, way_evzk_double_barrier, way_raw_two_phase,
    way_evzk_two_phase, way_raw_group, way_evzk_group, way_raw_semaphore,
    way_evzk_semaphore, way_raw_counter, way_raw_counter_piped,
    way_evzk_counter, way_raw_value, way_evzk_value, way_raw_cache,
    way_evzk_cache, way_raw_cache_deep, way_evzk_cache_deep, way_raw_config,
    way_evzk_config, way_raw_guard, way_evzk_guard, way_raw_chubby,
    way_evzk_chubby;

/* The bytes of an item of a queue, and of a value. */
enum { QUEUE_ITEM_SIZE = 100, VALUE_SIZE = 100 };

#define MEMBER_DATA "host:12345"

enum { CONFIG_KEYS = 50, CONFIG_NAME_SIZE = 16, CONFIG_VALUE_SIZE = 100 };

static inline void config_name(int key, char name[CONFIG_NAME_SIZE])
{
    snprintf(name, CONFIG_NAME_SIZE, "key-%02d", key);
}

/* What all keys have after replacement @i. */
static inline void config_value(int i, char value[CONFIG_VALUE_SIZE])
{
    snprintf(value, CONFIG_VALUE_SIZE, "%0*d", CONFIG_VALUE_SIZE - 1, i);
}

/* Of each transaction. */
enum { TWO_PHASE_SITES = 3 };
#define TWO_PHASE_QUESTION "move 5 from alice to bob"

struct workload {
    const char *name;
    int n;
    int processes; /* 0: one. */
    void (*play)(struct run *r);
    const struct way *ways[WAYS_MAX]; /* The first is what others are
                                         compared with. */
    int rounds;      /* At most; 0: as many as are asked for. */
    int raw_rounds;  /* The most rounds of the first way; 0: all. */
    bool one;        /* All on one path. */
    int paths;       /* All on so many, by chance; 0: each on its own. */
    int reads;       /* Shared: of 100, so many read; 0: exclusive. */
    int priorities;  /* With one: so many different; 0: all the same. */
    bool queue;      /* All is below one path, which is cleared in the end. */
    bool filled;     /* The paths are values, which are there for all ways. */
    int leases;      /* Of a semaphore. */
    bool dirs_there; /* Whatever the way, the directories are there. */
    int shards;      /* So many, of which @n are measured. */
    int session_ms;  /* The session time-out; 0: the default. */
    const char *help;
};

extern const struct workload workloads[];
extern const size_t workload_count;

/* "one-lock waiters=1000 processes=10" */
const char *workload_title(const struct workload *w);

struct meter {
    struct event *timer;
    int schedstat;
    int64_t tick_ns, waited_ns, cpu_ns;
    int64_t stall_ns, own_ns, busy_ns; /* The most of each. */
};

/* The process of one run. */
struct run {
    const struct workload *w;
    const struct way *way;
    const char *servers;
    const char *dir; /* The locks are below it. */
    bool one;        /* All on one path. */
    int paths;       /* As the workload says. */
    int first;       /* Of the locks of this process, where it matters. */
    struct event_base *base;
    int64_t granted_ns, released_ns;        /* When it was that last. */
    void (*granted)(struct run *r, int i);  /* NULL: only counted. */
    void (*released)(struct run *r, int i); /* Likewise. */
    void (*given)(struct run *r, int i);    /* Likewise: led no longer. */
    int n_granted, n_released, n_given;
    int n_suspended, n_resumed, n_other; /* Callbacks. */
    bool ending;                         /* Later events are not counted. */
    struct meter meter;
    struct result res;
};

/* ---- runs.c ---- */

/* Says why, and ends this process. */
_Noreturn void fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Plays @w in a new process; false when it failed or took too long. */
bool run_once(const struct workload *w, const struct way *way,
              const char *servers, int limit_s, struct result *out);

/* All that is made on that server is below this; takes what is left away. */
#define BENCH_ROOT "/evzk-bench"
void run_clean(const char *servers);

/* Opens the way, @servers given, and starts the meter; ends both. */
void run_open(struct run *r, const char *servers);
void run_close(struct run *r);

/* What lock @i of this process is. */
enum mode { ALONE, WRITES, READS };

void run_path(const struct run *r, int i, char path[PATH_SIZE]);
enum mode run_mode(const struct run *r, int i);
void run_granted(struct run *r, int i);
void run_released(struct run *r, int i);

/* A shard is led no longer, from now on; and all of these are proved gone. */
void run_given(struct run *r, int i);
void run_all_released(struct run *r);

/* The session time-out to ask for. */
int run_session_ms(const struct run *r);

/* Runs the loop until so many were granted, or released. */
void run_await(struct run *r, const int *count, int wanted);

/* Runs the loop until nothing was asked for a while; when that began. */
int64_t run_settle(struct run *r);

/* Runs the loop for a time. */
void run_for_ms(struct run *r, int ms);

/* Calls @call for @n locks from @first on, every @step th, a slice a turn. */
void run_feed(struct run *r, void (*call)(int i), int first, int n, int step);

/* ---- meter.c ---- */

int64_t now_ns(void);
int64_t cpu_ns(void);   /* User and system, of this process. */
double heap_used(void); /* Bytes. */
double rss_used(void);

void meter_start(struct meter *m, struct event_base *base);
void meter_reset(struct meter *m);
void meter_skip(struct meter *m); /* Leaves out the time just spent. */
void meter_put(const struct meter *m, struct result *res);
void meter_stop(struct meter *m);

/* ---- wire.c ---- */

int64_t wire_bytes(void); /* Sent and received by this process's client. */
int64_t wire_trips(void); /* Times it sent after it had received. */
void wire_cut(void);      /* Cuts its connection. */

/* ---- mntr.c ---- */

/* Requests that the server has counted, less those that ask; -1: unknown. */
int64_t mntr_packets(const char *server);

/* Any figure of "mntr"; -1: unknown. */
int64_t mntr_figure(const char *server, const char *name);

/* What costs the server little to say: its znodes; the transactions so far. */
int64_t srvr_znodes(const char *server);
int64_t srvr_transactions(const char *server);

/* ---- fill.c: each in a process of its own, and done when it returns ---- */

/* Makes @dir, and below it @n lock directories, if they are not there. */
void fill_dirs(const char *servers, const char *dir, int n);

/* The same with @n values, of VALUE_SIZE bytes each. */
void fill_values(const char *servers, const char *dir, int n);

/* Removes @dir, and what is left of @n lock directories in it. */
void fill_remove(const char *servers, const char *dir, int n);

/* Removes @dir, and all that is below it. */
void fill_clear_tree(const char *servers, const char *dir);

/* Removes @dir, and all in it that has nothing in it. */
void fill_clear(const char *servers, const char *dir);

/* ---- holder.c ---- */

struct holder {
    int pid;
    int fd;
};

/* A process that holds the locks 0, @step, ... below @n; returns when it does.
 * @r says where they are. */
void holder_start(struct holder *h, const struct run *r, int n, int step);
void holder_release(struct holder *h); /* Asks for it; does not wait. */
void holder_end(struct holder *h);     /* Ends its session. */

/* ---- play*.c ---- */

void play_uncontended(struct run *r);
void play_tenth(struct run *r);
void play_sequential(struct run *r);
void play_idle(struct run *r);
void play_one(struct run *r);
void play_spread(struct run *r);
void play_alternate(struct run *r);
void play_shared(struct run *r);
void play_waiting(struct run *r);
void play_observe(struct run *r);
void play_join(struct run *r);
void play_hand_over(struct run *r);
void play_kill(struct run *r);
void play_share(struct run *r);
void play_queue(struct run *r);
void play_transact(struct run *r);
void play_seats(struct run *r);
void play_follow(struct run *r);

/* Where the library's shards are, below the run's directory. */
#define SHARDS_NAME "shards"

/* ---- report.c ---- */

struct series {
    const struct workload *w;
    int rounds;
    struct result v[WAYS_MAX][ROUNDS_MAX]; /* Empty where it did not run. */
    bool failed;
};

struct spread {
    double median, min, max;
    int n;
};

void result_clear(struct result *res);
struct spread spread_of(const struct series *s, int way, enum metric m);

/* Of way / other way, round by round; empty for a way beside itself. */
struct spread ratio_to(const struct series *s, int way, int other,
                       enum metric m);
struct spread ratio_of(const struct series *s, int way, enum metric m);
int way_index(const struct workload *w, const char *name); /* -1: none. */

void report_header(FILE *out);
void report_series(FILE *out, const struct series *s);
void report_tsv_header(FILE *out);
void report_tsv(FILE *out, const struct series *s);
void report_goals(FILE *out, const struct series *all, size_t n);

#endif
