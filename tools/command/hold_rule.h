/* The rule of the deadline, for hold.c: hold.h says what the rule is. */
#ifndef EVZK_COMMAND_HOLD_RULE_H
#define EVZK_COMMAND_HOLD_RULE_H

struct hold;

/* Sets margin and grace, from the time-out that the servers granted. */
void hold_set_times(struct hold *h);

/* Does what the rule says for now, and looks again in time for what comes next:
 * the timer `look` calls it. */
void hold_look(struct hold *h);

/* SIGKILL, before CMD could end by itself. */
void hold_kill_child(struct hold *h);

/* A message, with -v. */
void hold_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The deadline, with -vv: tests compare it with what CMD did. */
void hold_note_deadline(const struct hold *h);

#endif
