/* Step 1 of doc/tutorial.md: an event loop with nothing in it but its end.
 *     step1 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>

static void on_stop(evutil_socket_t fd, short what, void *base)
{
    (void)fd, (void)what;
    puts("stopping");
    event_base_loopbreak(base);
}

int main(void)
{
    struct event_base *base = event_base_new();
    struct event *stop;

    setvbuf(stdout, NULL, _IOLBF, 0); /* Each line at once, into files too. */
    stop = base ? evsignal_new(base, SIGTERM, on_stop, base) : NULL;
    if (!stop || event_add(stop, NULL)) {
        fputs("step1: no event loop\n", stderr);
        return EXIT_FAILURE;
    }
    puts("running");
    event_base_dispatch(base);
    event_free(stop);
    event_base_free(base);
    return EXIT_SUCCESS;
}
