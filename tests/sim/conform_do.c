/* The random operations of a conformance run, but for multi. */
#include "conform.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 8192 };

/* ---- Requests that are out ---- */

static unsigned pending;

struct request *request_new(int slot, const char *fmt, ...)
{
    struct request *r = calloc(1, sizeof *r);
    va_list ap;

    if (!r)
        abort();
    r->slot = slot;
    va_start(ap, fmt);
    vsnprintf(r->what, sizeof r->what, fmt, ap);
    va_end(ap);
    pending++;
    return r;
}

static void request_end(struct request *r)
{
    pending--;
    free(r->own);
    free(r);
}

void request_sent(struct request *r, int rc)
{
    if (rc == ZOK)
        return;
    tell_rc(rc);
    tell(r->slot, "%s: call %d", r->what, rc);
    request_end(r);
}

void request_done(struct request *r, int rc, const char *fmt, ...)
{
    char text[TEXT];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    tell_rc(rc);
    tell(r->slot, "%s: %d %s", r->what, rc, text);
    request_end(r);
}

unsigned requests_pending(void) { return pending; }

/* ---- Answers ---- */

static struct request *request_of(const void *data)
{
    return (struct request *)(uintptr_t)data;
}

static void on_void(int rc, const void *data)
{
    request_done(request_of(data), rc, "%s", "");
}

static void on_stat(int rc, const struct Stat *stat, const void *data)
{
    char text[300] = "";

    if (rc == ZOK)
        tell_stat(text, sizeof text, stat);
    request_done(request_of(data), rc, "%s", text);
}

static void on_data(int rc, const char *value, int len, const struct Stat *stat,
                    const void *data)
{
    char text[300] = "", what[100] = "";

    if (rc == ZOK) {
        tell_stat(text, sizeof text, stat);
        tell_data(what, sizeof what, value, len);
    }
    request_done(request_of(data), rc, "%s %s", what, text);
}

static void on_names_stat(int rc, const struct String_vector *names,
                          const struct Stat *stat, const void *data)
{
    char text[300] = "", all[6000] = "";

    if (rc == ZOK) {
        tell_stat(text, sizeof text, stat);
        tell_names(all, sizeof all, names);
    }
    request_done(request_of(data), rc, "%s %s", all, text);
}

static void on_names(int rc, const struct String_vector *names,
                     const void *data)
{
    char all[6000] = "";

    if (rc == ZOK)
        tell_names(all, sizeof all, names);
    request_done(request_of(data), rc, "%s", all);
}

static void remember_sequential(const char *path)
{
    size_t n = path ? strlen(path) : 0;

    if (n > 10 && strspn(path + n - 10, "0123456789") == 10)
        remember(path);
}

static void on_path(int rc, const char *path, const void *data)
{
    struct request *r = request_of(data);

    request_done(r, rc, "%s", rc == ZOK ? path : "");
    if (rc == ZOK)
        remember_sequential(path);
}

static void on_path_stat(int rc, const char *path, const struct Stat *stat,
                         const void *data)
{
    struct request *r = request_of(data);
    char text[300] = "";

    if (rc == ZOK)
        tell_stat(text, sizeof text, stat);
    request_done(r, rc, "%s %s", rc == ZOK ? path : "", text);
    if (rc == ZOK)
        remember_sequential(path);
}

static void on_acl(int rc, struct ACL_vector *acl, struct Stat *stat,
                   const void *data)
{
    char text[300] = "", all[1000] = "";

    if (rc == ZOK) {
        tell_stat(text, sizeof text, stat);
        tell_acl(all, sizeof all, acl);
    }
    request_done(request_of(data), rc, "%s %s", all, text);
}

/* ---- Writes ---- */

static void do_create(int slot)
{
    static const int modes[] = {0, 0, 0, 0, 1, 1, 1, 2, 3, 3, 4, 4};
    int mode = pick(60) ? modes[pick(12)] : 7;
    const struct pick_acl *acl = pick_acl();
    struct pick_data d = pick_data();
    bool with_stat = pick(3) == 0;
    const char *path = pick_path();
    struct request *r =
        request_new(slot, "create%s %s mode=%d acl=%s len=%d",
                    with_stat ? "2" : "", path, mode, acl->name, d.len);
    const char *bytes = d.len < 0 ? NULL : d.bytes;
    zhandle_t *zh = slots[slot].zh;

    request_sent(r, with_stat ? zoo_acreate2(zh, path, bytes, d.len, &acl->acl,
                                             mode, on_path_stat, r)
                              : zoo_acreate(zh, path, bytes, d.len, &acl->acl,
                                            mode, on_path, r));
}

