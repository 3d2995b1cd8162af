/* operations FOLDER ENGINE OPERATION COUNT: does one operation so many times, for callgrind to count instructions. Two
 * runs of different length differ by the operations alone. */
#include "complaint.h"
#include "engines.h"
#include "filling.h"
#include "folders.h"

#include <stdlib.h>
#include <string.h>

typedef void loop(void *session, walk *walk);

static loop *loop_named(const engine *engine, const char *name) {
  if (strcmp(name, "get_integers") == 0) return engine->get_integers;
  if (strcmp(name, "get_texts") == 0) return engine->get_texts;
  if (strcmp(name, "set") == 0) return engine->set;
  if (strcmp(name, "set_words") == 0) return engine->set_words;
  if (strcmp(name, "set_refused") == 0) return engine->set_refused;
  if (strcmp(name, "set_together") == 0) return engine->set_together;
  complain("there is no operation %s", name);
}

/* Once through all keys, so that none is new. */
static void warm(loop *loop, void *session, const keys *keys) {
  walk walk = {.ring = keys->sorted, .count = keys->count, .steps = keys->count, .stamp = 1000000};
  loop(session, &walk);
}

/* Callgrind collects only what happens in here: runner/instructions.py names it. */
static __attribute__((noipa)) void profiled(loop *loop, void *session, const keys *keys, size_t steps) {
  walk walk = {.ring = keys->shuffled, .count = keys->count, .steps = steps, .stamp = 2000000};
  loop(session, &walk);
}

int main(int count, char **arguments) {
  if (count != 5) complain("usage: operations FOLDER ENGINE OPERATION COUNT");
  const engine *engine = engine_named(arguments[2]);
  loop *loop = loop_named(engine, arguments[3]);
  const keys *keys = keys_of(1000);
  char *folder = folder_make(arguments[1], arguments[2]);
  void *store = open_filled(engine, folder, false, keys, loop == engine->get_texts ? TEXT : INTEGER);
  void *session = engine->join(store);
  warm(loop, session, keys);
  profiled(loop, session, keys, strtoul(arguments[4], NULL, 10));
  engine->leave(session);
  engine->close(store);
  folder_remove(folder);
  free(folder);
  return 0;
}
