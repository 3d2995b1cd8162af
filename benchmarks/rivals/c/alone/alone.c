/* Starts programs with a pipe at each end. */
#include "alone.h"

#include "../fatal.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

const contender contenders[CONTENDERS] = {
  { "Kept", "alone-kept", "candidate", NULL },
  { "SQLite", "alone-sqlite", "candidate", NULL },
  { "LMDB", "alone-lmdb", "candidate", NULL },
  { "GSettings", "alone-gsettings", "candidate", "dconf" },
  { "a program that opens nothing", "alone-nothing", "base", NULL },
};

static const char *own_folder(void) {
  static char self[PATH_MAX], *folder;
  if (folder) return folder;
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) die("cannot find the path of this program");
  return folder = dirname(self);
}

void alone_enter_session(const char *folder, char **arguments) {
  if (getenv("BENCH_SESSION")) return;
  size_t count = 0;
  while (arguments[count]) count++;
  char program[PATH_MAX + 32], **whole = calloc(count + 3, sizeof *whole);
  if (!whole) die("no memory");
  snprintf(program, sizeof program, "%s/in-session", own_folder());
  whole[0] = program;
  whole[1] = (char *)folder;
  memcpy(whole + 2, arguments, count * sizeof *whole);
  execv(program, whole);
  die("cannot run %s", program);
}

alone alone_start(const contender *contender, const char *verb, const char *folder, size_t keys) {
  alone started;
  int input[2], output[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) die("cannot make a pipe");
  char path[PATH_MAX + 32], number[24];
  snprintf(path, sizeof path, "%s/%s", own_folder(), contender->program);
  snprintf(number, sizeof number, "%zu", keys);
  char *arguments[] = { path, (char *)verb, (char *)folder, number, NULL };
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  int failure = posix_spawn(&started.process, path, &actions, NULL, arguments, environ);
  if (failure) die("cannot start %s: %s", path, strerror(failure));
  posix_spawn_file_actions_destroy(&actions);
  close(input[0]);
  close(output[1]);
  started.input = input[1];
  started.output = output[0];
  return started;
}

void alone_await(alone *started) {
  char text[32];
  if (read(started->output, text, sizeof text) <= 0) die("a program ended without a word");
}

void alone_end(alone *started) {
  close(started->input);
  int status;
  if (waitpid(started->process, &status, 0) < 0 || status != 0) die("a program failed");
  close(started->output);
}

void alone_run(const contender *contender, const char *verb, const char *folder, size_t keys) {
  alone started = alone_start(contender, verb, folder, keys);
  alone_await(&started);
  alone_end(&started);
}
