/* Steps that read and write a value: as JSON, or as one kind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

void step_get_json(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  WITH_KEY;
  char *json = NULL;
  outcome->status = kept_get_json(on->store, key, &json, error);
  if (json) outcome->gives = json_object_new_string(json);
  kept_free(json);
  json_object_put(owned);
}

void step_set_json(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  WITH_KEY;
  json_object *json = take_text(run, step, "json");
  outcome->status = kept_set_json(on->store, key, json_object_get_string(json), error);
  json_object_put(json);
  json_object_put(owned);
}

void step_set_json_if(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  WITH_KEY;
  json_object *json = take_text(run, step, "json");
  json_object *expected = take(step, "expected");
  uint64_t revision = 0;
  outcome->status =
    kept_set_json_if(on->store, key, json_object_get_string(json), json_object_get_uint64(expected), &revision, error);
  outcome->gives = json_object_new_uint64(revision);
  json_object_put(expected);
  json_object_put(json);
  json_object_put(owned);
}

/* A pair of steps for a kind that C passes by value. */
#define STEPS_OF_SCALAR(kind, type, from_json, to_json) \
  void step_get_##kind(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) { \
    WITH_KEY; \
    type value = 0; \
    outcome->status = kept_get_##kind(on->store, key, &value, error); \
    outcome->gives = to_json(value); \
    json_object_put(owned); \
  } \
  void step_set_##kind(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) { \
    WITH_KEY; \
    json_object *value = take(step, "value"); \
    outcome->status = kept_set_##kind(on->store, key, from_json(value), error); \
    json_object_put(value); \
    json_object_put(owned); \
  }

/* Doubles are written as text, and compared as the shortest text that reads as the same bits. */
static double double_of(json_object *text) { return strtod(json_object_get_string(text), NULL); }
static json_object *text_of(double value) {
  char text[40];
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    double back = strtod(text, NULL);
    if (memcmp(&back, &value, sizeof back) == 0) break;
  }
  return json_object_new_string(text);
}

bool same_double(json_object *a, json_object *b) {
  double x = double_of(a), y = double_of(b);
  return (x != x && y != y) || memcmp(&x, &y, sizeof x) == 0;
}

STEPS_OF_SCALAR(bool, bool, json_object_get_boolean, json_object_new_boolean)
STEPS_OF_SCALAR(int64, int64_t, json_object_get_int64, json_object_new_int64)
STEPS_OF_SCALAR(uint64, uint64_t, json_object_get_uint64, json_object_new_uint64)
STEPS_OF_SCALAR(double, double, double_of, text_of)

/* A pair of steps for a kind that is read into a buffer. */
#define STEPS_OF_TEXT(kind) \
  void step_get_##kind(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) { \
    WITH_KEY; \
    size_t length = 0; \
    outcome->status = kept_get_##kind(on->store, key, NULL, 0, &length, error); \
    char *buffer = malloc(length + 1); \
    if (outcome->status == KEPT_TOO_LARGE) { \
      mark(error); \
      outcome->status = kept_get_##kind(on->store, key, buffer, length + 1, &length, error); \
    } \
    if (outcome->status == KEPT_OK) outcome->gives = json_object_new_string_len(buffer, (int)length); \
    free(buffer); \
    json_object_put(owned); \
  } \
  void step_set_##kind(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) { \
    WITH_KEY; \
    json_object *value = take_text(run, step, "value"); \
    outcome->status = kept_set_##kind( \
      on->store, key, json_object_get_string(value), (size_t)json_object_get_string_len(value), error); \
    json_object_put(value); \
    json_object_put(owned); \
  }

STEPS_OF_TEXT(string)
STEPS_OF_TEXT(bytes)

void step_get_date(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  WITH_KEY;
  int64_t seconds = 0;
  int32_t nanoseconds = 0;
  outcome->status = kept_get_date(on->store, key, &seconds, &nanoseconds, error);
  outcome->gives = json_object_new_object();
  json_object_object_add(outcome->gives, "seconds", json_object_new_int64(seconds));
  json_object_object_add(outcome->gives, "nanoseconds", json_object_new_int64(nanoseconds));
  json_object_put(owned);
}

void step_set_date(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  WITH_KEY;
  json_object *value = take(step, "value");
  int64_t seconds = json_object_get_int64(json_object_object_get(value, "seconds"));
  int32_t nanoseconds = json_object_get_int(json_object_object_get(value, "nanoseconds"));
  outcome->status = kept_set_date(on->store, key, seconds, nanoseconds, error);
  json_object_put(value);
  json_object_put(owned);
}
