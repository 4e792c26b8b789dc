/*
 * GET /status: one page with all in it, for people.  The server draws it whole,
 * the picture of the spread included, so that it says the truth without
 * scripts, too; page.js then draws it again each second from /status.json.
 *
 * How it can fail.  Names come from others: all of them are escaped.  What the
 * page shows of other members' shards is the plan: they may not lead them yet.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <event2/buffer.h>

#include "server.h"

#define ROWS 500 /* Of the table of shards: the others are in the picture. */

static const char CSS[] =
#include "page.css.inc"
    ;
static const char JS[] =
#include "page.js.inc"
    ;

struct page {
    const struct server *s;
    struct evbuffer *b;
    struct roster r;
    evzk_shards_stats st;
};

#define ADD(page, ...) evbuffer_add_printf((page)->b, __VA_ARGS__)

static void add_text(struct page *p, const char *text)
{
    char *safe = evhttp_htmlescape(text);

    ADD(p, "%s", safe ? safe : "?");
    free(safe);
}

static const char *colour(int member)
{
    static const char *const all[] = {"c0", "c1", "c2", "c3",
                                      "c4", "c5", "c6", "c7"};

    return member < 0 ? "none" : all[member % 8];
}

static void add_who(struct page *p, int member)
{
    struct place at;

    if (member < 0) {
        ADD(p, "nobody");
        return;
    }
    place_of(&p->r.m[member], &at);
    add_text(p, at.name[0] ? at.name : at.address[0] ? at.address : "?");
}

static void add_header(struct page *p)
{
    bool sure = evzk_session_connected(p->s->session);

    ADD(p, "<header><h1>Shards <code>");
    add_text(p, p->s->opt.path);
    ADD(p, "</code></h1><p>as seen by <b>");
    add_text(p, p->s->opt.name[0] ? p->s->opt.name : p->s->address);
    ADD(p, "</b> on %s</p>", p->s->address);
    ADD(p, "<span id=state role=status class=\"pill%s\">%s</span></header>\n",
        sure && !p->s->draining ? "" : " bad",
        p->s->draining ? "draining"
        : sure         ? "connected"
                       : "in doubt");
}

static void add_figures(struct page *p)
{
    uint32_t lease = evzk_session_lease_ms(p->s->session);
    uint32_t most = evzk_session_timeout_ms(p->s->session);

    ADD(p, "<dl><div><dt>Led here</dt><dd><b id=leading>%" PRIu32 "</b>",
        p->st.leading);
    ADD(p, "of <span id=planned>%" PRIu32 "</span> planned</dd></div>\n",
        p->st.planned);
    ADD(p, "<div><dt>Shards</dt><dd><b id=count>%" PRIu32 "</b>",
        p->s->opt.count);
    ADD(p, "<span id=nobodys>%" PRIu32 "</span> nobody’s</dd></div>\n",
        p->st.nobodys);
    ADD(p,
        "<div><dt>Members</dt><dd><b id=members-n>%" PRIu32 "</b>"
        "in the plan</dd></div>\n",
        p->st.members);
    ADD(p, "<div><dt>Plan</dt><dd><b id=plan>%" PRIu64 "</b>", p->st.plan);
    ADD(p, "<span id=planner>made %s</span></dd></div>\n",
        p->st.planner ? "here" : "by another");
    ADD(p,
        "<div><dt>Moves</dt><dd><b id=moves>%" PRIu64 "</b>"
        "since it joined</dd></div>\n",
        p->st.moves);
    ADD(p,
        "<div><dt id=lease-t>Lease left</dt><dd><b id=lease-s>%.1f s</b>"
        "<meter id=lease aria-labelledby=lease-t max=%" PRIu32 " value=%" PRIu32
        "></meter></dd></div></dl>\n",
        lease / 1e3, most ? most : 1, lease);
}

/* One path for each member: a square for each of its shards. */
static void add_squares(struct page *p, const int *leader, int member,
                        uint32_t cols)
{
    ADD(p, "<path class=%s d=\"", colour(member));
    for (uint32_t i = 0; i < p->s->opt.count; i++)
        if (leader[i] == member)
            ADD(p, "M%" PRIu32 " %" PRIu32 "h8.5v8.5h-8.5z", i % cols * 10,
                i / cols * 10);
    ADD(p, "\"/>\n");
}

static void add_spread(struct page *p, const int *leader)
{
    uint32_t n = p->s->opt.count, cols = (uint32_t)ceil(sqrt(n * 4.0));

    ADD(p,
        "<section><h2>The spread</h2><svg id=spread role=img "
        "aria-label=\"A square for each shard, in the colour of its member;"
        " the figures are in the tables below\" "
        "data-cols=%" PRIu32 " viewBox=\"-1 -1 %" PRIu32 " %" PRIu32 "\">\n",
        cols, cols * 10 + 1, (n + cols - 1) / cols * 10 + 1);
    for (int m = -1; m < (int)p->r.n; m++)
        add_squares(p, leader, m, cols);
    ADD(p, "</svg></section>\n");
}

