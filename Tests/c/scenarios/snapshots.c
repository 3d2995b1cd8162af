/* Steps about snapshots and the history. */
#include "run.h"

static uint64_t take_revision(json_object *step, const char *field) {
  json_object *value = take(step, field);
  uint64_t revision = json_object_get_uint64(value);
  json_object_put(value);
  return revision;
}

void step_snapshot(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  json_object *prefix = has(step, "prefix") ? take_text(run, step, "prefix") : json_object_new_string("");
  struct thing *taken = place_for(run, take_word(step, "as", "snapshot"));
  const char *text = json_object_get_string(prefix);
  if (has(step, "at")) {
    uint64_t revision = take_revision(step, "at");
    outcome->status = kept_snapshot_at(on->store, text, revision, &taken->store, &outcome->error);
  } else {
    outcome->status = kept_snapshot(on->store, text, &taken->store, &outcome->error);
  }
  json_object_put(prefix);
}

void step_snapshot_end(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  kept_snapshot_end(on->store);
}

void step_store_revision(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  uint64_t revision = 0;
  outcome->status = kept_store_revision(on->store, &revision, &outcome->error);
  outcome->gives = json_object_new_uint64(revision);
}

void step_history_json(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  bool is_prefix = has(step, "prefix");
  json_object *scope = take_text(run, step, is_prefix ? "prefix" : "key");
  char *json = NULL;
  uint32_t flags = is_prefix ? KEPT_HISTORY_PREFIX : 0;
  outcome->status = kept_history_json(on->store, json_object_get_string(scope), flags, &json, &outcome->error);
  if (json != NULL) outcome->gives = json_tokener_parse(json);
  kept_free(json);
  json_object_put(scope);
}
