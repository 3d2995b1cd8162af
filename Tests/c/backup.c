/* Backup and restore. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char whole[] = "{\"maximum\":100,\"type\":\"integer\"}";

/* A store with a declared value and a plain one: revision 3. */
static kept_store *played_at(const char *location) {
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_declare_json(store, "volume", whole, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "volume", 7, &why));
  EXPECT(KEPT_OK, kept_set_json(store, "shape", "{\"a\":[1.5]}", &why));
  return store;
}

static kept_store *played(void) { return played_at(fresh_location()); }

/* A path at which no file exists, in a folder of its own. */
static const char *path_of(const char *folder, const char *name) {
  mkdir(folder, 0700);
  return file_of(folder, name);
}

static void backup(kept_store *store, const char *path) { EXPECT(KEPT_OK, kept_backup(store, path, 0, NULL, &why)); }

static kept_status restore(kept_store *store, const char *path) { return kept_restore(store, path, NULL, NULL, &why); }

/* Copying */

TEST(a_backup_returns_its_revision_and_is_private) {
  kept_store *store = played();
  const char *path = path_of(fresh_folder(), "copy");
  uint64_t revision = 0;
  struct stat status;
  EXPECT(KEPT_OK, kept_backup(store, path, 0, &revision, &why));
  CHECK_UINT(3, revision);
  CHECK(stat(path, &status) == 0);
  CHECK_INT(0600, status.st_mode & 0777);
}

FOLDER_TEST(no_file_of_a_store_is_replaced) {
  const char *folder = fresh_folder();
  kept_store *store = played_at(folder);
  for (const char *const *name = (const char *[]){ "values", "pulse", "migration", "new", NULL }; *name; name++)
    EXPECT(KEPT_INVALID, kept_backup(store, file_of(folder, *name), KEPT_BACKUP_REPLACE, NULL, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "volume", 9, &why));
  CHECK_TEXT("9", json_of(open_at(folder), "volume"));
}

TEST(a_copy_needs_a_place) {
  kept_store *store = played();
  EXPECT(KEPT_INVALID, kept_backup(store, NULL, 0, NULL, &why));
  EXPECT(KEPT_INVALID, kept_backup(store, "", 0, NULL, &why));
  EXPECT(KEPT_INVALID, kept_backup(NULL, "x", 0, NULL, &why));
  EXPECT(KEPT_INVALID, kept_backup(store, "/tmp/x", 2, NULL, &why));
  EXPECT(KEPT_UNAVAILABLE, kept_backup(store, file_of(fresh_folder(), "copy"), 0, NULL, &why));
  for (size_t i = 0; bad_text(i) != NULL; i++) EXPECT(KEPT_INVALID, kept_backup(store, bad_text(i), 0, NULL, &why));
  kept_store *transaction = NULL;
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_backup(transaction, "/tmp/x", 0, NULL, &why));
  kept_rollback(transaction);
  kept_close(store);
  EXPECT(KEPT_CLOSED, kept_backup(store, "/tmp/x", 0, NULL, &why));
}

TEST(a_path_may_be_relative) {
  char before[4096], name[] = "copy";
  const char *folder = fresh_folder();
  kept_store *store = played();
  mkdir(folder, 0700);
  CHECK(getcwd(before, sizeof before) != NULL && chdir(folder) == 0);
  backup(store, name);
  backup(store, "into/");
  EXPECT(KEPT_OK, restore(store, "./into"));
  CHECK(chdir(before) == 0);
  CHECK(access(file_of(folder, "copy"), F_OK) == 0);
}

FOLDER_TEST(previous_contents_are_set_aside) {
  const char *location = fresh_folder(), *path = path_of(fresh_folder(), "copy");
  char *quarantine = NULL;
  kept_store *store = played_at(location);
  backup(store, path);
  EXPECT(KEPT_OK, kept_set_int64(store, "volume", 9, &why));
  EXPECT(KEPT_OK, kept_restore(store, path, NULL, &quarantine, &why));
  const char *folder = file_of(location, "quarantine/");
  CHECK(quarantine && strncmp(quarantine, folder, strlen(folder)) == 0);
  EXPECT(KEPT_OK, kept_restore(store, quarantine, NULL, NULL, &why));
  CHECK_TEXT("9", json_of(store, "volume"));
  kept_free(quarantine);
  /* Restoring the same contents changes nothing, so nothing is put aside. */
  EXPECT(KEPT_OK, kept_backup(store, path, KEPT_BACKUP_REPLACE, NULL, &why));
  EXPECT(KEPT_OK, kept_restore(store, path, NULL, &quarantine, &why));
  CHECK(quarantine == NULL);
}

