/* Steps about layers: how a store is opened with them, which one decides, and what the store reports. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "gate.h"
#include "run.h"

/* What the stores of one name have reported; filled on any thread. */
struct reports {
  gate gate;
  json_object *received; /* an array of {"status": …, "message": …} */
  size_t expected_count; /* how many of them a step has expected */
};

static void receive_report(void *context, const kept_error *error) {
  struct reports *reports = context;
  json_object *report = json_object_new_object();
  json_object_object_add(report, "status", json_object_new_string(kept_status_text(error->status)));
  json_object_object_add(report, "message", json_object_new_string(error->message));
  enter_gate(&reports->gate);
  json_object_array_add(reports->received, report);
  leave_gate(&reports->gate);
}

static struct reports *new_reports(void) {
  struct reports *reports = calloc(1, sizeof *reports);
  make_gate(&reports->gate);
  reports->received = json_object_new_array();
  return reports;
}

void end_reports(struct reports *reports) {
  if (reports == NULL) return;
  json_object_put(reports->received);
  free(reports);
}

/* The members of a list of texts, valid as long as the list. */
static const char **texts_of(json_object *list, const char *first) {
  size_t count = json_object_array_length(list);
  const char **texts = calloc(count + 1, sizeof *texts);
  texts[0] = first;
  for (size_t i = 0; i < count; i++) texts[i + 1] = json_object_get_string(json_object_array_get_idx(list, i));
  return texts;
}

void take_layers(
  struct run *run, struct thing *opened, json_object *step, kept_options *options, struct layer_texts *texts) {
  if (opened->reports == NULL) opened->reports = new_reports();
  options->report = receive_report;
  options->report_context = opened->reports;
  options->managed = take_path(run, step, "managed");
  options->system = take_path(run, step, "system");
  if (has(step, "environment")) {
    texts->prefix = take_text(run, step, "environment");
    options->environment = json_object_get_string(texts->prefix);
  }
  if (has(step, "arguments")) {
    texts->arguments = take_text(run, step, "arguments");
    texts->argv = texts_of(texts->arguments, "program");
    options->argv = texts->argv;
    options->argc = json_object_array_length(texts->arguments) + 1;
  }
}

void end_layer_texts(struct layer_texts *texts) {
  json_object_put(texts->prefix);
  json_object_put(texts->arguments);
  free(texts->argv);
}

const char *layer_name(uint32_t layer) {
  static const char *const names[] = { "none", "declared", "registered", "system", "user", "environment", "arguments",
    "managed" };
  return layer < sizeof names / sizeof *names ? names[layer] : "?";
}

void step_layer_of(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  WITH_KEY;
  uint32_t layer = KEPT_LAYER_NONE;
  outcome->status = kept_layer_of(on->store, key, &layer, error);
  outcome->gives = json_object_new_string(layer_name(layer));
  json_object_put(owned);
}

void step_register_json(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  json_object *json = take_text(run, step, "json");
  outcome->status = kept_register_json(on->store, json_object_get_string(json), &outcome->error);
  json_object_put(json);
}

void step_explain_json(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  WITH_KEY;
  char *json = NULL;
  outcome->status = kept_explain_json(on->store, key, &json, error);
  if (json) outcome->gives = json_tokener_parse(json);
  kept_free(json);
  json_object_put(owned);
}

bool has_part(json_object *expected, json_object *given) {
  if (json_object_is_type(expected, json_type_array)) {
    size_t count = json_object_array_length(expected);
    if (!json_object_is_type(given, json_type_array) || json_object_array_length(given) != count) return false;
    for (size_t i = 0; i < count; i++)
      if (!has_part(json_object_array_get_idx(expected, i), json_object_array_get_idx(given, i))) return false;
    return true;
  }
  if (!json_object_is_type(expected, json_type_object)) return json_object_equal(expected, given);
  json_object_object_foreach(expected, name, value) {
    json_object *found = NULL;
    if (!json_object_object_get_ex(given, name, &found) || !has_part(value, found)) return false;
  }
  return true;
}

/* Whether a report is as expected: its message begins with the key. */
static bool matches(json_object *expected, json_object *report) {
  json_object *key;
  if (!json_object_equal(json_object_object_get(expected, "status"), json_object_object_get(report, "status")))
    return false;
  if (!json_object_object_get_ex(expected, "key", &key)) return true;
  const char *text = json_object_get_string(key);
  const char *message = json_object_get_string(json_object_object_get(report, "message"));
  size_t length = strlen(text);
  return *message == '"' && strncmp(message + 1, text, length) == 0 && message[length + 1] == '"';
}

/* Takes one report that matches from those received; false if there is none. */
static bool take_report(json_object *expected, json_object *news) {
  for (size_t i = 0; i < json_object_array_length(news); i++)
    if (matches(expected, json_object_array_get_idx(news, i))) return json_object_array_del_idx(news, i, 1) == 0;
  return false;
}

/* Waits until there are this many; the reports since the last such step, owned. */
static json_object *await_news(struct reports *reports, size_t count) {
  int64_t begun = now_ns();
  json_object *news = json_object_new_array();
  enter_gate(&reports->gate);
  while (json_object_array_length(reports->received) < reports->expected_count + count &&
    wait_in_gate(&reports->gate, begun)) {}
  for (; reports->expected_count < json_object_array_length(reports->received); reports->expected_count++)
    json_object_array_add(news, json_object_get(json_object_array_get_idx(reports->received, reports->expected_count)));
  leave_gate(&reports->gate);
  return news;
}

void step_reports(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  json_object *expected = take_text(run, step, "gives");
  if (on->reports == NULL) {
    fail_step(run, "only a store has reports");
    json_object_put(expected);
    return;
  }
  json_object *news = await_news(on->reports, json_object_array_length(expected));
  for (size_t i = 0; i < json_object_array_length(expected); i++) {
    json_object *report = json_object_array_get_idx(expected, i);
    if (!take_report(report, news))
      fail_step(run, "expected a report like %s, found %s", json_object_to_json_string(report),
        json_object_to_json_string(news));
  }
  if (json_object_array_length(news) > 0) fail_step(run, "unexpected reports: %s", json_object_to_json_string(news));
  json_object_put(news);
  json_object_put(expected);
}
