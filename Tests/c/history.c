/* History: past changes, their time and author, and undoing them. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

static char *history(kept_store *store, const char *key, uint32_t flags) {
  char *json = NULL;
  EXPECT(KEPT_OK, kept_history_json(store, key, flags, &json, &why));
  return json;
}

/* Sets a key with a tag, and makes it a change of its own. */
static void set(kept_store *store, const char *key, const char *json, const char *tag) {
  kept_transaction_options options = KEPT_TRANSACTION_OPTIONS_INIT;
  options.tag = tag;
  kept_store *transaction = NULL;
  EXPECT(KEPT_OK, kept_begin(store, &options, &transaction, &why));
  EXPECT(KEPT_OK, kept_set_json(transaction, key, json, &why));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  kept_free(history(store, key, 0));
}

static kept_store *store_with_history(void) {
  kept_store *store = NULL;
  EXPECT(KEPT_OK, kept_open(fresh_folder(), NULL, &store, &why));
  return store;
}

FOLDER_TEST(changes_have_tags_and_values) {
  kept_store *store = store_with_history();
  set(store, "theme", "\"dark\"", "installer");
  set(store, "theme", "\"light\"", NULL);
  set(store, "other", "1", NULL);
  char *json = history(store, "theme", 0);
  CHECK(strstr(json, "\"new\":\"light\",\"old\":\"dark\",\"revision\":2") != NULL);
  CHECK(strstr(json, "\"tag\":\"installer\"") != NULL);
  CHECK(strstr(json, "other") == NULL);
  kept_free(json);
  json = history(store, "", KEPT_HISTORY_PREFIX);
  CHECK(strstr(json, "other") != NULL && strstr(json, "theme") != NULL);
  kept_free(json);
  kept_close(store);
}

FOLDER_TEST(limits_are_read_and_set) {
  kept_store *store = store_with_history();
  char *json = NULL;
  EXPECT(KEPT_OK, kept_set_history_limits(store, "{\"days\":7}", &why));
  EXPECT(KEPT_OK, kept_history_limits_json(store, &json, &why));
  CHECK_TEXT("{\"bytes\":4194304,\"changes\":10000,\"changesPerKey\":100,\"days\":7}", json);
  kept_free(json);
  for (const char *const *bad =
         (const char *const[]){ "", "7", "{\"days\":-1}", "{\"days\":1.5}", "{\"weeks\":1}", NULL };
    *bad != NULL; bad++) {
    EXPECT(KEPT_INVALID, kept_set_history_limits(store, *bad, &why));
  }
  kept_close(store);
}

TEST(wrong_arguments_are_refused) {
  kept_store *store = fresh_store(), *transaction = NULL;
  char *json = NULL;
  EXPECT(KEPT_INVALID, kept_history_json(NULL, "key", 0, &json, &why));
  EXPECT(KEPT_INVALID, kept_history_json(store, NULL, 0, &json, &why));
  EXPECT(KEPT_INVALID, kept_history_json(store, "key", 2, &json, &why));
  EXPECT(KEPT_INVALID, kept_history_json(store, "key", 0, NULL, &why));
  EXPECT(KEPT_INVALID, kept_history_json(store, "", 0, &json, &why));
  EXPECT(KEPT_INVALID, kept_undo(NULL, 1, NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_set_history_limits(store, NULL, &why));
  EXPECT(KEPT_INVALID, kept_history_limits_json(store, NULL, &why));
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_history_json(transaction, "key", 0, &json, &why));
  kept_rollback(transaction);
  kept_close(store);
  EXPECT(KEPT_CLOSED, kept_history_json(store, "key", 0, &json, &why));
}

TEST(a_store_in_memory_has_no_history) {
  kept_store *store = NULL;
  char *json = NULL;
  EXPECT(KEPT_OK, kept_open("memory:", NULL, &store, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_history_json(store, "key", 0, &json, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_undo(store, 1, NULL, NULL, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_set_history_limits(store, "{}", &why));
  EXPECT(KEPT_UNSUPPORTED, kept_history_limits_json(store, &json, &why));
  kept_close(store);
}
