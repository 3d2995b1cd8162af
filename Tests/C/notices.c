/* Notices: what an observer is told of a commit, and what it is told when it asks beyond. */
#define _XOPEN_SOURCE 700
#include "recorder.h"

#include <string.h>

static void old_and_new_values_are_told_as_json(void) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  record(recorder, store, "key", KEPT_OBSERVE_KEY);
  EXPECT(KEPT_OK, kept_set_string(store, "key", "caf\xc3\xa9", 5, &why));
  EXPECT(KEPT_OK, kept_set_json(store, "key", "{ \"b\": [1.0], \"a\": null }", &why));
  EXPECT(KEPT_OK, kept_remove(store, "key", &why));
  CHECK_TEXT("S key:->\"caf\xc3\xa9\";S key:\"caf\xc3\xa9\">{\"a\":null,\"b\":[1.0]};S key:{\"a\":null,\"b\":[1.0]}>-;",
             recorded(recorder, 3));
}

static void a_transaction_is_one_notice_in_the_order_of_its_keys(void) {
  kept_store *store = fresh_store(), *transaction = NULL;
  recorder *recorder = new_recorder();
  uint64_t revision = 0;
  EXPECT(KEPT_OK, kept_set_int64(store, "b", 1, &why));
  record(recorder, store, "", KEPT_OBSERVE_PREFIX);
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "c", 3, &why));
  EXPECT(KEPT_OK, kept_remove(transaction, "b", &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "a", 1, &why));
  EXPECT(KEPT_OK, kept_commit(transaction, &revision, &why));
  CHECK_TEXT("S a:->1 b:1>- c:->3;", recorded(recorder, 1));
  CHECK_UINT(revision, recorder->revision);
}

static void a_notice_has_only_what_was_subscribed_to(void) {
  kept_store *store = fresh_store(), *transaction = NULL;
  recorder *recorder = new_recorder();
  record(recorder, store, "b", KEPT_OBSERVE_KEY);
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "a", 1, &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "b", 2, &why));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("S b:->2;", recorded(recorder, 1));
}

static void what_was_rolled_back_is_not_announced(void) {
  kept_store *store = fresh_store(), *transaction = NULL;
  recorder *recorder = new_recorder();
  record(recorder, store, "", KEPT_OBSERVE_PREFIX);
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "a", 1, &why));
  kept_rollback(transaction);
  EXPECT(KEPT_OK, kept_set_int64(store, "end", 1, &why));
  CHECK_TEXT("S end:->1;", recorded(recorder, 1));
}

static void a_notice_tells_the_revision_of_its_key(void) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  uint64_t revision = 0;
  record(recorder, store, "key", KEPT_OBSERVE_KEY);
  EXPECT(KEPT_OK, kept_set_int64(store, "other", 1, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
  recorded(recorder, 1);
  EXPECT(KEPT_OK, kept_revision_of(store, "key", &revision, &why));
  CHECK_UINT(revision, recorder->revision);
}

static void ask_beyond(void *context, const kept_notice *notice) {
  CHECK_UINT(1, kept_notice_count(notice));
  CHECK_TEXT("key", kept_notice_key(notice, 0));
  CHECK_TEXT("1", kept_notice_new_json(notice, 0));
  for (size_t index = 1; index != 0; index = index == 1 ? SIZE_MAX : 0) {
    CHECK(kept_notice_key(notice, index) == NULL);
    CHECK(kept_notice_old_json(notice, index) == NULL);
    CHECK(kept_notice_new_json(notice, index) == NULL);
  }
  /* Valid during the callback: the same text twice. */
  CHECK(kept_notice_key(notice, 0) == kept_notice_key(notice, 0));
  recorder_notice(context, notice);
}

static void beyond_the_last_change_there_is_nothing(void) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  EXPECT(KEPT_OK, kept_observe(store, "key", KEPT_OBSERVE_KEY, ask_beyond, recorder, NULL, &recorder->subscription,
                               &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
  recorded(recorder, 1);
}

static void of_no_notice_nothing_is_told(void) {
  CHECK_UINT(0, kept_notice_revision(NULL));
  CHECK_UINT(0, kept_notice_count(NULL));
  CHECK(kept_notice_origin(NULL) <= KEPT_ORIGIN_INITIAL);
  CHECK(kept_notice_key(NULL, 0) == NULL);
  CHECK(kept_notice_old_json(NULL, 0) == NULL);
  CHECK(kept_notice_new_json(NULL, 0) == NULL);
}

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(old_and_new_values_are_told_as_json),
    TEST(a_transaction_is_one_notice_in_the_order_of_its_keys),
    TEST(a_notice_has_only_what_was_subscribed_to),
    TEST(what_was_rolled_back_is_not_announced),
    TEST(a_notice_tells_the_revision_of_its_key),
    TEST(beyond_the_last_change_there_is_nothing),
    TEST(of_no_notice_nothing_is_told),
    { 0 },
  };
  static const role roles[] = { { 0 } };
  return run_tests(argc, argv, tests, roles);
}
