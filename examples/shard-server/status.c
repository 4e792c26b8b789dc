/*
 * GET /status.json: what this process knows.  Of each shard it says who is to
 * lead it, by the plan.  The epoch is known only of what is led here; of all
 * others it is 0.
 */
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <json-c/json.h>

#include "server.h"

bool roster_take(const struct server *s, struct roster *out)
{
    evzk_shards_stats st;

    evzk_shards_get_stats(s->shards, &st);
    *out = (struct roster){.m = calloc(st.members + 1, sizeof *out->m)};
    if (!out->m)
        return false;
    while (out->n < st.members &&
           evzk_shards_member_at(s->shards, out->n, &out->m[out->n]))
        out->n++;
    return true;
}

void roster_free(struct roster *r) { free(r->m); }

int roster_leader(struct roster *r, const struct server *s, uint32_t shard)
{
    evzk_shards_member to;

    if (!evzk_shards_leader(s->shards, shard, &to))
        return -1;
    for (uint32_t i = 0; i < r->n; i++) { /* Often it is the same again. */
        uint32_t at = (r->last + i) % r->n;

        if (strcmp(r->m[at].node, to.node) == 0)
            return (int)(r->last = at);
    }
    return -1;
}

static void number(struct json_object *o, const char *name, uint64_t n)
{
    json_object_object_add(o, name, json_object_new_int64((int64_t)n));
}

static void truth(struct json_object *o, const char *name, bool is)
{
    json_object_object_add(o, name, json_object_new_boolean(is));
}

static void text(struct json_object *o, const char *name, const char *is)
{
    json_object_object_add(o, name, json_object_new_string(is));
}

static void add_self(struct json_object *o, const struct server *s)
{
    text(o, "address", s->address);
    text(o, "name", s->opt.name);
    text(o, "path", s->opt.path);
    truth(o, "draining", s->draining);
    truth(o, "connected", evzk_session_connected(s->session));
    number(o, "lease_ms", evzk_session_lease_ms(s->session));
    number(o, "timeout_ms", evzk_session_timeout_ms(s->session));
}

static void add_stats(struct json_object *o, const struct server *s)
{
    evzk_shards_stats st;

    evzk_shards_get_stats(s->shards, &st);
    number(o, "count", s->opt.count);
    number(o, "plan", st.plan);
    truth(o, "planner", st.planner);
    number(o, "planned", st.planned);
    number(o, "elected", st.elected);
    number(o, "leading", st.leading);
    number(o, "nobodys", st.nobodys);
    number(o, "moves", st.moves);
}

static void add_answers(struct json_object *o, const struct answers *a)
{
    struct json_object *all = json_object_new_object();

    number(all, "led", a->led);
    number(all, "elsewhere", a->elsewhere);
    number(all, "nobody", a->nobody);
    number(all, "wrong", a->wrong);
    json_object_object_add(o, "answers", all);
}

static void add_members(struct json_object *o, const struct roster *r)
{
    struct json_object *all = json_object_new_array();

    for (uint32_t i = 0; i < r->n; i++) {
        struct json_object *one = json_object_new_object();
        struct place at;

        place_of(&r->m[i], &at);
        text(one, "node", r->m[i].node);
        text(one, "address", at.address);
        text(one, "name", at.name);
        number(one, "planned", r->m[i].planned);
        truth(one, "self", r->m[i].self);
        json_object_array_add(all, one);
    }
    json_object_object_add(o, "members", all);
}

/* Two plain lists, a number for each shard: there may be thousands. */
static void add_shards(struct json_object *o, const struct server *s,
                       struct roster *r)
{
    struct json_object *leader = json_object_new_array();
    struct json_object *epoch = json_object_new_array();

    for (uint32_t i = 0; i < s->opt.count; i++) {
        uint64_t e = evzk_shards_leading(s->shards, i)
                         ? evzk_shards_epoch(s->shards, i)
                         : 0;

        json_object_array_add(leader,
                              json_object_new_int(roster_leader(r, s, i)));
        json_object_array_add(epoch, json_object_new_int64((int64_t)e));
    }
    json_object_object_add(o, "leader", leader);
    json_object_object_add(o, "epoch", epoch);
}

void answer_json(struct evhttp_request *req, void *arg)
{
    const struct server *s = arg;
    struct json_object *o = json_object_new_object();
    struct evbuffer *body = evbuffer_new();
    struct roster r;

    if (body && roster_take(s, &r)) {
        add_self(o, s);
        add_stats(o, s);
        add_answers(o, &s->answers);
        add_members(o, &r);
        add_shards(o, s, &r);
        roster_free(&r);
        evbuffer_add_printf(
            body, "%s\n",
            json_object_to_json_string_ext(
                o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
    }
    json_object_put(o);
    send_text(req, HTTP_OK, "application/json", body);
}
