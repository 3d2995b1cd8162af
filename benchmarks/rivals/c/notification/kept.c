/* Kept as a C program uses it: a callback on the library's thread. */
#include "channel.h"

#include "../fatal.h"
#include "../folders.h"

#include <kept.h>
#include <stdlib.h>
#include <unistd.h>

static void check(kept_status status, const kept_error *error) {
  if (status != KEPT_OK) die("Kept: %s", error->message);
}

static void *open_store(const char *folder) {
  kept_store *store;
  kept_error error;
  char *path = folder_path(folder, "store.kept");
  check(kept_open(path, NULL, &store, &error), &error);
  free(path);
  return store;
}

static void note(void *samples, const kept_notice *notice) {
  int64_t value;
  kept_error error;
  check(kept_value_int64(kept_notice_new(notice, 0), &value, &error), &error);
  record_delivery(samples, (uint64_t)value);
}

static void receive(const char *folder, samples *samples) {
  kept_subscription *subscription;
  kept_error error;
  kept_store *store = open_store(folder);
  check(kept_observe(store, "clock", KEPT_OBSERVE_KEY, note, samples, NULL, &subscription, &error), &error);
  atomic_store(&samples->is_ready, 1);
  for (;;) pause();
}

static void write_value(void *store, uint64_t value) {
  kept_error error;
  check(kept_set_int64(store, "clock", (int64_t)value, &error), &error);
}

const channel kept_channel = { "Kept", "candidate", receive, open_store, write_value };
