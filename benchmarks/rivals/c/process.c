/* The other process, which is this program again. It reads from its standard input how many operations to run, and
 * writes to its standard output when it began and when it ended. */
#include "process.h"

#include "clock.h"
#include "fatal.h"

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

struct process {
  pid_t id;
  int commands, answers;
};

/* ------------------------------------------------------------------------------------------------------------------
 * This side
 * --------------------------------------------------------------------------------------------------------------- */

static void spawn(process *process, char **arguments) {
  int commands[2], answers[2];
  if (pipe2(commands, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) die("cannot make a pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, commands[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, answers[1], STDOUT_FILENO);
  int failure = posix_spawn(&process->id, "/proc/self/exe", &actions, NULL, arguments, environ);
  if (failure) die("cannot start a process: %s", strerror(failure));
  posix_spawn_file_actions_destroy(&actions);
  close(commands[0]);
  close(answers[1]);
  process->commands = commands[1];
  process->answers = answers[0];
}

process *process_start(const row *row, const candidate *candidate, const char *folder, int worker) {
  process *started = malloc(sizeof *started);
  if (!started) die("no memory");
  char place[24], number[24];
  snprintf(place, sizeof place, "%td", candidate - row->candidates);
  snprintf(number, sizeof number, "%d", worker);
  spawn(started, (char *[]){ "bench", PROCESS_ARGUMENT, (char *)folder, (char *)row->name, place, number, NULL });
  process_await(started);
  return started;
}

void process_go(process *process, size_t operations) {
  if (write(process->commands, &operations, sizeof operations) != sizeof operations) die("a process has ended");
}

void process_rest(process *process) { process_go(process, 0); }

span process_await(process *process) {
  span span;
  if (read(process->answers, &span, sizeof span) != sizeof span) die("a process has ended");
  return span;
}

void process_end(process *process) {
  close(process->commands);
  int status;
  if (waitpid(process->id, &status, 0) < 0 || status != 0) die("a process failed");
  close(process->answers);
  free(process);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The other side
 * --------------------------------------------------------------------------------------------------------------- */

static bool read_command(size_t *operations) {
  return read(STDIN_FILENO, operations, sizeof *operations) == sizeof *operations;
}

static void answer(span span) {
  if (write(STDOUT_FILENO, &span, sizeof span) != sizeof span) die("cannot write the result");
}

static void take_turns(const row *row, const candidate *candidate, void *store, int index) {
  worker worker = worker_begin(row, candidate, store, index);
  answer((span){ 0 });
  for (size_t operations; read_command(&operations);) answer(worker_run(&worker, operations));
  worker_end(&worker);
}

/* Sets at a constant rate until there is a command to read. */
static void write_on(const engine *engine, void *session, walk *walk) {
  struct pollfd commands = { .fd = STDIN_FILENO, .events = POLLIN };
  for (uint64_t next = clock_ns(); poll(&commands, 1, 0) == 0;) {
    engine->set(session, walk);
    next += 1000000000u / SETS_A_SECOND;
    struct timespec until = { (time_t)(next / 1000000000u), (long)(next % 1000000000u) };
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
  }
}

static void write_meanwhile(const row *row, const candidate *candidate, void *store) {
  const keys *keys = keys_to_read(contents_of(row, candidate));
  walk walk = walk_begin(keys->shuffled, keys->count, row->length);
  walk.steps = 1;
  walk.stamp = 2000000;
  void *session = candidate->engine->join(store);
  answer((span){ 0 });
  for (size_t going; read_command(&going);) {
    if (going) write_on(candidate->engine, session, &walk);
  }
  candidate->engine->leave(session);
  walk_end(&walk);
}

int process_main(int count, char **arguments) {
  if (count != 4) die("usage: bench " PROCESS_ARGUMENT " FOLDER ROW CANDIDATE WORKER");
  const row *row = row_named(arguments[1]);
  const candidate *candidate = &row->candidates[atoi(arguments[2])];
  int worker = atoi(arguments[3]);
  void *store = candidate->engine->open(arguments[0], row->durable);
  if (worker == BACKGROUND_WRITER) write_meanwhile(row, candidate, store);
  else take_turns(row, candidate, store, worker);
  candidate->engine->close(store);
  return 0;
}
