/* Clock, randomness and identity, from the kernel. */
#include "lib/base/os.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "evzk/error.h"

static int64_t clock_us(clockid_t id)
{
    struct timespec ts = {0, 0};

    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t evzk__now_us(void) { return clock_us(CLOCK_BOOTTIME); }

bool evzk__is_late(unsigned n, unsigned every, int64_t until_us)
{
    return n % every == every - 1 && evzk__now_us() >= until_us;
}

int64_t evzk__wall_ms(void) { return clock_us(CLOCK_REALTIME) / 1000; }

int evzk__random(void *buf, size_t len)
{
    char *p = buf;

    while (len > 0) {
        ssize_t n = getrandom(p, len, 0);

        if (n < 0 && errno != EINTR)
            return EVZK_ERR_INTERNAL;
        if (n > 0) {
            p += n;
            len -= (size_t)n;
        }
    }
    return EVZK_OK;
}

long evzk__pid(void) { return (long)getpid(); }

void evzk__self(char *buf, size_t size)
{
    char host[256] = "";

    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    snprintf(buf, size, "%s:%ld", host[0] ? host : "localhost", evzk__pid());
}