static void do_delete(int slot)
{
    int32_t version = pick_version();
    const char *path = pick_path();
    struct request *r = request_new(slot, "delete %s v=%d", path, version);

    request_sent(r, zoo_adelete(slots[slot].zh, path, version, on_void, r));
}

static void do_set(int slot)
{
    int32_t version = pick_version();
    struct pick_data d = pick_data();
    const char *path = pick_path();
    struct request *r =
        request_new(slot, "set %s v=%d len=%d", path, version, d.len);

    request_sent(r, zoo_aset(slots[slot].zh, path, d.len < 0 ? NULL : d.bytes,
                             d.len, version, on_stat, r));
}

static void do_set_acl(int slot)
{
    int32_t version = pick_version();
    const struct pick_acl *acl = pick_acl();
    const char *path = pick_path();
    struct request *r =
        request_new(slot, "set_acl %s v=%d %s", path, version, acl->name);
    struct ACL_vector copy = acl->acl;

    request_sent(
        r, zoo_aset_acl(slots[slot].zh, path, version, &copy, on_void, r));
}

/* ---- Reads ---- */

/* Where each session set its newest watch, to remove it some time. */
static char newest[CONFORM_SLOTS][96];

/* 0: no watch; 1: the session's own watcher; 2, 3: others. */
static unsigned pick_watcher(int slot, const char *path)
{
    unsigned w = pick(5) < 2 ? 0 : 1 + pick(CONFORM_WATCHERS);

    if (w) {
        slots[slot].watched = true;
        snprintf(newest[slot], sizeof newest[slot], "%s", path);
    }
    return w;
}

static const char *pick_read_path(void)
{
    return pick(12) ? pick_path() : "/t";
}

static void do_get(int slot)
{
    const char *path = pick_read_path();
    unsigned w = pick_watcher(slot, path);
    struct request *r = request_new(slot, "get %s w=%u", path, w);
    zhandle_t *zh = slots[slot].zh;

    request_sent(r, w < 2 ? zoo_aget(zh, path, w == 1, on_data, r)
                          : zoo_awget(zh, path, on_watch,
                                      watch_context(slot, (int)w - 1), on_data,
                                      r));
}

static void do_exists(int slot)
{
    const char *path = pick_read_path();
    unsigned w = pick_watcher(slot, path);
    struct request *r = request_new(slot, "exists %s w=%u", path, w);
    zhandle_t *zh = slots[slot].zh;

    request_sent(r, w < 2 ? zoo_aexists(zh, path, w == 1, on_stat, r)
                          : zoo_awexists(zh, path, on_watch,
                                         watch_context(slot, (int)w - 1),
                                         on_stat, r));
}

static void do_children(int slot)
{
    const char *path = pick_read_path();
    unsigned w = pick_watcher(slot, path);
    struct request *r = request_new(slot, "children %s w=%u", path, w);
    zhandle_t *zh = slots[slot].zh;

    request_sent(r, w < 2 ? zoo_aget_children(zh, path, w == 1, on_names, r)
                          : zoo_awget_children(zh, path, on_watch,
                                               watch_context(slot, (int)w - 1),
                                               on_names, r));
}

static void do_children2(int slot)
{
    const char *path = pick_read_path();
    unsigned w = pick_watcher(slot, path);
    struct request *r = request_new(slot, "children2 %s w=%u", path, w);
    zhandle_t *zh = slots[slot].zh;

    request_sent(r, w < 2
                        ? zoo_aget_children2(zh, path, w == 1, on_names_stat, r)
                        : zoo_awget_children2(zh, path, on_watch,
                                              watch_context(slot, (int)w - 1),
                                              on_names_stat, r));
}

static void do_get_acl(int slot)
{
    const char *path = pick_read_path();
    struct request *r = request_new(slot, "get_acl %s", path);

    request_sent(r, zoo_aget_acl(slots[slot].zh, path, on_acl, r));
}

static void do_sync(int slot)
{
    const char *path = pick_read_path();
    struct request *r = request_new(slot, "sync %s", path);

    request_sent(r, zoo_async(slots[slot].zh, path, on_path, r));
}

/* ---- The rest ---- */

/* The header declares the completion as a pointer to the function type, and
 * the library uses it as the function. */
