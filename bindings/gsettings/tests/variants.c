#include "variants.h"
#include "values.h"

#include <kept_json.h>
#include <math.h>
#include <string.h>

GVariant *parsed(const char *text) {
  GError *error = NULL;
  GVariant *value = g_variant_parse(NULL, text, NULL, NULL, &error);
  g_assert_no_error(error);
  return value;
}

static GVariant *value_in(kept_store *store, const GVariantType *type) {
  json_object *tree = NULL;
  g_assert_cmpint(kept_json_get(store, "value", &tree, NULL), ==, KEPT_OK);
  GVariant *found = variant_of_tree(tree, type);
  json_object_put(tree);
  return found;
}

GVariant *through_store(kept_store *store, GVariant *value, kept_error *why) {
  char *json = json_of_variant(value);
  kept_status status = kept_set_json(store, "value", json, why);
  g_free(json);
  return status == KEPT_OK ? value_in(store, g_variant_get_type(value)) : NULL;
}

GVariant *read_as(const char *json, const GVariantType *type) {
  static kept_store *store;
  if (store == NULL) g_assert_cmpint(kept_open("memory:", NULL, &store, NULL), ==, KEPT_OK);
  g_assert_cmpint(kept_set_json(store, "value", json, NULL), ==, KEPT_OK);
  return value_in(store, type);
}

static int by_key(gconstpointer first, gconstpointer second) {
  GVariant *keys[] = { g_variant_get_child_value(*(GVariant *const *)first, 0),
    g_variant_get_child_value(*(GVariant *const *)second, 0) };
  int order = strcmp(g_variant_get_string(keys[0], NULL), g_variant_get_string(keys[1], NULL));
  g_variant_unref(keys[0]), g_variant_unref(keys[1]);
  return order;
}

static gboolean has_text_keys(const GVariantType *type) {
  return g_variant_type_is_subtype_of(type, G_VARIANT_TYPE_DICTIONARY) &&
    strchr("sog", *g_variant_type_peek_string(g_variant_type_key(g_variant_type_element(type)))) != NULL;
}

/* A key twice makes a dictionary an array, whose order stays. */
static gboolean has_key_twice(GPtrArray *sorted) {
  for (guint i = 1; i < sorted->len; i++)
    if (by_key(&sorted->pdata[i - 1], &sorted->pdata[i]) == 0) return TRUE;
  return FALSE;
}

static GVariant *normal(GVariant *value);

static GVariant *normal_children(GVariant *value) {
  const GVariantType *type = g_variant_get_type(value);
  gsize count = g_variant_n_children(value);
  GPtrArray *children = g_ptr_array_new(), *sorted = g_ptr_array_new();
  for (gsize i = 0; i < count; i++) {
    GVariant *child = g_variant_get_child_value(value, i);
    g_ptr_array_add(children, normal(child));
    g_ptr_array_add(sorted, children->pdata[i]);
    g_variant_unref(child);
  }
  if (has_text_keys(type)) {
    g_ptr_array_sort(sorted, by_key);
    if (count > 0 && !has_key_twice(sorted)) memcpy(children->pdata, sorted->pdata, count * sizeof(gpointer));
  }
  GVariant **all = (GVariant **)children->pdata, *result;
  if (g_variant_type_is_array(type)) result = g_variant_new_array(g_variant_type_element(type), all, count);
  else if (g_variant_type_is_maybe(type))
    result = g_variant_new_maybe(g_variant_type_element(type), count > 0 ? all[0] : NULL);
  else if (g_variant_type_is_dict_entry(type)) result = g_variant_new_dict_entry(all[0], all[1]);
  else if (g_variant_type_is_variant(type)) result = g_variant_new_variant(all[0]);
  else result = g_variant_new_tuple(all, count);
  g_ptr_array_free(children, TRUE), g_ptr_array_free(sorted, TRUE);
  return result;
}

/* Returns a floating reference. */
static GVariant *normal(GVariant *value) {
  if (g_variant_is_container(value)) return normal_children(value);
  if (g_variant_is_of_type(value, G_VARIANT_TYPE_DOUBLE) && isnan(g_variant_get_double(value)))
    return g_variant_new_double(NAN);
  GBytes *bytes = g_variant_get_data_as_bytes(value);
  GVariant *same = g_variant_new_from_bytes(g_variant_get_type(value), bytes, TRUE);
  g_bytes_unref(bytes);
  return same;
}

GVariant *normal_value(GVariant *value) { return g_variant_ref_sink(normal(value)); }

void assert_same_value(GVariant *expected, GVariant *found) {
  char *texts[] = { g_variant_print(expected, TRUE),
    found != NULL ? g_variant_print(found, TRUE) : g_strdup("absent") };
  if (found == NULL) g_error("expected %s\n   found %s", texts[0], texts[1]);
  GVariant *both[] = { normal_value(expected), normal_value(found) };
  if (!g_variant_equal(both[0], both[1])) g_error("expected %s\n   found %s", texts[0], texts[1]);
  g_variant_unref(both[0]), g_variant_unref(both[1]);
  g_free(texts[0]), g_free(texts[1]);
}

/* ------------------------------------------------------------------------------------------------------------------
 * At random
 * --------------------------------------------------------------------------------------------------------------- */

static int any(int count) { return g_test_rand_int_range(0, count); }

