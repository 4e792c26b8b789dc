/*
 * GET /metrics, in the text format of Prometheus: the shards, the session, and
 * the answers that were given.
 */
#include <inttypes.h>
#include <stdlib.h>

#include <event2/buffer.h>

#include "server.h"

static void head(struct evbuffer *b, const char *name, const char *type,
                 const char *help)
{
    evbuffer_add_printf(b, "# HELP shard_server_%s %s\n", name, help);
    evbuffer_add_printf(b, "# TYPE shard_server_%s %s\n", name, type);
}

static void add(struct evbuffer *b, const char *name, const char *type,
                const char *help, double value)
{
    head(b, name, type, help);
    evbuffer_add_printf(b, "shard_server_%s %.15g\n", name, value);
}

static void gauge(struct evbuffer *b, const char *name, const char *help,
                  double value)
{
    add(b, name, "gauge", help, value);
}

static void counter(struct evbuffer *b, const char *name, const char *help,
                    uint64_t value)
{
    add(b, name, "counter", help, (double)value);
}

static void shards(struct evbuffer *b, const struct server *s)
{
    evzk_shards_stats st;

    evzk_shards_get_stats(s->shards, &st);
    gauge(b, "shards", "Shards that there are.", s->opt.count);
    gauge(b, "planned", "Shards that the plan gives to this process.",
          st.planned);
    gauge(b, "elected", "Shards that it leads, or is about to.", st.elected);
    gauge(b, "leading", "Shards that it leads.", st.leading);
    gauge(b, "nobodys", "Shards that the plan gives to nobody.", st.nobodys);
    gauge(b, "members", "Processes in the plan.", st.members);
    gauge(b, "planner", "1 if this process makes the plans.", st.planner);
    gauge(b, "draining", "1 if it is handing over before its end.",
          s->draining);
    gauge(b, "plan", "Number of the plan, the same for all members.",
          (double)st.plan);
    counter(b, "moves_total", "Shards that plans gave to another.", st.moves);
}

static void session(struct evbuffer *b, const struct server *s)
{
    evzk_session_stats st;

    evzk_session_get_stats(s->session, &st);
    gauge(b, "session_connected", "1 while the session is confirmed.",
          evzk_session_connected(s->session));
    gauge(b, "session_lease_seconds", "For how long it surely lives.",
          evzk_session_lease_ms(s->session) / 1e3);
    gauge(b, "session_timeout_seconds", "Its time-out.",
          evzk_session_timeout_ms(s->session) / 1e3);
    gauge(b, "session_requests_in_flight", "Requests sent, not answered.",
          st.in_flight);
    gauge(b, "session_requests_queued", "Requests that wait their turn.",
          st.queued);
    gauge(b, "session_watches", "Watches that are set.", st.watches);
    gauge(b, "loop_held_seconds_max", "The longest that evzk held the loop.",
          (double)st.turn_max_us / 1e6);
    counter(b, "session_connects_total", "Connections made.", st.connects);
    counter(b, "session_losses_total", "Connections lost.", st.losses);
    counter(b, "session_expirations_total", "Sessions that expired.",
            st.expirations);
    counter(b, "session_lease_ends_total", "Times the lease ran out.",
            st.lease_ends);
    counter(b, "session_requests_total", "Requests sent.", st.requests);
}

static void connections(struct evbuffer *b, const struct gate *g)
{
    counter(b, "connections_refused_total",
            "Connections beyond the cap, answered 503.", g->refused);
    counter(b, "accept_errors_total", "Times that accept() failed.", g->failed);
}

static void answers(struct evbuffer *b, const struct answers *a)
{
    static const char row[] =
        "shard_server_answers_total{to=\"%s\"} %" PRIu64 "\n";

    head(b, "answers_total", "counter", "Requests for a shard, by answer.");
    evbuffer_add_printf(b, row, "led", a->led);
    evbuffer_add_printf(b, row, "elsewhere", a->elsewhere);
    evbuffer_add_printf(b, row, "nobody", a->nobody);
    evbuffer_add_printf(b, row, "wrong", a->wrong);
}

void answer_metrics(struct evhttp_request *req, void *arg)
{
    const struct server *s = arg;
    struct evbuffer *b = evbuffer_new();

    if (b) {
        shards(b, s);
        session(b, s);
        connections(b, &s->gate);
        answers(b, &s->answers);
    }
    send_text(req, HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", b);
}
