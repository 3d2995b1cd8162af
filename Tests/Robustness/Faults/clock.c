/* A wall clock that is set back while the library waits: timeouts and helper threads must use a monotonic clock. A call
 * for the wall clock returns a time one hour ahead of the system's, as if the clock were set back by an hour right
 * afterwards. */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <kept.h>
#include <pthread.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (real == NULL) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int status = real(clock, time);
  if (status == 0 && clock == CLOCK_REALTIME) time->tv_sec += 3600;
  return status;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int received;

/** Takes until the other observer was called. */
static void receive_slowly(void *context, const kept_notice *notice) {
  (void)context, (void)notice;
  pthread_mutex_lock(&lock);
  while (!received) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

static void receive(void *context, const kept_notice *notice) {
  (void)context, (void)notice;
  pthread_mutex_lock(&lock);
  received = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static void an_observer_is_called_beside_a_slow_one(kept_store *store) {
  kept_subscription *slow, *quick;
  kept_error error;
  expect_ok(kept_observe(store, "key", 0, receive_slowly, NULL, NULL, &slow, &error), "observe slowly", &error);
  expect_ok(kept_observe(store, "key", 0, receive, NULL, NULL, &quick, &error), "observe", &error);
  expect_ok(kept_set_int64(store, "key", 1, &error), "set", &error);
  pthread_mutex_lock(&lock);
  while (!received) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

struct migrating {
  pthread_t thread;
  kept_store *store;
  int began, may_end;
};

static kept_status wait_to_end(void *context, kept_store *transaction, kept_error *error) {
  struct migrating *migrating = context;
  (void)transaction, (void)error;
  pthread_mutex_lock(&lock);
  migrating->began = 1;
  pthread_cond_broadcast(&changed);
  while (!migrating->may_end) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  return KEPT_OK;
}

static void *migrate(void *context) {
  struct migrating *migrating = context;
  kept_migration step = { 1, 0, "wait", wait_to_end, context };
  kept_error error;
  expect_ok(kept_migrate(migrating->store, &step, 1, KEPT_MIGRATE_NO_BACKUP, NULL, NULL, &error), "migrate", &error);
  return NULL;
}

static void a_migration_waits_for_another_no_longer_than_its_time_out(kept_store *store) {
  struct migrating migrating = { .store = store };
  kept_migration step = { 1, 0, "the same", wait_to_end, &migrating };
  kept_error error;
  if (pthread_create(&migrating.thread, NULL, migrate, &migrating) != 0) fail("no thread");
  pthread_mutex_lock(&lock);
  while (!migrating.began) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  kept_status status = kept_migrate(store, &step, 1, KEPT_MIGRATE_NO_BACKUP, NULL, NULL, &error);
  expect_status(KEPT_BUSY, status, &error, "migrate beside another thread");
  pthread_mutex_lock(&lock);
  migrating.may_end = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  pthread_join(migrating.thread, NULL);
}

static void play(void *folder) {
  kept_store *store = open_store(folder, KEPT_SHARED, 20);
  an_observer_is_called_beside_a_slow_one(store);
  a_migration_waits_for_another_no_longer_than_its_time_out(store);
  kept_close(store);
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 1);
  finish(start(play, (void *)fresh_folder()));
  return end_torture("2 waits beside a clock that was set back");
}
