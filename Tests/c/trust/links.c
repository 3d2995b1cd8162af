/* Links of other users: root follows none of them, to no store, backup, export or import. In each test another user's
 * folder has links to what belongs to root. */
#include "others.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/** A folder of the other user. */
static const char *folder_of_other(void) {
  const char *folder = fresh_folder();
  CHECK_INT(0, mkdir(folder, 0755));
  give_away(folder);
  return folder;
}

/** A link of the other user. */
static const char *link_to(const char *target, const char *folder, const char *name) {
  const char *link = file_of(folder, name);
  CHECK_INT(0, symlink(target, link));
  give_away(link);
  return link;
}

static const char *folder_of_root(void) {
  const char *folder = fresh_folder();
  CHECK_INT(0, mkdir(folder, 0700));
  return folder;
}

static int is_missing(const char *path) { return access(path, F_OK) != 0; }

#define REFUSED(link, call) \
  do { \
    EXPECT(KEPT_DENIED, call); \
    CHECK(strstr(why.message, link) != NULL && strstr(why.message, "root does not follow") != NULL); \
  } while (0)

static void expect_no_store(const char *link, const char *location) {
  kept_store *store = NULL;
  REFUSED(link, kept_open(location, NULL, &store, &why));
  CHECK(store == NULL);
}

FOLDER_TEST(no_store_is_opened_or_made_through_them) {
  if (!has_other_user()) return;
  const char *other = folder_of_other(), *root = folder_of_root(), *store = closed_store();
  const char *link = link_to(root, other, "link"), *to_store = link_to(store, other, "store");
  expect_no_store(link, file_of(link, "new"));
  expect_no_store(link, file_of(link, "deeper/new"));
  CHECK(is_missing(file_of(root, "new")) && is_missing(file_of(root, "deeper")));
  expect_no_store(to_store, to_store);
  expect_no_store(to_store, file_of(to_store, ""));
  char directory[4200];
  snprintf(directory, sizeof directory, "dir:%s/new", link);
  expect_no_store(link, directory);
  snprintf(directory, sizeof directory, "dir:%s", link);
  expect_no_store(link, directory);
  CHECK(is_missing(file_of(root, "new")) && is_missing(file_of(root, ".kept-lock")));
  /* A link that leads to nothing could lead somewhere a little later. */
  const char *nowhere = link_to(file_of(root, "made"), other, "nowhere");
  expect_no_store(nowhere, nowhere);
  CHECK(is_missing(file_of(root, "made")));
}

FOLDER_TEST(a_link_of_root_to_one_of_them_is_not_followed) {
  if (!has_other_user()) return;
  const char *other = folder_of_other(), *store = closed_store(), *own = fresh_folder();
  const char *link = link_to(store, other, "store");
  CHECK_INT(0, symlink(link, own));
  expect_no_store(link, own);
  CHECK_INT(0, chdir(other));
  expect_no_store(link, "./store");
}

FOLDER_TEST(nothing_is_written_through_them) {
  if (!has_other_user()) return;
  const char *other = folder_of_other(), *root = folder_of_root(), *link = link_to(root, other, "link");
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 1, &why));
  REFUSED(link, kept_backup(store, file_of(link, "backup"), KEPT_BACKUP_REPLACE, NULL, &why));
  REFUSED(link, kept_backup(store, file_of(link, "folder/"), 0, NULL, &why));
  REFUSED(link, kept_export_file(store, file_of(link, "export"), NULL, &why));
  CHECK(is_missing(file_of(root, "backup")) && is_missing(file_of(root, "folder")));
  CHECK(is_missing(file_of(root, "export")));
}

FOLDER_TEST(nothing_is_read_through_them) {
  if (!has_other_user()) return;
  const char *other = folder_of_other(), *root = folder_of_root(), *file = file_of(root, "file");
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 1, &why));
  EXPECT(KEPT_OK, kept_backup(store, file_of(root, "backup"), 0, NULL, &why));
  put_file(file, "{\"k\":2}");
  const char *to_file = link_to(file, other, "file"), *to_root = link_to(root, other, "root");
  REFUSED(to_file, kept_import_file(store, to_file, NULL, NULL, &why));
  REFUSED(to_root, kept_import_file(store, file_of(to_root, "file"), NULL, NULL, &why));
  REFUSED(to_root, kept_declare_file(store, file_of(to_root, "file"), &why));
  REFUSED(to_root, kept_restore(store, file_of(to_root, "backup"), NULL, NULL, &why));
  const char *to_backup = link_to(file_of(root, "backup"), other, "backup");
  REFUSED(to_backup, kept_restore(store, to_backup, NULL, NULL, &why));
  CHECK_TEXT("1", json_of(store, "k"));
}

ROLE(opens_its_own_link, location) {
  become_nobody();
  kept_store *store = open_at(file_of(location, "link/store"));
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 1, &why));
}

FOLDER_TEST(the_links_of_root_and_those_of_a_user_for_himself_are_followed) {
  if (!has_other_user()) return;
  const char *other = folder_of_other(), *own = folder_of_other(), *root = folder_of_root(), *link = fresh_folder();
  CHECK_INT(0, chmod(file_of(other, ".."), 0755));
  link_to(own, other, "link");
  play_child("opens_its_own_link", other);
  CHECK_INT(0, symlink(root, link));
  kept_store *store = open_at(file_of(link, "deeper/store"));
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 1, &why));
  EXPECT(KEPT_OK, kept_backup(store, file_of(link, "backup"), 0, NULL, &why));
  CHECK(!is_missing(file_of(root, "deeper/store/values")) && !is_missing(file_of(root, "backup")));
  EXPECT(KEPT_OK, kept_export_file(store, file_of(link, "file"), NULL, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 2, &why));
  EXPECT(KEPT_OK, kept_import_file(store, file_of(link, "file"), NULL, NULL, &why));
  CHECK_TEXT("1", json_of(store, "k"));
  /* Files that are not links are the user's business. */
  give_away_store(file_of(own, "store"));
  CHECK_TEXT("1", json_of(open_at(file_of(own, "store")), "k"));
}
