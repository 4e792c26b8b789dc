/* evzk's files with locks, used as the manual says: a handle is opened, which
 * makes the file, reads it, takes its lock and gives that back, deletes the
 * file, and is closed. */
#include "library.h"

static struct run *run;

static void on_done(evzk_chubby *h, int rc, const evzk_chubby_answer *a,
                    void *arg);

static void next(evzk_chubby *h, int i, int step)
{
    void *arg = (void *)(intptr_t)(i * 4 + step);
    int rc = EVZK_OK;

    if (step == 0)
        rc = evzk_chubby_get(h, false, on_done, arg);
    else if (step == 1)
        rc = evzk_chubby_acquire(h, EVZK_CHUBBY_EXCLUSIVE, on_done, arg);
    else if (step == 2)
        rc = evzk_chubby_release(h, on_done, arg);
    else
        rc = evzk_chubby_delete(h, on_done, arg);
    library_check(rc, "a call of a handle");
}

static void on_done(evzk_chubby *h, int rc, const evzk_chubby_answer *a,
                    void *arg)
{
    int i = (int)(intptr_t)arg / 4, step = (int)(intptr_t)arg % 4;

    (void)a;
    library_check(rc, "an operation of a handle");
    if (step == 1)
        run_granted(run, i);
    if (step < 3)
        next(h, i, step + 1);
    else
        library_check(evzk_chubby_close(h), "close");
}

static void on_event(evzk_chubby *h, evzk_chubby_event event, int rc,
                     const char *name, void *arg)
{
    (void)name;
    if (event == EVZK_CHUBBY_OPENED)
        next(h, (int)(intptr_t)arg, 0);
    if (!evzk_chubby_event_is_final(event))
        return;
    library_check(rc, "a handle");
    evzk_chubby_free(h);
    run_released(run, (int)(intptr_t)arg);
}

static void open_handle(int i)
{
    static const char text[VALUE_SIZE];
    const evzk_chubby_options opt = {.create = EVZK_CHUBBY_MAY_CREATE,
                                     .data = text,
                                     .data_len = sizeof text};
    char path[PATH_SIZE + 16];
    evzk_chubby *h;

    snprintf(path, sizeof path, "%s/%d", run->dir, i);
    library_check(evzk_chubby_open(library, path, &opt, on_event,
                                   (void *)(intptr_t)i, &h),
                  "open");
}

static void open_session(struct run *r, const char *servers)
{
    run = r;
    library_open(r, servers);
}

const struct way way_evzk_chubby = {.name = "evzk",
                                    .makes_dirs = true,
                                    .open = open_session,
                                    .acquire = open_handle,
                                    .busy = library_busy,
                                    .connected = library_connected,
                                    .close = library_close,
                                    .watches = library_watches};
