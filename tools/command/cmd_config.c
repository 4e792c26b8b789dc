/* evzk config PATH get|set|unset|follow */
#include <errno.h>
#include <stdlib.h>

#include "config.h"
#include "output.h"

struct config_options config_options = {.wait_ms = CONFIG_UNSET};

/* clang-format off */
static const struct option_row options[] = {
    OPTION_FLAG_ROW("replace", 0, &config_options.replace, 1,
        "set: these keys, and no others"),
    OPTION_TEXT_ROW("if-version", 0, "N", &config_options.if_version,
        "set, unset: only if this is the version; 0: none"),
    OPTION_FLAG_ROW("value", 0, &config_options.value, 1,
        "PATH is one value, and has no keys"),
    OPTION_SECONDS_ROW("wait", 'w', "SECONDS", &config_options.wait_ms,
        "get: wait so long until there is one"),
    OPTION_END
};
/* clang-format on */

int config_version(int64_t *out)
{
    const char *text = config_options.if_version;
    char *end;

    *out = -1;
    if (!text)
        return 0;
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (!errno && *text >= '0' && *text <= '9' && !*end)
        return 0;
    return complain_usage("--if-version takes a version, as `get --json` "
                          "prints it, or 0, not '%s'",
                          text);
}

struct json_object *config_json(const evzk_config *config)
{
    struct json_object *object = json_object_new_object(),
                       *keys = json_object_new_object();

    for (size_t i = 0; i < config->n; i++)
        bytes_add(keys, config->key[i].name, config->key[i].data,
                  config->key[i].len);
    json_object_object_add(object, "version",
                           json_object_new_int64(config->number));
    json_object_object_add(object, "keys", keys);
    return object;
}

void config_print(FILE *to, const evzk_config *config)
{
    for (size_t i = 0; i < config->n; i++) {
        fprintf(to, "%s=", config->key[i].name);
        bytes_print(to, config->key[i].data, config->key[i].len);
        putc('\n', to);
    }
}

struct json_object *config_value_json(const evzk_value *value)
{
    struct json_object *object = json_object_new_object();

    json_object_object_add(object, "version",
                           json_object_new_int64(value->mzxid));
    if (value->exists)
        bytes_add(object, "value", value->data, value->len);
    else
        json_object_object_add(object, "value", NULL);
    return object;
}

int config_print_value(const void *data, size_t len)
{
    bytes_write(data, len);
    putchar('\n');
    return output_flush();
}

static int get(const struct arguments *a)
{
    if (config_options.value && a->count)
        return complain_usage("with --value there is no key: leave '%s' out",
                              a->words[1]);
    return config_options.value ? config_value_get(a) : config_get(a);
}

static int set(const struct arguments *a)
{
    if (!config_options.value)
        return config_set(a);
    if (a->count != 1 || config_options.replace)
        return complain_usage("with --value: wanted: PATH set --value "
                              "VALUE|-");
    return config_value_set(a);
}

static int unset(const struct arguments *a)
{
    if (config_options.value)
        return complain_usage("with --value there is no key to unset: set "
                              "--value '' makes it empty");
    return config_unset(a);
}

static const struct action actions[] = {
    {"get", "[KEY]", "value wait", 0, 1, RUNS_NOTHING, get},
    {"set", "KEY=VALUE...", "replace if-version value", 1, -1, RUNS_NOTHING,
     set},
    {"unset", "KEY...", "if-version value", 1, -1, RUNS_NOTHING, unset},
    {"follow", "[-- CMD [ARG...]]", "value", 0, 0, RUNS_MAYBE, config_follow},
    ACTION_END};

const struct command cmd_config = {
    .name = "config",
    .summary = "read, change and follow a configuration",
    .arguments = "PATH get|set|unset|follow",
    .about =
        "A configuration is a set of keys below PATH.  It changes as a whole,\n"
        "and is read as a whole: nobody sees a half of a change.\n"
        "get     prints the value of KEY, or all as KEY=VALUE lines.\n"
        "set     gives these keys these values, in one step, and leaves the\n"
        "        others as they are; with --replace there are no others then.\n"
        "unset   takes keys away.\n"
        "follow  prints the configuration, now and whenever it has changed,\n"
        "        until a signal ends it.  CMD, if given, is run instead, with\n"
        "        the configuration on its stdin.\n"
        "With --value all this is about the one value that the znode PATH "
        "has.\n"
        "\n"
        "  evzk config /app set colour=green size=12\n"
        "  evzk config /app get colour\n"
        "  evzk config /app follow -- sh -c 'cat >app.conf; ./reload'\n"
        "  evzk config /app/motd set --value 'hello, all'\n",
    .options = options,
    .actions = actions,
    .min = 1,
    .max = -1,
    .runs = RUNS_MAYBE,
    .run = action_run,
};
