/* Stale reads: a read that begins after a commit has returned in any process never returns an older value, even if
 * writers are killed in the middle. Each round kills a writer. */
#include "torture.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WRITERS = 2, READERS = 2, THREADS = 2, KEYS_EACH = 2, KEYS = WRITERS * KEYS_EACH, CHECKS_A_ROUND = 5000 };

static struct shared {
  int64_t stop, checks, writes;
  /* Invariant: the stored value is at least the published one, and at most the begun one. One cache line each. */
  struct {
    int64_t begun;
    char apart[64];
    int64_t published;
    char also_apart[64];
  } keys[KEYS];
  int64_t written_by[WRITERS];
} *shared;

static const char *folder;
static const char *const names[KEYS] = { "red", "green", "blue", "a longer name, with spaces and ümlauts" };

/* Reading */

static kept_status read_as_json(kept_store *store, const char *key, int64_t *value) {
  char *json = NULL;
  kept_status status = kept_get_json(store, key, &json, &why);
  if (status == KEPT_OK) *value = strtoll(json, NULL, 10);
  kept_free(json);
  return status;
}

/* A transaction conflicts rather than return a value that has changed since it began. */
static kept_status read_in_transaction(kept_store *store, const char *key, int64_t *value) {
  kept_status status;
  do {
    kept_store *transaction = NULL;
    expect_ok(kept_begin(store, NULL, &transaction, &why), "begin");
    status = kept_get_int64(transaction, key, value, &why);
    kept_rollback(transaction);
  } while (status == KEPT_CONFLICT);
  return status;
}

static void check(kept_store *store, int key, int64_t *seen, uint64_t way) {
  int64_t value = 0, least = load(&shared->keys[key].published);
  kept_status status = way == 0 ? read_in_transaction(store, names[key], &value)
    : way < 4                   ? read_as_json(store, names[key], &value)
                                : kept_get_int64(store, names[key], &value, &why);
  if (status != KEPT_ABSENT) expect_ok(status, "read");
  int64_t most = load(&shared->keys[key].begun);
  if (value < least) fail("a stale read of \"%s\": %" PRId64 ", published was %" PRId64, names[key], value, least);
  if (value < *seen) fail("\"%s\" went back from %" PRId64 " to %" PRId64, names[key], *seen, value);
  if (value > most) fail("\"%s\" is %" PRId64 ", which was not written yet", names[key], value);
  *seen = value;
}

static void *read_until_stopped(void *store) {
  int64_t seen[KEYS] = { 0 };
  uint64_t random = (uint64_t)now_ns();
  while (!load(&shared->stop)) {
    for (int i = 0; i < 50; i++) {
      int key = (int)random_below(&random, KEYS);
      check(store, key, &seen[key], random_below(&random, 64));
    }
    add(&shared->checks, 50);
  }
  return NULL;
}

static void read_in_threads(void *context) {
  pthread_t threads[THREADS];
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  for (int i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], NULL, read_until_stopped, store) != 0) fail("no thread");
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  kept_close(store);
}

/* Writing: some commits, then a pause as long as several reads, so that readers see both. */

static void write_key(kept_store *store, int key) {
  int64_t number = load(&shared->keys[key].begun) + 1;
  store_word(&shared->keys[key].begun, number);
  expect_ok(kept_set_int64(store, names[key], number, &why), "write");
  store_word(&shared->keys[key].published, number);
  add(&shared->writes, 1);
}

/* One of its threads reads: the process's own index applies its own commits without reading the journal. */
static void write_until_stopped(void *context) {
  int writer = *(int *)context;
  uint64_t random = (uint64_t)now_ns();
  pthread_t reader;
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  if (pthread_create(&reader, NULL, read_until_stopped, store) != 0) fail("no thread");
  while (!load(&shared->stop)) {
    for (uint64_t left = 1 + random_below(&random, 8); left > 0; left--) {
      write_key(store, writer * KEYS_EACH + (int)random_below(&random, KEYS_EACH));
    }
    add(&shared->written_by[writer], 1);
    int64_t pause = load(&shared->checks) + (int64_t)random_below(&random, 1000);
    while (load(&shared->checks) < pause && !load(&shared->stop)) let_pass(20);
  }
  pthread_join(reader, NULL);
  kept_close(store);
}

int main(int argc, char **argv) {
  static int numbers[WRITERS];
  pid_t writers[WRITERS], readers[READERS];
  begin_torture(argc, argv, 0);
  uint64_t random = seed;
  shared = share(sizeof *shared);
  folder = fresh_folder();
  for (int i = 0; i < READERS; i++) readers[i] = start(read_in_threads, NULL);
  for (int i = 0; i < WRITERS; i++) writers[i] = start(write_until_stopped, (numbers[i] = i, &numbers[i]));
  for (round_now = 0; round_now < rounds; round_now++) {
    int victim = (int)random_below(&random, WRITERS);
    await_word(&shared->checks, (int64_t)(round_now + 1) * CHECKS_A_ROUND, "the readers did not go on");
    await_word(&shared->written_by[victim], load(&shared->written_by[victim]) + 1, "the writer did not go on");
    let_pass(random_below(&random, 500));
    kill_now(writers[victim]);
    writers[victim] = start(write_until_stopped, &numbers[victim]);
  }
  store_word(&shared->stop, 1);
  for (int i = 0; i < READERS; i++) finish(readers[i]);
  for (int i = 0; i < WRITERS; i++) finish(writers[i]);
  return end_torture("%" PRId64 " reads checked against %" PRId64 " commits, %u writers killed", load(&shared->checks),
    load(&shared->writes), rounds);
}
