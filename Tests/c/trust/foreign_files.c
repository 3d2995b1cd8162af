/* Files that a caller names: each file of an open store may be among them, and the store keeps its locks. */
#include "others.h"
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char *const files[] = { "values", "journal.0", "pulse" };

/** In another process, on request: checks that the folder and the pulse are locked. */
ROLE(expects_locks, location) {
  struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
  await_parent();
  int folder = open(location, O_RDONLY), pulse = open(file_of(location, "pulse"), O_RDWR);
  CHECK(folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) != 0);
  CHECK(pulse >= 0 && fcntl(pulse, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK);
}

/** Every way to pass a file to Kept. */
static void hand_over(kept_store *store, const char *path) {
  kept_store *other = NULL;
  kept_options options = KEPT_OPTIONS_INIT;
  EXPECT(KEPT_INVALID, kept_import_file(store, path, NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_declare_file(store, path, &why));
  kept_restore(store, path, NULL, NULL, &why);
  options.managed = path;
  EXPECT(KEPT_UNAVAILABLE, kept_open("memory:", &options, &other, &why));
  options.managed = NULL;
  options.system = path;
  kept_close(open_with("memory:", &options));
}

FOLDER_TEST(a_store_keeps_its_locks_while_its_files_are_read) {
  const char *location = fresh_folder(), *folder = fresh_folder();
  char directory[5000];
  snprintf(directory, sizeof directory, "dir:%s", folder);
  kept_store *store = open_at(location), *keys = open_at(directory);
  child lock_checker = start_child("expects_locks", location);
  EXPECT(KEPT_OK, kept_set_int64(store, "number", 1, &why));
  for (size_t i = 0; i < COUNT(files); i++) {
    const char *path = file_of(location, files[i]), *name = file_of(folder, "a.json");
    hand_over(store, path);
    CHECK_INT(0, link(path, name));
    CHECK_TEXT("corrupt", json_of(keys, "a"));
    CHECK_INT(0, unlink(name));
  }
  EXPECT(KEPT_OK, kept_restore(store, location, NULL, NULL, &why));
  CHECK_INT(0, finish_child(&lock_checker));
  CHECK_TEXT("1", json_of(store, "number"));
}

FOLDER_TEST(files_of_closed_stores_and_of_others_are_read) {
  const char *location = closed_store(), *exported = fresh_folder();
  kept_store *store = open_at(fresh_folder());
  EXPECT(KEPT_OK, kept_restore(store, location, NULL, NULL, &why));
  EXPECT(KEPT_OK, kept_export_file(store, exported, NULL, &why));
  EXPECT(KEPT_OK, kept_import_file(store, exported, NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_import_file(store, file_of(location, "values"), NULL, NULL, &why));
}
