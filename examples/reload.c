/* A web server that takes over each new configuration as a whole, without a
 * restart, and answers with its key "greeting"; and the way to replace it:
 *     reload localhost:2181 /app/config 8080
 *     reload localhost:2181 /app/config greeting Hello colour green */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <evzk/evzk.h>

static char greeting[256] = "no configuration yet\n";
static int status = EXIT_FAILURE;

static void answer(struct evhttp_request *r, void *arg)
{
    struct evbuffer *body = evbuffer_new();

    (void)arg;
    evbuffer_add(body, greeting, strlen(greeting));
    evhttp_send_reply(r, HTTP_OK, "OK", body);
    evbuffer_free(body);
}

static void on_config(evzk_config_follower *f, evzk_config_follower_event event,
                      int rc, const evzk_config *c, void *base)
{
    const evzk_config_key *key = evzk_config_find(c, "greeting");

    if (event == EVZK_CONFIG_FOLLOWER_CONFIG) {
        snprintf(greeting, sizeof greeting, "%.*s (number %lld)\n",
                 key ? (int)key->len : 0, key ? (const char *)key->data : "",
                 (long long)c->number);
        return;
    }
    fprintf(stderr, "reload: %s\n", evzk_strerror(rc));
    evzk_config_follower_free(f);
    event_base_loopbreak(base);
}

static void on_set(evzk_config_update *u, int rc, int64_t number, void *base)
{
    printf("number %lld: %s\n", (long long)number, evzk_strerror(rc));
    status = rc ? EXIT_FAILURE : EXIT_SUCCESS;
    evzk_config_update_free(u);
    event_base_loopbreak(base);
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    struct evhttp *http = evhttp_new(base);
    evzk_config_key key[64] = {{0}};
    size_t n = argc > 4 && argc < 132 ? (size_t)(argc - 3) / 2 : 0;
    evzk_config_follower *f;
    evzk_config_update *u;
    evzk_session *s = NULL;
    int rc;

    if (argc < 4 ||
        (!n && evhttp_bind_socket(http, "127.0.0.1", (uint16_t)atoi(argv[3]))))
        return 2;
    for (size_t i = 0; i < n; i++)
        key[i] = (evzk_config_key){argv[3 + 2 * i], argv[4 + 2 * i],
                                   strlen(argv[4 + 2 * i])};
    evhttp_set_gencb(http, answer, NULL);
    rc = evzk_session_open(base, argv[1], NULL, NULL, NULL, &s);
    if (!rc && n)
        rc = evzk_config_set(s, argv[2], key, n, NULL, on_set, base, &u);
    else if (!rc)
        rc = evzk_config_follow(s, argv[2], NULL, on_config, base, &f);
    if (!rc)
        event_base_dispatch(base);
    evhttp_free(http); /* The process's end frees the rest. */
    return status;
}
