#include "processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __has_include
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef VALGRIND_COUNT_ERRORS
#define VALGRIND_COUNT_ERRORS 0
#endif

pid_t fork_child(int (*play)(void *context), void *context) {
  pid_t child = fork();
  if (child < 0) {
    perror("fork");
    exit(2);
  }
  if (child > 0) return child;
  alarm(60);
  _exit(play(context));
}

int end_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int in_child(int (*play)(void *context), void *context) { return end_of(fork_child(play, context)); }

int failed_at(const char *file, int line, const char *condition) {
  fprintf(stderr, "%s:%d: in a child: not so: %s\n", file, line, condition);
  return line % 255 + 1;
}

void leave_fork(int status) {
  char text[16];
  snprintf(text, sizeof text, "%d", VALGRIND_COUNT_ERRORS > 0 ? 99 : status & 255);
  /* valgrind looks for leaks when a program exits, and not when it executes another program. */
  execl("/bin/sh", "sh", "-c", "exit $0", text, (char *)NULL);
  _exit(127);
}
