/* A turn of operations on an open store: one worker, or many that start together. */
#include "fatal.h"
#include "filling.h"
#include "worker.h"
#include "process.h"
#include "rows.h"

#include <pthread.h>
#include <stdlib.h>

/* Runs a worker. The first one uses the caller's own thread, so that its caches stay warm. */
typedef struct runner {
  pthread_t thread;
  pthread_barrier_t *start;
  worker worker;
  process *process; /* the process of the worker, if it has one */
  size_t operations;
  span span;
} runner;

typedef struct state {
  const engine *engine;
  void *store;
  int count;
  runner runners[MAX_WORKERS];
  pthread_barrier_t start; /* of threads */
  process *writer;         /* may be NULL */
} state;

static void *prepare(const row *row, const candidate *candidate, const char *folder) {
  state *prepared = calloc(1, sizeof *prepared);
  if (!prepared) die("no memory");
  prepared->engine = candidate->engine;
  prepared->count = workers_in(row, candidate);
  prepared->store = open_filled(prepared->engine, folder, row->durable, contents_of(row, candidate));
  pthread_barrier_init(&prepared->start, NULL, row->processes ? 1 : (unsigned)prepared->count);
  for (int index = 0; index < prepared->count; index++) {
    runner *runner = &prepared->runners[index];
    runner->start = &prepared->start;
    if (row->processes && index) runner->process = process_start(row, candidate, folder, index);
    else runner->worker = worker_begin(row, candidate, prepared->store, index);
  }
  if (row->beside_writer && !candidate->quiet)
    prepared->writer = process_start(row, candidate, folder, BACKGROUND_WRITER);
  return prepared;
}

static void *run(void *runner_) {
  runner *runner = runner_;
  pthread_barrier_wait(runner->start);
  runner->span = worker_run(&runner->worker, runner->operations);
  return NULL;
}

static void start(runner *runner) {
  if (runner->process) process_go(runner->process, runner->operations);
  else if (pthread_create(&runner->thread, NULL, run, runner) != 0) die("cannot start a thread");
}

static void await(runner *runner) {
  if (runner->process) runner->span = process_await(runner->process);
  else pthread_join(runner->thread, NULL);
}

/* From the start of the first worker to the end of the last. */
static uint64_t span_of_all(const state *state) {
  uint64_t began = UINT64_MAX, ended = 0;
  for (int index = 0; index < state->count; index++) {
    const span *span = &state->runners[index].span;
    if (span->began < began) began = span->began;
    if (span->ended > ended) ended = span->ended;
  }
  return ended - began;
}

static uint64_t turn(void *state_, size_t operations) {
  state *state = state_;
  if (state->writer) process_go(state->writer, 1);
  for (int index = 0; index < state->count; index++) {
    state->runners[index].operations = operations / (size_t)state->count;
    if (index) start(&state->runners[index]);
  }
  run(&state->runners[0]);
  for (int index = 1; index < state->count; index++) await(&state->runners[index]);
  if (state->writer) process_rest(state->writer);
  return span_of_all(state);
}

static void finish(void *state_) {
  state *state = state_;
  if (state->writer) process_end(state->writer);
  for (int index = 0; index < state->count; index++) {
    runner *runner = &state->runners[index];
    if (runner->process) process_end(runner->process);
    else worker_end(&runner->worker);
  }
  state->engine->close(state->store);
  pthread_barrier_destroy(&state->start);
  free(state);
}

const task operating = { prepare, turn, finish };
