/* One who operates on a store: a thread, or a process. Each walks through keys of its own. */
#ifndef BENCH_LANE_H
#define BENCH_LANE_H

#include "rows.h"

typedef struct worker {
  const engine *engine;
  void *session;
  void (*loop)(void *session, walk *walk);
  walk walk;
  size_t together;   /* so many operations are one call, where not all of them are */
} worker;

typedef struct span {
  uint64_t began, ended;   /* of the clock, which all processes share */
} span;

/* @param index  the first is 0 */
worker worker_begin(const row *row, const candidate *candidate, void *store, int index);
/* What an engine puts off is not in the span; it is done before anybody else's turn begins. */
span worker_run(worker *worker, size_t operations);
void worker_end(worker *worker);

#endif
