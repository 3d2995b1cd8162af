#include "values.h"

#include <math.h>
#include <string.h>

static GVariant *read_value(json_object *from, const GVariantType *type);

/* The value of the only member of an object, such as {"$binary":...}; NULL for anything else. */
static json_object *only_member(json_object *from, const char *name) {
  json_object *member = NULL;
  if (!json_object_is_type(from, json_type_object) || json_object_object_length(from) != 1) return NULL;
  return json_object_object_get_ex(from, name, &member) ? member : NULL;
}

/* A text without a NUL; NULL for anything else. */
static const char *text_of(json_object *from) {
  if (!json_object_is_type(from, json_type_string)) return NULL;
  const char *text = json_object_get_string(from);
  return strlen(text) == (size_t)json_object_get_string_len(from) ? text : NULL;
}

static gboolean is_large_unsigned(json_object *from, guint64 *number) {
  const char *digits = text_of(only_member(from, "$numberULong"));
  return digits != NULL && g_ascii_string_to_unsigned(digits, 10, 0, G_MAXUINT64, number, NULL);
}

/* Numbers are converted if their value is preserved, as everywhere in Kept. */
static gboolean is_double(json_object *from, double *number) {
  const char *word = text_of(only_member(from, "$numberDouble"));
  guint64 large;
  if (word != NULL) return *number = g_ascii_strtod(word, NULL), TRUE;
  if (is_large_unsigned(from, &large)) return *number = (double)large, *number < 0x1p64 && (guint64)*number == large;
  if (json_object_is_type(from, json_type_double)) return *number = json_object_get_double(from), TRUE;
  if (!json_object_is_type(from, json_type_int)) return FALSE;
  gint64 integer = json_object_get_int64(from);
  return *number = (double)integer, *number < 0x1p63 && (gint64)*number == integer;
}

static gboolean is_integer(json_object *from, gint64 least, gint64 greatest, gint64 *number) {
  if (json_object_is_type(from, json_type_double)) {
    double exact = json_object_get_double(from);
    if (!(exact >= -0x1p63 && exact < 0x1p63) || exact != floor(exact)) return FALSE;
    *number = (gint64)exact;
  } else if (json_object_is_type(from, json_type_int)) {
    *number = json_object_get_int64(from);
  } else {
    return FALSE;
  }
  return *number >= least && *number <= greatest;
}

static gboolean is_unsigned(json_object *from, guint64 *number) {
  gint64 integer;
  if (is_large_unsigned(from, number)) return TRUE;
  return is_integer(from, 0, G_MAXINT64, &integer) && (*number = (guint64)integer, TRUE);
}

static GVariant *read_integer(json_object *from, char type) {
  gint64 number;
  guint64 unsigned_number;
  switch (type) {
    case 'y': return is_integer(from, 0, G_MAXUINT8, &number) ? g_variant_new_byte((guchar)number) : NULL;
    case 'n': return is_integer(from, G_MININT16, G_MAXINT16, &number) ? g_variant_new_int16((gint16)number) : NULL;
    case 'q': return is_integer(from, 0, G_MAXUINT16, &number) ? g_variant_new_uint16((guint16)number) : NULL;
    case 'i': return is_integer(from, G_MININT32, G_MAXINT32, &number) ? g_variant_new_int32((gint32)number) : NULL;
    case 'h': return is_integer(from, G_MININT32, G_MAXINT32, &number) ? g_variant_new_handle((gint32)number) : NULL;
    case 'u': return is_integer(from, 0, G_MAXUINT32, &number) ? g_variant_new_uint32((guint32)number) : NULL;
    case 'x': return is_integer(from, G_MININT64, G_MAXINT64, &number) ? g_variant_new_int64(number) : NULL;
    default: return is_unsigned(from, &unsigned_number) ? g_variant_new_uint64(unsigned_number) : NULL;
  }
}

static GVariant *read_text(json_object *from, char type) {
  const char *text = text_of(from);
  if (text == NULL) return NULL;
  if (type == 'o') return g_variant_is_object_path(text) ? g_variant_new_object_path(text) : NULL;
  if (type == 'g') return g_variant_is_signature(text) ? g_variant_new_signature(text) : NULL;
  return g_variant_new_string(text);
}

static GVariant *read_basic(json_object *from, char type) {
  double number;
  switch (type) {
    case 'b':
      return json_object_is_type(from, json_type_boolean) ? g_variant_new_boolean(json_object_get_boolean(from)) : NULL;
    case 'd': return is_double(from, &number) ? g_variant_new_double(number) : NULL;
    case 's':
    case 'o':
    case 'g': return read_text(from, type);
    default: return read_integer(from, type);
  }
}

/* The type of a variant that has its natural form; NULL for {"type":"as","value":[...]}. */
static const GVariantType *natural_type(json_object *from) {
  switch (json_object_get_type(from)) {
    case json_type_boolean: return G_VARIANT_TYPE_BOOLEAN;
    case json_type_int: return G_VARIANT_TYPE_INT32;
    case json_type_double: return G_VARIANT_TYPE_DOUBLE;
    case json_type_string: return G_VARIANT_TYPE_STRING;
    default: return only_member(from, "$numberDouble") != NULL ? G_VARIANT_TYPE_DOUBLE : NULL;
  }
}

static GVariant *read_variant(json_object *from) {
  json_object *name = NULL, *value = from;
  const GVariantType *type = natural_type(from);
  if (type == NULL) {
    if (!json_object_is_type(from, json_type_object) || json_object_object_length(from) != 2 ||
      !json_object_object_get_ex(from, "type", &name) || !json_object_object_get_ex(from, "value", &value))
      return NULL;
    const char *text = text_of(name);
    if (text == NULL || !g_variant_type_string_is_valid(text)) return NULL;
    type = (const GVariantType *)text;
    if (!g_variant_type_is_definite(type)) return NULL;
  }
  GVariant *inner = read_value(value, type);
  return inner == NULL ? NULL : g_variant_new_variant(inner);
}

