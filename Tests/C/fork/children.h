/* Children that a test forks, and how they say that something is wrong: by their exit status. */
#ifndef CHILDREN_H
#define CHILDREN_H

#include "../check.h"

/** Forks. The child runs the scenario and exits with what it returns: 0, or the line of what failed. It is killed
 * when it
 *  takes longer than a minute. @return the child */
pid_t fork_child(int (*scenario)(void *context), void *context);
/** Waits for its end: the exit status, or minus the signal. */
int end_of(pid_t child);
/** Both together. */
int in_child(int (*scenario)(void *context), void *context);

/** In a scenario: whatever is not so ends it. Exit statuses have 8 bits: the line is printed too. */
#define MUST(condition) do { if (!(condition)) return failed_at(__FILE__, __LINE__, #condition); } while (0)
int failed_at(const char *file, int line, const char *condition);

/** The integer of a key, or -1. */
int64_t int_of(kept_store *store, const char *key);

#endif
