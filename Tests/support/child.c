#include "child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "processes.h"

child start_child(const char *role, const char *location) {
  int to[2], from[2];
  char program[4096] = "";
  child child = { -1, -1, -1 };
  if (readlink("/proc/self/exe", program, sizeof program - 1) <= 0 || pipe(to) != 0 || pipe(from) != 0 ||
    (child.pid = fork()) < 0) {
    perror("start_child");
    exit(2);
  }
  if (child.pid == 0) {
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    close(to[0]), close(to[1]), close(from[0]), close(from[1]);
    execl(program, program, "--child", role, location, (char *)NULL);
    _exit(127);
  }
  close(to[0]), close(from[1]);
  /* The next child must not inherit these ends, or this child would never see its input closed. */
  fcntl(child.to = to[1], F_SETFD, FD_CLOEXEC);
  fcntl(child.from = from[0], F_SETFD, FD_CLOEXEC);
  return child;
}

void await_child(child *child) {
  char byte;
  CHECK_INT(1, read(child->from, &byte, 1));
}

void release_child(child *child) {
  if (child->to >= 0) close(child->to);
  child->to = -1;
}

int finish_child(child *child) {
  release_child(child);
  int end = end_of(child->pid);
  close(child->from);
  return end;
}

void kill_child(child *child) {
  kill(child->pid, SIGKILL);
  CHECK_INT(-SIGKILL, finish_child(child));
}

void play_child(const char *role, const char *location) {
  child child = start_child(role, location);
  CHECK_INT(0, finish_child(&child));
}

void signal_parent(void) {
  if (write(STDOUT_FILENO, ".", 1) != 1) exit(2);
}

void await_parent(void) {
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {}
}
