/* Threads that read while their store is closed and others are opened: each read returns the value of its own store, or
 * that the store is closed. */
#include "suite.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_rounds = 100000, stores = 4, readers = 3 };

static struct {
  kept_store *handles[most_rounds];
  long round; /* the last store that was opened */
  long rounds;
  int has_ended;
  long wrong, values, closed;
} shared;

static void text_of(long number, size_t length, char *text) {
  memset(text, 'a' + (int)number, length);
  text[length] = 0;
}

static void note(long *count) { __atomic_add_fetch(count, 1, __ATOMIC_RELAXED); }

/** Checks the result of a call on a handle. */
static void judge(kept_status status, int is_its_own) {
  if (status == KEPT_CLOSED) note(&shared.closed);
  else if (status == KEPT_OK && is_its_own) note(&shared.values);
  else note(&shared.wrong);
}

static void read_all(kept_store *store, long number) {
  char expected[120], found[120];
  int64_t integer = -1;
  kept_status status = kept_get_int64(store, "integer", &integer, NULL);
  judge(status, integer == number);
  for (size_t length = 20; length <= 100; length += 80) {
    char key[16];
    snprintf(key, sizeof key, "text %d", (int)length);
    text_of(number, length, expected);
    status = kept_get_string(store, key, found, sizeof found, NULL, NULL);
    judge(status, status == KEPT_OK && strcmp(expected, found) == 0);
  }
  char *json = NULL;
  status = kept_get_json(store, "integer", &json, NULL);
  judge(status, status == KEPT_OK && atol(json) == number);
  if (status == KEPT_OK) kept_free(json);
}

static void *read_on(void *unused) {
  while (!__atomic_load_n(&shared.has_ended, __ATOMIC_ACQUIRE)) {
    long round = __atomic_load_n(&shared.round, __ATOMIC_ACQUIRE);
    for (long late = 0; late < 3 && late <= round; late++) {
      read_all(shared.handles[round - late], (round - late) % stores);
    }
  }
  return NULL;
}

static const char *filled(long number) {
  const char *location = fresh_folder();
  char text[120];
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "integer", number, &why));
  for (size_t length = 20; length <= 100; length += 80) {
    char key[16];
    snprintf(key, sizeof key, "text %d", (int)length);
    text_of(number, length, text);
    EXPECT(KEPT_OK, kept_set_string(store, key, text, length, &why));
  }
  kept_close(store);
  return location;
}

FOLDER_TEST(a_late_reader_never_finds_the_value_of_another_store) {
  const char *locations[stores];
  pthread_t threads[readers];
  const char *asked = getenv("KEPT_LATE_ROUNDS");
  shared.rounds = asked != NULL ? atol(asked) : 400;
  CHECK(shared.rounds > stores && shared.rounds <= most_rounds);
  for (long i = 0; i < stores; i++) locations[i] = filled(i);
  shared.handles[0] = open_at(locations[0]);
  for (int i = 0; i < readers; i++) CHECK_INT(0, pthread_create(&threads[i], NULL, read_on, NULL));
  for (long round = 1; round < shared.rounds; round++) {
    /* Until a thread has read there. */
    long seen = __atomic_load_n(&shared.values, __ATOMIC_RELAXED);
    while (__atomic_load_n(&shared.values, __ATOMIC_RELAXED) < seen + 20) sched_yield();
    CHECK_INT(KEPT_OK, kept_open(locations[round % stores], NULL, &shared.handles[round], NULL));
    kept_close(shared.handles[round - 1]);
    __atomic_store_n(&shared.round, round, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&shared.has_ended, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < readers; i++) pthread_join(threads[i], NULL);
  kept_close(shared.handles[shared.rounds - 1]);
  CHECK_INT(0, shared.wrong);
  CHECK(shared.values > 0 && shared.closed > 0);
}

TEST(a_closed_store_may_be_closed_and_read_again) {
  for (int i = 0; i < 20; i++) {
    kept_store *store = open_at(fresh_location());
    kept_close(store);
    kept_close(store);
    CHECK_TEXT("closed", json_of(store, "key"));
    CHECK(kept_store_layers(store) == NULL);
    CHECK_UINT(1, *kept_store_generation(store) % 2);
  }
}
