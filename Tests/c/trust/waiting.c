/* One store does not delay another: a process that holds a store's folder locked, as one that recovers it does, does
 * not prevent others from opening other stores. */
#include "clock.h"
#include "others.h"
#include "suite.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

ROLE(holds_the_folder, location) {
  int folder = open(location, O_RDONLY);
  CHECK(folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) == 0);
  signal_parent();
  await_parent();
}

static int has_returned;

static void *open_held(void *location) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  options.busy_timeout_ms = 60000;
  kept_status status = kept_open(location, &options, &store, NULL);
  __atomic_store_n(&has_returned, 1, __ATOMIC_SEQ_CST);
  CHECK_INT(KEPT_OK, status);
  kept_close(store);
  return NULL;
}

/** Waits until this process has opened a folder and the open call has not returned; whether that happened. */
static int has_open(const char *path) {
  for (int round = 0; round < 30000; round++) {
    for (int file = 3; file < 64; file++) {
      char link[32], target[4200];
      snprintf(link, sizeof link, "/proc/self/fd/%d", file);
      ssize_t length = readlink(link, target, sizeof target - 1);
      if (length <= 0) continue;
      target[length] = 0;
      if (strcmp(target, path) == 0) return !__atomic_load_n(&has_returned, __ATOMIC_SEQ_CST);
    }
    let_pass(1000);
  }
  return 0;
}

FOLDER_TEST(opening_one_store_does_not_wait_for_another) {
  const char *held = closed_store(), *other = closed_store();
  child holder = start_child("holds_the_folder", held);
  pthread_t thread;
  await_child(&holder);
  CHECK_INT(0, pthread_create(&thread, NULL, open_held, (void *)held));
  CHECK(has_open(held));
  CHECK_TEXT("1", json_of(open_at(other), "number"));
  CHECK_INT(0, __atomic_load_n(&has_returned, __ATOMIC_SEQ_CST));
  CHECK_INT(0, finish_child(&holder));
  CHECK_INT(0, pthread_join(thread, NULL));
}
