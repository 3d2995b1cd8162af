#include "reading.h"

#include "values.h"

#include <kept_json.h>
#include <string.h>

static GVariant *read_text(kept_store *store, const char *key) {
  char buffer[512];
  size_t length;
  if (kept_get_string(store, key, buffer, sizeof buffer, &length, NULL) != KEPT_OK) return NULL;
  return strlen(buffer) == length ? g_variant_new_string(buffer) : NULL;
}

static GVariant *read_json(kept_store *store, const char *key, const GVariantType *type) {
  json_object *tree = NULL;
  if (kept_json_get(store, key, &tree, NULL) != KEPT_OK) return NULL;
  GVariant *value = variant_of_tree(tree, type);
  json_object_put(tree);
  return value;
}

/* The most frequent types without JSON. */
GVariant *read_effective(kept_store *store, const char *key, const GVariantType *type) {
  bool truth;
  int64_t number;
  double real;
  GVariant *value = NULL;
  switch (*g_variant_type_peek_string(type)) {
    case 'b':
      if (kept_get_bool(store, key, &truth, NULL) == KEPT_OK) value = g_variant_new_boolean(truth);
      break;
    case 'i':
      if (kept_get_int64(store, key, &number, NULL) == KEPT_OK && number >= G_MININT32 && number <= G_MAXINT32)
        value = g_variant_new_int32((gint32)number);
      break;
    case 'u':
      if (kept_get_int64(store, key, &number, NULL) == KEPT_OK && number >= 0 && number <= G_MAXUINT32)
        value = g_variant_new_uint32((guint32)number);
      break;
    case 'd':
      if (kept_get_double(store, key, &real, NULL) == KEPT_OK) value = g_variant_new_double(real);
      break;
    case 's': value = read_text(store, key); break;
    default: break;
  }
  return value != NULL ? g_variant_take_ref(value) : read_json(store, key, type);
}

GVariant *read_layers(kept_store *store, const char *key, const GVariantType *type, const char *const *names) {
  json_object *tree = NULL, *layers = NULL;
  GVariant *found = NULL;
  kept_json_explain(store, key, &tree, NULL);
  gsize count = json_object_object_get_ex(tree, "layers", &layers) ? json_object_array_length(layers) : 0;
  for (gsize i = 0; found == NULL && i < count; i++) {
    json_object *layer = json_object_array_get_idx(layers, i), *name = NULL, *value = NULL;
    if (json_object_object_get_ex(layer, "layer", &name) && json_object_object_get_ex(layer, "value", &value) &&
      g_strv_contains(names, json_object_get_string(name)))
      found = variant_of_tree(value, type);
  }
  json_object_put(tree);
  return found;
}

gboolean is_of_user(kept_store *store, const char *key) {
  uint32_t layer;
  return kept_layer_of(store, key, &layer, NULL) == KEPT_OK && layer == KEPT_LAYER_USER;
}
