/* operations FOLDER ENGINE OPERATION COUNT: does one operation so many times, for callgrind to count instructions. Two
 * runs of different length differ by the operations alone. */
#include "complaint.h"
#include "engines.h"
#include "filling.h"
#include "folders.h"

#include <stdlib.h>
#include <string.h>

/* Texts are of 20 bytes. */
typedef struct operation {
  void (*loop)(void *session, walk *walk);
  size_t length;
} operation;

static operation operation_named(const engine *engine, const char *name) {
  if (strcmp(name, "get_integers") == 0) return (operation){engine->get, 0};
  if (strcmp(name, "set") == 0) return (operation){engine->set, 0};
  if (strcmp(name, "set_together") == 0) return (operation){engine->set_together, 0};
  if (strcmp(name, "get_texts") == 0) return (operation){engine->get, 20};
  if (strcmp(name, "set_words") == 0) return (operation){engine->set_words, 0};
  if (strcmp(name, "set_refused") == 0) return (operation){engine->set_refused, 0};
  complain("there is no operation %s", name);
}

/* Once through all keys, so that none is new. */
static void warm(operation operation, void *session, const keys *keys) {
  walk walk = walk_begin(keys->sorted, keys->count, operation.length);
  walk.steps = keys->count;
  walk.stamp = 1000000;
  operation.loop(session, &walk);
  walk_end(&walk);
}

/* Callgrind collects only what happens in here: runner/instructions.py names it. */
static __attribute__((noipa)) void profiled(operation operation, void *session, walk *walk) {
  operation.loop(session, walk);
}

int main(int count, char **arguments) {
  if (count != 5) complain("usage: operations FOLDER ENGINE OPERATION COUNT");
  const engine *engine = engine_named(arguments[2]);
  operation operation = operation_named(engine, arguments[3]);
  const keys *keys = keys_of(1000);
  char *folder = folder_make(arguments[1], arguments[2]);
  void *store = open_filled(engine, folder, false, (contents){.keys = keys->count, .length = operation.length});
  void *session = engine->join(store);
  warm(operation, session, keys);
  walk walk = walk_begin(keys->shuffled, keys->count, operation.length);
  walk.steps = strtoul(arguments[4], NULL, 10);
  walk.stamp = 2000000;
  profiled(operation, session, &walk);
  walk_end(&walk);
  engine->leave(session);
  engine->close(store);
  folder_remove(folder);
  free(folder);
  return 0;
}
