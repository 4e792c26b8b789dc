/* RUNNING_ON_VALGRIND, where its header is there or not. */
#ifndef TESTS_ON_VALGRIND_H
#define TESTS_ON_VALGRIND_H

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef RUNNING_ON_VALGRIND
#define RUNNING_ON_VALGRIND 0
#endif

#endif
