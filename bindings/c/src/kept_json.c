/* Reading and writing trees: kept_json_get(), kept_json_set() and kept_json_set_if(). */
#include "json_text.h"

#include <stdlib.h>

kept_status kept_json_get(kept_store *store, const char *key, json_object **value, kept_error *error) {
  char *text = NULL;
  if (value == NULL) return refuse(error, KEPT_INVALID, "the argument \"value\" must not be NULL");
  kept_status status = kept_get_json(store, key, &text, error);
  if (status != KEPT_OK) return status;
  status = json_tree_of(text, value, error);
  kept_free(text);
  return status;
}

kept_status kept_json_set(kept_store *store, const char *key, json_object *value, kept_error *error) {
  char *text = NULL;
  kept_status status = json_text_of(value, &text, error);
  if (status != KEPT_OK) return status;
  status = without_offset(kept_set_json(store, key, text, error), error);
  free(text);
  return status;
}

kept_status kept_json_set_if(
  kept_store *store, const char *key, json_object *value, uint64_t expected, uint64_t *revision, kept_error *error) {
  char *text = NULL;
  if (value == NULL) return refuse(error, KEPT_INVALID, "null cannot be compared and set; use kept_remove()");
  kept_status status = json_text_of(value, &text, error);
  if (status != KEPT_OK) return status;
  status = without_offset(kept_set_json_if(store, key, text, expected, revision, error), error);
  free(text);
  return status;
}
