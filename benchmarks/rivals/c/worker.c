/* Runs the operations of a worker. */
#include "worker.h"

#include "clock.h"
#include "fatal.h"

static void (*loop_of(const engine *engine, operation operation))(void *, walk *) {
  switch (operation) {
    case GET: return engine->get;
    case SET: return engine->set;
    case SET_TOGETHER: return engine->set_together;
    case SET_WORDS: return engine->set_words;
    case SET_REFUSED: return engine->set_refused;
    default: return NULL;
  }
}

/* The first read of each key is in key order, which differs from the order of the turns. */
static void warm(worker *worker, const keys *keys) {
  walk walk = walk_begin(keys->sorted, keys->count, worker->walk.length);
  walk.steps = keys->count;
  worker->loop(worker->session, &walk);
  walk_end(&walk);
}

worker worker_begin(const row *row, const candidate *candidate, void *store, int index) {
  const engine *engine = candidate->engine;
  const keys *keys = keys_to_read(contents_of(row, candidate));
  size_t share = keys->count / (size_t)workers_in(row, candidate);
  worker begun = { .engine = engine, .loop = loop_of(engine, row->operation), .session = engine->join(store) };
  if (!begun.loop) die("%s cannot do what the row \"%s\" asks for", engine->name, row->name);
  begun.walk = walk_begin(keys->shuffled + share * (size_t)index, share, row->length);
  begun.walk.stamp = 1000000; /* beyond the stored values */
  begun.together = row->operation == SET_TOGETHER ? SETS_TOGETHER : 0;
  if (row->operation == GET) warm(&begun, keys);
  return begun;
}

span worker_run(worker *worker, size_t operations) {
  span span = { .began = clock_ns() };
  worker->walk.steps = worker->together ? worker->together : operations;
  for (size_t done = 0; done < operations; done += worker->walk.steps) worker->loop(worker->session, &worker->walk);
  span.ended = clock_ns();
  if (worker->engine->settle) worker->engine->settle(worker->session);
  return span;
}

void worker_end(worker *worker) {
  worker->engine->leave(worker->session);
  walk_end(&worker->walk);
}
