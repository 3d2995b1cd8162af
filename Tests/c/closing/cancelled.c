/* Threads that are cancelled with pthread_cancel() in the middle of a call: the call ends first, and no lock stays
 * held. The thread is cancelled before the call begins, so the first cancellation point inside the call would end
 * it. */
#include "recorder.h"
#include "suite.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
  kept_store *store;
  const char *folder; /* for exports, backups and another store */
  kept_subscription *subscription;
  int has_returned;
} shared;

static kept_status do_nothing(void *context, kept_store *transaction, kept_error *error) { return KEPT_OK; }

/* The calls. Each waits for a file, a lock or another thread. */

static void set(void) { kept_set_int64(shared.store, "key", 1, NULL); }
static void get_what_is_not_in_memory(void) {
  int64_t value;
  kept_get_int64(shared.store, "never read", &value, NULL);
}
static void set_json(void) { kept_set_json(shared.store, "json", "[1]", NULL); }
static void open_and_close(void) {
  kept_store *store = NULL;
  kept_open(file_of(shared.folder, "other"), NULL, &store, NULL);
  kept_close(store);
}
static void flush(void) { kept_flush(shared.store, NULL); }
static void transact(void) {
  kept_store *transaction = NULL;
  kept_begin(shared.store, NULL, &transaction, NULL);
  kept_set_int64(transaction, "key", 2, NULL);
  kept_commit(transaction, NULL, NULL);
}
static void roll_back(void) {
  kept_store *transaction = NULL;
  kept_begin(shared.store, NULL, &transaction, NULL);
  kept_set_int64(transaction, "key", 3, NULL);
  kept_rollback(transaction);
}
static void look_at_a_snapshot(void) {
  kept_store *snapshot = NULL;
  int64_t value;
  kept_snapshot(shared.store, "", &snapshot, NULL);
  kept_get_int64(snapshot, "key", &value, NULL);
  kept_snapshot_end(snapshot);
}
static void declare(void) { kept_declare_json(shared.store, "declared", "{\"type\":\"string\"}", NULL); }
static void observe(void) {
  kept_observe(shared.store, "", KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL, ignore_notice, NULL, NULL,
    &shared.subscription, NULL);
}
static void unobserve(void) { kept_unobserve(shared.subscription); }
static void export_to_file(void) { kept_export_file(shared.store, file_of(shared.folder, "export"), NULL, NULL); }
static void import_from_file(void) {
  kept_import_file(shared.store, file_of(shared.folder, "export"), NULL, NULL, NULL);
}
static void back_up(void) { kept_backup(shared.store, file_of(shared.folder, "backup"), 0, NULL, NULL); }
static void restore(void) { kept_restore(shared.store, file_of(shared.folder, "backup"), NULL, NULL, NULL); }
static void migrate(void) {
  kept_migration step = { 1, 0, "nothing", do_nothing, NULL };
  kept_migrate(shared.store, &step, 1, 0, NULL, NULL, NULL);
}
static void rename_key(void) { kept_rename(shared.store, "key", "renamed", NULL); }
static void remove_all(void) { kept_remove_all(shared.store, "", NULL, NULL); }

static void *run_after_cancelling(void *call) {
  pthread_cancel(pthread_self());
  (*(void (**)(void))call)();
  __atomic_store_n(&shared.has_returned, 1, __ATOMIC_RELEASE);
  for (;;) pause();
  return NULL;
}

/** Blocks forever if a lock is still held. */
static void expect_no_lock(const char *name) {
  int64_t found = 0;
  kept_store *transaction = NULL;
  EXPECT(KEPT_OK, kept_set_int64(shared.store, "key", 5, &why));
  EXPECT(KEPT_OK, kept_get_int64(shared.store, "key", &found, &why));
  CHECK_INT(5, found);
  EXPECT(KEPT_OK, kept_begin(shared.store, NULL, &transaction, &why));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  /* A fork waits for every thread that is inside Kept. */
  pid_t child = fork();
  if (child == 0) leave_fork(0);
  int end = end_of(child);
  if (end != 0) fprintf(stderr, "after %s\n", name);
  CHECK_INT(0, end);
}

static void cancel_in(const char *name, void (*call)(void)) {
  pthread_t thread;
  void *end = NULL;
  shared.has_returned = 0;
  CHECK_INT(0, pthread_create(&thread, NULL, run_after_cancelling, &call));
  CHECK_INT(0, pthread_join(thread, &end));
  CHECK(end == PTHREAD_CANCELED);
  if (!shared.has_returned) fprintf(stderr, "%s was cancelled half way\n", name);
  CHECK(shared.has_returned);
  expect_no_lock(name);
}

FOLDER_TEST(a_call_ends_before_its_thread_is_cancelled) {
  shared.store = fresh_store();
  shared.folder = fresh_folder();
  mkdir(shared.folder, 0700);
#define CANCEL(call) cancel_in(#call, call)
  CANCEL(set);
  CANCEL(get_what_is_not_in_memory);
  CANCEL(set_json);
  CANCEL(open_and_close);
  CANCEL(flush);
  CANCEL(transact);
  CANCEL(roll_back);
  CANCEL(look_at_a_snapshot);
  CANCEL(declare);
  CANCEL(observe);
  CANCEL(unobserve);
  CANCEL(export_to_file);
  CANCEL(import_from_file);
  CANCEL(back_up);
  CANCEL(restore);
  CANCEL(migrate);
  CANCEL(rename_key);
  CANCEL(remove_all);
}

/* Callbacks that cancel their own thread. */

static int cancel_and_count(void *count, const char *key) {
  pthread_cancel(pthread_self());
  pthread_testcancel();
  ++*(int *)count;
  return 0;
}

static void *list_and_cancel(void *count) {
  kept_list(shared.store, "", cancel_and_count, count, NULL);
  for (;;) pause();
  return NULL;
}

TEST(a_callback_that_cancels_its_thread_does_not_end_the_call) {
  shared.store = fresh_store();
  int count = 0;
  pthread_t thread;
  void *end = NULL;
  for (char key[] = "a"; *key < 'f'; ++*key) EXPECT(KEPT_OK, kept_set_bool(shared.store, key, true, &why));
  CHECK_INT(0, pthread_create(&thread, NULL, list_and_cancel, &count));
  CHECK_INT(0, pthread_join(thread, &end));
  CHECK(end == PTHREAD_CANCELED);
  CHECK_INT(5, count);
  expect_no_lock("kept_list");
}

static void cancel_delivery(recorder *recorder) {
  pthread_cancel(pthread_self());
  pthread_testcancel();
}

TEST(a_callback_that_cancels_the_delivery_thread_is_called_again) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  recorder->then = cancel_delivery;
  record(recorder, store, "key", KEPT_OBSERVE_KEY);
  for (int value = 1; value <= 3; value++) {
    EXPECT(KEPT_OK, kept_set_int64(store, "key", value, &why));
    recorded(recorder, value);
  }
  kept_close(store);
  CHECK_INT(1, released(recorder));
}