/* The elements that have been read so far, each with a floating reference. */
static GVariant *built(GPtrArray *elements, gboolean is_complete, GVariant *(*build)(GPtrArray *, const GVariantType *),
  const GVariantType *type) {
  GVariant *value = is_complete ? build(elements, type) : NULL;
  if (!is_complete)
    for (guint i = 0; i < elements->len; i++) g_variant_unref(g_variant_ref_sink(elements->pdata[i]));
  g_ptr_array_free(elements, TRUE);
  return value;
}

static GVariant *build_array(GPtrArray *elements, const GVariantType *type) {
  return g_variant_new_array(g_variant_type_element(type), (GVariant **)elements->pdata, elements->len);
}

static GVariant *build_tuple(GPtrArray *elements, const GVariantType *type) {
  (void)type;
  return g_variant_new_tuple((GVariant **)elements->pdata, elements->len);
}

static GVariant *build_entry(GPtrArray *elements, const GVariantType *type) {
  (void)type;
  return g_variant_new_dict_entry(elements->pdata[0], elements->pdata[1]);
}

static gboolean add(GPtrArray *elements, GVariant *element) {
  if (element != NULL) g_ptr_array_add(elements, element);
  return element != NULL;
}

static GVariant *read_elements(json_object *from, const GVariantType *type) {
  if (!json_object_is_type(from, json_type_array)) return NULL;
  GPtrArray *elements = g_ptr_array_new();
  gboolean is_complete = TRUE;
  for (size_t i = 0; is_complete && i < json_object_array_length(from); i++)
    is_complete = add(elements, read_value(json_object_array_get_idx(from, i), g_variant_type_element(type)));
  return built(elements, is_complete, build_array, type);
}

static GVariant *read_bytes(json_object *from) {
  json_object *text = NULL, *form = only_member(from, "$binary");
  if (form == NULL || !json_object_object_get_ex(form, "base64", &text) || text_of(text) == NULL) return NULL;
  gsize length;
  guchar *bytes = g_base64_decode(text_of(text), &length);
  return g_variant_new_from_data(G_VARIANT_TYPE_BYTESTRING, bytes, length, TRUE, g_free, bytes);
}

/* Every other object that begins with a dollar sign is a value of another kind, such as a date. */
static GVariant *read_members(json_object *from, const GVariantType *type) {
  const GVariantType *entry = g_variant_type_element(type);
  json_object *literal = only_member(from, "$literal");
  GPtrArray *elements = g_ptr_array_new();
  gboolean is_complete = TRUE;
  struct json_object_iterator each = json_object_iter_begin(literal ? literal : from),
                              end = json_object_iter_end(literal ? literal : from);
  for (; is_complete && !json_object_iter_equal(&each, &end); json_object_iter_next(&each)) {
    const char *name = json_object_iter_peek_name(&each);
    json_object *text = json_object_new_string(name);
    GVariant *key = *name == '$' && !literal ? NULL : read_value(text, g_variant_type_key(entry));
    GVariant *value = key ? read_value(json_object_iter_peek_value(&each), g_variant_type_value(entry)) : NULL;
    is_complete = value != NULL && add(elements, g_variant_new_dict_entry(key, value));
    if (key && !value) g_variant_unref(g_variant_ref_sink(key));
    json_object_put(text);
  }
  return built(elements, is_complete, build_array, type);
}

static GVariant *read_array(json_object *from, const GVariantType *type) {
  const GVariantType *element = g_variant_type_element(type);
  if (!json_object_is_type(from, json_type_object)) return read_elements(from, type);
  if (g_variant_type_is_dict_entry(element)) return read_members(from, type);
  return g_variant_type_equal(element, G_VARIANT_TYPE_BYTE) ? read_bytes(from) : NULL;
}

static GVariant *read_tuple(json_object *from, const GVariantType *type) {
  if (!json_object_is_type(from, json_type_array) || json_object_array_length(from) != g_variant_type_n_items(type))
    return NULL;
  GPtrArray *elements = g_ptr_array_new();
  gboolean is_complete = TRUE;
  const GVariantType *member = g_variant_type_first(type);
  for (size_t i = 0; is_complete && member != NULL; i++, member = g_variant_type_next(member))
    is_complete = add(elements, read_value(json_object_array_get_idx(from, i), member));
  return built(elements, is_complete, g_variant_type_is_dict_entry(type) ? build_entry : build_tuple, type);
}

static GVariant *read_maybe(json_object *from, const GVariantType *type) {
  if (!json_object_is_type(from, json_type_array) || json_object_array_length(from) > 1) return NULL;
  if (json_object_array_length(from) == 0) return g_variant_new_maybe(g_variant_type_element(type), NULL);
  GVariant *value = read_value(json_object_array_get_idx(from, 0), g_variant_type_element(type));
  return value == NULL ? NULL : g_variant_new_maybe(NULL, value);
}

/* Returns a floating reference. */
static GVariant *read_value(json_object *from, const GVariantType *type) {
  if (g_variant_type_is_variant(type)) return read_variant(from);
  if (g_variant_type_is_basic(type)) return read_basic(from, *g_variant_type_peek_string(type));
  if (g_variant_type_is_array(type)) return read_array(from, type);
  if (g_variant_type_is_maybe(type)) return read_maybe(from, type);
  return read_tuple(from, type);
}

GVariant *variant_of_tree(json_object *tree, const GVariantType *type) {
  GVariant *value = read_value(tree, type);
  return value == NULL ? NULL : g_variant_take_ref(value);
}
