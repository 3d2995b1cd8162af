/* operations FOLDER ENGINE OPERATION COUNT: runs one operation COUNT times, for callgrind to count instructions. Before
 * that it runs the operation once for each key, uncounted, so that the work of first use is not included. */
#include "fatal.h"
#include "engines.h"
#include "filling.h"
#include "folders.h"

#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

/* Texts have 20 bytes. */
typedef struct operation {
  void (*loop)(void *session, walk *walk);
  size_t length;
} operation;

static operation operation_named(const engine *engine, const char *name) {
  if (strcmp(name, "get_integers") == 0) return (operation){ engine->get, 0 };
  if (strcmp(name, "set") == 0) return (operation){ engine->set, 0 };
  if (strcmp(name, "set_together") == 0) return (operation){ engine->set_together, 0 };
  if (strcmp(name, "get_texts") == 0) return (operation){ engine->get, 20 };
  if (strcmp(name, "set_words") == 0) return (operation){ engine->set_words, 0 };
  if (strcmp(name, "set_refused") == 0) return (operation){ engine->set_refused, 0 };
  die("there is no operation %s", name);
}

/* Callgrind counts only what this thread does in this function: the library's own threads depend on time. */
static void count_instructions(operation operation, void *session, const keys *keys, size_t operations) {
  walk walk = walk_begin(keys->shuffled, keys->count, operation.length);
  walk.stamp = 1000000;
  walk.steps = keys->count;
  operation.loop(session, &walk);
  walk.steps = operations;
  CALLGRIND_TOGGLE_COLLECT;
  operation.loop(session, &walk);
  CALLGRIND_TOGGLE_COLLECT;
  walk_end(&walk);
}

int main(int count, char **arguments) {
  if (count != 5) die("usage: operations FOLDER ENGINE OPERATION COUNT");
  const engine *engine = engine_named(arguments[2]);
  operation operation = operation_named(engine, arguments[3]);
  const keys *keys = keys_of(1000);
  char *folder = folder_make(arguments[1], arguments[2]);
  void *store = open_filled(engine, folder, false, (contents){ .keys = keys->count, .length = operation.length });
  void *session = engine->join(store);
  count_instructions(operation, session, keys, strtoul(arguments[4], NULL, 10));
  engine->leave(session);
  engine->close(store);
  folder_remove(folder);
  free(folder);
  return 0;
}
