/* Runs the shared scenarios in C: scenarios FILE.json... (Tests/scenarios/README.md describes the scenarios). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "run.h"

void fail_step(struct run *run, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", run->place);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  run->failures++;
}

void mark(kept_error *error) { memset(error, 0x5a, sizeof *error); }

bool is_marked(const kept_error *error) {
  kept_error marked;
  mark(&marked);
  return memcmp(error, &marked, sizeof marked) == 0;
}

struct thing *named(struct run *run, const char *name) {
  for (size_t i = 0; i < sizeof run->things / sizeof *run->things; i++)
    if (strcmp(run->things[i].name, name) == 0) return &run->things[i];
  return NULL;
}

struct thing *place_for(struct run *run, const char *name) {
  struct thing *thing = named(run, name);
  if (thing == NULL) thing = named(run, "");
  if (thing == NULL || strlen(name) >= sizeof thing->name) {
    fprintf(stderr, "%s: more names than the runner has room for\n", run->place);
    exit(2);
  }
  strcpy(thing->name, name);
  return thing;
}

/* A step: its default "on", and its function. */
static const struct step_kind {
  const char *name, *subject;
  step_function *function;
} step_kinds[] = {
  { "open", "store", step_open },
  { "close", "store", step_close },
  { "flush", "store", step_flush },
  { "get_json", "store", step_get_json },
  { "set_json", "store", step_set_json },
  { "set_json_if", "store", step_set_json_if },
  { "get_bool", "store", step_get_bool },
  { "set_bool", "store", step_set_bool },
  { "get_int64", "store", step_get_int64 },
  { "set_int64", "store", step_set_int64 },
  { "get_uint64", "store", step_get_uint64 },
  { "set_uint64", "store", step_set_uint64 },
  { "get_double", "store", step_get_double },
  { "set_double", "store", step_set_double },
  { "get_string", "store", step_get_string },
  { "set_string", "store", step_set_string },
  { "get_bytes", "store", step_get_bytes },
  { "set_bytes", "store", step_set_bytes },
  { "get_date", "store", step_get_date },
  { "set_date", "store", step_set_date },
  { "contains", "store", step_contains },
  { "remove", "store", step_remove },
  { "revision_of", "store", step_revision_of },
  { "list", "store", step_list },
  { "declare_json", "store", step_declare_json },
  { "declare_list", "store", step_declare_list },
  { "declare_file", "store", step_declare_file },
  { "undeclare", "store", step_undeclare },
  { "declaration_json", "store", step_declaration_json },
  { "declarations_json", "store", step_declarations_json },
  { "explain_json", "store", step_explain_json },
  { "layer_of", "store", step_layer_of },
  { "register_json", "store", step_register_json },
  { "place_json", "store", step_place_json },
  { "places_json", "store", step_places_json },
  { "processes_json", "store", step_processes_json },
  { "findings_json", "store", step_findings_json },
  { "layer_files_json", "store", step_layer_files_json },
  { "layer_check", "store", step_layer_check },
  { "differences_json", "store", step_differences_json },
  { "text_to_json", "store", step_text_to_json },
  { "json_to_text", "store", step_json_to_text },
  { "reports", "store", step_reports },
  { "export_json", "store", step_export_json },
  { "export_file", "store", step_export_file },
  { "import", "store", step_import },
  { "import_file", "store", step_import_file },
  { "write_file", "store", step_write_file },
  { "remove_file", "store", step_remove_file },
  { "make", "store", step_make },
  { "damage", "store", step_damage },
  { "verify_json", "store", step_verify_json },
  { "salvaged", "store", step_salvaged },
  { "acknowledge_salvage", "store", step_acknowledge_salvage },
  { "backup", "store", step_backup },
  { "restore", "store", step_restore },
  { "schema_version", "store", step_schema_version },
  { "rename", "store", step_rename },
  { "migrate", "store", step_migrate },
  { "undo", "store", step_undo },
  { "begin", "store", step_begin },
  { "commit", "transaction", step_commit },
  { "rollback", "transaction", step_rollback },
  { "snapshot", "store", step_snapshot },
  { "snapshot_end", "snapshot", step_snapshot_end },
  { "store_revision", "store", step_store_revision },
  { "history_json", "store", step_history_json },
  { "reset", "store", step_reset },
  { "remove_all", "store", step_remove_all },
  { "observe", "store", step_observe },
  { "notices", "observer", step_notices },
  { "clock", "store", step_clock },
  { "unobserve", "observer", step_unobserve },
};

