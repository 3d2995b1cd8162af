/* A shared counter: P processes of T threads add one N times each, by transactions and by compare-and-set. The counter
 * must end at exactly P·T·N. */
#include "torture.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

enum { PROCESSES = 2, THREADS = 4, TIMES = 40 };

static const char *folder;
static kept_store *store;

static kept_status add_in_transaction(void) {
  kept_store *counting = NULL;
  int64_t count = 0;
  expect_ok(kept_begin(store, NULL, &counting, &why), "begin");
  kept_status status = kept_get_int64(counting, "count", &count, &why);
  if (status == KEPT_OK) status = kept_set_int64(counting, "count", count + 1, &why);
  if (status != KEPT_OK) return kept_rollback(counting), status;
  return kept_commit(counting, NULL, &why);
}

/* Read the revision first: a value read after it can only be newer, and then the write is refused. */
static kept_status add_by_revision(void) {
  uint64_t revision = 0;
  int64_t count = 0;
  char json[32];
  expect_ok(kept_revision_of(store, "count", &revision, &why), "read the revision");
  expect_ok(kept_get_int64(store, "count", &count, &why), "read the count");
  snprintf(json, sizeof json, "%" PRId64, count + 1);
  return kept_set_json_if(store, "count", json, revision, NULL, &why);
}

static void *count_up(void *own) {
  kept_status status;
  for (int i = 0; i < TIMES; i++) {
    do status = *(int *)own % 2 ? add_in_transaction() : add_by_revision();
    while (status == KEPT_CONFLICT);
    expect_ok(status, "count");
  }
  return NULL;
}

static void count_in_threads(void *context) {
  pthread_t threads[THREADS];
  int numbers[THREADS];
  store = open_store(folder, KEPT_SHARED, 30000);
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, count_up, &numbers[i]) != 0) fail("no thread");
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  kept_close(store);
}

static void begin_at_zero(void *context) {
  store = open_store(folder, KEPT_SHARED, 30000);
  expect_ok(kept_set_int64(store, "count", 0, &why), "begin to count");
  kept_close(store);
}

static void check_count(void *context) {
  int64_t count = 0;
  store = open_store(folder, KEPT_SHARED, 30000);
  expect_ok(kept_get_int64(store, "count", &count, &why), "read the count");
  if (count != PROCESSES * THREADS * TIMES) fail("counted %" PRId64 " of %d", count, PROCESSES * THREADS * TIMES);
  kept_close(store);
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 0);
  for (round_now = 0; round_now < rounds; round_now++) {
    pid_t processes[PROCESSES];
    folder = fresh_folder();
    finish(start(begin_at_zero, NULL));
    for (int i = 0; i < PROCESSES; i++) processes[i] = start(count_in_threads, NULL);
    for (int i = 0; i < PROCESSES; i++) finish(processes[i]);
    finish(start(check_count, NULL));
  }
  return end_torture(
    "%u times %d processes of %d threads counted to %d", rounds, PROCESSES, THREADS, PROCESSES * THREADS * TIMES);
}
