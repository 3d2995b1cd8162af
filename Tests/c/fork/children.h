/* Children that a test forks. They report failures through their exit status. */
#ifndef CHILDREN_H
#define CHILDREN_H

#include "../check.h"

/** Forks. The child runs the scenario and exits with its result: 0, or the line of the check that failed. It is killed
 * when it takes longer than a minute. @return the child */
pid_t fork_child(int (*scenario)(void *context), void *context);
/** Waits for it to end. @return the exit status, or minus the signal */
int end_of(pid_t child);
/** Both together. */
int in_child(int (*scenario)(void *context), void *context);

/** In a scenario: a failed condition ends it. Exit statuses have 8 bits, so the line is printed too. */
#define MUST(condition) \
  do { \
    if (!(condition)) return failed_at(__FILE__, __LINE__, #condition); \
  } while (0)
int failed_at(const char *file, int line, const char *condition);

/** The integer of a key, or -1. */
int64_t int_of(kept_store *store, const char *key);

#endif
