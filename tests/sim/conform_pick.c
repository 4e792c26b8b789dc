/* What the random operations of a conformance run are about: few paths, so
 * that they meet; few values. */
#include "conform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECENT = 24, EVICTED = 64 };

/* Sequential nodes of late; the oldest makes room by being deleted. */
static char recent[RECENT][96];
static unsigned next_recent;

static const char *pick_recent(void) { return recent[pick(RECENT)]; }

static void add_level(char *path, size_t size, unsigned names)
{
    size_t used = strlen(path);

    snprintf(path + used, size - used, "/%c", "abcdef"[pick(names)]);
}

const char *pick_path(void)
{
    static char paths[8][96];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    unsigned levels = pick(8);

    if (pick(5) == 0 && *pick_recent()) {
        const char *one = pick_recent();

        if (*one)
            return memcpy(path, one, sizeof paths[0]);
    }
    memcpy(path, "/t", 3);
    add_level(path, sizeof paths[0], 3);
    if (levels > 0)
        add_level(path, sizeof paths[0], 4);
    if (levels > 4)
        add_level(path, sizeof paths[0], 6);
    return path;
}

int32_t pick_version(void)
{
    switch (pick(8)) {
    case 0:
    case 1:
        return 0;
    case 2:
        return (int32_t)pick(4);
    default:
        return -1;
    }
}

struct pick_data pick_data(void)
{
    struct pick_data d;

    d.len = (int)pick(8) - 1; /* -1: none. */
    for (int i = 0; i < d.len; i++)
        d.bytes[i] = (char)('a' + pick(26));
    return d;
}

/* The digests are of u1:p1 and u2:p2. */
#define U1 "u1:fpT/y03U+EjItKZOSLGvjnJlyng="
#define U2 "u2:o9NxcCGDPOlcV7JVhmKHOf5ctVE="

const struct pick_acl *pick_acl(void)
{
    static struct ACL world = {31, {"world", "anyone"}};
    static struct ACL reader[] = {{1, {"world", "anyone"}},
                                  {31, {"digest", U1}}};
    static struct ACL mine[] = {{31, {"auth", ""}}};
    static struct ACL blind[] = {{14, {"world", "anyone"}},
                                 {17, {"digest", U2}}};
    static struct ACL local[] = {{31, {"ip", "127.0.0.1"}}};
    static struct ACL abroad[] = {{31, {"ip", "10.0.0.0/8"}},
                                  {21, {"world", "anyone"}}};
    static struct ACL twice[] = {{3, {"world", "anyone"}},
                                 {28, {"world", "anyone"}},
                                 {3, {"world", "anyone"}}};
    static struct ACL bad_scheme[] = {{31, {"nosuch", "x"}}};
    static struct ACL bad_digest[] = {{31, {"digest", "nocolon"}}};
    static struct ACL bad_world[] = {{31, {"world", "someone"}}};
    static struct ACL bad_ip[] = {{31, {"ip", "127.0.0.300"}}};
    static const struct pick_acl all[] = {{"open", {1, &world}},
                                          {"reader", {2, reader}},
                                          {"mine", {1, mine}},
                                          {"blind", {2, blind}},
                                          {"local", {1, local}},
                                          {"abroad", {2, abroad}},
                                          {"twice", {3, twice}},
                                          {"bad_scheme", {1, bad_scheme}},
                                          {"bad_digest", {1, bad_digest}},
                                          {"bad_world", {1, bad_world}},
                                          {"bad_ip", {1, bad_ip}},
                                          {"empty", {0, NULL}}};

    return &all[pick(12) ? 0 : pick(sizeof all / sizeof *all)];
}

/* These znodes are deleted with the next batch of any session: a request that
 * is sent from a completion might overtake the requests that the server has
 * under way, or might not. */
static char evicted[EVICTED][96];
static unsigned n_evicted;

void remember(const char *path)
{
    char *place;

    if (strncmp(path, "/end/", 5) == 0)
        return; /* Operations there are done alone. */
    place = recent[next_recent++ % RECENT];
    if (*place && strcmp(place, path) != 0 && n_evicted < EVICTED)
        memcpy(evicted[n_evicted++], place, sizeof evicted[0]);
    snprintf(place, sizeof recent[0], "%s", path);
}

static void on_evicted(int rc, const void *data)
{
    request_done((struct request *)(uintptr_t)data, rc, "%s", "");
}

void evict(int slot)
{
    for (unsigned i = 0; i < n_evicted; i++) {
        struct request *r = request_new(slot, "delete %s of old", evicted[i]);

        request_sent(
            r, zoo_adelete(slots[slot].zh, evicted[i], -1, on_evicted, r));
    }
    n_evicted = 0;
}
