/* Steps that declare keys. */
#include "run.h"

void step_declare_json(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  WITH_KEY;
  json_object *schema = take_text(run, step, "schema");
  outcome->status = kept_declare_json(on->store, key, json_object_get_string(schema), error);
  json_object_put(schema);
  json_object_put(owned);
}

void step_declare_list(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  json_object *schema = take_text(run, step, "schema");
  outcome->status = kept_declare_list(on->store, json_object_get_string(schema), &outcome->error);
  json_object_put(schema);
}

void step_declare_file(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  outcome->status = kept_declare_file(on->store, take_path(run, step, "file"), &outcome->error);
}

void step_undeclare(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  WITH_KEY;
  outcome->status = kept_undeclare(on->store, key, error);
  json_object_put(owned);
}

/* Stores text that Kept returned as the result of a step, and frees it. */
static void give(struct outcome *outcome, char *text) {
  if (text) outcome->gives = json_object_new_string(text);
  kept_free(text);
}

void step_declaration_json(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  WITH_KEY;
  char *schema = NULL;
  outcome->status = kept_declaration_json(on->store, key, &schema, error);
  give(outcome, schema);
  json_object_put(owned);
}

void step_declarations_json(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  json_object *prefix = take_text(run, step, "prefix");
  char *schema = NULL;
  outcome->status = kept_declarations_json(on->store, json_object_get_string(prefix), &schema, &outcome->error);
  give(outcome, schema);
  json_object_put(prefix);
}
