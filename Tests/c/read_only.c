/* A store that is opened only to read: nothing is changed, and nothing is left behind. */
#include "write_lock.h"
#include "suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** What a folder has: names, sizes, times and inodes, in the order of the names. */
static const char *traces_in(const char *folder, char *text, size_t size) {
  struct dirent **names;
  int count = scandir(folder, &names, NULL, alphasort);
  size_t length = 0;
  CHECK(count > 0);
  for (int i = 0; i < count; i++) {
    struct stat status;
    if (names[i]->d_name[0] != '.' && stat(file_of(folder, names[i]->d_name), &status) == 0)
      length +=
        (size_t)snprintf(text + length, length < size ? size - length : 0, "%s %ju %jd.%09ld %ju\n", names[i]->d_name,
          (uintmax_t)status.st_size, (intmax_t)status.st_mtim.tv_sec, status.st_mtim.tv_nsec, (uintmax_t)status.st_ino);
    free(names[i]);
  }
  free(names);
  return text;
}

/** The number of locks on a folder and its files, of all processes; -1 if they cannot be listed. */
static int locks_in(const char *folder) {
  struct dirent **names;
  int count = scandir(folder, &names, NULL, alphasort), held = 0;
  char *list = read_file("/proc/locks", NULL);
  for (int i = 0; i < count; i++) {
    struct stat status;
    char inode[32];
    // The last of the three numbers before the range, as in `7: OFDLCK ADVISORY WRITE -1 fe:00:16695942 124 124`.
    if (strcmp(names[i]->d_name, "..") != 0 && stat(file_of(folder, names[i]->d_name), &status) == 0 &&
      snprintf(inode, sizeof inode, ":%ju ", (uintmax_t)status.st_ino) > 0)
      for (const char *at = list; at && (at = strstr(at, inode)); at++) held++;
    free(names[i]);
  }
  free(names);
  free(list);
  return list == NULL ? -1 : held;
}

static kept_status open_to_read(const char *location, kept_store **store) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.access = KEPT_READ_ONLY;
  options.system = file_of(location, "no-such-layer.json");
  options.busy_timeout_ms = 1000;
  return kept_open(location, &options, store, &why);
}

ROLE(fill, location) {
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "volume", 7, &why));
  EXPECT(KEPT_OK, kept_declare_json(store, "size", "{\"type\":\"integer\",\"default\":3}", &why));
  kept_close(store);
}

TEST(nothing_is_changed) {
  const char *location = fresh_folder();
  static char before[4096], after[4096];
  kept_store *store = NULL;
  char *json = NULL;
  play_child("fill", location);
  int lock = take_write_lock(location);
  CHECK_INT(1, locks_in(location));
  close(lock);
  traces_in(location, before, sizeof before);
  int threads = names_in("/proc/self/task", ""), files = names_in("/proc/self/fd", "");
  EXPECT(KEPT_OK, open_to_read(location, &store));
  CHECK_INT(7, int_of(store, "volume"));
  CHECK_INT(3, int_of(store, "size"));
  EXPECT(KEPT_DENIED, kept_set_int64(store, "volume", 8, &why));
  CHECK(says("open read-only"));
  EXPECT(KEPT_OK, kept_explain_json(store, "volume", &json, &why));
  kept_free(json);
  EXPECT(KEPT_OK, kept_flush(store, &why));
  CHECK_INT(threads, names_in("/proc/self/task", ""));
  CHECK_INT(0, locks_in(location));
  /* The folder, the checkpoint and the journal. */
  CHECK_INT(files + 3, names_in("/proc/self/fd", ""));
  kept_close(store);
  CHECK_INT(files, names_in("/proc/self/fd", ""));
  CHECK_TEXT(before, traces_in(location, after, sizeof after));
}

ROLE(hold_to_read, location) {
  kept_store *store = NULL;
  EXPECT(KEPT_OK, open_to_read(location, &store));
  signal_parent();
  await_parent();
  kept_close(store);
}

ROLE(hold_to_write, location) {
  kept_store *store = open_at(location);
  signal_parent();
  await_parent();
  kept_close(store);
}

/** Checks how another process is listed that has a store open; NULL: that there is none. */
static void check_process(const char *location, const child *process, const char *writing) {
  char *json = NULL, pid[32];
  EXPECT(KEPT_OK, kept_processes_json(location, &json, &why));
  if (process == NULL) {
    CHECK_TEXT("[]", json);
  } else {
    snprintf(pid, sizeof pid, "\"pid\":%d,", (int)process->pid);
    CHECK(json != NULL && strstr(json, pid) != NULL && strstr(json, writing) != NULL);
  }
  kept_free(json);
}

