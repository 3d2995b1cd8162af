/* Another process: this program, run in one of its roles. Two pipes let parent and child wait for each other. */
#ifndef CHILD_H
#define CHILD_H

#include <sys/types.h>

typedef struct child {
  pid_t pid;
  int to;   /* its standard input */
  int from; /* its standard output */
} child;

child start_child(const char *role, const char *location);
/** Waits until the child has called signal_parent(). */
void await_child(child *child);
/** Lets a child that waits in await_parent() continue. */
void release_child(child *child);
/** Waits for it to end. @return the exit status, or minus the signal */
int finish_child(child *child);
/** kill -9. */
void kill_child(child *child);
/** Runs a role to its end, which must be a good one. */
void play_child(const char *role, const char *location);
/** Called in the child. */
void signal_parent(void);
void await_parent(void);

#endif
