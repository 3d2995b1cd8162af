/* JSON: any value as canonical text, the offset of an error in a text, and compare-and-set. */
#include "suite.h"

TEST(NULL_is_refused) {
  kept_store *store = fresh_store();
  char *json = NULL;
  EXPECT(KEPT_INVALID, kept_get_json(NULL, "key", &json, &why));
  EXPECT(KEPT_INVALID, kept_get_json(store, NULL, &json, &why));
  EXPECT(KEPT_INVALID, kept_get_json(store, "key", NULL, &why));
  EXPECT(KEPT_INVALID, kept_set_json(NULL, "key", "1", &why));
  EXPECT(KEPT_INVALID, kept_set_json(store, NULL, "1", &why));
  EXPECT(KEPT_INVALID, kept_set_json(store, "key", NULL, &why));
  EXPECT(KEPT_INVALID, kept_set_json_if(NULL, "key", "1", 0, NULL, &why));
  EXPECT(KEPT_INVALID, kept_set_json_if(store, NULL, "1", 0, NULL, &why));
  EXPECT(KEPT_INVALID, kept_set_json_if(store, "key", NULL, 0, NULL, &why));
  CHECK(json == NULL);
}

TEST(a_bad_key_is_refused) {
  kept_store *store = fresh_store();
  char *json = NULL;
  for (size_t i = 0; bad_key(i) != NULL; i++) {
    EXPECT(KEPT_INVALID, kept_get_json(store, bad_key(i), &json, &why));
    EXPECT(KEPT_INVALID, kept_set_json(store, bad_key(i), "1", &why));
    EXPECT(KEPT_INVALID, kept_set_json_if(store, bad_key(i), "1", 0, NULL, &why));
  }
  CHECK(json == NULL);
}

TEST(an_absent_key_leaves_the_out_argument_untouched) {
  char marker, *json = &marker;
  EXPECT(KEPT_ABSENT, kept_get_json(fresh_store(), "key", &json, &why));
  CHECK(json == &marker);
}

TEST(an_old_revision_is_a_conflict_and_nothing_is_written) {
  const char *location = fresh_location();
  kept_store *store = open_at(location), *other = open_at(location);
  uint64_t revision = 0, untouched = 77;
  EXPECT(KEPT_OK, kept_set_json_if(store, "key", "1", 0, &revision, &why));
  EXPECT(KEPT_OK, kept_set_json(other, "key", "2", &why));
  EXPECT(KEPT_CONFLICT, kept_set_json_if(store, "key", "3", revision, &untouched, &why));
  EXPECT(KEPT_CONFLICT, kept_set_json_if(store, "key", "3", 0, &untouched, &why));
  EXPECT(KEPT_CONFLICT, kept_set_json_if(store, "other", "3", revision, NULL, &why));
  CHECK_UINT(77, untouched);
  CHECK_TEXT("2", json_of(store, "key"));
  CHECK_TEXT("absent", json_of(store, "other"));
}

TEST(a_conditional_write_of_null_is_refused) {
  kept_store *store = fresh_store();
  uint64_t revision = 0;
  EXPECT(KEPT_OK, kept_set_json_if(store, "key", "1", 0, &revision, &why));
  EXPECT(KEPT_INVALID, kept_set_json_if(store, "key", "null", revision, NULL, &why));
  CHECK_TEXT("1", json_of(store, "key"));
}

TEST(a_closed_store_returns_closed) {
  kept_store *store = fresh_store();
  kept_close(store);
  EXPECT(KEPT_CLOSED, kept_set_json_if(store, "key", "1", 0, NULL, &why));
  EXPECT(KEPT_CLOSED, kept_set_json(store, "key", "1", &why));
}
