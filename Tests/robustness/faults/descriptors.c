/* No descriptors left: a program at the limit of its open files opens, reads, writes, observes and forks. Open handles
 * continue to work; calls that must open a file fail with "unavailable"; once descriptors are available, everything
 * works without reopening. Every number of remaining descriptors is tried, until every call succeeds. */
#include "expectations.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_LEFT = 40 };

static struct shared {
  int64_t refusals, child_has_read;
} *shared;

static const char *folder;
static long left;
static kept_store *store;

/* The limit */

static struct rlimit usual;
static int taken[1024], takings;

/* Takes all descriptors but `number`. */
static void exhaust(long number) {
  struct rlimit limit = usual;
  limit.rlim_cur = 256;
  setrlimit(RLIMIT_NOFILE, &limit);
  for (int file; (file = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken[takings++] = file;
  for (long i = 0; i < number && takings > 0; i++) close(taken[--takings]);
}

static void relieve(void) {
  while (takings > 0) close(taken[--takings]);
  setrlimit(RLIMIT_NOFILE, &usual);
}

static void expect_refusal(kept_status status, const char *what) {
  if (status == KEPT_OK) return;
  expect_status(KEPT_UNAVAILABLE, status, what);
  add(&shared->refusals, 1);
}

static int open_descriptors(void) {
  int count = 0;
  DIR *files = opendir("/proc/self/fd");
  while (files && readdir(files)) count++;
  if (files) closedir(files);
  return count;
}

/* Scenes */

static void open_at_limit(const char *path) {
  int before = open_descriptors();
  exhaust(left);
  kept_status status = kept_open(path, NULL, &store, &why);
  relieve();
  expect_refusal(status, "open without descriptors");
  if (status != KEPT_OK) {
    if (open_descriptors() != before) fail("opening in vain has left files open, with %ld descriptors", left);
    store = open_store(path, KEPT_SHARED, 5000);
  }
  expect_ok(set_both(store, 1, KEPT_DURABLE), "write with descriptors again");
  kept_close(store);
}

static void open_there(void *unused) { (void)unused, open_at_limit(folder); }

static void open_new(void *unused) {
  char path[4400];
  snprintf(path, sizeof path, "%s-%ld", folder, left);
  open_at_limit(path);
  expect_whole(path, 1, 1, true);
}

/* Everything that an open store does for the first time. */
static void use(void *unused) {
  int64_t number = 0;
  kept_subscription *subscription = NULL;
  store = open_store(folder, KEPT_SHARED, 5000);
  exhaust(left);
  kept_status read = kept_get_int64(store, "number", &number, &why);
  expect_refusal(read, "read without descriptors");
  if (read == KEPT_OK && number != 1) fail("read %" PRId64 " where 1 is", number);
  kept_status written = set_both(store, 2, KEPT_SHARED);
  expect_refusal(written, "write without descriptors");
  kept_status durable = kept_set_int64(store, "other", left, &why);
  expect_refusal(durable, "write again without descriptors");
  expect_refusal(kept_flush(store, &why), "sync without descriptors");
  expect_refusal(
    kept_observe(store, "", KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL, ignore_notice, NULL, NULL, &subscription, &why),
    "observe without descriptors");
  if (read == KEPT_OK && kept_get_int64(store, "number", &number, &why) != KEPT_OK)
    fail("a value that was read is gone");
  relieve();
  kept_unobserve(subscription);
  if (get_both(store) != (written == KEPT_OK ? 2 : 1)) fail("a write was not what it was said to be");
  expect_ok(set_both(store, 1, KEPT_DURABLE), "write with descriptors again");
  expect_ok(kept_flush(store, &why), "sync with descriptors again");
  kept_close(store);
}

/* The child closes the files that have the locks; they are opened again where they are needed. */
static void fork_at_limit(void *unused) {
  store = open_store(folder, KEPT_SHARED, 5000);
  if (get_both(store) != 1) fail("the beginning is another one");
  pid_t child = fork();
  exhaust(left);
  kept_status written = set_both(store, 1, KEPT_DURABLE);
  expect_refusal(written, child == 0 ? "write in the child" : "write in the parent");
  int64_t number = 1;
  kept_status read = kept_get_int64(store, "first", &number, &why);
  if (child == 0) expect_refusal(read, "read in the child");
  else expect_ok(read, "read in the parent");
  if (number != 1) fail("read %" PRId64 " where 1 is", number);
  if (child == 0) store_word(&shared->child_has_read, left + 1);
  else await_word(&shared->child_has_read, left + 1, "the child did not read");
  relieve();
  expect_ok(set_both(store, 1, KEPT_DURABLE), "write with descriptors again");
  expect_ok(kept_set_int64(store, child == 0 ? "child" : "parent", left, &why), "write after a fork");
  kept_close(store);
  if (child == 0) _exit(0);
  finish(child);
}

static const struct scene {
  const char *name;
  void (*play)(void *unused);
} scenes[] = {
  { "opening", open_there },
  { "making", open_new },
  /* Nothing is opened. */
  { "using", use },
  { "forking", fork_at_limit },
};

int main(int argc, char **argv) {
  begin_torture(argc, argv, 1);
  getrlimit(RLIMIT_NOFILE, &usual);
  shared = share(sizeof *shared);
  for (size_t i = 0; i < COUNT(scenes); i++) {
    int64_t before = load(&shared->refusals), last = -1;
    folder = fresh_folder();
    make_store(folder);
    for (left = 0; load(&shared->refusals) != last && left < MOST_LEFT; left++) {
      last = load(&shared->refusals);
      finish(start(scenes[i].play, NULL));
      expect_whole(folder, 1, 1, true);
    }
    if (left == MOST_LEFT) fail("%s: %d descriptors are not enough", scenes[i].name, MOST_LEFT);
    printf("%s: %" PRId64 " refusals\n", scenes[i].name, load(&shared->refusals) - before);
    if (scenes[i].play != use && load(&shared->refusals) == before) fail("%s: nothing was missing", scenes[i].name);
  }
  return end_torture("%" PRId64 " refusals, each survived", load(&shared->refusals));
}