static const struct step_kind *kind_of(const char *name) {
  for (size_t i = 0; i < sizeof step_kinds / sizeof *step_kinds; i++)
    if (strcmp(step_kinds[i].name, name) == 0) return &step_kinds[i];
  return NULL;
}

static bool same(const char *name, json_object *expected, json_object *given) {
  if (strcmp(name, "explain_json") == 0 || strcmp(name, "history_json") == 0 || strncmp(name, "import", 6) == 0 ||
    strcmp(name, "layer_files_json") == 0 || strncmp(name, "place", 5) == 0 || strcmp(name, "findings_json") == 0)
    return has_part(expected, given);
  return strcmp(name, "get_double") == 0 ? same_double(expected, given) : json_object_equal(expected, given);
}

/* Whether the status is as expected; if so, the rest of the step's expectations is compared too. */
static bool check(struct run *run, const char *name, json_object *step, struct outcome *outcome) {
  const char *expected = take_word(step, "status", "ok");
  const char *found = kept_status_text(outcome->status);
  const kept_error *error = &outcome->error;
  if (strcmp(expected, found) != 0) {
    fail_step(run, "expected \"%s\", found \"%s\": %.200s", expected, found, error->message);
    return false;
  }
  if (outcome->status == KEPT_OK && !is_marked(error)) fail_step(run, "nothing failed, but the error was written to");
  if (outcome->status != KEPT_OK && (error->status != outcome->status || strlen(error->message) < 10))
    fail_step(run, "the error does not say its status and a sentence");
  if (has(step, "offset")) {
    json_object *offset = take(step, "offset");
    if (json_object_get_int64(offset) != error->offset)
      fail_step(run, "expected the offset %s, found %" PRId64 ": %.200s", json_object_get_string(offset), error->offset,
        error->message);
    json_object_put(offset);
  }
  if (has(step, "gives")) {
    json_object *gives = take_text(run, step, "gives");
    if (!same(name, gives, outcome->gives))
      fail_step(run, "expected %.200s, found %.200s", json_object_to_json_string(gives),
        json_object_to_json_string(outcome->gives));
    json_object_put(gives);
  }
  return true;
}

/* Fails unless every field was taken by the step or by check(). */
static void check_rest(struct run *run, const char *name, json_object *step) {
  json_object_object_foreach(step, field, value) {
    (void)value;
    fail_step(run, "the runner does not know the field \"%s\" of \"%s\"", field, name);
  }
}

void run_step(struct run *run, json_object *step) {
  struct outcome outcome = { .status = KEPT_OK };
  mark(&outcome.error);
  json_object_object_del(step, "note");
  const char *name = take_word(step, "do", "");
  const struct step_kind *kind = kind_of(name);
  struct thing none = { .name = "" }, *on = &none;
  if (kind && kind->function != step_open) on = named(run, take_word(step, "on", kind->subject));
  if (kind == NULL) {
    fail_step(run, "the runner does not know the step \"%s\"", name);
  } else if (on == NULL || (strcmp(kind->subject, "observer") == 0 && on->observer == NULL)) {
    fail_step(run, "no object that supports the step has the name in \"on\"");
  } else {
    kind->function(run, on, step, &outcome);
    if (check(run, name, step, &outcome)) check_rest(run, name, step);
    json_object_put(outcome.gives);
  }
}

