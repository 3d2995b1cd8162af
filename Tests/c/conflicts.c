/* Conflicts: a transaction overwrites no write of another handle or process unnoticed. */
#define _XOPEN_SOURCE 700
#include "transacting.h"

#include <pthread.h>

static void a_key_it_read_and_another_changed_is_a_conflict(void) {
  const char *location = fresh_location();
  kept_store *store = open_at(location), *other = open_at(location);
  set(store, "balance", 10);
  kept_store *transaction = begin(store);
  CHECK_TEXT("10", json_of(transaction, "balance"));
  set(other, "balance", 20);
  set(transaction, "balance", 11);
  set(transaction, "log", 1);
  uint64_t revision = 99;
  EXPECT(KEPT_CONFLICT, kept_commit(transaction, &revision, &why));
  CHECK_UINT(99, revision);
  CHECK_TEXT("20", json_of(store, "balance"));
  CHECK_TEXT("absent", json_of(store, "log"));
}

static void a_key_it_found_absent_and_another_wrote_is_a_conflict(void) {
  kept_store *store = fresh_store(), *transaction = begin(store);
  CHECK_TEXT("absent", json_of(transaction, "key"));
  set(store, "key", 1);
  set(transaction, "key", 2);
  EXPECT(KEPT_CONFLICT, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("1", json_of(store, "key"));
}

static void a_prefix_it_listed_and_another_added_to_is_a_conflict(void) {
  kept_store *store = fresh_store();
  set(store, "list.1", 1);
  kept_store *transaction = begin(store);
  CHECK_INT(1, count_of(transaction, "list."));
  set(store, "list.2", 2);
  set(transaction, "count", 1);
  EXPECT(KEPT_CONFLICT, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("absent", json_of(store, "count"));
}

static void a_prefix_it_listed_and_another_removed_from_is_a_conflict(void) {
  kept_store *store = fresh_store();
  set(store, "list.1", 1);
  kept_store *transaction = begin(store);
  CHECK_INT(1, count_of(transaction, "list."));
  EXPECT(KEPT_OK, kept_remove(store, "list.1", &why));
  set(transaction, "count", 1);
  EXPECT(KEPT_CONFLICT, kept_commit(transaction, NULL, &why));
}

static void a_change_of_other_keys_is_no_conflict(void) {
  kept_store *store = fresh_store(), *transaction = begin(store);
  CHECK_TEXT("absent", json_of(transaction, "mine"));
  CHECK_INT(0, count_of(transaction, "mine."));
  set(store, "yours", 1);
  set(transaction, "yours", 2);
  set(transaction, "mine", 3);
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("2", json_of(store, "yours"));
}

static void reads_of_two_revisions_conflict_at_once(void) {
  kept_store *store = fresh_store();
  char *json = NULL;
  set(store, "a", 1);
  set(store, "b", 1);
  kept_store *transaction = begin(store);
  CHECK_TEXT("1", json_of(transaction, "a"));
  set(store, "b", 2);
  EXPECT(KEPT_CONFLICT, kept_get_json(transaction, "b", &json, &why));
  CHECK(json == NULL);
  kept_rollback(transaction);
}

static void a_transaction_whose_read_was_refused_cannot_commit(void) {
  kept_store *store = fresh_store();
  int64_t found = 0;
  char *keys = NULL;
  for (int kind = 0; kind < 3; kind++) {
    set(store, "a", 1);
    set(store, "b", 1);
    kept_store *transaction = begin(store);
    CHECK_TEXT("1", json_of(transaction, "a"));
    if (kind == 1) EXPECT(KEPT_OK, kept_remove(store, "b", &why));
    else set(store, "b", 5);
    if (kind == 2) EXPECT(KEPT_CONFLICT, kept_list_json(transaction, "b", &keys, &why));
    else EXPECT(KEPT_CONFLICT, kept_get_int64(transaction, "b", &found, &why));
    set(transaction, "b", found + 1);
    EXPECT(KEPT_CONFLICT, kept_commit(transaction, NULL, &why));
    CHECK_TEXT(kind == 1 ? "absent" : "5", json_of(store, "b"));
  }
}

static void compare_and_set_is_checked_with_the_rest(void) {
  kept_store *store = fresh_store();
  uint64_t revision = 0, received = 99;
  EXPECT(KEPT_OK, kept_set_json_if(store, "key", "1", 0, &revision, &why));
  kept_store *transaction = begin(store);
  EXPECT(KEPT_OK, kept_set_json_if(transaction, "key", "2", revision, &received, &why));
  CHECK_UINT(0, received);
  set(store, "key", 3);
  EXPECT(KEPT_CONFLICT, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("3", json_of(store, "key"));
}

static void interloper(const char *location) { set(open_at(location), "balance", 20); }

static void another_process_is_a_conflict_too(void) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  set(store, "balance", 10);
  kept_store *transaction = begin(store);
  CHECK_TEXT("10", json_of(transaction, "balance"));
  child child = start_child("interloper", location);
  CHECK_INT(0, finish_child(&child));
  set(transaction, "balance", 11);
  EXPECT(KEPT_CONFLICT, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("20", json_of(store, "balance"));
}

enum { threads = 4, additions = 25 };

/** Adds one as often as required, and retries after each conflict. */
static void *add(void *context) {
  kept_store *store = context;
  for (int done = 0; done < additions;) {
    kept_store *transaction = NULL;
    int64_t sum = 0;
    if (kept_begin(store, NULL, &transaction, NULL) != KEPT_OK) break;
    kept_status status = kept_get_int64(transaction, "sum", &sum, NULL);
    if (status == KEPT_OK) status = kept_set_int64(transaction, "sum", sum + 1, NULL);
    if (status == KEPT_OK) status = kept_commit(transaction, NULL, NULL);
    else kept_rollback(transaction);
    if (status == KEPT_OK) done++;
    else if (status != KEPT_CONFLICT) return "neither done nor a conflict";
  }
  return NULL;
}

static void threads_that_retry_lose_nothing(void) {
  kept_store *store = fresh_store();
  pthread_t running[threads];
  void *answer;
  set(store, "sum", 0);
  for (int i = 0; i < threads; i++) CHECK_INT(0, pthread_create(&running[i], NULL, add, store));
  for (int i = 0; i < threads; i++) {
    CHECK_INT(0, pthread_join(running[i], &answer));
    CHECK_TEXT(NULL, answer);
  }
  CHECK_TEXT("100", json_of(store, "sum"));
}

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(a_key_it_read_and_another_changed_is_a_conflict),
    TEST(a_key_it_found_absent_and_another_wrote_is_a_conflict),
    TEST(a_prefix_it_listed_and_another_added_to_is_a_conflict),
    TEST(a_prefix_it_listed_and_another_removed_from_is_a_conflict),
    TEST(a_change_of_other_keys_is_no_conflict),
    TEST(reads_of_two_revisions_conflict_at_once),
    TEST(a_transaction_whose_read_was_refused_cannot_commit),
    TEST(compare_and_set_is_checked_with_the_rest),
    FOLDER_TEST(another_process_is_a_conflict_too),
    TEST(threads_that_retry_lose_nothing),
    { 0 },
  };
  static const role roles[] = { ROLE(interloper), { 0 } };
  return run_tests(argc, argv, tests, roles);
}
