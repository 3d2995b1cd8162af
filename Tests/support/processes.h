/* Processes that a test forks. They report failures through their exit status. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <sys/types.h>

/** Forks. The child plays and exits with its result: 0, or the line of the check that failed. It is killed when it
 *  takes longer than a minute. @return the child */
pid_t fork_child(int (*play)(void *context), void *context);
/** Waits for it to end. @return the exit status, or minus the signal */
int end_of(pid_t child);
/** Both together. */
int in_child(int (*play)(void *context), void *context);

/** In a forked child: a failed condition ends it. Exit statuses have 8 bits, so the line is printed too. */
#define MUST(condition) \
  do { \
    if (!(condition)) return failed_at(__FILE__, __LINE__, #condition); \
  } while (0)
int failed_at(const char *file, int line, const char *condition);

/** Ends a forked child that did not execute another program, with an exit status. Memory that only the stacks of the
 *  parent's other threads referred to has no owner here, so valgrind does not look for leaks. Its other errors
 *  count. */
void leave_fork(int status);

#endif
