/* A store's folder, or one of its files, is removed while programs have it open: their calls fail with "unavailable",
 * they write nothing into another store's files or into a copy, and they continue when it is back. While a pulse that
 * was removed is in use, the store cannot be opened; after one was truncated, it has to be opened again. */
#include "expectations.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A process checks every 0.9 seconds whether its open store still exists; a busy machine may take longer. */
enum { NOTICE_MS = 60000 };

/* The last process that closes a store makes a checkpoint of a journal of 4 KiB. */
enum { LONG = 5000 };

static char folder[4300], aside[4400];
static struct shared {
  int64_t step, answer;
} *shared;

static void move(const char *from, const char *to) {
  if (rename(from, to) != 0) fail("%s cannot be renamed: %s", from, strerror(errno));
}

static kept_store *open_and_use(void) {
  kept_store *store = open_store(folder, KEPT_SHARED, 1000);
  if (get_both(store) != 1) fail("the beginning is another one");
  expect_ok(kept_set_int64(store, "number", 1, &why), "write");
  return store;
}

/* Writes until the program has noticed. From then on every call must fail the same way. */
static void await_refusal(kept_store *store, const char *what) {
  int64_t number = 0, end = now_ns() + NOTICE_MS * INT64_C(1000000);
  kept_status status;
  while ((status = kept_set_int64(store, "written", now_ns(), &why)) == KEPT_OK) {
    if (now_ns() > end) fail("%s: not noticed in %d ms", what, NOTICE_MS);
    let_pass(1000);
  }
  expect_status(KEPT_UNAVAILABLE, status, what);
  expect_status(KEPT_UNAVAILABLE, kept_get_int64(store, "number", &number, &why), what);
  expect_status(KEPT_UNAVAILABLE, kept_flush(store, &why), what);
  expect_status(KEPT_UNAVAILABLE, set_both(store, 9, KEPT_DURABLE), what);
}

/* Scenarios: each in its own process, with a store where `number`, `first` and `second` are 1 */

static void removed(void *unused) {
  kept_store *store = open_and_use();
  remove_tree(folder);
  expect_status(KEPT_UNAVAILABLE, set_both(store, 9, KEPT_DURABLE), "a durable write knows at once");
  await_refusal(store, "the folder was removed");
  if (access(folder, F_OK) == 0) fail("writing has made the folder again");
  /* Opening creates a new store, even while the old handle is open. */
  kept_store *new = open_store(folder, KEPT_SHARED, 1000);
  if (count_of(new, "") != 0) fail("a new store is not empty");
  expect_ok(set_both(new, 1, KEPT_SHARED), "write to the new store");
  await_refusal(store, "another store is at the path");
  kept_close(store);
  expect_ok(set_both(new, 1, KEPT_DURABLE), "write to the new store");
  kept_close(new);
  expect_whole(folder, 1, 1, true);
}

static void remove_files(void) {
  DIR *names = opendir(folder);
  for (struct dirent *entry; names && (entry = readdir(names));) {
    const char *path = file_of(folder, entry->d_name);
    if (entry->d_type == DT_REG && unlink(path) != 0) fail("%s cannot be removed: %s", path, strerror(errno));
  }
  if (!names || closedir(names) != 0) fail("%s cannot be listed: %s", folder, strerror(errno));
}

/* The first plain write of a store that is idle checks, and from then on the maintenance thread. */
static void files_removed(void *is_written) {
  kept_store *store = open_store(folder, KEPT_SHARED, 1000);
  if (get_both(store) != 1) fail("the beginning is another one");
  if (is_written) expect_ok(kept_set_int64(store, "number", 2, &why), "write");
  remove_files();
  if (!is_written) {
    expect_status(KEPT_UNAVAILABLE, kept_set_int64(store, "number", 3, &why), "the first write knows at once");
  }
  await_refusal(store, "the files were removed");
  kept_close(store);
  store = open_store(folder, KEPT_SHARED, 1000);
  expect_ok(set_both(store, 1, KEPT_SHARED), "write to a new store");
  kept_close(store);
  expect_whole(folder, 1, 1, true);
}

static void files_removed_after_a_write(void *unused) { files_removed(&shared); }

