/* What a transaction's znode says, as text that people can read:
 *
 *   evzk-2pc 1 <variant> <decision> <session>
 *   <number of sites>
 *   <site>                  a line each
 *   <question>
 *
 * All is written once, but for the decision, which is one character at a fixed
 * place.  To decide is to write the same text with that character changed.
 *
 * How it can fail.  Any process with the right to write may have written
 * anything.  The session and the sites become parts of paths: what could not be
 * written here is no transaction. */
#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/two_phase/two_phase_internal.h"

static const char head[] = "evzk-2pc 1 ";
static const char variants[] = "mps", decisions[] = "?ca";

enum {
    VARIANT = sizeof head - 1,
    DECISION = VARIANT + 2,
    TAG = DECISION + 2,
    COUNT = TAG + EVZK__TAG_LEN + 1 /* Behind a newline. */
};

const char *evzk__site_name_fault(const char *name)
{
    size_t len = strlen(name);

    if (len < 1 || len > EVZK_TX_SITE_NAME_MAX)
        return "must have 1 to EVZK_TX_SITE_NAME_MAX bytes";
    for (size_t i = 0; i < len; i++) {
        if (name[i] == '/' || name[i] < ' ' || name[i] > '~')
            return "must have printable ASCII characters, and no slash";
    }
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return "must not be \".\" or \"..\"";
    return NULL;
}

int evzk__tx_text_find(const struct evzk__tx_text *t, const char *site)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (strcmp(t->site[i], site) == 0)
            return (int)i;
    }
    return -1;
}

/* Room for `n` names, with `bytes` of text. */
static char *make_sites(struct evzk__tx_text *t, size_t n, size_t bytes)
{
    t->site = evzk__zalloc(n * sizeof *t->site + bytes);
    return t->site ? (char *)t->site + n * sizeof *t->site : NULL;
}

static int copy_sites(struct evzk__tx_text *t, const evzk_tx_options *opt,
                      size_t *bytes)
{
    char *at;

    *bytes = 0;
    for (size_t i = 0; i < opt->n_sites; i++)
        *bytes += strlen(opt->sites[i]) + 1;
    at = make_sites(t, opt->n_sites, *bytes);
    if (!at)
        return EVZK_ERR_NOMEM;
    t->n = (uint32_t)opt->n_sites;
    for (uint32_t i = 0; i < t->n; i++) {
        t->site[i] = at;
        at = stpcpy(at, opt->sites[i]) + 1;
    }
    return EVZK_OK;
}

static char *print(const struct evzk__tx_text *t, char *to)
{
    to += sprintf(to, "%s%c %c %*s\n%u\n", head, variants[t->variant],
                  decisions[EVZK_TX_NONE], EVZK__TAG_LEN, "", (unsigned)t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        to = stpcpy(to, t->site[i]);
        *to++ = '\n';
    }
    return to;
}

int evzk__tx_text_make(struct evzk__tx_text *t, const evzk_tx_options *opt)
{
    size_t bytes;
    int rc = copy_sites(t, opt, &bytes);
    char *at;

    if (rc != EVZK_OK)
        return rc;
    t->variant = opt->variant;
    t->data = evzk__zalloc(COUNT + 16 + bytes + opt->question_len + 1);
    if (!t->data)
        return EVZK_ERR_NOMEM;
    at = print(t, t->data);
    if (opt->question_len > 0)
        memcpy(at, opt->question, opt->question_len);
    t->question = at;
    t->question_len = (uint32_t)opt->question_len;
    t->len = (uint32_t)(at - t->data) + t->question_len;
    return EVZK_OK;
}

void evzk__tx_text_sign(struct evzk__tx_text *t,
                        const char tag[EVZK__TAG_LEN + 1])
{
    memcpy(t->data + TAG, tag, EVZK__TAG_LEN);
    memcpy(t->tag, tag, EVZK__TAG_LEN);
}

static evzk_tx_verdict decision_of(char c)
{
    const char *at = c ? strchr(decisions, c) : NULL;

    return at ? (evzk_tx_verdict)(at - decisions) : EVZK_TX_NONE;
}

/* As evzk__machine_session_tag() makes it: it becomes the name of a znode. */
static bool is_tag(const char *tag)
{
    if (!evzk__guid_leads(tag) || tag[EVZK__GUID_LEN] != '-')
        return false;
    for (int i = EVZK__GUID_LEN + 1; i < EVZK__TAG_LEN; i++) {
        if (tag[i] < '0' || tag[i] > '9')
            return false;
    }
    return true;
}

