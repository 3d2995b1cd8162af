/* A turn of operations on an open store: one thread, or many that start together. */
#include "clock.h"
#include "complaint.h"
#include "filling.h"
#include "rows.h"
#include "writer.h"

#include <pthread.h>
#include <stdlib.h>

typedef void loop(void *session, walk *walk);

/* One thread of a turn; the first is the caller's own, so that its caches stay warm. */
typedef struct lane {
  pthread_t thread;
  pthread_barrier_t *start;
  loop *loop;
  void *session;
  walk walk;
  size_t operations, chunk;   /* so many in all, and so many in one call: a transaction is one call */
  uint64_t began, ended;
} lane;

typedef struct state {
  const engine *engine;
  void *store;
  int threads;
  lane lanes[MAX_THREADS];
  pthread_barrier_t start;
  writer *writer;   /* may be NULL */
} state;

static loop *loop_of(const engine *engine, operation operation) {
  switch (operation) {
    case GET_INTEGERS: return engine->get_integers;
    case GET_TEXTS: return engine->get_texts;
    case SET: return engine->set;
    case SET_WORDS: return engine->set_words;
    case SET_REFUSED: return engine->set_refused;
    case SET_TOGETHER: return engine->set_together;
    default: return NULL;
  }
}

/* What has been read before is read in the order of the keys, which is not the order of the turns. */
static void warm(lane *lane, const keys *keys) {
  walk walk = {.ring = keys->sorted, .count = keys->count, .steps = keys->count};
  lane->loop(lane->session, &walk);
}

/* Each lane walks through a part of the keys that is its own. */
static void prepare_lane(state *state, int index, const row *row, const keys *keys) {
  size_t share = keys->count / (size_t)state->threads;
  lane *lane = &state->lanes[index];
  lane->start = &state->start;
  lane->loop = loop_of(state->engine, row->operation);
  if (!lane->loop) complain("%s cannot do what the row \"%s\" asks for", state->engine->name, row->name);
  lane->session = state->engine->join(state->store);
  lane->walk = (walk){.ring = keys->shuffled + share * (size_t)index, .count = share, .stamp = 1000000};
  lane->chunk = row->operation == SET_TOGETHER ? 1000 : 0;
  if (row->operation == GET_INTEGERS || row->operation == GET_TEXTS) warm(lane, keys);
}

static void *prepare(const row *row, const contestant *contestant, const char *folder) {
  state *prepared = calloc(1, sizeof *prepared);
  if (!prepared) complain("no memory");
  const keys *keys = keys_of(keys_in(row, contestant));
  prepared->engine = contestant->engine;
  prepared->threads = threads_in(row, contestant);
  pthread_barrier_init(&prepared->start, NULL, (unsigned)prepared->threads);
  kind kind = row->operation == GET_TEXTS ? TEXT : INTEGER;
  prepared->store = open_filled(prepared->engine, folder, row->durable, keys, kind);
  for (int index = 0; index < prepared->threads; index++) prepare_lane(prepared, index, row, keys);
  if (row->beside_writer) prepared->writer = writer_start(prepared->engine, folder, keys->count);
  return prepared;
}

static void *run_lane(void *lane_) {
  lane *lane = lane_;
  pthread_barrier_wait(lane->start);
  lane->began = clock_ns();
  lane->walk.steps = lane->chunk ? lane->chunk : lane->operations;
  for (size_t done = 0; done < lane->operations; done += lane->walk.steps) lane->loop(lane->session, &lane->walk);
  lane->ended = clock_ns();
  return NULL;
}

/* From the first that began to the last that ended. */
static uint64_t span(const state *state) {
  uint64_t began = UINT64_MAX, ended = 0;
  for (int index = 0; index < state->threads; index++) {
    const lane *lane = &state->lanes[index];
    if (lane->began < began) began = lane->began;
    if (lane->ended > ended) ended = lane->ended;
  }
  return ended - began;
}

static uint64_t turn(void *state_, size_t operations) {
  state *state = state_;
  if (state->writer) writer_go(state->writer);
  for (int index = 0; index < state->threads; index++) {
    lane *lane = &state->lanes[index];
    lane->operations = operations / (size_t)state->threads;
    if (index && pthread_create(&lane->thread, NULL, run_lane, lane) != 0) complain("cannot start a thread");
  }
  run_lane(&state->lanes[0]);
  for (int index = 1; index < state->threads; index++) pthread_join(state->lanes[index].thread, NULL);
  if (state->writer) writer_rest(state->writer);
  return span(state);
}

static void finish(void *state_) {
  state *state = state_;
  if (state->writer) writer_end(state->writer);
  for (int index = 0; index < state->threads; index++) state->engine->leave(state->lanes[index].session);
  state->engine->close(state->store);
  pthread_barrier_destroy(&state->start);
  free(state);
}

const task operating = {prepare, turn, finish};