static void renamed(void *unused) {
  kept_store *store = open_and_use();
  move(folder, aside);
  await_refusal(store, "the folder was renamed");
  move(aside, folder);
  expect_ok(set_both(store, 2, KEPT_SHARED), "write when the folder is there again");
  expect_whole(folder, 2, 2, true);
  if (get_both(store) != 2) fail("the written value is missing");
  kept_close(store);
}

/* A refused write is not in the folder that was moved. */
static void first_write_refused(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 1000);
  if (get_both(store) != 1) fail("the beginning is another one");
  move(folder, aside);
  expect_status(KEPT_UNAVAILABLE, kept_set_int64(store, "first", 2, &why), "the first write");
  move(aside, folder);
  kept_close(store);
  store = open_and_use();
  move(folder, aside);
  expect_status(KEPT_UNAVAILABLE, set_both(store, 2, KEPT_DURABLE), "a durable write");
  move(aside, folder);
  kept_close(store);
  expect_whole(folder, 1, 1, true);
}

static void make_another(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 1000);
  expect_ok(set_both(store, 7, KEPT_SHARED), "write to another store");
  store_word(&shared->step, 1);
  await_word(&shared->step, 2, "the old one did not end");
  expect_ok(kept_set_int64(store, "number", 7, &why), "write to another store");
  if (get_both(store) != 7) fail("another store has values of the old one");
  kept_close(store);
}

static void replaced(void *unused) {
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

static void replaced_before_a_fork(void *unused) {
  kept_store *store = open_and_use();
  move(folder, aside);
  make_store(folder);
  await_refusal(store, "another store is at the path after a fork");
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

/* Nothing in the copy has changed, and the store that was moved has the written value. */
static void expect_apart(int64_t written) {
  char command[20000];
  int64_t number = 0;
  snprintf(command, sizeof command, "diff -r '%s' '%s-before' && rm -r '%s-before'", folder, folder, folder);
  if (system(command) != 0) fail("a program has written into the copy");
  expect_whole(folder, 1, 1, true);
  expect_whole(aside, 1, 1, true);
  kept_store *store = open_store(aside, KEPT_SHARED, 1000);
  expect_ok(kept_get_int64(store, "number", &number, &why), "read the written value");
  if (number != written) fail("the store has %" PRId64 " and not %" PRId64, number, written);
  kept_close(store);
}

static kept_store *open_and_write(void) {
  kept_store *store = open_and_use();
  expect_ok(kept_set_int64(store, "number", 2, &why), "write");
  return store;
}

static void exchanged(void *unused) {
  copy_store();
  kept_store *store = open_and_write();
  put_copy_in_place();
  await_refusal(store, "a copy of the store is at the path");
  kept_close(store);
  expect_apart(2);
}

/* Closing syncs, and may make a checkpoint; it does not wait until the exchange was noticed. */
static void exchanged_and_closed(void *makes_checkpoint) {
  char text[LONG] = "";
  copy_store();
  kept_store *store = open_and_write();
  if (makes_checkpoint) expect_ok(kept_set_bytes(store, "long", text, sizeof text, &why), "write");
  put_copy_in_place();
  kept_close(store);
  expect_apart(2);
}

static void exchanged_before_a_checkpoint(void *unused) { exchanged_and_closed(&shared); }

static void write_in_child(void *own) {
  kept_store *store = own;
  expect_ok(kept_set_int64(store, "number", 3, &why), "write in the child");
  store_word(&shared->step, 1);
  await_word(&shared->step, 2, "the copy was not put in place");
  await_refusal(store, "a copy of the store is at the path in the child");
  kept_close(store);
}

static void exchanged_after_a_fork(void *unused) {
  copy_store();
  kept_store *store = open_and_write();
  pid_t child = start(write_in_child, store);
  await_word(&shared->step, 1, "the child has not written");
  put_copy_in_place();
  store_word(&shared->step, 2);
  finish(child);
  await_refusal(store, "a copy of the store is at the path");
  kept_close(store);
  expect_apart(3);
}

static void expect_busy(void *unused) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  options.busy_timeout_ms = 200;
  expect_status(KEPT_BUSY, kept_open(folder, &options, &store, &why), "open a store whose pulse was removed");
}

static void write_another(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 1000);
  store_word(&shared->answer, 1);
  await_word(&shared->step, 1, "the pulse was not removed");
  expect_ok(set_both(store, 2, KEPT_SHARED), "write");
  store_word(&shared->answer, 2);
  await_word(&shared->step, 2, "nothing was read");
  kept_close(store);
}

