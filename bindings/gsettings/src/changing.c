#include "changing.h"

#include "names.h"
#include "values.h"

static kept_status set(kept_store *store, const char *key, GVariant *value, kept_error *error) {
  if (g_variant_is_of_type(value, G_VARIANT_TYPE_BOOLEAN))
    return kept_set_bool(store, key, g_variant_get_boolean(value), error);
  if (g_variant_is_of_type(value, G_VARIANT_TYPE_INT32))
    return kept_set_int64(store, key, g_variant_get_int32(value), error);
  if (g_variant_is_of_type(value, G_VARIANT_TYPE_STRING)) {
    gsize length;
    const char *text = g_variant_get_string(value, &length);
    return kept_set_string(store, key, text, length, error);
  }
  char *json = json_of_variant(value);
  kept_status status = kept_set_json(store, key, json, error);
  g_free(json);
  return status;
}

/* Sets the value of a key, or resets it if there is none. */
static kept_status change(kept_store *store, const char *key, GVariant *value, kept_error *error) {
  return value != NULL ? set(store, key, value, error) : kept_reset(store, key, error);
}

/* The revision that last changed what the user has set for a key; 0 if nothing is set. While it stays, nothing has
 * changed: Kept compares values as it stores them, so the order of a dictionary does not matter. */
static uint64_t revision_of(kept_store *store, const char *key) {
  uint64_t revision = 0;
  return kept_revision_of(store, key, &revision, NULL) == KEPT_OK ? revision : 0;
}

static void change_key(Changing *changing, const char *key, GVariant *value) {
  kept_store *store = handle_of(changing->settings), *below;
  uint64_t before = revision_of(store, key);
  changing->status = change(store, key, value, &changing->error);
  /* As on dconf, every reset is allowed: it removes what the user has set below a lock. */
  if (changing->status == KEPT_LOCKED && value == NULL) {
    below = open_below(changing->settings, &changing->error);
    changing->status = below != NULL ? kept_reset(below, key, &changing->error) : KEPT_UNAVAILABLE;
  }
  changing->has_effect = changing->has_effect || revision_of(store, key) != before;
}

void change_one(Changing *changing, const char *path, GVariant *value) {
  char *key = key_of_path(path);
  changing->status = KEPT_INVALID;
  if (key != NULL) change_key(changing, key, value);
  g_free(key);
}

/* One of several changes that are made together. */
typedef struct {
  char *key;
  GVariant *value;
  uint64_t before;
  gboolean is_below;
} OneOfMany;

static void free_one(gpointer one_) {
  OneOfMany *one = one_;
  g_free(one->key);
  g_free(one);
}

static gboolean add_one(gpointer path, gpointer value, gpointer many) {
  OneOfMany *one = g_new0(OneOfMany, 1);
  one->key = key_of_path(path);
  one->value = value;
  g_ptr_array_add(many, one);
  return FALSE;
}

static void change_in_transaction(Changing *changing, GPtrArray *many) {
  kept_store *transaction;
  changing->status = kept_begin(handle_of(changing->settings), NULL, &transaction, &changing->error);
  if (changing->status < 0) return;
  for (guint i = 0; changing->status >= 0 && i < many->len; i++) {
    OneOfMany *one = many->pdata[i];
    changing->status = change(transaction, one->key, one->value, &changing->error);
    one->is_below = changing->status == KEPT_LOCKED && one->value == NULL;
    if (one->is_below) changing->status = KEPT_OK;
  }
  if (changing->status < 0) kept_rollback(transaction);
  else changing->status = kept_commit(transaction, NULL, &changing->error);
}

/* Resets the locked keys, in a transaction of its own: only a handle without the locks may. */
static void reset_below(Changing *changing, GPtrArray *many) {
  kept_store *below = NULL, *transaction = NULL;
  for (guint i = 0; changing->status >= 0 && i < many->len; i++) {
    OneOfMany *one = many->pdata[i];
    if (!one->is_below) continue;
    if (below == NULL) {
      below = open_below(changing->settings, &changing->error);
      changing->status = below != NULL ? kept_begin(below, NULL, &transaction, &changing->error) : KEPT_UNAVAILABLE;
    }
    if (changing->status >= 0) changing->status = kept_reset(transaction, one->key, &changing->error);
  }
  if (changing->status < 0) kept_rollback(transaction);
  else if (transaction != NULL) changing->status = kept_commit(transaction, NULL, &changing->error);
}

void change_all(Changing *changing, GTree *tree) {
  kept_store *store = handle_of(changing->settings);
  GPtrArray *many = g_ptr_array_new_with_free_func(free_one);
  g_tree_foreach(tree, add_one, many);
  for (guint i = 0; i < many->len; i++) {
    OneOfMany *one = many->pdata[i];
    one->before = revision_of(store, one->key);
  }
  /* Another program may change the same keys in between: then this is the later change. */
  changing->status = KEPT_CONFLICT;
  for (int attempt = 0; attempt < 100 && changing->status == KEPT_CONFLICT; attempt++)
    change_in_transaction(changing, many);
  gboolean is_together = changing->status != KEPT_UNSUPPORTED;
  if (is_together) reset_below(changing, many);
  /* A `dir:` store changes one key at a time. */
  else changing->status = KEPT_OK;
  for (guint i = 0; i < many->len; i++) {
    OneOfMany *one = many->pdata[i];
    if (!is_together && changing->status >= 0) change_key(changing, one->key, one->value);
    changing->has_effect = changing->has_effect || revision_of(store, one->key) != one->before;
  }
  g_ptr_array_unref(many);
}
