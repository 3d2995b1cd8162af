/* No descriptors left: a program at the limit of its open files opens, reads, writes, observes and forks. Open handles
 * continue to work; calls that must open a file fail with "unavailable"; once descriptors are available, everything
 * works without reopening. Every number of remaining descriptors is tried, until every call succeeds. */
#include "check.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
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

static void expect_refusal(kept_status status, const kept_error *error, const char *what) {
  if (status == KEPT_OK) return;
  expect_status(KEPT_UNAVAILABLE, status, error, what);
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
  kept_error error;
  int before = open_descriptors();
  exhaust(left);
  kept_status status = kept_open(path, NULL, &store, &error);
  relieve();
  expect_refusal(status, &error, "open without descriptors");
  if (status != KEPT_OK) {
    if (open_descriptors() != before) fail("opening in vain has left files open, with %ld descriptors", left);
    store = open_store(path, KEPT_SHARED, 5000);
  }
  expect_ok(set_both(store, 1, KEPT_DURABLE, &error), "write with descriptors again", &error);
  kept_close(store);
}

static void open_there(void *unused) { (void)unused, open_at_limit(folder); }

static void open_new(void *unused) {
  char path[4400];
  (void)unused;
  snprintf(path, sizeof path, "%s-%ld", folder, left);
  open_at_limit(path);
  expect_whole(path, 1, 1, true);
}

static void ignore(void *context, const kept_notice *notice) { (void)context, (void)notice; }

/* Everything that an open store does for the first time. */
static void use(void *unused) {
  kept_error error;
  int64_t number = 0;
  kept_subscription *subscription = NULL;
  (void)unused;
  store = open_store(folder, KEPT_SHARED, 5000);
  exhaust(left);
  kept_status read = kept_get_int64(store, "number", &number, &error);
  expect_refusal(read, &error, "read without descriptors");
  if (read == KEPT_OK && number != 1) fail("read %" PRId64 " where 1 is", number);
  kept_status written = set_both(store, 2, KEPT_SHARED, &error);
  expect_refusal(written, &error, "write without descriptors");
  kept_status durable = kept_set_int64(store, "other", left, &error);
  expect_refusal(durable, &error, "write again without descriptors");
  expect_refusal(kept_flush(store, &error), &error, "sync without descriptors");
  expect_refusal(
    kept_observe(store, "", KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL, ignore, NULL, NULL, &subscription, &error),
    &error, "observe without descriptors");
  if (read == KEPT_OK && kept_get_int64(store, "number", &number, &error) != KEPT_OK) fail("what was read is gone");
  relieve();
  kept_unobserve(subscription);
  if (get_both(store) != (written == KEPT_OK ? 2 : 1)) fail("a write was not what it was said to be");
  expect_ok(set_both(store, 1, KEPT_DURABLE, &error), "write with descriptors again", &error);
  expect_ok(kept_flush(store, &error), "sync with descriptors again", &error);
  kept_close(store);
}

/* A fork closes the connections, and the child the journal; they are opened again where they are needed. */
static void fork_at_limit(void *unused) {
  kept_error error;
  int status = 0;
  (void)unused;
  store = open_store(folder, KEPT_SHARED, 5000);
  if (get_both(store) != 1) fail("the beginning is another one");
  pid_t child = fork();
  exhaust(left);
  kept_status written = set_both(store, 1, KEPT_DURABLE, &error);
  expect_refusal(written, &error, child == 0 ? "write in the child" : "write in the parent");
  if (get_both(store) != 1) fail("what was read before the fork is gone");
  /* It could not follow a commit. */
  if (child == 0) store_word(&shared->child_has_read, left + 1);
  else await_word(&shared->child_has_read, left + 1, "the child did not read");
  relieve();
  expect_ok(set_both(store, 1, KEPT_DURABLE, &error), "write with descriptors again", &error);
  expect_ok(kept_set_int64(store, child == 0 ? "child" : "parent", left, &error), "write after a fork", &error);
  kept_close(store);
  if (child == 0) _exit(0);
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("the child found something wrong");
}

static const struct scene {
  const char *name;
  void (*play)(void *unused);
} scenes[] = {
  { "opening", open_there },
  { "making", open_new },
  { "using", use },
  { "forking", fork_at_limit },
};

int main(int argc, char **argv) {
  begin_torture(argc, argv, 1);
  getrlimit(RLIMIT_NOFILE, &usual);
  shared = share(sizeof *shared);
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
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
    if (load(&shared->refusals) == before) fail("%s: nothing was ever missing", scenes[i].name);
  }
  return end_torture("%" PRId64 " refusals, each survived", load(&shared->refusals));
}
