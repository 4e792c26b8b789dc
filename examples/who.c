/* Shows the holders of a lock and its waiters:
 *
 *     who localhost:2181 /app/leader
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>
#include <evzk/evzk.h>

static int status = EXIT_FAILURE;

/* The data of a contender may be any bytes. */
static void print_data(const unsigned char *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        putchar(data[i] >= ' ' && data[i] < 0x7f ? data[i] : '.');
    putchar('\n');
}

/* Whether another library's contender holds or waits is not known. */
static const char *what_it_does(const evzk_contender *c)
{
    if (c->foreign)
        return "there";
    return c->holder ? "holds" : "waits";
}

static void print_one(const evzk_contender *c)
{
    static const char *const modes[] = {"alone", "writes", "reads"};

    printf("%-6s  %-6s  session 0x%016" PRIx64 "  token %" PRIu64
           "  for %.1f s%s%s\n",
           what_it_does(c), modes[c->mode], (uint64_t)c->session, c->token,
           (double)c->age_ms / 1e3, c->library ? "  of " : "",
           c->library ? c->library : "");
    printf("        %s  ", c->node);
    print_data(c->data, c->data_len);
}

static void on_answer(evzk_lock_query *query, int rc, const evzk_contender *v,
                      size_t n, void *session)
{
    for (size_t i = 0; i < n; i++)
        print_one(&v[i]);
    if (rc)
        fprintf(stderr, "who: %s\n", evzk_strerror(rc));
    else if (n == 0)
        puts("nobody");
    status = rc ? EXIT_FAILURE : EXIT_SUCCESS;
    evzk_lock_query_free(query);
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
    struct event_base *base = event_base_new();
    evzk_session *s = NULL;
    evzk_lock_query *query;
    int rc = argc == 3 && base ? EVZK_OK : EVZK_ERR_INVAL;

    if (!rc)
        rc = evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    if (!rc)
        rc = evzk_lock_query_start(s, argv[2], on_answer, s, &query);
    if (rc)
        fprintf(stderr, "who SERVERS PATH: %s\n", evzk_strerror(rc));
    else
        event_base_dispatch(base);
    evzk_session_free(s);
    if (base)
        event_base_free(base);
    return status;
}
