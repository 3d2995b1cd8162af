/* Steps about backups, restores, salvages, migrations and undoing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

void step_backup(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  char path[600];
  uint64_t revision = 0;
  uint32_t flags = take_flag(step, "replace", false) ? KEPT_BACKUP_REPLACE : 0;
  const char *slash = take_flag(step, "folder", false) ? "/" : "";
  snprintf(path, sizeof path, "%s%s", take_path(run, step, "file"), slash);
  outcome->status = kept_backup(on->store, path, flags, &revision, &outcome->error);
  outcome->gives = json_object_new_uint64(revision);
}

void step_restore(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  char *quarantine = NULL;
  outcome->status = kept_restore(on->store, take_path(run, step, "file"), NULL, &quarantine, &outcome->error);
  outcome->gives = json_object_new_boolean(quarantine != NULL);
  kept_free(quarantine);
}

void step_verify_json(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  char *text = NULL;
  outcome->status = kept_verify_json(on->store, NULL, NULL, &text, &outcome->error);
  if (text) outcome->gives = json_object_new_string(text);
  kept_free(text);
}

void step_salvaged(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  char *quarantine = NULL;
  outcome->status = kept_salvaged(on->store, &quarantine, &outcome->error);
  kept_free(quarantine);
}

void step_acknowledge_salvage(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  outcome->status = kept_acknowledge_salvage(on->store, &outcome->error);
}

void step_schema_version(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  uint32_t version = 0;
  outcome->status = kept_schema_version(on->store, &version, &outcome->error);
  outcome->gives = json_object_new_uint64(version);
}

void step_rename(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  WITH_KEY;
  json_object *to = take_text(run, step, "to");
  outcome->status = kept_rename(on->store, key, json_object_get_string(to), error);
  json_object_put(to);
  json_object_put(owned);
}

void step_undo(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  json_object *revision = take(step, "revision");
  char *keys = NULL;
  outcome->status = kept_undo(on->store, json_object_get_uint64(revision), NULL, &keys, &outcome->error);
  if (keys) outcome->gives = json_tokener_parse(keys);
  kept_free(keys);
  json_object_put(revision);
}

/* Migrations: their steps are steps of the scenario, on the transaction that is passed to them. */

enum { MOST_STEPS = 8 };

struct migration {
  struct run *run;
  json_object *description;
};

static kept_status status_named(const char *name) {
  kept_status status = KEPT_ABSENT;
  while (status > KEPT_FAILED && strcmp(kept_status_text(status), name) != 0) status--;
  return status;
}

static kept_status run_migration(void *context, kept_store *transaction, kept_error *error) {
  struct migration *migration = context;
  json_object *steps = json_object_object_get(migration->description, "steps");
  json_object *fails = json_object_object_get(migration->description, "fails");
  place_for(migration->run, "transaction")->store = transaction;
  for (size_t i = 0; i < json_object_array_length(steps); i++) {
    json_object *step = NULL;
    json_object_deep_copy(json_object_array_get_idx(steps, i), &step, NULL);
    run_step(migration->run, step);
    json_object_put(step);
  }
  if (fails == NULL) return KEPT_OK;
  snprintf(error->message, sizeof error->message, "the scenario lets it fail");
  return status_named(json_object_get_string(fails));
}

static const char *result_name(uint32_t result) {
  static const char *const names[] = { "nothing", "migrated", "fresh", "elsewhere", "read only" };
  return result < sizeof names / sizeof *names ? names[result] : "unknown";
}

void step_migrate(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  struct migration described[MOST_STEPS];
  kept_migration migrations[MOST_STEPS];
  json_object *steps = take(step, "migrations");
  size_t count = json_object_array_length(steps);
  char says[64];
  snprintf(says, sizeof says, "%s", take_word(step, "says", ""));
  uint32_t result = 0, flags = strcmp(take_word(step, "later", ""), "read only") == 0 ? KEPT_MIGRATE_READ_ONLY : 0;
  if (strcmp(take_word(step, "others", ""), "carry on") == 0) flags |= KEPT_MIGRATE_CARRY_ON;
  if (count > MOST_STEPS) count = MOST_STEPS, fail_step(run, "more migrations than the runner has room for");
  for (size_t i = 0; i < count; i++) {
    described[i] = (struct migration){ run, json_object_array_get_idx(steps, i) };
    migrations[i] = (kept_migration){
      (uint32_t)json_object_get_int64(json_object_object_get(described[i].description, "version")),
      0,
      json_object_get_string(json_object_object_get(described[i].description, "name")),
      run_migration,
      &described[i],
    };
  }
  outcome->status = kept_migrate(on->store, migrations, count, flags, &result, NULL, &outcome->error);
  outcome->gives = json_object_new_string(result_name(result));
  if (*says != '\0' && strstr(outcome->error.message, says) == NULL) fail_step(run, "the error does not say it");
  json_object_put(steps);
}
