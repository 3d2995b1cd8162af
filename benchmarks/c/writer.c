/* The other process. It is this program again, told by letters on its standard input: g (go), r (rest), or the end. */
#include "writer.h"

#include "clock.h"
#include "complaint.h"
#include "engines.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SETS_A_SECOND 1000

extern char **environ;

struct writer {
  pid_t process;
  int commands;
};

/* ------------------------------------------------------------------------------------------------------------------
 * This side
 * --------------------------------------------------------------------------------------------------------------- */

writer *writer_start(const engine *engine, const char *folder, size_t keys) {
  writer *started = malloc(sizeof *started);
  int ends[2];
  if (!started || pipe2(ends, O_CLOEXEC) != 0) complain("cannot make a pipe");
  char number[24];
  snprintf(number, sizeof number, "%zu", keys);
  char *arguments[] = {"bench", WRITER_ARGUMENT, (char *)engine->name, (char *)folder, number, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  int failure = posix_spawn(&started->process, "/proc/self/exe", &actions, NULL, arguments, environ);
  if (failure) complain("cannot start a writing process: %s", strerror(failure));
  posix_spawn_file_actions_destroy(&actions);
  close(ends[0]);
  started->commands = ends[1];
  return started;
}

static void tell(writer *writer, char command) {
  if (write(writer->commands, &command, 1) != 1) complain("the writing process has ended");
}

void writer_go(writer *writer) { tell(writer, 'g'); }

void writer_rest(writer *writer) { tell(writer, 'r'); }

void writer_end(writer *writer) {
  close(writer->commands);
  int status;
  if (waitpid(writer->process, &status, 0) < 0 || status != 0) complain("the writing process failed");
  free(writer);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The other side
 * --------------------------------------------------------------------------------------------------------------- */

/* Sets at an even pace until there is a command to read. */
static void write_on(const engine *engine, void *session, walk *walk) {
  struct pollfd commands = {.fd = STDIN_FILENO, .events = POLLIN};
  for (uint64_t next = clock_ns(); poll(&commands, 1, 0) == 0;) {
    engine->set(session, walk);
    next += 1000000000u / SETS_A_SECOND;
    struct timespec until = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
  }
}

int writer_main(const char *name, const char *folder, size_t count) {
  const engine *engine = engine_named(name);
  const keys *keys = keys_of(count);
  walk walk = {.ring = keys->shuffled, .count = count, .steps = 1, .stamp = 2000000};
  void *store = engine->open(folder, false);
  void *session = engine->join(store);
  for (char command; read(STDIN_FILENO, &command, 1) == 1;) {
    if (command == 'g') write_on(engine, session, &walk);
  }
  engine->leave(session);
  engine->close(store);
  return 0;
}
