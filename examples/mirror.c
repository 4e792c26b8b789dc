/* Shows a subtree as it is now, and then all that changes in it:
 *
 *     mirror localhost:2181 /app/config
 */
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>
#include <evzk/evzk.h>

static int status = EXIT_SUCCESS;

static void show(const char *what, const evzk_cache_entry *e)
{
    printf("%-8s /%s = %.*s\n", what, e->path, e->hidden ? 6 : (int)e->len,
           e->hidden ? "hidden" : (const char *)e->data);
}

static void on_cache(evzk_cache *cache, evzk_cache_event event, int rc,
                     const evzk_cache_entry *entry,
                     const evzk_cache_entry *before, void *session)
{
    (void)before;
    if (entry)
        show(evzk_cache_event_name(event), entry);
    else if (event == EVZK_CACHE_READY)
        printf("%-8s %zu znodes\n", "READY", evzk_cache_count(cache));
    fflush(stdout);
    if (!evzk_cache_event_is_final(event))
        return;
    fprintf(stderr, "mirror: %s\n", evzk_strerror(rc));
    status = EXIT_FAILURE;
    evzk_cache_free(cache);
    evzk_session_close(session);
}

static void on_session(evzk_session *s, evzk_session_event event, int rc,
                       void *base)
{
    (void)s, (void)rc;
    if (event == EVZK_SESSION_CLOSED)
        event_base_loopbreak(base);
}

int main(int argc, char **argv)
{
    static const evzk_cache_options opt = {.depth = EVZK_CACHE_SUBTREE};
    struct event_base *base = event_base_new();
    evzk_session *s = NULL;
    evzk_cache *cache;
    int rc = argc == 3 && base ? EVZK_OK : EVZK_ERR_INVAL;

    if (!rc)
        rc = evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    if (!rc)
        rc = evzk_cache_start(s, argv[2], &opt, on_cache, s, &cache);
    if (rc) {
        fprintf(stderr, "mirror SERVERS PATH: %s\n", evzk_strerror(rc));
        status = EXIT_FAILURE;
    } else
        event_base_dispatch(base);
    evzk_session_free(s);
    event_base_free(base);
    return status;
}
