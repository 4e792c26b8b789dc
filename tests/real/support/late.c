/*
 * Answers that come late: loaded before a test program (LD_PRELOAD), it has the
 * C client find nothing to read for up to EVZK_TEST_LATE milliseconds, for
 * every other packet, on each connection by itself.  So what two sessions hear
 * comes in every order, and a test that takes the usual one for promised fails.
 *
 * The client begins a packet by reading its length; what it has begun is not
 * held back.  The loop spins meanwhile: who counts its turns takes the variable
 * away.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SOCKETS = 4096, LENGTH = 4, TOGETHER = 8 };

struct line {
    double until; /* Until when its bytes are held back, in milliseconds; 0: not
                     yet. */
    unsigned looks; /* At packets, so far. */
    unsigned pass;  /* Let through before the next look. */
};

static double now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static double up_to(double ms)
{
    static uint64_t x; /* A forked child goes on by itself. */

    if (x == 0)
        x = ((uint64_t)getpid() << 32) ^ (uint64_t)(now() * 1000);
    x = x * 6364136223846793005u + 1442695040888963407u;
    return ms * (double)(x >> 40) / (double)(1u << 24);
}

/* The more there were, the more go together: thousands take no minutes. */
static bool is_held(struct line *l, double most)
{
    double t = now();

    if (l->pass > 0) {
        l->pass--;
        return false;
    }
    if (l->until == 0)
        l->until = up_to(2) < 1 ? t : t + up_to(most);
    if (t < l->until)
        return true;
    l->until = 0;
    l->pass = l->looks++ / TOGETHER;
    return false;
}

ssize_t recv(int fd, void *buf, size_t n, int flags)
{
    static ssize_t (*real)(int, void *, size_t, int);
    static struct line lines[SOCKETS];
    const char *most = getenv("EVZK_TEST_LATE");

    if (!real) {
        void *next = dlsym(RTLD_NEXT, "recv");

        memcpy(&real, &next, sizeof real);
    }
    if (most && n == LENGTH && fd >= 0 && fd < SOCKETS &&
        is_held(&lines[fd], strtod(most, NULL))) {
        errno = EAGAIN;
        return -1;
    }
    return real(fd, buf, n, flags);
}
