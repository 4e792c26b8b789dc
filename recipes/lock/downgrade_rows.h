/* The rows in which a write lock becomes a read lock: see lock/downgrade.c. */
/* clang-format off */
/*   state           entry          reaction        main        on stop   on expiry  flags */
LOCK(CHECKING_WRITER, read_own,     checked_writer, ASIDE,      DELETING, ENDED,     RETRY|HOLDS,
     ON(REPLY,       SWAPPING, ENDED, HERE)),
LOCK(SWAPPING,       become_reader, became_reader,  ASIDE,      STAY,     ENDED,     RETRY|HOLDS,
     ON(ENTRY,       CHECKING_SWAP),
     ON(REPLY,       HELD, VERIFYING, CHECKING_READER, CHECKING_WRITER),
     ON(STOP,        DELETING),
     ON(EXPIRED,     NEVER)),
LOCK(CHECKING_SWAP,  check,         checked_swap,   ASIDE,      STAY,     ENDED,     RETRY|HOLDS,
     ON(REPLY,       SWAPPING_AGAIN, CHECKING_READER),
     RARELY(REPLY,   DELETING),
     ON(STOP,        DELETING)),
LOCK(SWAPPING_AGAIN, become_reader, became_reader,  ASIDE,      STAY,     ENDED,     RETRY|HOLDS,
     ON(ENTRY,       CHECKING_SWAP),
     ON(REPLY,       VERIFYING, CHECKING_READER),
     RARELY(REPLY,   HELD, CHECKING_WRITER),
     ON(STOP,        DELETING),
     ON(EXPIRED,     NEVER)),
LOCK(CHECKING_READER, read_own,     checked_reader, ASIDE,      DELETING, ENDED,     RETRY|HOLDS,
     ON(REPLY,       HELD, VERIFYING, ENDED, HERE)),
    /* clang-format on */
