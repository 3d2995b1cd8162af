#include "values.h"

#include <math.h>
#include <string.h>

static void write_value(GString *to, GVariant *value);

static void write_text(GString *to, const char *text) {
  g_string_append_c(to, '"');
  for (; *text; text++) {
    guchar byte = (guchar)*text;
    if (byte < 0x20) g_string_append_printf(to, "\\u%04x", byte);
    else if (byte == '"' || byte == '\\') g_string_append_c(g_string_append_c(to, '\\'), *text);
    else g_string_append_c(to, *text);
  }
  g_string_append_c(to, '"');
}

/* A double has a point or an exponent in JSON, which tells it from an integer. */
static void write_double(GString *to, double number) {
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  if (isnan(number)) g_string_append(to, "{\"$numberDouble\":\"NaN\"}");
  else if (isinf(number)) g_string_append_printf(to, "{\"$numberDouble\":\"%sInfinity\"}", number < 0 ? "-" : "");
  else {
    /* The shortest digits that read back as the number: 1.1, not 1.1000000000000001. */
    const char *formats[] = { "%.15g", "%.16g", "%.17g" };
    for (gsize i = 0; i < G_N_ELEMENTS(formats); i++)
      if (g_ascii_strtod(g_ascii_formatd(digits, sizeof digits, formats[i], number), NULL) == number) break;
    g_string_append(to, digits);
    if (strpbrk(digits, ".e") == NULL) g_string_append(to, ".0");
  }
}

static void write_unsigned(GString *to, guint64 number) {
  const char *form = number > G_MAXINT64 ? "{\"$numberULong\":\"%" G_GUINT64_FORMAT "\"}" : "%" G_GUINT64_FORMAT;
  g_string_append_printf(to, form, number);
}

static void write_signed(GString *to, gint64 number) { g_string_append_printf(to, "%" G_GINT64_FORMAT, number); }

static void write_bytes(GString *to, GVariant *value) {
  gsize length;
  gconstpointer bytes = g_variant_get_fixed_array(value, &length, 1);
  char *text = g_base64_encode(bytes, length);
  g_string_append_printf(to, "{\"$binary\":{\"base64\":\"%s\",\"subType\":\"00\"}}", text);
  g_free(text);
}

static void write_children(GString *to, GVariant *value) {
  g_string_append_c(to, '[');
  for (gsize i = 0; i < g_variant_n_children(value); i++) {
    if (i > 0) g_string_append_c(to, ',');
    GVariant *child = g_variant_get_child_value(value, i);
    write_value(to, child);
    g_variant_unref(child);
  }
  g_string_append_c(to, ']');
}

/* The members of an object; FALSE, with nothing of use written, if a key occurs twice. */
static gboolean write_members(GString *to, GVariant *dictionary) {
  GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  gboolean is_object = TRUE, has_dollar = FALSE;
  GString *members = g_string_new("{");
  for (gsize i = 0; is_object && i < g_variant_n_children(dictionary); i++) {
    GVariant *entry = g_variant_get_child_value(dictionary, i);
    GVariant *key = g_variant_get_child_value(entry, 0), *value = g_variant_get_child_value(entry, 1);
    const char *name = g_variant_get_string(key, NULL);
    is_object = g_hash_table_add(seen, g_strdup(name));
    has_dollar = has_dollar || *name == '$';
    if (i > 0) g_string_append_c(members, ',');
    write_text(members, name);
    g_string_append_c(members, ':');
    write_value(members, value);
    g_variant_unref(value), g_variant_unref(key), g_variant_unref(entry);
  }
  if (is_object) g_string_append_printf(to, has_dollar ? "{\"$literal\":%s}}" : "%s}", members->str);
  g_string_free(members, TRUE);
  g_hash_table_unref(seen);
  return is_object;
}

static void write_array(GString *to, GVariant *array) {
  const GVariantType *element = g_variant_type_element(g_variant_get_type(array));
  gboolean has_text_keys = g_variant_type_is_dict_entry(element) &&
    strchr("sog", *g_variant_type_peek_string(g_variant_type_key(element))) != NULL;
  if (g_variant_type_equal(element, G_VARIANT_TYPE_BYTE)) write_bytes(to, array);
  else if (!has_text_keys || !write_members(to, array)) write_children(to, array);
}

static void write_variant(GString *to, GVariant *variant) {
  GVariant *value = g_variant_get_variant(variant);
  const char *type = g_variant_get_type_string(value);
  if (strlen(type) == 1 && strchr("bids", *type) != NULL) write_value(to, value);
  else {
    g_string_append_printf(to, "{\"type\":\"%s\",\"value\":", type);
    write_value(to, value);
    g_string_append_c(to, '}');
  }
  g_variant_unref(value);
}

static void write_value(GString *to, GVariant *value) {
  switch (g_variant_classify(value)) {
    case G_VARIANT_CLASS_BOOLEAN: g_string_append(to, g_variant_get_boolean(value) ? "true" : "false"); break;
    case G_VARIANT_CLASS_BYTE: write_unsigned(to, g_variant_get_byte(value)); break;
    case G_VARIANT_CLASS_INT16: write_signed(to, g_variant_get_int16(value)); break;
    case G_VARIANT_CLASS_UINT16: write_unsigned(to, g_variant_get_uint16(value)); break;
    case G_VARIANT_CLASS_INT32: write_signed(to, g_variant_get_int32(value)); break;
    case G_VARIANT_CLASS_UINT32: write_unsigned(to, g_variant_get_uint32(value)); break;
    case G_VARIANT_CLASS_INT64: write_signed(to, g_variant_get_int64(value)); break;
    case G_VARIANT_CLASS_UINT64: write_unsigned(to, g_variant_get_uint64(value)); break;
    case G_VARIANT_CLASS_HANDLE: write_signed(to, g_variant_get_handle(value)); break;
    case G_VARIANT_CLASS_DOUBLE: write_double(to, g_variant_get_double(value)); break;
    case G_VARIANT_CLASS_STRING:
    case G_VARIANT_CLASS_OBJECT_PATH:
    case G_VARIANT_CLASS_SIGNATURE: write_text(to, g_variant_get_string(value, NULL)); break;
    case G_VARIANT_CLASS_VARIANT: write_variant(to, value); break;
    case G_VARIANT_CLASS_ARRAY: write_array(to, value); break;
    case G_VARIANT_CLASS_MAYBE:
    case G_VARIANT_CLASS_TUPLE:
    case G_VARIANT_CLASS_DICT_ENTRY: write_children(to, value); break;
  }
}

char *json_of_variant(GVariant *value) {
  GString *json = g_string_new(NULL);
  write_value(json, value);
  return g_string_free(json, FALSE);
}
