/* Files that a caller names: a file of an open store is never opened in addition to SQLite's own descriptor, since
 * closing it would drop SQLite's locks, and another process could write into what this one reads and writes. */
#include "others.h"
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const files[] = { "values.sqlite", "values.sqlite-wal", "values.sqlite-shm", "pulse" };
enum { FILES = COUNT(files) };

/** In another process, on request: checks whether anything conflicts with a lock on the whole file. */
ROLE(expects_locks, location) {
  await_parent();
  for (int i = 0; i < FILES; i += 2) {
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int file = open(file_of(location, files[i]), O_RDWR);
    CHECK(file >= 0 && fcntl(file, F_GETLK, &lock) == 0);
    CHECK(lock.l_type != F_UNLCK);
  }
}

static kept_store *store;
static child lock_checker;

/** Opens a store and lets it take locks, after the fork, since a fork releases them. */
static void begin(const char *location) {
  store = open_at(location);
  lock_checker = start_child("expects_locks", location);
  EXPECT(KEPT_OK, kept_set_int64(store, "number", 1, &why));
}

static void end(void) { CHECK_INT(0, finish_child(&lock_checker)); }

/** Every way to pass a file to Kept. */
static void hand_over(const char *path) {
  kept_store *other = NULL;
  kept_options options = KEPT_OPTIONS_INIT;
  EXPECT(KEPT_INVALID, kept_import_file(store, path, NULL, NULL, &why));
  CHECK(strstr(why.message, "belongs to ") != NULL);
  EXPECT(KEPT_INVALID, kept_declare_file(store, path, &why));
  CHECK(strstr(why.message, "belongs to ") != NULL);
  EXPECT(KEPT_INVALID, kept_restore(store, path, NULL, &why));
  CHECK(strstr(why.message, "belongs to ") != NULL);
  options.managed = path;
  EXPECT(KEPT_UNAVAILABLE, kept_open("memory:", &options, &other, &why));
  CHECK(strstr(why.message, "belongs to ") != NULL);
  options.managed = NULL;
  options.system = path;
  kept_close(open_with("memory:", &options));
}

FOLDER_TEST(an_open_store_has_locks) {
  begin(fresh_folder());
  end();
}

FOLDER_TEST(no_file_of_an_open_store_is_read) {
  for (int i = 0; i < FILES; i++) {
    const char *location = fresh_folder(), *path = file_of(location, files[i]), *name = fresh_folder();
    begin(location);
    /* Restoring a store from itself is allowed: SQLite reads it under its locks. */
    if (i > 0) hand_over(path);
    CHECK_INT(0, link(path, name));
    hand_over(name);
    end();
    CHECK_INT(0, unlink(name));
  }
}

FOLDER_TEST(a_store_is_restored_from_itself_under_its_locks) {
  const char *location = fresh_folder(), *path = file_of(location, "values.sqlite");
  begin(location);
  EXPECT(KEPT_INVALID, kept_import_file(store, path, NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_declare_file(store, path, &why));
  EXPECT(KEPT_OK, kept_restore(store, path, NULL, &why));
  EXPECT(KEPT_OK, kept_restore(store, location, NULL, &why));
  end();
  CHECK_TEXT("1", json_of(store, "number"));
}

FOLDER_TEST(no_key_is_read_from_a_file_of_an_open_store) {
  const char *location = fresh_folder(), *folder = fresh_folder();
  char directory[5000];
  snprintf(directory, sizeof directory, "dir:%s", folder);
  kept_store *keys = open_at(directory);
  begin(location);
  CHECK_INT(0, link(file_of(location, "values.sqlite-shm"), file_of(folder, "a.json")));
  CHECK_INT(0, link(file_of(location, "values.sqlite"), file_of(folder, "b.json")));
  CHECK_TEXT("invalid", json_of(keys, "a"));
  CHECK_TEXT("invalid", json_of(keys, "b"));
  end();
}

FOLDER_TEST(a_link_to_a_file_of_an_open_store_is_refused) {
  const char *location = fresh_folder(), *name = fresh_folder();
  CHECK_INT(0, symlink(file_of(location, "values.sqlite-shm"), name));
  begin(location);
  EXPECT(KEPT_INVALID, kept_import_file(store, name, NULL, NULL, &why));
  CHECK(strstr(why.message, "belongs to ") != NULL);
  EXPECT(KEPT_INVALID, kept_restore(store, name, NULL, &why));
  end();
}

FOLDER_TEST(files_of_closed_stores_and_of_others_are_read) {
  const char *location = closed_store(), *exported = fresh_folder();
  store = open_at(fresh_folder());
  EXPECT(KEPT_OK, kept_restore(store, location, NULL, &why));
  EXPECT(KEPT_OK, kept_export_file(store, exported, NULL, &why));
  EXPECT(KEPT_OK, kept_import_file(store, exported, NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_import_file(store, file_of(location, "values.sqlite"), NULL, NULL, &why));
  CHECK(strstr(why.message, "belongs to ") == NULL);
}
