/* From nothing open to the first value: the cost of starting a program. Closing is not counted. */
#include "clock.h"
#include "fatal.h"
#include "filling.h"
#include "rows.h"

#include <stdlib.h>
#include <string.h>

typedef struct state {
  const engine *engine;
  char *folder;
  walk walk;
} state;

static void *prepare(const row *row, const candidate *candidate, const char *folder) {
  state *prepared = malloc(sizeof *prepared);
  if (!prepared) die("no memory");
  contents contents = contents_of(row, candidate);
  const keys *keys = keys_to_read(contents);
  candidate->engine->close(open_filled(candidate->engine, folder, false, contents));
  *prepared = (state){ candidate->engine, strdup(folder), walk_begin(keys->shuffled, keys->count, row->length) };
  prepared->walk.steps = 1;
  return prepared;
}

static uint64_t open_once(state *state) {
  uint64_t began = clock_ns();
  void *store = state->engine->open(state->folder, false);
  void *session = state->engine->join(store);
  state->engine->get(session, &state->walk);
  uint64_t took = clock_ns() - began;
  state->engine->leave(session);
  state->engine->close(store);
  return took;
}

static uint64_t turn(void *state, size_t operations) {
  uint64_t took = 0;
  while (operations--) took += open_once(state);
  return took;
}

static void finish(void *state_) {
  state *state = state_;
  walk_end(&state->walk);
  free(state->folder);
  free(state);
}

const task opening = { prepare, turn, finish };
