/* Steps that reset values to their defaults. */
#include "run.h"

void step_reset(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  WITH_KEY;
  outcome->status = kept_reset(on->store, key, error);
  json_object_put(owned);
}

void step_remove_all(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  json_object *prefix = take_text(run, step, "prefix");
  size_t removed = 0;
  outcome->status = kept_remove_all(on->store, json_object_get_string(prefix), &removed, &outcome->error);
  outcome->gives = json_object_new_uint64(removed);
  json_object_put(prefix);
}
