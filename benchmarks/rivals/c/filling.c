/* Fills stores, in transactions of some megabytes. */
#include "filling.h"

#define SHORT_TEXT 20
#define TRANSACTION ((size_t)8 << 20) /* bytes */

static void fill(const engine *engine, void *session, const keys *keys, size_t length) {
  walk walk = walk_begin(keys->sorted, keys->count, length);
  size_t together = TRANSACTION / (length + sizeof(key));
  for (size_t left = keys->count; left; left -= walk.steps) {
    walk.steps = together < left ? together : left;
    engine->set_together(session, &walk);
  }
  walk_end(&walk);
}

const keys *keys_to_read(contents contents) {
  return contents.some ? some_keys_of(contents.keys, contents.some) : keys_of(contents.keys);
}

void *open_filled(const engine *engine, const char *folder, bool durable, contents contents) {
  if (engine->create) engine->create(folder);
  void *store = engine->open(folder, durable);
  if (engine->set_together) {
    void *session = engine->join(store);
    if (contents.some) fill(engine, session, keys_of(contents.keys), SHORT_TEXT);
    fill(engine, session, keys_to_read(contents), contents.length);
    engine->leave(session);
  }
  if (!engine->create) return store;
  engine->close(store);
  return engine->open(folder, durable);
}
