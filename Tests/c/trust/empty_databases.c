/* SQLite removes the log of an empty database. Kept checks first, since the log may be all that is left. */
#include "others.h"
#include "suite.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

ROLE(writes_until_killed, location) {
  kept_store *store = open_at(location);
  for (int i = 0; i < 50; i++) EXPECT(KEPT_OK, kept_set_int64(store, "number", i, &why));
  signal_parent();
  await_parent();
}

static const char *store_with_a_log(void) {
  const char *location = fresh_folder();
  child writer = start_child("writes_until_killed", location);
  await_child(&writer);
  kill_child(&writer);
  return location;
}

static int64_t size_at(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0 ? status.st_size : -1;
}

/** The size of the log in quarantine; -1 if there is none. */
static int64_t kept_log(const char *location) {
  const char *quarantine = file_of(location, "quarantine");
  DIR *folders = opendir(quarantine);
  int64_t size = -1;
  for (struct dirent *entry; folders && (entry = readdir(folders));) {
    if (entry->d_name[0] != '.') size = size_at(file_of(file_of(quarantine, entry->d_name), "values.sqlite-wal"));
  }
  if (folders) closedir(folders);
  return size;
}

FOLDER_TEST(a_log_beside_an_empty_database_is_set_aside_with_it) {
  const char *location = store_with_a_log();
  kept_store *store = NULL;
  int64_t size = size_at(file_of(location, "values.sqlite-wal"));
  CHECK(size > 0);
  CHECK_INT(0, truncate(file_of(location, "values.sqlite"), 0));
  EXPECT(KEPT_SALVAGED, kept_open(location, NULL, &store, &why));
  CHECK_INT(size, kept_log(location));
  kept_close(store);
}

FOLDER_TEST(a_log_beside_an_empty_backup_stays) {
  const char *location = store_with_a_log(), *log = file_of(location, "values.sqlite-wal");
  int64_t size = size_at(log);
  CHECK_INT(0, truncate(file_of(location, "values.sqlite"), 0));
  CHECK(kept_restore(open_at(fresh_folder()), file_of(location, "values.sqlite"), NULL, &why) != KEPT_OK);
  CHECK_INT(size, size_at(log));
}
