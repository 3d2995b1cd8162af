/* Operates. */
#include "lane.h"

#include "clock.h"
#include "complaint.h"

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

/* What has been read before is read in the order of the keys, which is not the order of the turns. */
static void warm(lane *lane, const keys *keys) {
  walk walk = walk_begin(keys->sorted, keys->count, lane->walk.length);
  walk.steps = keys->count;
  lane->loop(lane->session, &walk);
  walk_end(&walk);
}

lane lane_begin(const row *row, const contestant *contestant, void *store, int index) {
  const engine *engine = contestant->engine;
  const keys *keys = keys_asked(contents_of(row, contestant));
  size_t share = keys->count / (size_t)lanes_in(row, contestant);
  lane begun = {.engine = engine, .loop = loop_of(engine, row->operation), .session = engine->join(store)};
  if (!begun.loop) complain("%s cannot do what the row \"%s\" asks for", engine->name, row->name);
  begun.walk = walk_begin(keys->shuffled + share * (size_t)index, share, row->length);
  begun.walk.stamp = 1000000;   /* beyond what the store was filled with */
  begun.together = row->operation == SET_TOGETHER ? SETS_TOGETHER : 0;
  if (row->operation == GET) warm(&begun, keys);
  return begun;
}

span lane_run(lane *lane, size_t operations) {
  span span = {.began = clock_ns()};
  lane->walk.steps = lane->together ? lane->together : operations;
  for (size_t done = 0; done < operations; done += lane->walk.steps) lane->loop(lane->session, &lane->walk);
  span.ended = clock_ns();
  if (lane->engine->settle) lane->engine->settle(lane->session);
  return span;
}

void lane_end(lane *lane) {
  lane->engine->leave(lane->session);
  walk_end(&lane->walk);
}