static guint64 any_bits(void) {
  guint64 bits = ((guint64)(guint32)g_test_rand_int() << 32) | (guint32)g_test_rand_int();
  /* Small numbers and the ends of each range are as frequent as all others. */
  switch (any(4)) {
    case 0: return (guint64)any(5) - 2;
    case 1: return (G_GUINT64_CONSTANT(1) << any(64)) - (guint64)any(2);
    default: return bits;
  }
}

static double any_double(void) {
  static const double special[] = { 0, -0.0, 1, -1, 0.1, 1e15, 1e16, 1e17, 1e300, 5e-324, 2.2250738585072014e-308,
    INFINITY, -INFINITY, NAN, 9007199254740993.0, 18446744073709551616.0 };
  guint64 bits = any_bits();
  double number;
  memcpy(&number, &bits, sizeof number);
  return any(2) ? special[any(G_N_ELEMENTS(special))] : number;
}

static char *any_text(void) {
  static const char *const parts[] = { "", "a", "B", "$", "$binary", "$literal", "\"", "\\", "\\u0000", "/", "\n", "\t",
    "\x01", "\x1f", "\x7f", "ä", "€", "😀", "\xe2\x80\xa8", "\xef\xbf\xbf", "type", "value", " ", "0", "1.0", "null",
    "{}", "é" };
  GString *text = g_string_new(NULL);
  for (int count = any(5); count > 0; count--) g_string_append(text, parts[any(G_N_ELEMENTS(parts))]);
  return g_string_free(text, FALSE);
}

static char *any_path(void) {
  GString *path = g_string_new(NULL);
  for (int count = any(4); count > 0; count--) g_string_append_printf(path, "/%c%d", "aZ_"[any(3)], any(9));
  return g_string_free(path->len > 0 ? path : g_string_append_c(path, '/'), FALSE);
}

static char any_basic(void) { return "bynqiuxthdsog"[any(13)]; }

static void add_type(GString *to, int depth) {
  switch (depth > 0 ? any(9) : 8) {
    case 0: add_type(g_string_append_c(to, 'a'), depth - 1); break;
    case 1: add_type(g_string_append_c(to, 'm'), depth - 1); break;
    case 2: g_string_append(to, any(2) ? "v" : "ay"); break;
    case 3:
    case 4:
      g_string_append_printf(to, "a{%c", any(2) ? 's' : any_basic());
      add_type(to, depth - 1);
      g_string_append_c(to, '}');
      break;
    case 5:
      g_string_append_c(to, '(');
      for (int count = any(4); count > 0; count--) add_type(to, depth - 1);
      g_string_append_c(to, ')');
      break;
    default: g_string_append_c(to, any_basic());
  }
}

GVariantType *random_type(int depth) {
  GString *type = g_string_new(NULL);
  add_type(type, depth);
  GVariantType *result = g_variant_type_new(type->str);
  g_string_free(type, TRUE);
  return result;
}

static GVariant *random_text(char type) {
  char *text = type == 's' ? any_text() : type == 'o' ? any_path() : NULL;
  if (type == 'g') {
    GString *signature = g_string_new(NULL);
    for (int count = any(3); count > 0; count--) add_type(signature, 0);
    text = g_string_free(signature, FALSE);
  }
  GVariant *value = type == 's' ? g_variant_new_string(text)
    : type == 'o'               ? g_variant_new_object_path(text)
                                : g_variant_new_signature(text);
  g_free(text);
  return value;
}

static GVariant *random_basic(char type) {
  switch (type) {
    case 'b': return g_variant_new_boolean(any(2));
    case 'y': return g_variant_new_byte((guint8)any_bits());
    case 'n': return g_variant_new_int16((gint16)any_bits());
    case 'q': return g_variant_new_uint16((guint16)any_bits());
    case 'i': return g_variant_new_int32((gint32)any_bits());
    case 'u': return g_variant_new_uint32((guint32)any_bits());
    case 'x': return g_variant_new_int64((gint64)any_bits());
    case 't': return g_variant_new_uint64(any_bits());
    case 'h': return g_variant_new_handle((gint32)any_bits());
    case 'd': return g_variant_new_double(any_double());
    default: return random_text(type);
  }
}

static GVariant *random_variant(int depth) {
  GVariantType *type = random_type(depth);
  GVariant *value = g_variant_new_variant(random_value(type, depth));
  g_variant_type_free(type);
  return value;
}

static GVariant *random_array(const GVariantType *element, int depth) {
  GVariant *children[4];
  gsize count = (gsize)any(5);
  for (gsize i = 0; i < count; i++) children[i] = random_value(element, depth);
  return g_variant_new_array(element, children, count);
}

static GVariant *random_tuple(const GVariantType *type, int depth) {
  GVariant *children[4] = { NULL };
  gsize count = 0;
  for (const GVariantType *member = g_variant_type_first(type); member != NULL; member = g_variant_type_next(member))
    children[count++] = random_value(member, depth);
  return g_variant_type_is_dict_entry(type) ? g_variant_new_dict_entry(children[0], children[1])
                                            : g_variant_new_tuple(children, count);
}

GVariant *random_value(const GVariantType *type, int depth) {
  if (g_variant_type_is_variant(type)) return random_variant(depth > 0 ? depth - 1 : 0);
  if (g_variant_type_is_basic(type)) return random_basic(*g_variant_type_peek_string(type));
  if (g_variant_type_is_array(type)) return random_array(g_variant_type_element(type), depth);
  if (!g_variant_type_is_maybe(type)) return random_tuple(type, depth);
  const GVariantType *element = g_variant_type_element(type);
  return g_variant_new_maybe(element, any(3) ? random_value(element, depth) : NULL);
}
