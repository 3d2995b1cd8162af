#define _XOPEN_SOURCE 700
#include "children.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t fork_child(int (*scenario)(void *context), void *context) {
  pid_t child = fork();
  if (child < 0) {
    perror("fork");
    exit(2);
  }
  if (child > 0) return child;
  alarm(60);
  _exit(scenario(context));
}

int end_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int in_child(int (*scenario)(void *context), void *context) { return end_of(fork_child(scenario, context)); }

int failed_at(const char *file, int line, const char *condition) {
  fprintf(stderr, "%s:%d: in a child: not so: %s\n", file, line, condition);
  return line % 255 + 1;
}

int64_t int_of(kept_store *store, const char *key) {
  int64_t value = -1;
  return kept_get_int64(store, key, &value, NULL) == KEPT_OK ? value : -1;
}