static void add_link(struct page *p, uint32_t i)
{
    struct place at;

    place_of(&p->r.m[i], &at);
    if (at.address[0])
        ADD(p, "<a href=\"http://%s/status\">", at.address);
    add_who(p, (int)i);
    ADD(p, "%s%s<td>%s", at.address[0] ? "</a>" : "",
        p->r.m[i].self ? "<span class=soft> (this one)</span>" : "",
        at.address);
}

static void add_member(struct page *p, uint32_t i, double most)
{
    uint32_t planned = p->r.m[i].planned;

    ADD(p, "<tr><td><span class=\"mark %s\"></span>", colour((int)i));
    add_link(p, i);
    ADD(p,
        "<td class=n>%" PRIu32 "<td class=wide>"
        "<svg class=bar viewBox=\"0 0 100 10\" preserveAspectRatio=none "
        "aria-hidden=true><rect class=%s width=%.2f height=10 /></svg>\n",
        planned, colour((int)i), most > 0 ? planned / most * 100 : 0);
}

static void add_members(struct page *p)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < p->r.n; i++)
        most = p->r.m[i].planned > most ? p->r.m[i].planned : most;
    ADD(p, "<section><h2>Members</h2><table><thead><tr><th scope=col>Name"
           "<th scope=col>Address<th scope=col class=n>Shards"
           "<th scope=col class=wide><tbody id=members>\n");
    for (uint32_t i = 0; i < p->r.n; i++)
        add_member(p, i, most);
    ADD(p, "</table></section>\n");
}

static void add_shard(struct page *p, uint32_t i, int member)
{
    bool here = evzk_shards_leading(p->s->shards, i);

    ADD(p,
        "<tr><td class=n><a href=\"/shard/%" PRIu32 "\">%" PRIu32
        "</a><td><span class=\"mark %s\"></span>",
        i, i, colour(member));
    add_who(p, member);
    if (here)
        ADD(p, "<td class=n>%" PRIu64 "<td>led here\n",
            evzk_shards_epoch(p->s->shards, i));
    else
        ADD(p, "<td class=n>–<td>%s\n",
            member < 0            ? "nobody’s"
            : p->r.m[member].self ? "to be led here"
                                  : "to be led there");
}

static void add_shards(struct page *p, const int *leader)
{
    uint32_t n = p->s->opt.count < ROWS ? p->s->opt.count : ROWS;

    ADD(p, "<section><h2 id=each>Each shard</h2><div class=scroll tabindex=0 "
           "role=region aria-labelledby=each><table><caption>");
    if (n < p->s->opt.count)
        ADD(p,
            "The first %" PRIu32 "; all are in "
            "<a href=\"/status.json\">status.json</a>. ",
            n);
    ADD(p, "The plan says who is to lead a shard. Of the others’ shards this "
           "process knows no more.</caption>");
    ADD(p, "<thead><tr><th scope=col class=n>Shard<th scope=col>By the plan"
           "<th scope=col class=n>Epoch<th scope=col>State<tbody id=shards>\n");
    for (uint32_t i = 0; i < n; i++)
        add_shard(p, i, leader[i]);
    ADD(p, "</table></div></section>\n");
}

static void add_page(struct page *p, int *leader)
{
    for (uint32_t i = 0; i < p->s->opt.count; i++)
        leader[i] = roster_leader(&p->r, p->s, i);
    ADD(p, "<!doctype html><html lang=en><head><meta charset=utf-8>"
           "<meta name=viewport content=\"width=device-width\">"
           "<title>Shards: ");
    add_text(p, p->s->opt.name[0] ? p->s->opt.name : p->s->address);
    ADD(p, "</title><style>\n%s</style></head><body>\n", CSS);
    add_header(p);
    ADD(p, "<main>\n");
    add_figures(p);
    add_spread(p, leader);
    add_members(p);
    add_shards(p, leader);
    ADD(p,
        "</main><footer>The same for programs: <a href=\"/status.json\">"
        "status.json</a>, <a href=\"/metrics\">metrics</a></footer>"
        "<script>\n%s</script></body></html>\n",
        JS);
}

void answer_page(struct evhttp_request *req, void *arg)
{
    struct page p = {.s = arg, .b = evbuffer_new()};
    int *leader = malloc(p.s->opt.count * sizeof *leader);

    evzk_shards_get_stats(p.s->shards, &p.st);
    if (p.b && leader && roster_take(p.s, &p.r)) {
        add_page(&p, leader);
        roster_free(&p.r);
    }
    free(leader);
    send_text(req, HTTP_OK, "text/html; charset=utf-8", p.b);
}
