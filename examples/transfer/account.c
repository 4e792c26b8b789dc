/* An account's file.  Each change writes a new file, beside the old one, waits
 * until the disk has it, and renames it: a process that is killed at any moment
 * leaves the old file, or the new one. */
#include "account.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEPT = 16 }; /* Entries that are over, for whoever checks the sum. */

static const char *const NAME[] = {"promised", "applied", "dropped"};

static bool flush_folder(const char *path)
{
    char dir[256];
    int fd;
    bool good;

    snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(path, '/') - path), path);
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    good = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

static void print(FILE *f, const struct account *a)
{
    fprintf(f, "writes %llu\nbalance %lld\ncommitted %u\naborted %u\n",
            a->writes, a->balance, a->committed, a->aborted);
    for (size_t i = 0; i < a->n; i++)
        fprintf(f, "%s %s %lld\n", NAME[a->entry[i].state], a->entry[i].id,
                a->entry[i].change);
}

/* Removes the oldest entries that are over, but for a few. */
static void sweep(struct account *a)
{
    size_t over = 0, n = 0;

    for (size_t i = 0; i < a->n; i++)
        over += a->entry[i].over;
    for (size_t i = 0; i < a->n; i++) {
        if (a->entry[i].over && over > KEPT)
            over--;
        else
            a->entry[n++] = a->entry[i];
    }
    a->n = n;
}

static bool save(struct account *a)
{
    char fresh[sizeof a->path + 4];
    FILE *f;
    bool good;

    sweep(a);
    a->writes++;
    snprintf(fresh, sizeof fresh, "%s.new", a->path);
    f = fopen(fresh, "we");
    if (!f)
        return false;
    print(f, a);
    good = fflush(f) == 0 && fsync(fileno(f)) == 0;
    good = fclose(f) == 0 && good;
    return good && rename(fresh, a->path) == 0 && flush_folder(a->path);
}

static struct account_entry *add(struct account *a, const char *id)
{
    struct account_entry *entry;

    if (a->n == a->room) {
        size_t room = 2 * a->room + 64;

        entry = realloc(a->entry, room * sizeof *entry);
        if (!entry)
            return NULL;
        a->entry = entry;
        a->room = room;
    }
    entry = &a->entry[a->n++];
    *entry = (struct account_entry){.state = PROMISED};
    snprintf(entry->id, sizeof entry->id, "%s", id);
    return entry;
}

static bool parse(struct account *a, FILE *f)
{
    char line[256], word[16], id[EVZK_TX_ID_LEN + 1];
    long long change;

    if (fscanf(f, "writes %llu balance %lld committed %u aborted %u\n",
               &a->writes, &a->balance, &a->committed, &a->aborted) != 4)
        return false;
    a->n = 0;
    while (fgets(line, sizeof line, f)) {
        struct account_entry *entry;

        if (sscanf(line, "%15s %36s %lld", word, id, &change) != 3 ||
            !(entry = add(a, id)))
            return false;
        entry->change = change;
        while (strcmp(NAME[entry->state], word) != 0)
            if (entry->state++ == DROPPED)
                return false;
    }
    return true;
}

static void set_path(struct account *a, const char *dir, const char *name)
{
    snprintf(a->path, sizeof a->path, "%s/%s", dir, name);
}

bool account_create(const char *dir, const char *name, long long balance)
{
    struct account a = {.balance = balance};

    set_path(&a, dir, name);
    return save(&a);
}

bool account_load(struct account *a, const char *dir, const char *name)
{
    FILE *f;
    bool good;

    set_path(a, dir, name);
    f = fopen(a->path, "re");
    if (!f)
        return false;
    good = parse(a, f);
    fclose(f);
    return good;
}

void account_free(struct account *a) { free(a->entry); }

static struct account_entry *find(const struct account *a, const char *id)
{
    for (size_t i = a->n; i-- > 0;)
        if (strcmp(a->entry[i].id, id) == 0)
            return &a->entry[i];
    return NULL;
}

const struct account_entry *account_find(const struct account *a,
                                         const char *id)
{
    return find(a, id);
}

long long account_free_balance(const struct account *a)
{
    long long left = a->balance;

    for (size_t i = 0; i < a->n; i++)
        if (a->entry[i].state == PROMISED && a->entry[i].change < 0)
            left += a->entry[i].change;
    return left;
}

bool account_promise(struct account *a, const char *id, long long change)
{
    struct account_entry *entry = find(a, id);

    if (entry)
        return entry->state == PROMISED;
    entry = add(a, id);
    if (!entry)
        return false;
    entry->change = change;
    return save(a);
}

bool account_settle(struct account *a, const char *id, bool commit)
{
    enum account_state state = commit ? APPLIED : DROPPED;
    struct account_entry *entry = find(a, id);

    if (entry && entry->state != PROMISED)
        return entry->state == state;
    if (commit && !entry)
        return false; /* Nobody may commit what this account never promised. */
    if (!entry && !(entry = add(a, id)))
        return false;
    entry->state = state;
    a->balance += commit ? entry->change : 0;
    a->committed += commit;
    a->aborted += !commit;
    return save(a);
}

void account_forget(struct account *a, const char *id)
{
    struct account_entry *entry = find(a, id);

    if (entry)
        entry->over = true;
}