TEST(a_process_is_listed_as_one_that_reads_or_writes) {
  const char *location = fresh_folder();
  play_child("fill", location);
  check_process(location, NULL, NULL);
  child reader = start_child("hold_to_read", location);
  await_child(&reader);
  check_process(location, &reader, "\"writing\":false");
  CHECK_INT(0, finish_child(&reader));
  child writer = start_child("hold_to_write", location);
  await_child(&writer);
  check_process(location, &writer, "\"writing\":true");
  CHECK_INT(0, finish_child(&writer));
  check_process(location, NULL, NULL);
}

static int read_in_child(void *context) {
  MUST(int_of(context, "volume") == 7);
  MUST(kept_set_int64(context, "volume", 8, NULL) == KEPT_DENIED);
  return 0;
}

TEST(parent_and_child_go_on_reading) {
  const char *location = fresh_folder();
  kept_store *store = NULL;
  play_child("fill", location);
  EXPECT(KEPT_OK, open_to_read(location, &store));
  CHECK_INT(0, in_child(read_in_child, store));
  CHECK_INT(7, int_of(store, "volume"));
  CHECK_INT(0, in_child(read_in_child, store));
  kept_close(store);
}

ROLE(change_until_killed, location) {
  kept_store *store = open_at(location);
  for (int64_t i = 1;; i++) {
    EXPECT(KEPT_OK, kept_set_int64(store, "volume", i, &why));
    if (i == 1) signal_parent();
  }
}

TEST(the_store_of_a_writer_is_read_while_it_lives_and_when_it_was_killed) {
  const char *location = fresh_folder();
  static char before[4096], after[4096];
  kept_store *store = NULL;
  child writer = start_child("change_until_killed", location);
  await_child(&writer);
  int64_t last = 0;
  for (int i = 0; i < 8; i++) {
    EXPECT(KEPT_OK, open_to_read(location, &store));
    int64_t found = int_of(store, "volume");
    CHECK(found >= last && found > 0);
    last = found;
    kept_close(store);
  }
  kill_child(&writer);
  traces_in(location, before, sizeof before);
  EXPECT(KEPT_OK, open_to_read(location, &store));
  CHECK(int_of(store, "volume") >= last);
  kept_close(store);
  CHECK_TEXT(before, traces_in(location, after, sizeof after));
}

/** Changes the last byte of a file that is not 0. */
static void flip_last_byte(const char *path) {
  size_t length = 0;
  char *bytes = read_file(path, &length);
  CHECK(bytes != NULL);
  while (length > 0 && bytes[length - 1] == 0) length--;
  CHECK(length > 0);
  bytes[length - 1] ^= 1;
  int file = open(path, O_WRONLY);
  CHECK(file >= 0 && pwrite(file, bytes, length, 0) == (ssize_t)length);
  close(file);
  free(bytes);
}

ROLE(leave_a_commit_in_the_journal, location) {
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "volume", 8, &why));
  _exit(0);
}

TEST(a_damaged_or_missing_journal_is_corrupt_and_stays) {
  for (int is_missing = 0; is_missing < 2; is_missing++) {
    const char *location = fresh_folder();
    static char before[4096], after[4096];
    kept_options options = KEPT_OPTIONS_INIT;
    kept_store *store = NULL;
    char *json = NULL;
    play_child("fill", location);
    play_child("leave_a_commit_in_the_journal", location);
    if (is_missing) unlink(file_of(location, "journal.0"));
    else flip_last_byte(file_of(location, "journal.0"));
    traces_in(location, before, sizeof before);
    EXPECT(KEPT_CORRUPT, open_to_read(location, &store));
    options.access = KEPT_READ_ONLY;
    options.busy_timeout_ms = 1000;
    EXPECT(KEPT_OK, kept_findings_json(location, &options, NULL, NULL, &json, &why));
    CHECK(json != NULL && strstr(json, "commits in ") != NULL && strstr(json, "salvaged;") == NULL);
    kept_free(json);
    CHECK_TEXT(before, traces_in(location, after, sizeof after));
  }
}

TEST(this_process_may_also_open_the_store_for_writing) {
  const char *location = fresh_folder();
  kept_store *reader = NULL;
  play_child("fill", location);
  EXPECT(KEPT_OK, open_to_read(location, &reader));
  for (int64_t i = 0; i < 50; i++) {
    kept_store *writer = open_at(location);
    EXPECT(KEPT_OK, kept_set_int64(writer, "volume", i, &why));
    CHECK_INT(i, int_of(reader, "volume"));
    kept_close(writer);
    CHECK_INT(i, int_of(reader, "volume"));
  }
  kept_close(reader);
}