/* Does the text begin as all do? */
static bool has_head(const char *data, size_t len)
{
    return len > COUNT && memcmp(data, head, VARIANT) == 0 && data[VARIANT] &&
           strchr(variants, data[VARIANT]) && data[VARIANT + 1] == ' ' &&
           data[DECISION] && strchr(decisions, data[DECISION]) &&
           data[DECISION + 1] == ' ' && is_tag(data + TAG) &&
           data[COUNT - 1] == '\n';
}

evzk_tx_verdict evzk__tx_text_decision(const void *data, size_t len)
{
    const char *text = data;

    return text && has_head(text, len) ? decision_of(text[DECISION])
                                       : EVZK_TX_NONE;
}

static bool is_of(const struct evzk__tx_text *t, const void *data, size_t len)
{
    const char *text = data;

    return text && len == t->len && has_head(text, len) &&
           text[VARIANT] == t->data[VARIANT] &&
           memcmp(text + COUNT, t->data + COUNT, len - COUNT) == 0;
}

evzk_tx_verdict evzk__tx_text_verdict(const struct evzk__tx_text *t,
                                      const void *data, size_t len)
{
    return is_of(t, data, len) ? decision_of(((const char *)data)[DECISION])
                               : EVZK_TX_NONE;
}

bool evzk__tx_text_is_open(const struct evzk__tx_text *t, const void *data,
                           size_t len)
{
    return is_of(t, data, len) &&
           decision_of(((const char *)data)[DECISION]) == EVZK_TX_NONE;
}

void evzk__tx_text_decide(struct evzk__tx_text *t, evzk_tx_verdict verdict)
{
    t->data[DECISION] = decisions[verdict];
}

/* The number of sites, and where their lines begin. */
static const char *parse_count(const char *from, uint32_t *n)
{
    const char *at = from;
    uint32_t count = 0;

    while (*at >= '0' && *at <= '9' && count <= EVZK_TX_SITES_MAX)
        count = count * 10 + (uint32_t)(*at++ - '0');
    *n = count;
    return *at == '\n' && *from != '0' && count <= EVZK_TX_SITES_MAX ? at + 1
                                                                     : NULL;
}

/* One line of a site; NULL: it is none. */
static const char *parse_site(struct evzk__tx_text *t, const char *at,
                              char **to)
{
    const char *end = strchr(at, '\n');
    size_t len = end ? (size_t)(end - at) : 0;

    if (len < 1 || len > EVZK_TX_SITE_NAME_MAX)
        return NULL;
    t->site[t->n] = *to;
    memcpy(*to, at, len);
    (*to)[len] = '\0';
    *to += len + 1;
    if (evzk__site_name_fault(t->site[t->n]) ||
        evzk__tx_text_find(t, t->site[t->n]) >= 0)
        return NULL;
    t->n++;
    return end + 1;
}

/* `data` is a copy, with a zero byte behind it. */
static int parse(struct evzk__tx_text *t)
{
    const char *at;
    uint32_t n;
    char *to;

    if (!has_head(t->data, t->len))
        return EVZK_ERR_FOREIGN;
    at = parse_count(t->data + COUNT, &n);
    if (!at)
        return EVZK_ERR_FOREIGN;
    to = make_sites(t, n, n * (EVZK_TX_SITE_NAME_MAX + 1));
    if (!to)
        return EVZK_ERR_NOMEM;
    while (at && t->n < n)
        at = parse_site(t, at, &to);
    if (!at)
        return EVZK_ERR_FOREIGN;
    t->variant =
        (evzk_tx_variant)(strchr(variants, t->data[VARIANT]) - variants);
    memcpy(t->tag, t->data + TAG, EVZK__TAG_LEN);
    t->question = at;
    t->question_len = t->len - (uint32_t)(at - t->data);
    return EVZK_OK;
}

int evzk__tx_text_parse(struct evzk__tx_text *t, const void *data, size_t len)
{
    int rc;

    evzk__tx_text_free(t);
    t->data = evzk__memdup(data ? data : "", data ? len : 0);
    if (!t->data)
        return EVZK_ERR_NOMEM;
    t->len = data ? (uint32_t)len : 0;
    rc = parse(t);
    if (rc != EVZK_OK)
        evzk__tx_text_free(t);
    return rc;
}

void evzk__tx_text_free(struct evzk__tx_text *t)
{
    evzk__free(t->data);
    evzk__free(t->site);
    *t = (struct evzk__tx_text){0};
}
