/* No thread can be started: what depends on one is refused, and everything else goes on. When threads can be started
 * again, nothing has to be opened again. */
#include "expectations.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_refused;
static int64_t started;
static char managed[256];

/* Interposes the C library's. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (!real) {
    real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
  }
  if (is_refused) return EAGAIN;
  add(&started, 1);
  return real(thread, attributes, run, context);
}

static void expect_refused(kept_status status, const char *what) {
  expect_status(KEPT_FAILED, status, what);
  if (strstr(why.message, "thread") == NULL) fail("%s: %s", what, why.message);
}

static kept_status open_with(const char *location, const char *managed_file, kept_store **store) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = managed_file;
  return kept_open(location, &options, store, &why);
}

/** Without a thread that follows the file, a lock that the administrator adds later would not be noticed. */
static void files_of_layers_are_followed_or_the_store_is_not_opened(const char *folder) {
  kept_store *store = NULL;
  int64_t volume = 0;
  is_refused = true;
  expect_refused(open_with(folder, managed, &store), "open with a managed layer");
  is_refused = false;
  expect_ok(open_with(folder, managed, &store), "open with a managed layer");
  expect_ok(kept_get_int64(store, "volume", &volume, &why), "read");
  if (volume != 7) fail("the managed layer is not read: %d", (int)volume);
  kept_close(store);
}

static void changes_are_observed_or_observing_is_refused(const char *location) {
  kept_subscription *subscription = NULL;
  kept_store *store = NULL;
  is_refused = true;
  expect_ok(open_with(location, NULL, &store), "open");
  expect_refused(
    kept_observe(store, "key", KEPT_OBSERVE_KEY, ignore_notice, NULL, NULL, &subscription, &why), "observe");
  is_refused = false;
  expect_ok(kept_observe(store, "key", KEPT_OBSERVE_KEY, ignore_notice, NULL, NULL, &subscription, &why), "observe");
  kept_unobserve(subscription);
  kept_close(store);
}

/** The thread that syncs writes and erases secrets starts with the next use. */
static void maintenance_begins_as_soon_as_it_can(const char *folder) {
  kept_store *store = NULL;
  int64_t number = 0;
  is_refused = true;
  expect_ok(open_with(folder, NULL, &store), "open");
  for (int64_t i = 0; i < 3; i++) expect_ok(kept_set_int64(store, "number", i, &why), "set");
  expect_ok(kept_get_int64(store, "number", &number, &why), "read");
  expect_ok(kept_flush(store, &why), "flush");
  is_refused = false;
  int64_t before = load(&started);
  expect_ok(kept_set_int64(store, "number", 4, &why), "set");
  if (load(&started) == before) fail("no maintenance thread was started");
  kept_close(store);
}

static void play(void *context) {
  const char *folder = context;
  char location[300];
  files_of_layers_are_followed_or_the_store_is_not_opened(folder);
  changes_are_observed_or_observing_is_refused(folder);
  snprintf(location, sizeof location, "dir:%s-files", folder);
  changes_are_observed_or_observing_is_refused(location);
  maintenance_begins_as_soon_as_it_can(folder);
}

int main(int argc, char **argv) {
  char files[300];
  begin_torture(argc, argv, 1);
  const char *folder = fresh_folder();
  snprintf(managed, sizeof managed, "%s-managed.json", folder);
  put_file(managed, "{\"values\":{\"volume\":7}}");
  finish(start(play, (void *)folder));
  unlink(managed);
  snprintf(files, sizeof files, "%s-files", folder);
  remove_tree(files);
  return end_torture("nothing went on without the thread that it needs");
}
