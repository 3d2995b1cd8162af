/* Steps about places, layers' files, values as text, and comparisons. */
#include <string.h>

#include "run.h"

static void take_json(struct outcome *outcome, char *json) {
  if (json) outcome->gives = json_tokener_parse(json);
  kept_free(json);
}

/* The field "location" or "at"; the location of the scenario's store if the step has neither. */
static const char *take_location(struct run *run, json_object *step, json_object **owned) {
  const char *file = take_path(run, step, "at");
  *owned = has(step, "location") ? take_text(run, step, "location") : NULL;
  return file ? file : *owned ? json_object_get_string(*owned) : run->location;
}

void step_place_json(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  json_object *owned;
  char *json = NULL;
  outcome->status = kept_place_json(take_location(run, step, &owned), &json, &outcome->error);
  take_json(outcome, json);
  json_object_put(owned);
}

void step_places_json(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  char *json = NULL;
  outcome->status = kept_places_json(take_path(run, step, "at"), &json, &outcome->error);
  take_json(outcome, json);
}

void step_processes_json(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  json_object *owned;
  char *json = NULL;
  outcome->status = kept_processes_json(take_location(run, step, &owned), &json, &outcome->error);
  take_json(outcome, json);
  json_object_put(owned);
}

void step_findings_json(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  json_object *owned;
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = take_path(run, step, "managed");
  options.system = take_path(run, step, "system");
  char *json = NULL;
  const char *location = take_location(run, step, &owned);
  outcome->status = kept_findings_json(location, &options, NULL, NULL, &json, &outcome->error);
  take_json(outcome, json);
  json_object_put(owned);
  /* The notes depend on the machine. */
  for (size_t i = outcome->gives ? json_object_array_length(outcome->gives) : 0; i-- > 0;) {
    json_object *finding = json_object_array_get_idx(outcome->gives, i);
    if (strcmp(json_object_get_string(json_object_object_get(finding, "severity")), "note") == 0)
      json_object_array_del_idx(outcome->gives, i, 1);
  }
}

void step_layer_files_json(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  char *json = NULL;
  outcome->status = kept_layer_files_json(on->store, &json, &outcome->error);
  take_json(outcome, json);
}

void step_layer_check(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  const char *name = take_word(step, "layer", "");
  json_object *text = take_text(run, step, "text");
  uint32_t layer = KEPT_LAYER_MANAGED;
  while (layer > KEPT_LAYER_NONE && strcmp(layer_name(layer), name) != 0) layer--;
  outcome->status =
    kept_layer_check(json_object_get_string(text), (size_t)json_object_get_string_len(text), layer, &outcome->error);
  json_object_put(text);
}

/* The field "type"; NULL if the step has none. */
static const char *take_type(json_object *step) { return has(step, "type") ? take_word(step, "type", "") : NULL; }

void step_text_to_json(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  const char *type = take_type(step);
  json_object *text = take_text(run, step, "text");
  char *json = NULL;
  outcome->status = kept_text_to_json(
    json_object_get_string(text), (size_t)json_object_get_string_len(text), type, &json, &outcome->error);
  if (json) outcome->gives = json_object_new_string(json);
  kept_free(json);
  json_object_put(text);
}

void step_json_to_text(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  const char *type = take_type(step);
  json_object *json = take_text(run, step, "json");
  char *text = NULL;
  outcome->status = kept_json_to_text(json_object_get_string(json), type, &text, &outcome->error);
  if (text) outcome->gives = json_object_new_string(text);
  kept_free(text);
  json_object_put(json);
}

/* A side of a comparison; NULL if it is a file. */
static kept_store *take_side(struct run *run, json_object *step, const char *field) {
  struct thing *side = has(step, field) ? named(run, take_word(step, field, "")) : NULL;
  return side ? side->store : NULL;
}

void step_differences_json(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  kept_store *old = take_side(run, step, "old"), *changed = take_side(run, step, "new");
  const char *old_file = take_path(run, step, "old_file"), *new_file = take_path(run, step, "new_file");
  uint32_t flags = take_flag(step, "secrets", false) ? KEPT_DIFFERENCES_SECRETS : 0;
  char *json = NULL;
  outcome->status = kept_differences_json(old, old_file, changed, new_file, flags, &json, &outcome->error);
  if (json) outcome->gives = json_object_new_string(json);
  kept_free(json);
}
