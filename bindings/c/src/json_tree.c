/* Converts text to a tree. json-c's own reader is not used: if memory is short it reports success with parts missing,
 * or reads through a NULL pointer. The text is Kept's own: canonical, without spaces, and always valid. */
#define _XOPEN_SOURCE 700
#include "json_text.h"

#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
  const char *place;
  /* Large enough for any string of the text, without its escapes. */
  char *string;
} reader;

static bool read_value(reader *from, json_object **value);

/* The character after a backslash; Kept writes numeric escapes only for control characters. */
static char escaped(reader *from) {
  char digits[5] = "";
  switch (*from->place) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'u':
      for (int i = 0; i < 4 && from->place[1] != 0; i++) digits[i] = *++from->place;
      return (char)strtol(digits, NULL, 16);
    default: return *from->place;
  }
}

/* Reads a string from quote to quote. @return its number of bytes; a NUL follows them */
static size_t read_string(reader *from) {
  size_t length = 0;
  for (from->place++; *from->place != 0 && *from->place != '"'; from->place++) {
    if (*from->place == '\\') {
      from->place++;
      from->string[length++] = escaped(from);
    } else {
      from->string[length++] = *from->place;
    }
  }
  if (*from->place != 0) from->place++;
  from->string[length] = 0;
  return length;
}

static bool read_member(reader *from, json_object *object) {
  json_object *value = NULL;
  char *key = malloc(read_string(from) + 1);
  if (key == NULL) return false;
  strcpy(key, from->string);
  if (*from->place == ':') from->place++;
  bool done = read_value(from, &value);
  if (done && json_object_object_add_ex(object, key, value, JSON_C_OBJECT_ADD_KEY_IS_NEW) != 0) {
    json_object_put(value);
    done = false;
  }
  free(key);
  return done;
}

static bool read_element(reader *from, json_object *array) {
  json_object *value = NULL;
  if (!read_value(from, &value)) return false;
  if (json_object_array_add(array, value) == 0) return true;
  json_object_put(value);
  return false;
}

/* Reads everything between two brackets; frees the tree if memory is too short for all of it. */
static bool read_all(reader *from, json_object **tree, char end, bool (*read_one)(reader *from, json_object *tree)) {
  if (*tree == NULL) return false;
  for (from->place++; *from->place != 0 && *from->place != end;) {
    if (!read_one(from, *tree)) {
      json_object_put(*tree);
      *tree = NULL;
      return false;
    }
    if (*from->place == ',') from->place++;
  }
  if (*from->place != 0) from->place++;
  return true;
}

/* Keeps the text of a double with it, as json-c does. */
static json_object *read_number(reader *from) {
  size_t length = strspn(from->place, "-+.eE0123456789");
  memcpy(from->string, from->place, length);
  from->string[length] = 0;
  from->place += length;
  if (strpbrk(from->string, ".eE") == NULL) return json_object_new_int64(strtoll(from->string, NULL, 10));
  return json_object_new_double_s(strtod(from->string, NULL), from->string);
}

/* Reads a value; a null is NULL. @return false if memory is short: then there is no tree */
static bool read_value(reader *from, json_object **value) {
  switch (*from->place) {
    case '{': *value = json_object_new_object(); return read_all(from, value, '}', read_member);
    case '[': *value = json_object_new_array(); return read_all(from, value, ']', read_element);
    case '"': {
      size_t length = read_string(from);
      *value = json_object_new_string_len(from->string, (int)length);
      return *value != NULL;
    }
    case 'n':
      from->place += 4;
      *value = NULL;
      return true;
    case 't':
    case 'f':
      *value = json_object_new_boolean(*from->place == 't');
      from->place += *from->place == 't' ? 4 : 5;
      return *value != NULL;
    default: *value = read_number(from); return *value != NULL;
  }
}

kept_status json_tree_of(const char *text, json_object **value, kept_error *error) {
  reader from = { text, malloc(strlen(text) + 1) };
  json_object *tree = NULL;
  /* Numbers have a decimal point in every locale. */
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  bool done = false;
  if (from.string != NULL && c != (locale_t)0) {
    locale_t own = uselocale(c);
    done = read_value(&from, &tree);
    uselocale(own);
  }
  if (c != (locale_t)0) freelocale(c);
  free(from.string);
  if (!done || tree == NULL) {
    return refuse(error, KEPT_FAILED, "not enough memory to read the value into a tree; free some memory");
  }
  *value = tree;
  return KEPT_OK;
}
