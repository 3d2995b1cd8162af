/* Takes fields out of a step, and expands the forms of a text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

bool has(json_object *step, const char *field) { return json_object_object_get_ex(step, field, NULL); }

bool take_flag(json_object *step, const char *field, bool otherwise) {
  bool flag = has(step, field) ? json_object_get_boolean(json_object_object_get(step, field)) : otherwise;
  json_object_object_del(step, field);
  return flag;
}

json_object *take(json_object *step, const char *field) {
  json_object *value = json_object_get(json_object_object_get(step, field));
  json_object_object_del(step, field);
  return value;
}

const char *take_word(json_object *step, const char *field, const char *otherwise) {
  static char words[8][64];
  static int next;
  json_object *value = take(step, field);
  char *word = words[next++ % 8];
  snprintf(word, sizeof words[0], "%s", value ? json_object_get_string(value) : otherwise);
  json_object_put(value);
  return word;
}

static json_object *bytes_of_hex(const char *hex) {
  size_t length = strlen(hex) / 2;
  char *bytes = malloc(length + 1);
  for (size_t i = 0; i < length; i++) sscanf(hex + 2 * i, "%2hhx", (unsigned char *)&bytes[i]);
  json_object *result = json_object_new_string_len(bytes, (int)length);
  free(bytes);
  return result;
}

/* Replaces every text form in a value ("hex", "repeat", "join") by its text. */
static json_object *plain(json_object *value);

static json_object *repeated(json_object *text, int64_t times) {
  size_t length = (size_t)json_object_get_string_len(text);
  char *bytes = malloc(length * (size_t)times + 1);
  for (int64_t i = 0; i < times; i++) memcpy(bytes + length * (size_t)i, json_object_get_string(text), length);
  json_object *result = json_object_new_string_len(bytes, (int)(length * (size_t)times));
  free(bytes);
  json_object_put(text);
  return result;
}

static json_object *joined(json_object *texts) {
  char *bytes = NULL;
  size_t length = 0;
  for (size_t i = 0; i < json_object_array_length(texts); i++) {
    json_object *text = plain(json_object_array_get_idx(texts, i));
    size_t more = (size_t)json_object_get_string_len(text);
    bytes = realloc(bytes, length + more + 1);
    memcpy(bytes + length, json_object_get_string(text), more);
    length += more;
    json_object_put(text);
  }
  json_object *result = json_object_new_string_len(bytes ? bytes : "", (int)length);
  free(bytes);
  return result;
}

static json_object *plain(json_object *value) {
  json_object *part, *times;
  if (json_object_is_type(value, json_type_array)) {
    json_object *result = json_object_new_array();
    for (size_t i = 0; i < json_object_array_length(value); i++)
      json_object_array_add(result, plain(json_object_array_get_idx(value, i)));
    return result;
  }
  if (!json_object_is_type(value, json_type_object)) return json_object_get(value);
  if (json_object_object_get_ex(value, "hex", &part)) return bytes_of_hex(json_object_get_string(part));
  if (json_object_object_get_ex(value, "join", &part)) return joined(part);
  if (json_object_object_get_ex(value, "repeat", &part) && json_object_object_get_ex(value, "times", &times))
    return repeated(plain(part), json_object_get_int64(times));
  json_object *result = json_object_new_object();
  json_object_object_foreach(value, name, member) json_object_object_add(result, name, plain(member));
  return result;
}

json_object *take_text(struct run *run, json_object *step, const char *field) {
  if (!has(step, field)) fail_step(run, "the step has no \"%s\"", field);
  json_object *value = take(step, field);
  json_object *text = plain(value);
  json_object_put(value);
  return text;
}
