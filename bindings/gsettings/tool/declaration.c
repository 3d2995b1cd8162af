#include "declaration.h"

#include "canonical.h"

#include <math.h>
#include <string.h>

static json_object *schema_of(const GVariantType *type);

static json_object *of_kind(const char *kind) {
  json_object *schema = json_object_new_object();
  json_object_object_add(schema, "type", json_object_new_string(kind));
  return schema;
}

static void add_value(json_object *schema, const char *word, GVariant *value) {
  json_object_object_add(schema, word, tree_of_variant(value));
}

static void add_count(json_object *schema, const char *word, gsize count) {
  json_object_object_add(schema, word, json_object_new_int64((gint64)count));
}

static json_object *of_integer(gint64 least, guint64 greatest) {
  json_object *schema = of_kind("integer");
  if (least > G_MININT64) json_object_object_add(schema, "minimum", json_object_new_int64(least));
  if (greatest < G_MAXINT64) json_object_object_add(schema, "maximum", json_object_new_int64((gint64)greatest));
  return schema;
}

static json_object *of_text(const char *pattern) {
  json_object *schema = of_kind("string");
  json_object_object_add(schema, "pattern", json_object_new_string(pattern));
  return schema;
}

/* A variant inside of another type: of b, i, d or s the value itself, and otherwise an object. */
static json_object *of_variant(void) {
  json_object *schema = json_object_new_object(), *kinds = json_object_new_array();
  const char *const names[] = { "boolean", "integer", "number", "string", "object" };
  for (gsize i = 0; i < G_N_ELEMENTS(names); i++) json_object_array_add(kinds, json_object_new_string(names[i]));
  json_object_object_add(schema, "type", kinds);
  return schema;
}

/* Adds the schema of the inner type. */
static void add_inner(json_object *schema, const char *word, const GVariantType *type) {
  json_object *inner = schema_of(type);
  json_object_object_add(schema, word, inner != NULL ? inner : of_variant());
}

static json_object *of_array(const GVariantType *type) {
  const GVariantType *element = g_variant_type_element(type);
  if (g_variant_type_equal(element, G_VARIANT_TYPE_BYTE)) return of_kind("bytes");
  gboolean is_object = g_variant_type_is_dict_entry(element) &&
    strchr("sog", *g_variant_type_peek_string(g_variant_type_key(element))) != NULL;
  json_object *schema = of_kind(is_object ? "object" : "array");
  if (is_object) add_inner(schema, "additionalProperties", g_variant_type_value(element));
  else add_inner(schema, "items", element);
  return schema;
}

static json_object *of_tuple(const GVariantType *type) {
  json_object *schema = of_kind("array"), *items = json_object_new_array();
  gsize count = g_variant_type_n_items(type);
  const GVariantType *member = g_variant_type_first(type);
  for (; member != NULL; member = g_variant_type_next(member)) {
    json_object *item = schema_of(member);
    json_object_array_add(items, item != NULL ? item : of_variant());
  }
  if (count > 0) json_object_object_add(schema, "prefixItems", items);
  else json_object_put(items);
  add_count(schema, "minItems", count);
  add_count(schema, "maxItems", count);
  return schema;
}

static json_object *of_maybe(const GVariantType *type) {
  json_object *schema = of_kind("array");
  add_inner(schema, "items", g_variant_type_element(type));
  add_count(schema, "maxItems", 1);
  return schema;
}

static json_object *schema_of(const GVariantType *type) {
  switch (*g_variant_type_peek_string(type)) {
    case 'b': return of_kind("boolean");
    case 'y': return of_integer(0, G_MAXUINT8);
    case 'n': return of_integer(G_MININT16, G_MAXINT16);
    case 'q': return of_integer(0, G_MAXUINT16);
    case 'i':
    case 'h': return of_integer(G_MININT32, G_MAXINT32);
    case 'u': return of_integer(0, G_MAXUINT32);
    case 'x': return of_integer(G_MININT64, G_MAXINT64);
    case 't': return of_integer(0, G_MAXUINT64);
    case 'd': return of_kind("number");
    case 'o': return of_text("^/([A-Za-z0-9_]+(/[A-Za-z0-9_]+)*)?$");
    case 's':
    case 'g': return of_kind("string");
    case 'a': return of_array(type);
    case 'm': return of_maybe(type);
    case '(':
    case '{': return of_tuple(type);
    default: return NULL;
  }
}

/* The choices of an enum, of flags or of a string, or the bounds of a number. */
static void add_range(json_object *schema, GSettingsSchemaKey *key) {
  GVariant *range = g_settings_schema_key_get_range(key), *detail;
  const char *kind;
  g_variant_get(range, "(&sv)", &kind, &detail);
  if (strcmp(kind, "enum") == 0) {
    add_value(schema, "enum", detail);
  } else if (strcmp(kind, "flags") == 0) {
    json_object *items = of_kind("string");
    add_value(items, "enum", detail);
    json_object_object_add(schema, "items", items);
    json_object_object_add(schema, "uniqueItems", json_object_new_boolean(TRUE));
  } else if (strcmp(kind, "range") == 0) {
    for (gsize end = 0; end < 2; end++) {
      GVariant *bound = g_variant_get_child_value(detail, end);
      /* A range of doubles without one of its ends is unbounded there. */
      if (!g_variant_is_of_type(bound, G_VARIANT_TYPE_DOUBLE) || isfinite(g_variant_get_double(bound)))
        add_value(schema, end == 0 ? "minimum" : "maximum", bound);
      g_variant_unref(bound);
    }
  }
  g_variant_unref(detail);
  g_variant_unref(range);
}

/* Texts of schemas are broken into lines as the file was. */
static void add_text(json_object *schema, const char *word, const char *text) {
  if (text == NULL) return;
  GString *joined = g_string_new(NULL);
  char **words = g_strsplit_set(text, " \t\r\n", -1);
  for (char **next = words; *next != NULL; next++)
    if (**next != 0) g_string_append_printf(joined, "%s%s", joined->len > 0 ? " " : "", *next);
  if (joined->len > 0) json_object_object_add(schema, word, json_object_new_string(joined->str));
  g_strfreev(words);
  g_string_free(joined, TRUE);
}

json_object *declaration_of(GSettingsSchemaKey *key) {
  json_object *schema = schema_of(g_settings_schema_key_get_value_type(key));
  if (schema == NULL) return NULL;
  GVariant *value = g_settings_schema_key_get_default_value(key);
  add_range(schema, key);
  add_value(schema, "default", value);
  add_text(schema, "summary", g_settings_schema_key_get_summary(key));
  add_text(schema, "description", g_settings_schema_key_get_description(key));
  g_variant_unref(value);
  return schema;
}
