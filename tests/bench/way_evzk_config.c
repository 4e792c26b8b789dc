/* evzk's configuration, used as the manual says: replaced by one call, and read
 * by another. */
#include "library.h"

static struct {
    struct run *run;
    char path[PATH_SIZE];
    int64_t number; /* Written last. */
} self;

static void on_written(evzk_config_update *update, int rc, int64_t number,
                       void *arg)
{
    library_check(rc, "config_set");
    evzk_config_update_free(update);
    self.number = number;
    run_granted(self.run, (int)(intptr_t)arg);
}

static void on_read(evzk_config_query *query, int rc, const evzk_config *config,
                    void *arg)
{
    library_check(rc, "config_get");
    if (config->n != CONFIG_KEYS || config->number != self.number)
        fail("evzk: another configuration was read");
    evzk_config_query_free(query);
    run_released(self.run, (int)(intptr_t)arg);
}

static void open_session(struct run *r, const char *servers)
{
    self.run = r;
    run_path(r, 0, self.path);
    library_open(r, servers);
}

static void replace(int i)
{
    evzk_config_key key[CONFIG_KEYS];
    char name[CONFIG_KEYS][CONFIG_NAME_SIZE], value[CONFIG_VALUE_SIZE];
    evzk_config_update *update;

    config_value(i, value);
    for (int k = 0; k < CONFIG_KEYS; k++) {
        config_name(k, name[k]);
        key[k] = (evzk_config_key){
            .name = name[k], .data = value, .len = sizeof value};
    }
    library_check(evzk_config_set(library, self.path, key, CONFIG_KEYS, NULL,
                                  on_written, (void *)(intptr_t)i, &update),
                  "config_set");
}

static void read_all(int i)
{
    evzk_config_query *query;

    library_check(evzk_config_get(library, self.path, NULL, on_read,
                                  (void *)(intptr_t)i, &query),
                  "config_get");
}

const struct way way_evzk_config = {.name = "evzk",
                                    .makes_dirs = true,
                                    .open = open_session,
                                    .acquire = replace,
                                    .release = read_all,
                                    .busy = library_busy,
                                    .connected = library_connected,
                                    .close = library_close,
                                    .watches = library_watches};
