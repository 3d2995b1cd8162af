/* Fills stores, 1,000 keys a transaction. */
#include "filling.h"

static void fill(const engine *engine, void *store, const keys *keys, kind kind) {
  if (!engine->set_together) return;
  walk walk = {.ring = keys->sorted, .count = keys->count, .kind = kind};
  void *session = engine->join(store);
  for (size_t left = keys->count; left; left -= walk.steps) {
    walk.steps = left < 1000 ? left : 1000;
    engine->set_together(session, &walk);
  }
  engine->leave(session);
}

void *open_filled(const engine *engine, const char *folder, bool durable, const keys *keys, kind kind) {
  if (engine->create) engine->create(folder);
  void *store = engine->open(folder, durable);
  fill(engine, store, keys, kind);
  if (!engine->create) return store;
  engine->close(store);
  return engine->open(folder, durable);
}
