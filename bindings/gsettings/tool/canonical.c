#include "canonical.h"

#include "values.h"

#include <kept_json.h>

static const char key[] = "value";

/* A store that has this value alone; NULL if no store can have it. */
static kept_store *store_with(GVariant *value) {
  static kept_store *scratch;
  if (scratch == NULL && kept_open("memory:", NULL, &scratch, NULL) < 0) return NULL;
  char *json = json_of_variant(value);
  kept_status status = kept_set_json(scratch, key, json, NULL);
  g_free(json);
  return status >= 0 ? scratch : NULL;
}

json_object *tree_of_variant(GVariant *value) {
  kept_store *store = store_with(value);
  json_object *tree = NULL;
  if (store != NULL) kept_json_get(store, key, &tree, NULL);
  return tree;
}

char *text_of_variant(GVariant *value) {
  kept_store *store = store_with(value);
  char *text = NULL;
  if (store != NULL) kept_get_json(store, key, &text, NULL);
  return text;
}
