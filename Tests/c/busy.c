/* Writers that wait for a writer in another process: for the timeout that their handle was opened with, and no
 * longer. */
#include "suite.h"
#include "write_lock.h"

#include <pthread.h>

ROLE(lock_holder, location) {
  int file = take_write_lock(location);
  CHECK(file >= 0);
  signal_parent();
  await_parent();
  close(file);
}

FOLDER_TEST(a_writer_that_waits_too_long_fails_and_changes_nothing) {
  const char *location = fresh_folder();
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  options.busy_timeout_ms = 20;
  EXPECT(KEPT_OK, kept_open(location, &options, &store, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
  child child = start_child("lock_holder", location);
  await_child(&child);
  EXPECT(KEPT_BUSY, kept_set_int64(store, "key", 2, &why));
  CHECK_TEXT("1", json_of(store, "key"));
  CHECK_INT(0, finish_child(&child));
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 2, &why));
  kept_close(store);
}

static struct {
  kept_store *patient, *hasty;
  child holder;
} waiting;

/** Times out twice, then ends the transaction that both wait for. */
static void *write_hastily(void *unused) {
  for (int i = 0; i < 2; i++) CHECK_INT(KEPT_BUSY, kept_set_int64(waiting.hasty, "hasty", 1, NULL));
  CHECK_INT(0, finish_child(&waiting.holder));
  return unused;
}

FOLDER_TEST(each_handle_waits_for_its_own_timeout) {
  const char *location = fresh_folder();
  kept_options hasty = KEPT_OPTIONS_INIT, patient = KEPT_OPTIONS_INIT;
  pthread_t thread;
  hasty.busy_timeout_ms = 20;
  patient.busy_timeout_ms = 60000;
  waiting.hasty = open_with(location, &hasty);
  waiting.patient = open_with(location, &patient);
  waiting.holder = start_child("lock_holder", location);
  await_child(&waiting.holder);
  CHECK_INT(0, pthread_create(&thread, NULL, write_hastily, NULL));
  EXPECT(KEPT_OK, kept_set_int64(waiting.patient, "patient", 1, &why));
  CHECK_INT(0, pthread_join(thread, NULL));
}
