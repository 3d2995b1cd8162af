/* Verifying a store: the object that kept_verify_json() returns, its progress, and what it refuses. */
#include "declaring.h"
#include "files.h"
#include "suite.h"

static char *verified(kept_store *store) {
  char *json = NULL;
  EXPECT(KEPT_OK, kept_verify_json(store, NULL, NULL, &json, &why));
  return json;
}

TEST(a_sound_store_is_counted) {
  kept_store *store = open_at(fresh_location());
  declare(store, "volume", volume);
  EXPECT(KEPT_OK, kept_set_int64(store, "volume", 70, &why));
  EXPECT(KEPT_OK, kept_set_string(store, "theme", "dark", 4, &why));
  char *json = verified(store);
  CHECK_TEXT("{\"damage\":[],\"declarations\":1,\"misfits\":[],\"revision\":3,\"sound\":true,\"values\":2}", json);
  kept_free(json);
}

typedef struct progress {
  uint64_t calls, last, total, stop_at;
} progress;

static int note(void *context, uint64_t done, uint64_t total) {
  progress *noted = context;
  CHECK(done >= noted->last && done <= total);
  noted->calls++, noted->last = done, noted->total = total;
  return noted->calls == noted->stop_at;
}

TEST(progress_is_reported_and_stops_it) {
  kept_store *store = open_at(fresh_location());
  char key[] = "key a", *json = NULL;
  for (char letter = 'a'; letter <= 'j'; letter++) {
    key[4] = letter;
    EXPECT(KEPT_OK, kept_set_int64(store, key, letter, &why));
  }
  progress all = { 0, 0, 0, 0 }, stopped = { 0, 0, 0, 2 };
  EXPECT(KEPT_OK, kept_verify_json(store, note, &all, &json, &why));
  CHECK_UINT(10, all.last);
  CHECK_UINT(10, all.total);
  kept_free(json);
  json = NULL;
  EXPECT(KEPT_FAILED, kept_verify_json(store, note, &stopped, &json, &why));
  CHECK_UINT(2, stopped.calls);
  CHECK(json == NULL);
}

TEST(bad_arguments_are_refused) {
  kept_store *store = open_at(fresh_location()), *transaction = NULL;
  char *json = NULL;
  EXPECT(KEPT_INVALID, kept_verify_json(NULL, NULL, NULL, &json, &why));
  EXPECT(KEPT_INVALID, kept_verify_json(store, NULL, NULL, NULL, &why));
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_verify_json(transaction, NULL, NULL, &json, &why));
  kept_rollback(transaction);
  kept_close(store);
  EXPECT(KEPT_CLOSED, kept_verify_json(store, NULL, NULL, &json, &why));
  CHECK(json == NULL);
}