/* Ends the observers, then closes every store. */
static void end_all(struct run *run) {
  for (size_t i = 0; i < sizeof run->things / sizeof *run->things; i++)
    if (run->things[i].observer) end_observer(run, run->things[i].observer);
  for (size_t i = 0; i < sizeof run->things / sizeof *run->things; i++) kept_close(run->things[i].store);
  for (size_t i = 0; i < sizeof run->things / sizeof *run->things; i++) end_reports(run->things[i].reports);
}

/* Sets or unsets the variables of a scenario. */
static void set_variables(struct run *run, json_object *scenario, bool are_there) {
  json_object *variables = NULL;
  if (!json_object_object_get_ex(scenario, "variables", &variables)) return;
  json_object_object_foreach(variables, name, text) {
    if ((are_there ? setenv(name, json_object_get_string(text), 1) : unsetenv(name)) != 0)
      fail_step(run, "the variable %s cannot be set", name);
  }
}

/* Runs a scenario in a new store of a kind; returns the number of failures. */
static int run_scenario(json_object *scenario, const char *kind) {
  static int number;
  char place[300];
  const char *title = json_object_get_string(json_object_object_get(scenario, "title"));
  struct run run = { .place = place };
  snprintf(place, sizeof place, "%s (%s)", title, kind);
  bool in_folder = strcmp(kind, "folder") == 0;
  make_folder(run.folder, sizeof run.folder, "kept-scenario");
  if (in_folder) snprintf(run.location, sizeof run.location, "%s", file_of(run.folder, "store"));
  else snprintf(run.location, sizeof run.location, "memory:scenario %d", number++);
  set_variables(&run, scenario, true);

  json_object *opening = json_tokener_parse("{\"do\":\"open\"}");
  run_step(&run, opening);
  json_object_put(opening);
  if (in_folder) {
    char *json = NULL;
    if (kept_secrets_json(named(&run, "store")->store, "{\"do\":\"plain\"}", &json, NULL) != KEPT_OK)
      fail_step(&run, "the store does not keep its secrets plain");
    kept_free(json);
  }
  json_object *steps = json_object_object_get(scenario, "steps");
  for (size_t i = 0; i < json_object_array_length(steps); i++) {
    json_object *step = NULL;
    json_object_deep_copy(json_object_array_get_idx(steps, i), &step, NULL);
    snprintf(place, sizeof place, "%s (%s), step %zu %s", title, kind, i + 1, json_object_to_json_string(step));
    run_step(&run, step);
    json_object_put(step);
  }
  snprintf(place, sizeof place, "%s (%s)", title, kind);
  end_all(&run);
  set_variables(&run, scenario, false);
  remove_tree(run.folder);
  printf("%s - %s (%s)\n", run.failures ? "not ok" : "ok", title, kind);
  return run.failures;
}

int main(int count, char **files) {
  int failures = count < 2;
  if (failures) fputs("usage: scenarios FILE.json...\n", stderr);
  for (int i = 1; i < count; i++) {
    json_object *scenario = json_object_from_file(files[i]);
    json_object *stores = scenario ? json_object_object_get(scenario, "stores") : NULL;
    json_object *reason = NULL, *languages = NULL;
    if (stores == NULL) {
      fprintf(stderr, "%s is not a scenario: %s\n", files[i], json_util_get_last_err());
      failures++;
    } else if (json_object_object_get_ex(scenario, "not_in", &languages) &&
      json_object_object_get_ex(languages, "c", &reason)) {
      printf("not run in C - %s: %s\n", files[i], json_object_get_string(reason));
    } else {
      for (size_t j = 0; j < json_object_array_length(stores); j++)
        failures += run_scenario(scenario, json_object_get_string(json_object_array_get_idx(stores, j)));
    }
    json_object_put(scenario);
  }
  return failures > 0;
}
