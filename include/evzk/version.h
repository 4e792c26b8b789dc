/**
 * @file evzk/version.h
 * Which evzk this is, and how its functions are exported.
 */
#ifndef EVZK_VERSION_H
#define EVZK_VERSION_H

#define EVZK_VERSION_MAJOR 0
#define EVZK_VERSION_MINOR 1
#define EVZK_VERSION_PATCH 0
#define EVZK_VERSION "0.1.0"

#if defined(__GNUC__)
#define EVZK_API __attribute__((visibility("default")))
#else
#define EVZK_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The version of the library that runs, as "major.minor.patch". Static. */
EVZK_API const char *evzk_version(void);

#ifdef __cplusplus
}
#endif

#endif