static void do_remove_watches(int slot)
{
    ZooWatcherType type = (ZooWatcherType)(1 + pick(3));
    unsigned w = pick(CONFORM_WATCHERS + 1);
    const char *path =
        pick(3) && *newest[slot] ? newest[slot] : pick_read_path();
    struct request *r =
        request_new(slot, "remove_watches %s type=%d w=%u", path, (int)type, w);
    void_completion_t *done = (void_completion_t *)(uintptr_t)on_void;
    zhandle_t *zh = slots[slot].zh;

    request_sent(r, w == 0 ? zoo_aremove_all_watches(zh, path, type, 0, done, r)
                           : zoo_aremove_watches(
                                 zh, path, type, on_watch,
                                 watch_context(slot, (int)w - 1), 0, done, r));
}

/* In the client alone: the server's watch stays, and nobody is told. */
static void do_forget_watches(int slot)
{
    ZooWatcherType type = (ZooWatcherType)(1 + pick(3));
    const char *path = newest[slot];
    int w = (int)pick(CONFORM_WATCHERS), rc;

    if (!*path)
        return;
    rc = zoo_aremove_watches(slots[slot].zh, path, type, on_watch,
                             watch_context(slot, w), 1, NULL, NULL);
    tell_rc(rc);
    tell(slot, "forget_watches %s type=%d w=%d: %d", path, (int)type, w + 1,
         rc);
}

void do_add_auth(int slot)
{
    unsigned user = 1 + pick(2);
    char cert[8];
    struct request *r = request_new(slot, "add_auth u%u", user);

    snprintf(cert, sizeof cert, "u%u:p%u", user, user);
    request_sent(r,
                 zoo_add_auth(slots[slot].zh, "digest", cert, 5, on_void, r));
}

static void do_bad(int slot)
{
    static const char *const bad[] = {"",      "t",      "/t/",   "//",
                                      "/t//a", "/t/./a", "/t/..", "/t/a\x01"};
    const char *path = bad[pick(sizeof bad / sizeof *bad)];
    zhandle_t *zh = slots[slot].zh;
    struct request *r = request_new(slot, "bad \"%s\"", path);

    switch (pick(6)) {
    case 0:
        request_sent(r, zoo_acreate(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0,
                                    on_path, r));
        break;
    case 1:
        request_sent(r, zoo_aget(zh, path, 1, on_data, r));
        break;
    case 2:
        request_sent(r, zoo_adelete(zh, "/", -1, on_void, r));
        break;
    case 3:
        request_sent(r, zoo_acreate(zh, "/", "", 0, &ZOO_OPEN_ACL_UNSAFE, 0,
                                    on_path, r));
        break;
    case 4:
        request_sent(r, zoo_aset(zh, path, "", 0, -1, on_stat, r));
        break;
    default:
        request_sent(r, zoo_aget_children(zh, path, 0, on_names, r));
        break;
    }
}

void do_base(int slot)
{
    struct request *r = request_new(slot, "create /t");

    request_sent(r, zoo_acreate(slots[slot].zh, "/t", "base", 4,
                                &ZOO_OPEN_ACL_UNSAFE, 0, on_path, r));
}

/* The sequence numbers of /end, which has had nearly all: the last is given
 * again when its node is gone. */
void do_end_of_sequence(int slot)
{
    zhandle_t *zh = slots[slot].zh;
    unsigned what = pick(5);
    struct request *r = request_new(slot, "end of sequence %u", what);

    if (what == 0)
        request_sent(r, zoo_aget_children2(zh, "/end", 0, on_names_stat, r));
    else if (what == 1)
        request_sent(r, zoo_adelete(zh, "/end/n-2147483647", -1, on_void, r));
    else
        request_sent(r, zoo_acreate(zh, "/end/n-", "", 0, &ZOO_OPEN_ACL_UNSAFE,
                                    ZOO_SEQUENCE, on_path, r));
}

/* While a setACL or the last of the sequence numbers is not applied, a real
 * server checks what follows by what was before, or not, as it happens. */
bool do_something(int slot)
{
    static const struct {
        unsigned weight;
        void (*act)(int slot);
        bool alone;
    } all[] = {{230, do_create, false},
               {180, do_delete, false},
               {80, do_set, false},
               {80, do_get, false},
               {80, do_exists, false},
               {50, do_children, false},
               {50, do_children2, false},
               {90, do_multi, false},
               {20, do_sync, false},
               {20, do_get_acl, false},
               {25, do_set_acl, true},
               {40, do_remove_watches, false},
               {10, do_forget_watches, false},
               {30, do_bad, false},
               {10, do_base, false},
               {5, do_end_of_sequence, true}};
    unsigned at = pick(1000), i = 0;

    while (at >= all[i].weight)
        at -= all[i++].weight;
    all[i].act(slot);
    return !all[i].alone;
}
