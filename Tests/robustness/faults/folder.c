/* A store's folder, or one of its files, is removed while programs have it open: their calls fail with "unavailable",
 * they write nothing into another store's files or into a copy, and they continue when it is back. A pulse that was
 * removed is created again, and every process finds the new one. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A process checks every 0.9 seconds whether its open store still exists; a busy machine may take longer. */
enum { NOTICE_MS = 60000 };

static char folder[4300], aside[4400];
static struct shared {
  int64_t step, answer;
} *shared;

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk) {
  (void)status, (void)type, (void)walk;
  return remove(path);
}

static void remove_folder(void) { nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

static void move(const char *from, const char *to) {
  if (rename(from, to) != 0) fail("%s cannot be renamed: %s", from, strerror(errno));
}

static kept_store *open_and_use(void) {
  kept_error error;
  kept_store *store = open_store(folder, KEPT_SHARED, 1000);
  if (get_both(store) != 1) fail("the beginning is another one");
  expect_ok(kept_set_int64(store, "number", 1, &error), "write", &error);
  return store;
}

/* Writes until the program has noticed. From then on every call must fail the same way. */
static void await_refusal(kept_store *store, const char *what) {
  kept_error error;
  int64_t number = 0, end = now_ns() + NOTICE_MS * INT64_C(1000000);
  kept_status status;
  while ((status = kept_set_int64(store, "written", now_ns(), &error)) == KEPT_OK) {
    if (now_ns() > end) fail("%s: not noticed in %d ms", what, NOTICE_MS);
    let_pass(1000);
  }
  expect_status(KEPT_UNAVAILABLE, status, &error, what);
  expect_status(KEPT_UNAVAILABLE, kept_get_int64(store, "number", &number, &error), &error, what);
  expect_status(KEPT_UNAVAILABLE, kept_flush(store, &error), &error, what);
  expect_status(KEPT_UNAVAILABLE, set_both(store, 9, KEPT_DURABLE, &error), &error, what);
}

/* Scenarios: each in its own process, with a store where `number`, `first` and `second` are 1 */

static void removed(void *unused) {
  kept_error error;
  int64_t number = 0;
  (void)unused;
  kept_store *store = open_and_use();
  remove_folder();
  expect_status(KEPT_UNAVAILABLE, set_both(store, 9, KEPT_DURABLE, &error), &error, "a durable write knows at once");
  await_refusal(store, "the folder was removed");
  if (access(folder, F_OK) == 0) fail("writing has made the folder again");
  /* Opening creates a new store, even while the old handle is open. */
  kept_store *new = open_store(folder, KEPT_SHARED, 1000);
  expect_status(KEPT_ABSENT, kept_get_int64(new, "number", &number, NULL), &(kept_error){ KEPT_ABSENT, 0, 0, ";" },
    "a new store is empty");
  expect_ok(set_both(new, 1, KEPT_SHARED, &error), "write to the new store", &error);
  await_refusal(store, "another store is at the path");
  kept_close(store);
  expect_ok(set_both(new, 1, KEPT_DURABLE, &error), "write to the new store", &error);
  kept_close(new);
  expect_whole(folder, 1, 1, true);
}

static void renamed(void *unused) {
  kept_error error;
  (void)unused;
  kept_store *store = open_and_use();
  move(folder, aside);
  await_refusal(store, "the folder was renamed");
  move(aside, folder);
  expect_ok(set_both(store, 2, KEPT_SHARED, &error), "write when the folder is there again", &error);
  expect_whole(folder, 2, 2, true);
  if (get_both(store) != 2) fail("what was written is not there");
  kept_close(store);
}

static void make_another(void *unused) {
  kept_error error;
  (void)unused;
  kept_store *store = open_store(folder, KEPT_SHARED, 1000);
  expect_ok(set_both(store, 7, KEPT_SHARED, &error), "write to another store", &error);
  store_word(&shared->step, 1);
  await_word(&shared->step, 2, "the old one did not end");
  expect_ok(kept_set_int64(store, "number", 7, &error), "write to another store", &error);
  if (get_both(store) != 7) fail("another store has values of the old one");
  kept_close(store);
}

static void replaced(void *unused) {
  (void)unused;
  kept_store *store = open_and_use();
  move(folder, aside);
  pid_t other = start(make_another, NULL);
  await_word(&shared->step, 1, "no other store was made");
  await_refusal(store, "another process has made a store at the path");
  kept_close(store);
  store_word(&shared->step, 2);
  finish(other);
  expect_whole(folder, 7, 7, true);
  expect_whole(aside, 1, 1, true);
}

/* After a fork, both processes open their connections by path. */
static void replaced_before_a_fork(void *unused) {
  kept_error error;
  (void)unused;
  kept_store *store = open_and_use();
  move(folder, aside);
  make_store(folder);
  expect_status(KEPT_UNAVAILABLE, set_both(store, 9, KEPT_SHARED, &error), &error, "write into another store");
  expect_status(KEPT_UNAVAILABLE, kept_flush(store, &error), &error, "sync another store");
  kept_close(store);
  expect_whole(folder, 1, 1, true);
  expect_whole(aside, 1, 1, true);
}

/* The store is copied while it is closed, so that the copy has the same identity, and yesterday's state. */
static void copy_store(void) {
  char command[20000];
  snprintf(command, sizeof command, "cp -a '%s' '%s-copy' && cp -a '%s' '%s-before'", folder, folder, folder, folder);
  if (system(command) != 0) fail("the store cannot be copied");
}

static void put_copy_in_place(void) {
  char copy[4400];
  snprintf(copy, sizeof copy, "%s-copy", folder);
  move(folder, aside);
  move(copy, folder);
}

/* Nothing in the copy has changed, and the store that was moved has what was written. */
static void expect_apart(int64_t written) {
  char command[20000];
  kept_error error;
  int64_t number = 0;
  snprintf(command, sizeof command, "diff -r '%s' '%s-before' && rm -r '%s-before'", folder, folder, folder);
  if (system(command) != 0) fail("a program has written into the copy");
  expect_whole(folder, 1, 1, true);
  expect_whole(aside, 1, 1, true);
  kept_store *store = open_store(aside, KEPT_SHARED, 1000);
  expect_ok(kept_get_int64(store, "number", &number, &error), "read what was written", &error);
  if (number != written) fail("the store has %" PRId64 " and not %" PRId64, number, written);
  kept_close(store);
}

/* Returns a store with a commit that is not settled yet. */
static kept_store *open_and_write(bool settles) {
  kept_error error;
  char *json = NULL;
  kept_store *store = open_and_use();
  /* The history is read from the database. */
  if (settles) expect_ok(kept_history_json(store, "number", 0, &json, &error), "settle", &error);
  kept_free(json);
  expect_ok(kept_set_int64(store, "number", 2, &error), "write", &error);
  return store;
}

static void exchanged(void *unused) {
  (void)unused;
  copy_store();
  kept_store *store = open_and_write(false);
  put_copy_in_place();
  await_refusal(store, "a copy of the store is at the path");
  kept_close(store);
  expect_apart(2);
}

/* Closing settles; it does not wait until the exchange was noticed. */
static void exchanged_and_closed(void *settles) {
  copy_store();
  kept_store *store = open_and_write(settles != NULL);
  put_copy_in_place();
  kept_close(store);
  expect_apart(2);
}

static void settled_and_exchanged(void *unused) {
  (void)unused;
  exchanged_and_closed(&shared);
}

static void write_in_child(void *own) {
  kept_store *store = own;
  kept_error error;
  expect_ok(kept_set_int64(store, "number", 3, &error), "write in the child", &error);
  store_word(&shared->step, 1);
  await_word(&shared->step, 2, "the copy was not put in place");
  await_refusal(store, "a copy of the store is at the path in the child");
  kept_close(store);
}

static void exchanged_after_a_fork(void *unused) {
  (void)unused;
  copy_store();
  kept_store *store = open_and_write(true);
  pid_t child = start(write_in_child, store);
  await_word(&shared->step, 1, "the child has not written");
  put_copy_in_place();
  store_word(&shared->step, 2);
  finish(child);
  await_refusal(store, "a copy of the store is at the path");
  kept_close(store);
  expect_apart(3);
}

/* Waits until the page that a program has mapped is that of the file at the path. */
static void await_same_page(kept_store *store) {
  char pulse[4400];
  const uint64_t *generation = kept_store_generation(store);
  int64_t end = now_ns() + NOTICE_MS * INT64_C(1000000);
  snprintf(pulse, sizeof pulse, "%s/pulse", folder);
  for (uint64_t mapped = 0, in_file = 1; mapped != in_file; let_pass(1000)) {
    int file = open(pulse, O_RDONLY);
    if (file >= 0 && pread(file, &in_file, sizeof in_file, 64) != sizeof in_file) in_file = mapped + 1;
    if (file >= 0) close(file);
    mapped = __atomic_load_n(generation, __ATOMIC_SEQ_CST);
    if (now_ns() > end) fail("the page is not that of the file after %d ms", NOTICE_MS);
  }
}

/* Writes 2, 3, 4 on request. */
static void write_on_demand(void *unused) {
  kept_error error;
  (void)unused;
  kept_store *store = open_store(folder, KEPT_SHARED, 1000);
  for (int64_t step = 2; step < 5; step++) {
    await_word(&shared->step, step, "no write was requested");
    expect_ok(set_both(store, step, KEPT_SHARED, &error), "write", &error);
    await_same_page(store);
    store_word(&shared->answer, step);
  }
  kept_close(store);
}

static void pulse_removed(void *unused) {
  char pulse[4400];
  kept_error error;
  (void)unused;
  kept_store *store = open_and_use();
  snprintf(pulse, sizeof pulse, "%s/pulse", folder);
  if (unlink(pulse) != 0) fail("the pulse cannot be removed");
  pid_t other = start(write_on_demand, NULL);
  store_word(&shared->step, 2);
  await_word(&shared->answer, 2, "nothing was written");
  /* Writes of other processes become visible, at the latest when the page is found to be out of date. */
  for (int64_t end = now_ns() + NOTICE_MS * INT64_C(1000000); get_both(store) != 2; let_pass(1000))
    if (now_ns() > end) fail("a commit on another page is not noticed");
  await_same_page(store);
  /* Both have the same page: changes are now visible at once. */
  for (int64_t step = 3; step < 5; step++) {
    store_word(&shared->step, step);
    await_word(&shared->answer, step, "nothing was written");
    if (get_both(store) != step) fail("a stale read after the pulse was made anew");
  }
  finish(other);
  expect_ok(set_both(store, 1, KEPT_SHARED, &error), "write", &error);
  kept_close(store);
  expect_whole(folder, 1, 1, true);
}

/* Accessing a page that no longer exists kills the process, but for 0.9 seconds after a use the maintenance thread
 * checks the file first, and repairs it. */
static void pulse_cut(void *unused) {
  char pulse[4400];
  struct stat status;
  kept_error error;
  (void)unused;
  int64_t start = now_ns();
  kept_store *store = open_and_use();
  while (now_ns() - start > 300 * INT64_C(1000000)) {
    kept_close(store);
    start = now_ns();
    store = open_and_use();
  }
  if (kept_store_generation(store) == NULL) fail("no generation");
  snprintf(pulse, sizeof pulse, "%s/pulse", folder);
  if (truncate(pulse, 0) != 0) fail("the pulse cannot be cut");
  for (int64_t end = now_ns() + NOTICE_MS * INT64_C(1000000); stat(pulse, &status) != 0 || status.st_size < 4096;) {
    if (now_ns() > end) fail("a truncated pulse was not restored in %d ms", NOTICE_MS);
    let_pass(1000);
  }
  expect_ok(set_both(store, 1, KEPT_SHARED, &error), "write", &error);
  expect_ok(kept_set_int64(store, "number", 2, &error), "write", &error);
  if (get_both(store) != 1) fail("a value is another one after the pulse was cut");
  kept_close(store);
  expect_whole(folder, 1, 1, true);
}

/* Removes all write permission, for users without special rights. */
static void forbidden(void *unused) {
  kept_error error;
  int64_t number = 0;
  (void)unused;
  kept_store *store = open_and_use();
  if (geteuid() == 0) {
    if (chmod(folder, 0755) != 0 || chown(folder, 0, 0) != 0) fail("the folder cannot be given away");
    if (setegid(65534) != 0 || seteuid(65534) != 0) fail("no other user can be taken on");
  } else if (chmod(folder, 0500) != 0) {
    fail("the folder cannot be closed");
  }
  expect_ok(kept_get_int64(store, "number", &number, &error), "read what is open", &error);
  kept_status status = set_both(store, 1, KEPT_SHARED, &error);
  if (status != KEPT_OK) expect_status(KEPT_DENIED, status, &error, "write without permission");
  kept_store *another = NULL;
  char inside[4400];
  snprintf(inside, sizeof inside, "%s/inside", folder);
  expect_status(KEPT_DENIED, kept_open(inside, NULL, &another, &error), &error, "make a store without permission");
  if (geteuid() != getuid() && (seteuid(0) != 0 || setegid(0) != 0)) fail("the old user cannot be taken on");
  if (chmod(folder, 0700) != 0) fail("the folder cannot be opened");
  expect_ok(set_both(store, 1, KEPT_DURABLE, &error), "write with permission again", &error);
  kept_close(store);
  expect_whole(folder, 1, 1, true);
}

static const struct scenario {
  const char *name;
  void (*play)(void *unused);
} scenarios[] = {
  { "removed", removed },
  { "renamed", renamed },
  { "replaced", replaced },
  { "replaced before a fork", replaced_before_a_fork },
  { "exchanged for a copy", exchanged },
  { "exchanged and closed", exchanged_and_closed },
  { "settled and exchanged", settled_and_exchanged },
  { "exchanged after a fork", exchanged_after_a_fork },
  { "pulse removed", pulse_removed },
  { "pulse cut", pulse_cut },
  { "forbidden", forbidden },
};

int main(int argc, char **argv) {
  begin_torture(argc, argv, 2);
  shared = share(sizeof *shared);
  /* Runs only the scenario of this name, for debugging. */
  const char *only = getenv("KEPT_SCENE");
  for (round_now = 0; round_now < rounds; round_now++) {
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
      if (only && strcmp(only, scenarios[i].name) != 0) continue;
      *shared = (struct shared){ 0 };
      snprintf(folder, sizeof folder, "%s", fresh_folder());
      snprintf(aside, sizeof aside, "%s-aside-%zu", folder, i);
      make_store(folder);
      printf("%s\n", scenarios[i].name);
      fflush(stdout);
      finish(start(scenarios[i].play, NULL));
    }
  }
  return end_torture(
    "%u times %zu scenarios of folders and files taken away", rounds, sizeof scenarios / sizeof *scenarios);
}