FOLDER_TEST(a_store_may_be_restored_from_one_that_is_open_or_from_itself) {
  const char *location = fresh_folder(), *other = fresh_folder();
  kept_store *store = played_at(location), *source = open_at(other);
  EXPECT(KEPT_OK, kept_set_int64(source, "a", 1, &why));
  EXPECT(KEPT_OK, restore(store, other));
  CHECK_TEXT("1", json_of(store, "a"));
  EXPECT(KEPT_OK, restore(store, location));
  CHECK_TEXT("1", json_of(store, "a"));
  CHECK_TEXT("absent", json_of(store, "volume"));
  /* Reading the files released no process's lock. */
  EXPECT(KEPT_OK, kept_set_int64(source, "a", 2, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "a", 3, &why));
  CHECK_TEXT("2", json_of(source, "a"));
}

TEST(only_a_backup_is_restored) {
  kept_store *store = played();
  const char *folder = fresh_folder(), *fifo = path_of(folder, "fifo");
  char long_path[6000];
  memset(long_path, 'a', sizeof long_path - 1);
  long_path[sizeof long_path - 1] = '\0';
  CHECK(mkfifo(fifo, 0600) == 0);
  EXPECT(KEPT_UNSUPPORTED, restore(store, fifo));
  EXPECT(KEPT_UNSUPPORTED, restore(store, "/dev/null"));
  EXPECT(KEPT_UNSUPPORTED, restore(store, fresh_file("")));
  EXPECT(KEPT_UNSUPPORTED, restore(store, fresh_file("no backup at all")));
  EXPECT(KEPT_UNAVAILABLE, restore(store, file_of(folder, "none")));
  EXPECT(KEPT_UNAVAILABLE, restore(store, folder));
  EXPECT(KEPT_UNAVAILABLE, restore(store, long_path));
  EXPECT(KEPT_INVALID, restore(store, ""));
  EXPECT(KEPT_INVALID, restore(store, NULL));
  EXPECT(KEPT_INVALID, restore(NULL, fifo));
  for (size_t i = 0; bad_text(i) != NULL; i++) EXPECT(KEPT_INVALID, restore(store, bad_text(i)));
  CHECK_TEXT("7", json_of(store, "volume"));
  kept_close(store);
  EXPECT(KEPT_CLOSED, restore(store, fifo));
}

TEST(a_backup_is_found_through_a_link) {
  kept_store *store = played();
  const char *folder = fresh_folder(), *link = path_of(folder, "link");
  backup(store, file_of(folder, "copy"));
  CHECK(symlink("copy", link) == 0);
  EXPECT(KEPT_OK, kept_set_int64(store, "volume", 8, &why));
  EXPECT(KEPT_OK, restore(store, link));
  CHECK_TEXT("7", json_of(store, "volume"));
  /* A backup neither follows nor replaces a symbolic link. */
  EXPECT(KEPT_INVALID, kept_backup(store, link, 0, NULL, &why));
  EXPECT(KEPT_INVALID, kept_backup(store, link, KEPT_BACKUP_REPLACE, NULL, &why));
  struct stat status;
  CHECK(lstat(link, &status) == 0 && S_ISLNK(status.st_mode));
}

/* A reader and an observer in the same process see one commit. */
static void count_changes(void *context, const kept_notice *notice) {
  *(size_t *)context += 100 + kept_notice_count(notice);
}

TEST(observers_receive_a_restore_as_one_notice) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_subscription *subscription = NULL;
  const char *location = fresh_location(), *path = path_of(fresh_folder(), "copy");
  size_t received = 0, delivered = 0;
  kept_store *store = played_at(location);
  options.delivery = KEPT_BY_HOST;
  kept_store *host = open_with(location, &options);
  backup(store, path);
  EXPECT(KEPT_OK, kept_set_int64(store, "volume", 8, &why));
  EXPECT(KEPT_OK, kept_remove(store, "shape", &why));
  EXPECT(KEPT_OK, kept_observe(host, "", KEPT_OBSERVE_PREFIX, count_changes, &received, NULL, &subscription, &why));
  CHECK_TEXT("8", json_of(host, "volume"));
  EXPECT(KEPT_OK, restore(store, path));
  while (delivered == 0) EXPECT(KEPT_OK, kept_store_dispatch(host, 0, &delivered, &why));
  CHECK_UINT(102, received);
  CHECK_TEXT("7", json_of(host, "volume"));
}
