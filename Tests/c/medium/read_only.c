/* A store on a medium that is mounted read-only: a bind mount in the reader's own mount namespace, if the system allows
 * it; otherwise a folder without write permission, for a user who is not root. The test prints which one it used. */
#include "namespace.h"
#include "suite.h"

#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const char text_of_8[] = "{\"maxLength\":8,\"type\":\"string\"}";

static int mount_read_only(const char *folder) {
  return enter_namespace(false) && mount(folder, folder, NULL, MS_BIND, NULL) == 0 &&
    mount(NULL, folder, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) == 0;
}

static const char *const names[] = { "values", "journal.0", "pulse" };

static void forbid_writing(const char *folder) {
  for (size_t i = 0; i < COUNT(names); i++) chmod(file_of(folder, names[i]), 0444);
  CHECK_INT(0, chmod(file_of(folder, ".."), 0755));
  CHECK_INT(0, chmod(folder, 0555));
  if (geteuid() == 0) CHECK(setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0);
}

static void make_read_only(const char *folder) {
  int is_mounted = mount_read_only(folder);
  if (!is_mounted) forbid_writing(folder);
  fprintf(stderr, "read-only by %s\n", is_mounted ? "a mount" : "permissions, since nothing could be mounted");
}

/* In the reader's process */

static kept_status greet(void *context, kept_store *transaction, kept_error *error) {
  return kept_set_string(transaction, "greeting", "welcome", 7, error);
}

/* The store can be copied, but not migrated or restored over. */
static void copies_and_cannot_migrate(kept_store *store, const char *folder) {
  const kept_migration step = { 1, 0, "welcome", greet, NULL };
  const char *copy = file_of(folder, "copy");
  uint32_t version = 99;
  EXPECT(KEPT_DENIED, kept_migrate(store, &step, 1, 0, NULL, NULL, &why));
  EXPECT(KEPT_OK, kept_schema_version(store, &version, &why));
  CHECK_UINT(0, version);
  EXPECT(KEPT_OK, kept_backup(store, copy, 0, NULL, &why));
  kept_store *other = open_at("memory:");
  EXPECT(KEPT_OK, kept_set_int64(other, "own", 1, &why));
  EXPECT(KEPT_OK, kept_backup(other, file_of(folder, "other"), 0, NULL, &why));
  EXPECT(KEPT_DENIED, kept_restore(store, file_of(folder, "other"), NULL, NULL, &why));
  EXPECT(KEPT_OK, kept_restore(other, copy, NULL, NULL, &why));
  CHECK_TEXT("\"hello\"", json_of(other, "greeting"));
  CHECK_TEXT("absent", json_of(other, "own"));
}

ROLE(reads_and_cannot_write, location) {
  kept_store *store = NULL, *transaction = NULL;
  make_read_only(location);
  EXPECT(KEPT_OK, kept_open(location, NULL, &store, &why));
  CHECK_TEXT("\"hello\"", json_of(store, "greeting"));
  CHECK_TEXT("absent", json_of(store, "other"));
  EXPECT(KEPT_DENIED, kept_set_int64(store, "other", 1, &why));
  CHECK(strstr(why.message, "read-only") != NULL);
  EXPECT(KEPT_DENIED, kept_remove(store, "greeting", &why));
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "other", 1, &why));
  EXPECT(KEPT_DENIED, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("\"hello\"", json_of(store, "greeting"));
  /* Declaring the same as before does not write. */
  EXPECT(KEPT_OK, kept_declare_json(store, "greeting", text_of_8, &why));
  EXPECT(KEPT_DENIED, kept_declare_json(store, "greeting", "{\"type\":\"string\"}", &why));
  EXPECT(KEPT_DENIED, kept_undeclare(store, "greeting", &why));
  copies_and_cannot_migrate(store, file_of(location, "../copies"));
  kept_close(store);
}

ROLE(follows, location) {
  kept_store *store = NULL;
  make_read_only(location);
  EXPECT(KEPT_OK, kept_open(location, NULL, &store, &why));
  CHECK_TEXT("\"hello\"", json_of(store, "greeting"));
  signal_parent();
  await_parent();
  CHECK_TEXT("\"changed\"", json_of(store, "greeting"));
  signal_parent();
  await_parent();
  CHECK_TEXT("\"changed\"", json_of(store, "greeting"));
  kept_close(store);
}

ROLE(greets_until_killed, location) {
  EXPECT(KEPT_OK, kept_set_string(open_at(location), "greeting", "hello", 5, &why));
  signal_parent();
  await_parent();
}

/* Scenarios */

static const char *folder_with_greeting(const char *greeting) {
  const char *location = fresh_location(), *copies = file_of(location, "../copies");
  kept_store *store = open_at(location);
  for (const char *const *name = (const char *[]){ "copy", "other", NULL }; *name; name++)
    unlink(file_of(copies, *name));
  mkdir(copies, 0777);
  CHECK_INT(0, chmod(copies, 0777));
  EXPECT(KEPT_OK, kept_declare_json(store, "greeting", text_of_8, &why));
  EXPECT(KEPT_OK, kept_set_string(store, "greeting", greeting, strlen(greeting), &why));
  kept_close(store);
  return location;
}

FOLDER_TEST(a_store_on_a_read_only_medium_is_read_and_not_written) {
  child reader = start_child("reads_and_cannot_write", folder_with_greeting("hello"));
  CHECK_INT(0, finish_child(&reader));
}

FOLDER_TEST(the_journal_of_a_killed_writer_is_read_there) {
  const char *location = folder_with_greeting("old");
  child writer = start_child("greets_until_killed", location);
  await_child(&writer);
  kill_child(&writer);
  child reader = start_child("reads_and_cannot_write", location);
  CHECK_INT(0, finish_child(&reader));
}

FOLDER_TEST(writes_by_others_are_seen_there) {
  const char *location = folder_with_greeting("hello");
  child reader = start_child("follows", location);
  await_child(&reader);
  /* If nothing could be mounted, give the owner of the folder write permission again. */
  CHECK_INT(0, chmod(location, 0755));
  for (size_t i = 0; i < COUNT(names); i++) chmod(file_of(location, names[i]), 0644);
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_string(store, "greeting", "changed", 7, &why));
  release_child(&reader);
  await_child(&reader);
  kept_close(store);
  release_child(&reader);
  CHECK_INT(0, finish_child(&reader));
}
