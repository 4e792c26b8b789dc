/* stamp FILE COUNT [INTERVAL_US]: appends COUNT lines "TOKEN MICROSECONDS" to a
 * file, one write() each; 0: for ever.  The token is EVZK_TOKEN's, and the time
 * is that of CLOCK_BOOTTIME just before the write.  So a reader sees whether a
 * write was begun when the lease had ended. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void stamp(int fd, const char *token)
{
    struct timespec now;
    char line[100];
    int n;

    clock_gettime(CLOCK_BOOTTIME, &now);
    n = snprintf(line, sizeof(line), "%s %lld\n", token,
                 (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    if (write(fd, line, (size_t)n) != n)
        exit(1);
}

int main(int argc, char **argv)
{
    const char *token = getenv("EVZK_TOKEN");
    int fd = argc > 2 ? open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    int count = argc > 2 ? atoi(argv[2]) : 0;
    unsigned interval_us = argc > 3 ? (unsigned)atoi(argv[3]) : 1000;

    if (fd < 0 || !token)
        return fprintf(stderr, "stamp FILE COUNT [INTERVAL_US]\n"), 2;
    for (int i = 0; i < count || count == 0; i++) {
        stamp(fd, token);
        usleep(interval_us);
    }
    return 0;
}
