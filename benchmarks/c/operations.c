/* operations FOLDER ENGINE OPERATION COUNT: does one operation so many times, for callgrind to count instructions, and
 * as many as there are keys before, which are not counted: what happens the first time only happens in these. */
#include "complaint.h"
#include "engines.h"
#include "filling.h"
#include "folders.h"

#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

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

/* Callgrind counts only what this thread does meanwhile: the library's own come and go with the time of day. */
static void count_instructions(loop *loop, void *session, const keys *keys, size_t operations) {
  walk walk = {.ring = keys->shuffled, .count = keys->count, .steps = keys->count, .stamp = 1000000};
  loop(session, &walk);
  walk.steps = operations;
  CALLGRIND_TOGGLE_COLLECT;
  loop(session, &walk);
  CALLGRIND_TOGGLE_COLLECT;
}

int main(int count, char **arguments) {
  if (count != 5) complain("usage: operations FOLDER ENGINE OPERATION COUNT");
  const engine *engine = engine_named(arguments[2]);
  loop *loop = loop_named(engine, arguments[3]);
  const keys *keys = keys_of(1000);
  char *folder = folder_make(arguments[1], arguments[2]);
  void *store = open_filled(engine, folder, false, keys, loop == engine->get_texts ? TEXT : INTEGER);
  void *session = engine->join(store);
  count_instructions(loop, session, keys, strtoul(arguments[4], NULL, 10));
  engine->leave(session);
  engine->close(store);
  folder_remove(folder);
  free(folder);
  return 0;
}
