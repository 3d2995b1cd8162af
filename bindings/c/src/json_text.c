/* Converts a tree to text, from types and values only. json-c's own writer is not used, because it prints NaN, and
 * because any library in the process may have changed how it prints doubles. */
#define _XOPEN_SOURCE 700
#include "json_text.h"

#include <inttypes.h>
#include <json-c/json_object_iterator.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than the text of Kept's 64 nested containers needs, if each is in a `$literal`. Kept itself refuses the
 * sixty-fifth; this limit only prevents a tree that contains itself from overflowing the stack. */
enum { deepest = 200 };

typedef struct text {
  char *bytes;
  size_t length;
  size_t capacity;
  kept_status status;
} text;

static void append(text *to, const char *bytes, size_t length) {
  if (to->status != KEPT_OK) return;
  if (to->capacity - to->length < length + 1) {
    size_t capacity = (to->capacity + length + 64) * 2;
    char *grown = realloc(to->bytes, capacity);
    if (grown == NULL) {
      to->status = KEPT_FAILED;
      return;
    }
    to->bytes = grown;
    to->capacity = capacity;
  }
  memcpy(to->bytes + to->length, bytes, length);
  to->bytes[to->length += length] = 0;
}

static void append_text(text *to, const char *more) { append(to, more, strlen(more)); }

static void append_format(text *to, const char *format, ...) {
  char buffer[64];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  append_text(to, buffer);
}

/* Escapes only what JSON requires. Kept checks that the rest is UTF-8. */
static void append_string(text *to, const char *string, size_t length) {
  append_text(to, "\"");
  for (size_t start = 0, i = 0; i <= length; i++) {
    unsigned char byte = i < length ? (unsigned char)string[i] : 0;
    if (i < length && byte >= 0x20 && byte != '"' && byte != '\\') continue;
    append(to, string + start, i - start);
    if (i < length) append_format(to, "\\u%04x", byte);
    start = i + 1;
  }
  append_text(to, "\"");
}

/* json-c has one type for both; its signed getter stops at INT64_MAX. */
static void append_integer(text *to, json_object *value) {
  uint64_t natural = json_object_get_uint64(value);
  if (natural > INT64_MAX) append_format(to, "{\"$numberULong\":\"%" PRIu64 "\"}", natural);
  else append_format(to, "%" PRId64, json_object_get_int64(value));
}

/* The shortest text that reads back bit for bit, with a point or an exponent: otherwise it would be an integer. */
static void append_double(text *to, double number) {
  char buffer[40];
  if (!isfinite(number)) {
    append_format(to, "{\"$numberDouble\":\"%s\"}", isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity");
    return;
  }
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(buffer, sizeof buffer, "%.*g", digits, number);
    if (strtod(buffer, NULL) == number) break;
  }
  append_text(to, buffer);
  if (strpbrk(buffer, ".e") == NULL) append_text(to, ".0");
}

static void append_value(text *to, json_object *value, int depth);

static void append_array(text *to, json_object *array, int depth) {
  append_text(to, "[");
  for (size_t i = 0; i < json_object_array_length(array); i++) {
    if (i > 0) append_text(to, ",");
    append_value(to, json_object_array_get_idx(array, i), depth);
  }
  append_text(to, "]");
}

static void append_object(text *to, json_object *object, int depth) {
  struct json_object_iterator member = json_object_iter_begin(object), end = json_object_iter_end(object);
  const char *separator = "";
  append_text(to, "{");
  for (; !json_object_iter_equal(&member, &end); json_object_iter_next(&member)) {
    const char *name = json_object_iter_peek_name(&member);
    append_text(to, separator);
    append_string(to, name, strlen(name));
    append_text(to, ":");
    append_value(to, json_object_iter_peek_value(&member), depth);
    separator = ",";
  }
  append_text(to, "}");
}

static void append_value(text *to, json_object *value, int depth) {
  if (depth == deepest) to->status = KEPT_TOO_LARGE;
  if (to->status != KEPT_OK) return;
  switch (json_object_get_type(value)) {
    case json_type_null: append_text(to, "null"); break;
    case json_type_boolean: append_text(to, json_object_get_boolean(value) ? "true" : "false"); break;
    case json_type_int: append_integer(to, value); break;
    case json_type_double: append_double(to, json_object_get_double(value)); break;
    case json_type_string:
      append_string(to, json_object_get_string(value), (size_t)json_object_get_string_len(value));
      break;
    case json_type_array: append_array(to, value, depth + 1); break;
    case json_type_object: append_object(to, value, depth + 1); break;
  }
}

kept_status json_text_of(json_object *value, char **out, kept_error *error) {
  text written = { NULL, 0, 0, KEPT_OK };
  /* JSON has no decimal comma, whatever the program's locale is. */
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (c == (locale_t)0) return refuse(error, KEPT_FAILED, "not enough memory to write the tree; free some memory");
  locale_t own = uselocale(c);
  append_value(&written, value, 0);
  uselocale(own);
  freelocale(c);
  if (written.status == KEPT_OK) {
    *out = written.bytes;
    return KEPT_OK;
  }
  free(written.bytes);
  if (written.status == KEPT_FAILED) {
    return refuse(error, KEPT_FAILED, "not enough memory for the text of the tree; free some memory");
  }
  return refuse(
    error, KEPT_TOO_LARGE, "the tree is nested more than 64 levels deep or contains itself; flatten it first");
}

kept_status without_offset(kept_status status, kept_error *error) {
  if (status < 0 && error != NULL) error->offset = -1;
  return status;
}

kept_status refuse(kept_error *error, kept_status status, const char *sentence) {
  if (error != NULL) {
    error->status = status;
    error->reserved = 0;
    error->offset = -1;
    snprintf(error->message, sizeof error->message, "%s", sentence);
  }
  return status;
}
