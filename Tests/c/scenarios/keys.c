/* Steps that query keys. */
#include "run.h"

void step_contains(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  WITH_KEY;
  bool found = false;
  outcome->status = kept_contains(on->store, key, &found, error);
  outcome->gives = json_object_new_boolean(found);
  json_object_put(owned);
}

void step_remove(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  WITH_KEY;
  outcome->status = kept_remove(on->store, key, error);
  json_object_put(owned);
}

void step_revision_of(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  WITH_KEY;
  uint64_t revision = 0;
  outcome->status = kept_revision_of(on->store, key, &revision, error);
  outcome->gives = json_object_new_uint64(revision);
  json_object_put(owned);
}

static int add_key(void *keys, const char *key) { return json_object_array_add(keys, json_object_new_string(key)); }

void step_list(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  json_object *prefix = take_text(run, step, "prefix");
  outcome->gives = json_object_new_array();
  outcome->status = kept_list(on->store, json_object_get_string(prefix), add_key, outcome->gives, &outcome->error);
  json_object_put(prefix);
}
