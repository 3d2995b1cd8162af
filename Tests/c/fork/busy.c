/* Forking while other threads write, read, sync, observe and run transactions. Every write acknowledged before the fork
 * is visible in the child, and every write of the child is visible in the parent. */
#include "suite.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WRITERS = 4, READERS = 2, OTHERS = 3, THREADS = WRITERS + READERS + OTHERS };

static kept_store *store;
static int stopping;
static int64_t acknowledged[WRITERS];
static int faults; /* found by the threads; only the main thread runs checks */

static int go_on(void) { return !__atomic_load_n(&stopping, __ATOMIC_ACQUIRE); }

static void fault_unless(int condition) {
  if (!condition) __atomic_add_fetch(&faults, 1, __ATOMIC_RELAXED);
}

static const char *key_of(char *key, char kind, int number) {
  snprintf(key, 32, "%c.%d", kind, number);
  return key;
}

static void *write_numbers(void *context) {
  int number = (int)(intptr_t)context;
  char key[32];
  key_of(key, 'w', number);
  for (int64_t next = 1; go_on(); next++) {
    fault_unless(kept_set_int64(store, key, next, NULL) == KEPT_OK);
    __atomic_store_n(&acknowledged[number], next, __ATOMIC_RELEASE);
  }
  return NULL;
}

static int is_all_there(void) {
  char key[32];
  for (int number = 0; number < WRITERS; number++) {
    int64_t least = __atomic_load_n(&acknowledged[number], __ATOMIC_ACQUIRE);
    if (least > 0 && int_of(store, key_of(key, 'w', number)) < least) return 0;
  }
  return 1;
}

static void *read_numbers(void *context) {
  while (go_on()) fault_unless(is_all_there());
  return context;
}

static void *sync_often(void *context) {
  while (go_on()) fault_unless(kept_flush(store, NULL) == KEPT_OK);
  return context;
}

static void *subscribe_often(void *context) {
  while (go_on()) {
    kept_subscription *subscription = NULL;
    fault_unless(kept_observe(store, "w.", KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL, ignore_notice, NULL, NULL,
                   &subscription, NULL) == KEPT_OK);
    kept_unobserve(subscription);
  }
  return context;
}

static void *open_and_count(void *context) {
  const char *location = context;
  while (go_on()) {
    kept_store *own = NULL, *transaction = NULL;
    fault_unless(kept_open(location, NULL, &own, NULL) == KEPT_OK);
    fault_unless(kept_begin(own, NULL, &transaction, NULL) == KEPT_OK);
    fault_unless(kept_set_int64(transaction, "count", int_of(transaction, "count") + 1, NULL) == KEPT_OK);
    fault_unless(kept_commit(transaction, NULL, NULL) == KEPT_OK);
    kept_close(own);
  }
  return context;
}

static void *write_in_child(void *context) {
  char key[32];
  for (int next = 1; next <= 5; next++) {
    if (kept_set_int64(store, key_of(key, 't', (int)(intptr_t)context), next, NULL) != KEPT_OK) return "refused";
  }
  return NULL;
}

static int go_on_in_child(void *context) {
  int round = (int)(intptr_t)context;
  char key[32];
  pthread_t threads[2];
  void *refused = NULL;
  MUST(is_all_there());
  MUST(kept_set_int64(store, key_of(key, 'c', round), round, NULL) == KEPT_OK);
  MUST(int_of(store, key) == round);
  for (intptr_t i = 0; i < 2; i++) {
    MUST(pthread_create(&threads[i], NULL, write_in_child, (void *)(round * 2 + i)) == 0);
  }
  for (int i = 0; i < 2; i++) MUST(pthread_join(threads[i], &refused) == 0 && refused == NULL);
  if (round % 3 == 0) MUST(kept_flush(store, NULL) == KEPT_OK);
  if (round % 3 == 1) kept_close(store);
  return 0;
}

static void go_on_in_parent(int round) {
  char key[32];
  EXPECT(KEPT_OK, kept_set_int64(store, key_of(key, 'p', round), round, &why));
  CHECK_INT(round, int_of(store, key));
  CHECK(is_all_there());
}

static void *(*const others[OTHERS])(void *) = { sync_often, subscribe_often, open_and_count };

static void start_threads(pthread_t *threads, const char *location) {
  for (intptr_t i = 0; i < THREADS; i++) {
    void *(*work)(void *) = i < WRITERS ? write_numbers : i < WRITERS + READERS ? read_numbers : others[i % OTHERS];
    void *context = work == open_and_count ? (void *)(uintptr_t)location : (void *)i;
    CHECK_INT(0, pthread_create(&threads[i], NULL, work, context));
  }
}

static void stop_threads(pthread_t *threads) {
  __atomic_store_n(&stopping, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < THREADS; i++) CHECK_INT(0, pthread_join(threads[i], NULL));
  CHECK_INT(0, faults);
}

static void check_what_is_left(int rounds) {
  char key[32];
  for (int round = 0; round < rounds; round++) {
    CHECK_INT(round, int_of(store, key_of(key, 'c', round)));
    CHECK_INT(round, int_of(store, key_of(key, 'p', round)));
    CHECK_INT(5, int_of(store, key_of(key, 't', round * 2)));
    CHECK_INT(5, int_of(store, key_of(key, 't', round * 2 + 1)));
  }
  for (int number = 0; number < WRITERS; number++) {
    CHECK_INT(acknowledged[number], int_of(store, key_of(key, 'w', number)));
  }
}

FOLDER_TEST(nothing_is_lost_and_no_process_hangs) {
  const char *wanted = getenv("KEPT_FORK_ROUNDS");
  int rounds = wanted ? atoi(wanted) : 150;
  const char *location = fresh_folder();
  pthread_t threads[THREADS];
  store = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "count", 0, &why));
  start_threads(threads, location);
  for (int round = 0; round < rounds; round++) {
    pid_t child = fork_child(go_on_in_child, (void *)(intptr_t)round);
    go_on_in_parent(round);
    CHECK_INT(0, end_of(child));
  }
  stop_threads(threads);
  check_what_is_left(rounds);
  kept_close(store);
  store = open_at(location);
  check_what_is_left(rounds);
}
