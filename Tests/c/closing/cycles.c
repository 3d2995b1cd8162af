/* Repeated opening and closing: a closed store keeps less than a hundred and fifty bytes, and no mapping. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct size {
  long kilobytes; /* of writable memory in use */
  long mappings;
} size;

static size size_of_this_process(void) {
  size found = { number_in_file("/proc/self/status", "RssAnon:"), 0 };
  char line[4096];
  FILE *file = fopen("/proc/self/maps", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) found.mappings++;
  if (file != NULL) fclose(file);
  return found;
}

/** Runs `cycles` cycles. The first hundredth may fill caches and pools. */
static void repeat(long cycles, long bytes_each, void (*cycle)(const char *location), const char *location) {
  for (long i = 0; i < cycles / 100; i++) cycle(location);
  size before = size_of_this_process();
  CHECK(before.kilobytes > 0 && before.mappings > 0);
  for (long i = 0; i < cycles; i++) cycle(location);
  size after = size_of_this_process();
  /* 4 MB for what the allocator keeps, and for threads that are about to end. */
  long allowed = 4096 + cycles * bytes_each / 1024;
  if (after.kilobytes - before.kilobytes > allowed) CHECK_INT(before.kilobytes + allowed, after.kilobytes);
  /* On a busy machine, two hundred threads may be about to end, with two mappings each. */
  long most = before.mappings + 40 + (cycles < 4000 ? cycles / 10 : 400);
  if (after.mappings > most) CHECK_INT(most, after.mappings);
}

/** What a cache on top of the API calls, and a read that is cached. */
static void read_twice(const char *location) {
  int64_t value = 0;
  kept_store *store = NULL;
  CHECK_INT(KEPT_OK, kept_open(location, NULL, &store, NULL));
  CHECK_INT(KEPT_OK, kept_get_int64(store, "key 1", &value, NULL));
  CHECK_INT(KEPT_OK, kept_get_int64(store, "key 1", &value, NULL));
  kept_close(store);
  CHECK_INT(KEPT_CLOSED, kept_get_int64(store, "key 1", &value, NULL));
}

static uint64_t sum_of_words;

static void look_at_the_generation(const char *location) {
  kept_store *store = NULL;
  int64_t value = 0;
  CHECK_INT(KEPT_OK, kept_open(location, NULL, &store, NULL));
  const uint64_t *word = kept_store_generation(store);
  CHECK_INT(KEPT_OK, kept_get_int64(store, "key 1", &value, NULL));
  kept_close(store);
  /* It may be read after the store is closed. */
  sum_of_words += __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void read_everything(const char *location) {
  char key[32];
  int64_t value = 0;
  kept_store *store = NULL;
  CHECK_INT(KEPT_OK, kept_open(location, NULL, &store, NULL));
  for (int i = 0; i < 3000; i++) {
    snprintf(key, sizeof key, "key %d", i);
    CHECK_INT(KEPT_OK, kept_get_int64(store, key, &value, NULL));
  }
  kept_close(store);
}

/** Leaves a subscription and a transaction for kept_close() to end, and uses layers. */
static void use_layers_and_observe(const char *location) {
  char *argv[] = { "program", "-key 1", "5" };
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL, *transaction = NULL;
  kept_subscription *subscription = NULL;
  int64_t value = 0;
  options.argv = (const char *const *)argv;
  options.argc = 3;
  options.tag = "cycles";
  CHECK_INT(KEPT_OK, kept_open(location, &options, &store, NULL));
  CHECK_INT(KEPT_OK, kept_register_json(store, "{\"registered\":1}", NULL));
  CHECK(kept_store_layers(store) != NULL);
  CHECK_INT(KEPT_OK, kept_begin(store, NULL, &transaction, NULL));
  CHECK_INT(KEPT_OK, kept_observe(store, "key", KEPT_OBSERVE_KEY, ignore_notice, NULL, NULL, &subscription, NULL));
  CHECK_INT(KEPT_OK, kept_get_int64(store, "registered", &value, NULL));
  kept_close(store);
  CHECK_INT(KEPT_CLOSED, kept_get_int64(transaction, "registered", &value, NULL));
  kept_unobserve(subscription);
}

static const char *filled_location(kept_store **keeper) {
  const char *location = fresh_location();
  char key[32];
  kept_store *transaction = NULL;
  *keeper = open_at(location);
  EXPECT(KEPT_OK, kept_begin(*keeper, NULL, &transaction, &why));
  for (int i = 0; i < 3000; i++) {
    snprintf(key, sizeof key, "key %d", i);
    EXPECT(KEPT_OK, kept_set_int64(transaction, key, i, &why));
  }
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  return location;
}

/** KEPT_CYCLES, or as many as take seconds. */
static long many(void) {
  const char *given = getenv("KEPT_CYCLES");
  return given != NULL ? atol(given) : 8000;
}

TEST(closed_handles_of_an_open_store_take_almost_no_memory) {
  kept_store *keeper = NULL;
  const char *location = filled_location(&keeper);
  repeat(many(), 150, read_twice, location);
}

FOLDER_TEST(closed_stores_take_almost_no_memory) {
  kept_store *keeper = NULL;
  const char *location = filled_location(&keeper);
  kept_close(keeper);
  repeat(many(), 150, look_at_the_generation, location);
}

FOLDER_TEST(values_that_were_read_are_freed_with_their_store) {
  kept_store *keeper = NULL;
  const char *location = filled_location(&keeper);
  kept_close(keeper);
  repeat(200, 150, read_everything, location);
}

TEST(layers_and_subscriptions_are_freed_with_their_store) {
  kept_store *keeper = NULL;
  const char *location = filled_location(&keeper);
  repeat(2000, 150, use_layers_and_observe, location);
}
