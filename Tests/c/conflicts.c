/* Conflicts: a transaction overwrites no write of another handle or process unnoticed. */
#include "suite.h"
#include "transacting.h"

#include <pthread.h>

ROLE(interloper, location) { set(open_at(location), "balance", 20); }

FOLDER_TEST(another_process_is_a_conflict_too) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  set(store, "balance", 10);
  kept_store *transaction = begin(store);
  CHECK_TEXT("10", json_of(transaction, "balance"));
  child child = start_child("interloper", location);
  CHECK_INT(0, finish_child(&child));
  set(transaction, "balance", 11);
  uint64_t revision = 99;
  EXPECT(KEPT_CONFLICT, kept_commit(transaction, &revision, &why));
  CHECK_UINT(99, revision);
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

TEST(threads_that_retry_lose_nothing) {
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
