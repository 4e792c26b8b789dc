/* The server's counters, by the four-letter words "mntr" and "srvr". */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

enum { ANSWER = 65536 };

static int64_t asked; /* Questions so far. */

static int connect_to(const char *server)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    const char *colon = strrchr(server, ':');
    char host[64];
    int fd;

    if (!colon || (size_t)(colon - server) >= sizeof host)
        return -1;
    memcpy(host, server, (size_t)(colon - server));
    host[colon - server] = '\0';
    to.sin_port = htons((uint16_t)strtol(colon + 1, NULL, 10));
    if (inet_pton(AF_INET, host, &to.sin_addr) != 1)
        return -1;
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* read() and write(): what send() and recv() do is counted (wire.c). */
static bool ask(const char *server, const char word[4], char answer[ANSWER])
{
    int fd = connect_to(server);
    size_t len = 0;
    ssize_t n = -1;

    if (fd < 0)
        return false;
    asked++;
    if (write(fd, word, 4) == 4)
        while ((n = read(fd, answer + len, ANSWER - 1 - len)) > 0)
            len += (size_t)n;
    answer[len] = '\0';
    close(fd);
    return n == 0 && len > 0;
}

/* The number behind @key; -1: unknown. */
static int64_t figure(const char *server, const char word[4], const char *key)
{
    static char answer[ANSWER];
    const char *at;

    if (!ask(server, word, answer))
        return -1;
    at = strstr(answer, key);
    return at ? strtoll(at + strlen(key), NULL, 0) : -1;
}

int64_t mntr_figure(const char *server, const char *name)
{
    char key[96];

    snprintf(key, sizeof key, "\n%s\t", name);
    return figure(server, "mntr", key);
}

int64_t srvr_znodes(const char *server)
{
    return figure(server, "srvr", "\nNode count: ");
}

int64_t srvr_transactions(const char *server)
{
    return figure(server, "srvr", "\nZxid: ");
}

/* To ask may count as a packet too: how many, two questions tell. */
int64_t mntr_packets(const char *server)
{
    static int64_t each = -1;
    static const char name[] = "zk_packets_received";
    int64_t now = mntr_figure(server, name);

    if (now < 0)
        return -1;
    if (each < 0) {
        int64_t second = mntr_figure(server, name);
        int64_t third = mntr_figure(server, name);

        each = second - now < third - second ? second - now : third - second;
        now = third;
    }
    return now - each * asked;
}
