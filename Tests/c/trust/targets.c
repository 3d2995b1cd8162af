/* Paths that Kept writes to: it replaces only regular files, and no file of a store. */
#include "others.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static kept_store *store;

/** Every way to write to a path. */
static void expect_refusals(const char *path) {
  mode_t before = mode_at(path);
  EXPECT(KEPT_INVALID, kept_export_file(store, path, NULL, &why));
  CHECK(strstr(why.message, path) != NULL);
  EXPECT(KEPT_INVALID, kept_backup(store, path, KEPT_BACKUP_REPLACE, NULL, &why));
  EXPECT(KEPT_INVALID, kept_backup(store, path, 0, NULL, &why));
  CHECK_UINT(before, mode_at(path));
}

static kept_store *store_of_values(const char *location) {
  store = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "number", 1, &why));
  return store;
}

FOLDER_TEST(only_a_regular_file_is_replaced) {
  const char *fifo = fresh_folder(), *link = fresh_folder(), *dangling = fresh_folder(), *device = fresh_folder();
  const char *file = fresh_file("a file of another program's");
  store_of_values(fresh_folder());
  CHECK_INT(0, mkfifo(fifo, 0600) | symlink(file, link) | symlink(fresh_folder(), dangling));
  expect_refusals(fifo);
  expect_refusals(link);
  expect_refusals(dangling);
  CHECK_TEXT("a file of another program's", text_at(file));
  if (geteuid() == 0 && mknod(device, S_IFCHR | 0600, makedev(1, 7)) == 0) expect_refusals(device);
  EXPECT(KEPT_OK, kept_export_file(store, file, NULL, &why));
  EXPECT(KEPT_OK, kept_backup(store, file, KEPT_BACKUP_REPLACE, NULL, &why));
  CHECK_UINT(S_IFREG | 0600, mode_at(file));
}

FOLDER_TEST(a_folder_is_not_replaced_by_an_export) {
  const char *folder = fresh_folder();
  store_of_values(fresh_folder());
  CHECK_INT(0, mkdir(folder, 0700));
  EXPECT(KEPT_INVALID, kept_export_file(store, folder, NULL, &why));
  EXPECT(KEPT_INVALID, kept_export_file(store, file_of(folder, ""), NULL, &why));
  EXPECT(KEPT_INVALID, kept_export_file(store, file_of(folder, "."), NULL, &why));
  EXPECT(KEPT_INVALID, kept_export_file(store, file_of(folder, "new/"), NULL, &why));
  CHECK_UINT(S_IFDIR | 0700, mode_at(folder));
}

FOLDER_TEST(a_folder_may_be_reached_through_a_link) {
  const char *folder = fresh_folder(), *link = fresh_folder();
  store_of_values(fresh_folder());
  CHECK_INT(0, mkdir(folder, 0700) | symlink(folder, link));
  EXPECT(KEPT_OK, kept_export_file(store, file_of(link, "export.json"), NULL, &why));
  EXPECT(KEPT_OK, kept_backup(store, file_of(link, "backup"), 0, NULL, &why));
  CHECK_UINT(S_IFREG | 0600, mode_at(file_of(folder, "export.json")));
  CHECK_UINT(S_IFREG | 0600, mode_at(file_of(folder, "backup")));
}

FOLDER_TEST(no_file_of_a_store_is_written) {
  static const char *const names[] = { "values", "journal.0", "pulse", "new", "new/" };
  const char *location = fresh_folder(), *closed = closed_store();
  store_of_values(location);
  for (size_t i = 0; i < COUNT(names); i++) {
    expect_refusals(file_of(location, names[i]));
    expect_refusals(file_of(closed, names[i]));
  }
  kept_close(store);
  CHECK_TEXT("1", json_of(open_at(location), "number"));
  CHECK_TEXT("1", json_of(open_at(closed), "number"));
}

FOLDER_TEST(no_file_of_a_dir_store_is_written) {
  const char *location = fresh_folder(), *folder = file_of(location, "");
  char directory[4096];
  snprintf(directory, sizeof directory, "dir:%s", location);
  store_of_values(directory);
  expect_refusals(file_of(location, "number.json"));
  expect_refusals(file_of(location, "new"));
  expect_refusals(file_of(location, "new/"));
  EXPECT(KEPT_INVALID, kept_backup(store, folder, 0, NULL, &why));
  CHECK_UINT(0, mode_at(file_of(location, "values")));
  CHECK_TEXT("1", json_of(store, "number"));
  kept_close(store);
  CHECK_TEXT("1", json_of(open_at(directory), "number"));
}
