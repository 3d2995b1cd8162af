/* A worker that operates on a store: a thread or a process. Each walks through its own keys. */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

#include "rows.h"

typedef struct worker {
  const engine *engine;
  void *session;
  void (*loop)(void *session, walk *walk);
  walk walk;
  size_t together; /* the number of operations in one call, if not all */
} worker;

typedef struct span {
  uint64_t began, ended; /* on the clock, which all processes share */
} span;

/* @param index  the first is 0 */
worker worker_begin(const row *row, const candidate *candidate, void *store, int index);
/* Deferred work of an engine is not in the span; it is done before another candidate's turn begins. */
span worker_run(worker *worker, size_t operations);
void worker_end(worker *worker);

#endif
