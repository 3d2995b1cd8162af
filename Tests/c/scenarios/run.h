/* What the files of the scenario runner share: a run of a scenario, the fields of its steps, a function for each
 * step. */
#ifndef SCENARIOS_RUN_H
#define SCENARIOS_RUN_H

#include <json-c/json.h>
#include <kept.h>

struct observer;
struct reports;

/* A store, a transaction, a snapshot, an observer or a time, under the name that the scenario gave it. */
struct thing {
  char name[32];
  kept_store *store; /* or a transaction, or a snapshot */
  struct observer *observer;
  int64_t clock;           /* nanoseconds since 1970 */
  struct reports *reports; /* of the stores of that name */
};

/* A run of a scenario in one store. */
struct run {
  const char *place; /* the scenario's title, its store and the step, for messages */
  char location[4200];
  char folder[4200]; /* for the files of the scenario */
  struct thing things[16];
  int failures;
};

/* The result of a step. */
struct outcome {
  kept_status status;
  json_object *gives; /* the result of the function, in the form of the scenarios; owned */
  kept_error error;
};

void fail_step(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Fills an error with a pattern: the library must leave it alone on success, and replace all of it otherwise. */
void mark(kept_error *error);
bool is_marked(const kept_error *error);

/* The thing with that name; NULL if there is none. */
struct thing *named(struct run *run, const char *name);

/* The thing with that name, or a free slot for it. */
struct thing *place_for(struct run *run, const char *name);

/* Fields of a step. Each is taken out as it is used. (fields.c) */

bool has(json_object *step, const char *field);
/* Takes a field that is true or false out of a step. */
bool take_flag(json_object *step, const char *field, bool otherwise);

/* Takes a field out; NULL if it is not there. The caller puts it. */
json_object *take(json_object *step, const char *field);

/* Takes a word of the format, such as a name, or `otherwise`; valid until seven more have been taken. */
const char *take_word(json_object *step, const char *field, const char *otherwise);

/* Takes a text that the step must have, with its forms ("hex", "repeat", "join") spelled out, also inside lists and
 * objects. It ends with a NUL; the caller puts it. */
json_object *take_text(struct run *run, json_object *step, const char *field);

/* Takes the name of a file, and gives its path, valid until seven more have been taken; NULL if it is not there.
 * (files.c) */
const char *take_path(struct run *run, json_object *step, const char *field);

/* A step runs on a thing, fills the outcome, and takes its fields. */
typedef void step_function(struct run *run, struct thing *on, json_object *step, struct outcome *outcome);

step_function step_open, step_close, step_flush, step_begin, step_commit, step_rollback; /* lifetimes.c */
step_function step_get_json, step_set_json, step_set_json_if; /* values.c, to step_set_date */
step_function step_get_bool, step_get_int64, step_get_uint64, step_get_double, step_get_string, step_get_bytes;
step_function step_set_bool, step_set_int64, step_set_uint64, step_set_double, step_set_string, step_set_bytes;
step_function step_get_date, step_set_date;
step_function step_contains, step_remove, step_revision_of, step_list;                 /* keys.c */
step_function step_declare_json, step_declare_list, step_declare_file, step_undeclare; /* declarations.c, 6 steps */
step_function step_declaration_json, step_declarations_json;
step_function step_explain_json, step_layer_of, step_register_json, step_reports; /* layers.c */
step_function step_place_json, step_places_json, step_processes_json,
  step_findings_json; /* administration.c, to step_differences_json */
step_function step_layer_files_json, step_layer_check, step_text_to_json, step_json_to_text;
step_function step_differences_json;
step_function step_snapshot, step_snapshot_end, step_store_revision; /* snapshots.c */
step_function step_history_json;
step_function step_reset, step_remove_all;                                               /* clearing.c */
step_function step_export_json, step_export_file, step_import, step_import_file;         /* export_and_import.c */
step_function step_write_file, step_remove_file, step_make, step_damage;                 /* files.c */
step_function step_backup, step_restore, step_schema_version, step_rename, step_migrate; /* life.c */
step_function step_verify_json, step_salvaged, step_acknowledge_salvage, step_undo;
step_function step_observe, step_notices, step_unobserve, step_clock; /* observation.c */

/* Runs a step and compares its result; takes its fields. (scenarios.c) */
void run_step(struct run *run, json_object *step);

/* Unsubscribes. The observer must have received nothing that the scenario does not list, and must be released once. */
void end_observer(struct run *run, struct observer *observer);

/* Takes the layers to open a store with, and records its reports; the last function frees the texts when the
 * store is open. (layers.c) */
struct layer_texts {
  json_object *prefix, *arguments;
  const char **argv;
};
void take_layers(
  struct run *run, struct thing *opened, json_object *step, kept_options *options, struct layer_texts *texts);
void end_layer_texts(struct layer_texts *texts);

/* Frees the reports, once no thread reports any more. */
void end_reports(struct reports *reports);

/* The name of one of KEPT_LAYER_…. */
const char *layer_name(uint32_t layer);

/* Whether the given object has all members that the scenario lists, also those of its members and elements. */
bool has_part(json_object *expected, json_object *given);

/* Equal as doubles, whatever their spelling. */
bool same_double(json_object *a, json_object *b);

/* Begins a step about a key: `key` is its text, `owned` what to put when the step is done. */
#define WITH_KEY \
  json_object *owned = take_text(run, step, "key"); \
  const char *key = json_object_get_string(owned); \
  kept_error *error = &outcome->error

#endif