/* Those who have the store open go on. A newcomer would not see their commits, so it is refused. */
static void pulse_removed(void *unused) {
  kept_store *store = open_and_use();
  pid_t other = start(write_another, NULL);
  await_word(&shared->answer, 1, "the store could not be opened");
  if (unlink(file_of(folder, "pulse")) != 0) fail("the pulse cannot be removed");
  finish(start(expect_busy, NULL));
  store_word(&shared->step, 1);
  await_word(&shared->answer, 2, "nothing was written");
  if (get_both(store) != 2) fail("a stale read after the pulse was removed");
  store_word(&shared->step, 2);
  finish(other);
  expect_ok(set_both(store, 1, KEPT_SHARED), "write");
  finish(start(expect_busy, NULL));
  kept_close(store);
  expect_whole(folder, 1, 1, true);
}

/* Accessing a page that no longer exists kills the process, but within 0.9 seconds of a write the maintenance thread
 * makes the file longer again. Its words are lost, so the store has to be opened again. */
static void pulse_cut(void *unused) {
  struct stat status;
  int64_t start = now_ns();
  kept_store *store = open_and_use();
  expect_ok(kept_set_int64(store, "other", start, &why), "write");
  while (now_ns() - start > 300 * INT64_C(1000000)) {
    kept_close(store);
    start = now_ns();
    store = open_and_use();
    expect_ok(kept_set_int64(store, "other", start, &why), "write");
  }
  const char *pulse = file_of(folder, "pulse");
  if (truncate(pulse, 0) != 0) fail("the pulse cannot be cut");
  for (int64_t end = now_ns() + NOTICE_MS * INT64_C(1000000); stat(pulse, &status) != 0 || status.st_size < 4096;) {
    if (now_ns() > end) fail("a truncated pulse was not restored in %d ms", NOTICE_MS);
    let_pass(1000);
  }
  kept_status written;
  /* Until the thread has looked at it. */
  do written = set_both(store, 2, KEPT_SHARED);
  while (written == KEPT_BUSY);
  expect_status(KEPT_UNAVAILABLE, written, "write after the pulse was cut");
  kept_close(store);
  expect_whole(folder, 1, 1, true);
}

/* Removes all write permission, for users without special rights. */
static void forbidden(void *unused) {
  int64_t number = 0;
  kept_store *store = open_and_use();
  if (geteuid() == 0) {
    if (chmod(folder, 0755) != 0 || chown(folder, 0, 0) != 0) fail("the folder cannot be given away");
    if (setegid(65534) != 0 || seteuid(65534) != 0) fail("no other user can be taken on");
  } else if (chmod(folder, 0500) != 0) {
    fail("the folder cannot be closed");
  }
  expect_ok(kept_get_int64(store, "number", &number, &why), "read an open store");
  kept_status status = set_both(store, 1, KEPT_SHARED);
  if (status != KEPT_OK) expect_status(KEPT_DENIED, status, "write without permission");
  kept_store *another = NULL;
  char inside[4400];
  snprintf(inside, sizeof inside, "%s/inside", folder);
  expect_status(KEPT_DENIED, kept_open(inside, NULL, &another, &why), "make a store without permission");
  if (geteuid() != getuid() && (seteuid(0) != 0 || setegid(0) != 0)) fail("the old user cannot be taken on");
  if (chmod(folder, 0700) != 0) fail("the folder cannot be opened");
  expect_ok(set_both(store, 1, KEPT_DURABLE), "write with permission again");
  kept_close(store);
  expect_whole(folder, 1, 1, true);
}

static const struct scenario {
  const char *name;
  void (*play)(void *unused);
} scenarios[] = {
  { "removed", removed },
  { "files removed", files_removed },
  { "files removed after a write", files_removed_after_a_write },
  { "renamed", renamed },
  { "renamed before a write", first_write_refused },
  { "replaced", replaced },
  { "replaced before a fork", replaced_before_a_fork },
  { "exchanged for a copy", exchanged },
  { "exchanged and closed", exchanged_and_closed },
  { "exchanged before a checkpoint", exchanged_before_a_checkpoint },
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
    for (size_t i = 0; i < COUNT(scenarios); i++) {
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
  return end_torture("%u times %zu scenarios of folders and files taken away", rounds, COUNT(scenarios));
}
