/* Steps that export a store and import texts. */
#include <string.h>

#include "run.h"

/* The words of "with", and their flags. */
static uint32_t take_flags(struct run *run, json_object *step) {
  static const struct {
    const char *word;
    uint32_t flag;
  } words[] = { { "replace", KEPT_TRANSFER_REPLACE }, { "dry run", KEPT_TRANSFER_DRY_RUN },
    { "declarations", KEPT_TRANSFER_DECLARATIONS }, { "secrets", KEPT_TRANSFER_SECRETS | KEPT_TRANSFER_PLAIN } };
  uint32_t flags = 0;
  json_object *with = take(step, "with");
  for (size_t i = 0; with != NULL && i < json_object_array_length(with); i++) {
    const char *word = json_object_get_string(json_object_array_get_idx(with, i));
    size_t known = 0;
    while (known < sizeof words / sizeof *words && strcmp(words[known].word, word) != 0) known++;
    if (known == sizeof words / sizeof *words) fail_step(run, "the runner does not know \"with\": \"%s\"", word);
    else flags |= words[known].flag;
  }
  json_object_put(with);
  return flags;
}

static uint32_t take_format(struct run *run, json_object *step) {
  const char *name = take_word(step, "format", "kept");
  if (strcmp(name, "json") == 0) return KEPT_TRANSFER_FLAT;
  if (strcmp(name, "nested json") == 0) return KEPT_TRANSFER_NESTED;
  if (strcmp(name, "kept") != 0) fail_step(run, "the runner does not know the format \"%s\"", name);
  return 0;
}

static kept_transfer_options take_options(struct run *run, json_object *step) {
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  options.flags = take_flags(run, step) | take_format(run, step);
  if (has(step, "prefix")) options.prefix = take_word(step, "prefix", "");
  if (has(step, "separator")) options.separator = take_word(step, "separator", "");
  return options;
}

void step_export_json(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  kept_transfer_options options = take_options(run, step);
  char *text = NULL;
  outcome->status = kept_export_json(on->store, &options, &text, &outcome->error);
  if (text) outcome->gives = json_object_new_string(text);
  kept_free(text);
}

void step_export_file(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  kept_transfer_options options = take_options(run, step);
  outcome->status = kept_export_file(on->store, take_path(run, step, "file"), &options, &outcome->error);
}

/* Replaces objects with messages by their subjects. */
static void keep_subjects(json_object *report, const char *list, const char *subject) {
  json_object *objects = json_object_object_get(report, list), *subjects = json_object_new_array();
  for (size_t i = 0; i < json_object_array_length(objects); i++)
    json_object_array_add(
      subjects, json_object_get(json_object_object_get(json_object_array_get_idx(objects, i), subject)));
  json_object_object_add(report, list, subjects);
}

static void give_report(struct outcome *outcome, char *report) {
  if (report) {
    outcome->gives = json_tokener_parse(report);
    keep_subjects(outcome->gives, "refused", "key");
    keep_subjects(outcome->gives, "notCarried", "place");
  }
  kept_free(report);
}

void step_import(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  kept_transfer_options options = take_options(run, step);
  json_object *text = take_text(run, step, "text");
  char *report = NULL;
  size_t length = (size_t)json_object_get_string_len(text);
  outcome->status = kept_import(on->store, json_object_get_string(text), length, &options, &report, &outcome->error);
  give_report(outcome, report);
  json_object_put(text);
}

void step_import_file(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  kept_transfer_options options = take_options(run, step);
  char *report = NULL;
  outcome->status = kept_import_file(on->store, take_path(run, step, "file"), &options, &report, &outcome->error);
  give_report(outcome, report);
}
