/* Names, texts and classes of the errors, made from EVZK_ERRORS. */
#include "evzk/error.h"

const char *evzk_strerror(int rc)
{
    switch (rc) {
#define CASE(name, value, class, text)                                         \
    case value:                                                                \
        return text;
        EVZK_ERRORS(CASE)
#undef CASE
    }
    return "not an error of this library";
}

const char *evzk_errname(int rc)
{
    if (rc == EVZK_OK)
        return "EVZK_OK";
    switch (rc) {
#define CASE(name, value, class, text)                                         \
    case value:                                                                \
        return "EVZK_ERR_" #name;
        EVZK_ERRORS(CASE)
#undef CASE
    }
    return "EVZK_ERR_?";
}

evzk_error_class evzk_errclass(int rc)
{
    switch (rc) {
#define CASE(name, value, class, text)                                         \
    case value:                                                                \
        return EVZK_CLASS_##class;
        EVZK_ERRORS(CASE)
#undef CASE
    }
    return EVZK_CLASS_INTERNAL;
}

const char *evzk_version(void) { return EVZK_VERSION; }
