/* Forking with layer files: the child reads them again when they change, and its observers hear of it, though the
 * thread that watches them is the parent's. */
#define _XOPEN_SOURCE 700
#include "../recorder.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static kept_store *store_with(const char *managed) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = managed;
  return open_with(fresh_location(), &options);
}

/** Reads, from memory if it can, until the key has a value; false after ten seconds. */
static bool comes_to_read(kept_store *store, int64_t expected) {
  struct timespec moment = { 0, 5000000 };
  for (int i = 0; i < 2000; i++) {
    int64_t value = 0;
    if (kept_get_int64(store, "k", &value, NULL) == KEPT_OK && value == expected) return true;
    nanosleep(&moment, NULL);
  }
  return false;
}

static void await_end(pid_t child) {
  int status = -1;
  CHECK_INT(child, waitpid(child, &status, 0));
  CHECK_INT(0, status);
}

static void parent_and_child_read_what_changes(void) {
  const char *path = fresh_file("{\"values\":{\"k\":1}}");
  kept_store *store = store_with(path);
  for (int i = 0; i < 3; i++) CHECK(comes_to_read(store, 1));
  int go_on[2];
  char byte = 0;
  CHECK_INT(0, pipe(go_on));
  pid_t child = fork();
  if (child == 0) {
    bool was_read = comes_to_read(store, 1) && read(go_on[0], &byte, 1) == 1;
    _exit(!was_read || !comes_to_read(store, 2));
  }
  put_file(path, "{\"values\":{\"k\":2}}");
  CHECK(comes_to_read(store, 2));
  CHECK_INT(1, write(go_on[1], &byte, 1));
  await_end(child);
  close(go_on[0]), close(go_on[1]);
}

static void an_observer_of_the_child_hears_of_a_file(void) {
  const char *path = fresh_file("{}");
  kept_store *store = store_with(path);
  pid_t child = fork();
  if (child == 0) {
    recorder *recorder = new_recorder();
    record(recorder, store, "k", KEPT_OBSERVE_KEY);
    put_file(path, "{\"values\":{\"k\":1}}");
    _exit(strcmp("L k:->1;", recorded(recorder, 1)) != 0);
  }
  await_end(child);
}

static void a_child_that_closes_leaves_the_parent_its_files(void) {
  const char *path = fresh_file("{}");
  kept_store *store = store_with(path);
  pid_t child = fork();
  if (child == 0) {
    kept_close(store);
    _exit(kept_set_bool(store, "k", true, NULL) != KEPT_CLOSED);
  }
  await_end(child);
  put_file(path, "{\"values\":{\"k\":1}}");
  CHECK(comes_to_read(store, 1));
}

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(parent_and_child_read_what_changes),
    TEST(an_observer_of_the_child_hears_of_a_file),
    TEST(a_child_that_closes_leaves_the_parent_its_files),
    { 0 },
  };
  static const role roles[] = { { 0 } };
  return run_tests(argc, argv, tests, roles);
}
