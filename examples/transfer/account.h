/* An account in a file: its balance, what is promised, what was settled. */
#ifndef TRANSFER_ACCOUNT_H
#define TRANSFER_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evzk/evzk.h>

/* A transaction at an account. */
enum account_state {
    PROMISED, /* The account can take part, and has said so. */
    APPLIED,  /* Committed: the balance has changed. */
    DROPPED   /* Aborted: the balance has not changed. */
};

struct account_entry {
    char id[EVZK_TX_ID_LEN + 1];
    long long change; /* Of the balance, when it is committed. */
    enum account_state state;
    bool over; /* Will not be told again. */
};

struct account {
    char path[256];
    unsigned long long writes; /* Of the file, so far. */
    long long balance;
    unsigned committed, aborted;
    size_t n, room;
    struct account_entry *entry; /* Owned; oldest first. */
};

/* Makes the file. */
bool account_create(const char *dir, const char *name, long long balance);

/* Reads the file into what was zero, or loaded before. */
bool account_load(struct account *a, const char *dir, const char *name);
void account_free(struct account *a);

const struct account_entry *account_find(const struct account *a,
                                         const char *id);

/* How much the account can still promise to give away. */
long long account_free_balance(const struct account *a);

/* Both return when the change of the file is on the disk; false: it is not
 * there. Promising, or settling, again changes nothing. */
bool account_promise(struct account *a, const char *id, long long change);
bool account_settle(struct account *a, const char *id, bool commit);

/* The transaction will not be told again: a later change of the file may
 * forget it. */
void account_forget(struct account *a, const char *id);

#endif
