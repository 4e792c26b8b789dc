/* What the actions of "evzk config" have in common. */
#ifndef EVZK_COMMAND_CONFIG_H
#define EVZK_COMMAND_CONFIG_H

#include <evzk/evzk.h>

#include "action.h"
#include "bytes.h"

#define CONFIG_UNSET UINT32_MAX

struct config_options {
    uint32_t wait_ms;
    int value, replace;
    const char *if_version;
};
extern struct config_options config_options;

/* What --if-version says: a version; 0: there shall be none; -1: the option is
 * not given. */
int config_version(int64_t *out);

/* The actions; those with --value are about one znode. */
int config_get(const struct arguments *arguments);
int config_set(const struct arguments *arguments);
int config_unset(const struct arguments *arguments);
int config_follow(const struct arguments *arguments);
int config_value_get(const struct arguments *arguments);
int config_value_set(const struct arguments *arguments);

/* A configuration as JSON: {"version":..,"keys":{..}}. */
struct json_object *config_json(const evzk_config *config);

/* .. as lines KEY=VALUE. */
void config_print(FILE *to, const evzk_config *config);

struct json_object *config_value_json(const evzk_value *value);

/* Prints a value, with a newline behind it, or as JSON: an exit status. */
int config_print_value(const void *data, size_t len);

#endif
