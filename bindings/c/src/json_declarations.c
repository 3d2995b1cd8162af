/* Declarations, explanations and exports as trees: kept_json_declare() and the functions around it. */
#include "json_text.h"

#include <stdlib.h>

/** Converts text that Kept returned into a tree, and frees it. */
static kept_status given(kept_status status, char *text, json_object **tree, kept_error *error) {
  if (status != KEPT_OK) return status;
  status = json_tree_of(text, tree, error);
  kept_free(text);
  return status;
}

static kept_status null_argument(kept_error *error) {
  return refuse(error, KEPT_INVALID, "the argument that receives the tree must not be NULL");
}

kept_status kept_json_declare(kept_store *store, const char *key, json_object *schema, kept_error *error) {
  char *text = NULL;
  kept_status status = json_text_of(schema, &text, error);
  if (status != KEPT_OK) return status;
  status = without_offset(kept_declare_json(store, key, text, error), error);
  free(text);
  return status;
}

kept_status kept_json_declaration(kept_store *store, const char *key, json_object **schema, kept_error *error) {
  char *text = NULL;
  if (schema == NULL) return null_argument(error);
  kept_status status = kept_declaration_json(store, key, &text, error);
  return given(status, text, schema, error);
}

kept_status kept_json_declarations(kept_store *store, const char *prefix, json_object **schema, kept_error *error) {
  char *text = NULL;
  if (schema == NULL) return null_argument(error);
  kept_status status = kept_declarations_json(store, prefix, &text, error);
  return given(status, text, schema, error);
}

kept_status kept_json_explain(kept_store *store, const char *key, json_object **explanation, kept_error *error) {
  char *text = NULL;
  if (explanation == NULL) return null_argument(error);
  kept_status status = kept_explain_json(store, key, &text, error);
  return given(status, text, explanation, error);
}

kept_status kept_json_export(
  kept_store *store, const kept_transfer_options *options, json_object **tree, kept_error *error) {
  char *text = NULL;
  if (tree == NULL) return null_argument(error);
  kept_status status = kept_export_json(store, options, &text, error);
  return given(status, text, tree, error);
}

kept_status kept_json_register(kept_store *store, json_object *defaults, kept_error *error) {
  char *text = NULL;
  kept_status status = json_text_of(defaults, &text, error);
  if (status != KEPT_OK) return status;
  status = without_offset(kept_register_json(store, text, error), error);
  free(text);
  return status;
}
