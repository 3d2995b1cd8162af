/* The files of a store: only regular files of the user, in a folder of the user, are opened and written. Anything else
 * in their place is refused at once, and nothing is created elsewhere. */
#include "others.h"
#include "suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static kept_status migrate_nothing(void *context, kept_store *transaction, kept_error *error) {
  return kept_set_int64(transaction, "migrated", 1, error);
}

static kept_status migrate(kept_store *store) {
  const kept_migration step = { 1, 0, "nothing", migrate_nothing, NULL };
  return kept_migrate(store, &step, 1, 0, NULL, NULL, &why);
}

static const char *const files[] = { "values", "journal.0", "pulse" };

static void overwrite(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_TRUNC);
  CHECK(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
  close(file);
}

/* In another process, with an alarm: opening a FIFO would block forever. */

ROLE(expect_unavailable, location) {
  kept_store *store = NULL;
  alarm(60);
  EXPECT(KEPT_UNAVAILABLE, kept_open(location, NULL, &store, &why));
  CHECK(strstr(why.message, location) != NULL);
}

ROLE(expect_denied, location) {
  kept_store *store = NULL;
  alarm(60);
  EXPECT(KEPT_DENIED, kept_open(location, NULL, &store, &why));
  CHECK(strstr(why.message, location) != NULL);
}

ROLE(expect_salvaged, location) {
  kept_store *store = NULL;
  alarm(60);
  EXPECT(KEPT_SALVAGED, kept_open(location, NULL, &store, &why));
  kept_close(store);
}

ROLE(expect_no_turn, location) {
  alarm(60);
  kept_store *store = open_at(location);
  EXPECT(KEPT_UNAVAILABLE, migrate(store));
  EXPECT(KEPT_UNAVAILABLE, kept_restore(store, file_of(location, "../source"), NULL, NULL, &why));
  CHECK_TEXT("1", json_of(store, "number"));
}

FOLDER_TEST(a_fifo_is_not_waited_for) {
  for (size_t i = 0; i < COUNT(files); i++) {
    const char *location = closed_store(), *path = file_of(location, files[i]);
    unlink(path);
    CHECK_INT(0, mkfifo(path, 0600));
    play_child("expect_unavailable", location);
    CHECK(S_ISFIFO(mode_at(path)));
  }
}

FOLDER_TEST(a_link_is_not_followed) {
  for (size_t i = 0; i < COUNT(files); i++) {
    const char *location = closed_store(), *path = file_of(location, files[i]);
    const char *other = fresh_file("a file of another program's");
    unlink(path);
    CHECK_INT(0, symlink(other, path));
    play_child("expect_unavailable", location);
    CHECK_TEXT("a file of another program's", text_at(other));
    unlink(path);
    CHECK_INT(0, symlink(fresh_folder(), path));
    play_child("expect_unavailable", location);
  }
}

FOLDER_TEST(a_damaged_store_makes_no_file_elsewhere) {
  const char *location = closed_store(), *elsewhere = fresh_folder(), *mark = file_of(location, "damaged");
  overwrite(file_of(location, "values"), "this is not a checkpoint");
  CHECK_INT(0, symlink(elsewhere, mark));
  play_child("expect_salvaged", location);
  CHECK_UINT(0, mode_at(elsewhere));
}

FOLDER_TEST(a_mark_that_is_a_fifo_is_not_waited_for) {
  const char *location = closed_store(), *mark = file_of(location, "damaged");
  overwrite(file_of(location, "values"), "this is not a checkpoint");
  CHECK_INT(0, mkfifo(mark, 0600));
  play_child("expect_salvaged", location);
}

FOLDER_TEST(a_turn_is_not_taken_through_a_link) {
  const char *location = closed_store(), *elsewhere = fresh_folder(), *turn = file_of(location, "migration");
  EXPECT(KEPT_OK, kept_set_int64(open_at(file_of(location, "../source")), "number", 2, &why));
  CHECK_INT(0, symlink(elsewhere, turn));
  play_child("expect_no_turn", location);
  CHECK_UINT(0, mode_at(elsewhere));
  unlink(turn);
  CHECK_INT(0, mkfifo(turn, 0600));
  play_child("expect_no_turn", location);
}

/* Write permission */

FOLDER_TEST(a_store_that_other_users_may_write_is_denied) {
  static const mode_t modes[] = { 0720, 0702, 0777, 01777 };
  for (int i = 0; i < 4; i++) {
    const char *location = closed_store();
    CHECK_INT(0, chmod(location, modes[i]));
    play_child("expect_denied", location);
    CHECK_INT(0, chmod(location, 0755));
    kept_close(open_at(location));
  }
  for (size_t i = 0; i < COUNT(files); i++) {
    const char *location = closed_store(), *path = file_of(location, files[i]);
    CHECK_INT(0, chmod(path, 0666));
    play_child("expect_denied", location);
    CHECK_INT(0, chmod(path, 0600));
    kept_close(open_at(location));
  }
}

FOLDER_TEST(leftovers_of_a_killed_opener_are_removed) {
  const char *location = closed_store();
  CHECK(copy_file(file_of(location, "values"), file_of(location, ".new-values")));
  CHECK_TEXT("1", json_of(open_at(location), "number"));
  CHECK_UINT(0, mode_at(file_of(location, ".new-values")));
}

FOLDER_TEST(a_file_of_another_user_s_is_denied) {
  if (!has_other_user()) return;
  for (size_t i = 0; i < COUNT(files); i++) {
    const char *location = closed_store(), *path = file_of(location, files[i]);
    give_away(path);
    play_child("expect_denied", location);
  }
}

/** Every file in the folder of another user's store belongs to that user. */
static void expect_nothing_of_ours(const char *location) {
  DIR *files = opendir(location);
  for (struct dirent *entry; files && (entry = readdir(files));) {
    struct stat status;
    if (strcmp(entry->d_name, "..") == 0) continue;
    CHECK_INT(0, lstat(file_of(location, entry->d_name), &status));
    CHECK_INT(NOBODY, status.st_uid);
  }
  if (files) closedir(files);
}

ROLE(only_reads, location) {
  alarm(60);
  kept_store *store = open_at(location);
  CHECK_TEXT("1", json_of(store, "number"));
  EXPECT(KEPT_DENIED, kept_set_int64(store, "number", 2, &why));
  EXPECT(KEPT_DENIED, migrate(store));
  CHECK_TEXT("1", json_of(store, "number"));
  expect_nothing_of_ours(location);
  kept_close(store);
}

ROLE(writes_as_nobody, location) {
  become_nobody();
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "number", 1, &why));
  signal_parent();
  await_parent();
}

FOLDER_TEST(root_only_reads_a_store_of_another_user_s) {
  if (!has_other_user()) return;
  const char *location = closed_store();
  give_away_store(location);
  play_child("only_reads", location);
  expect_nothing_of_ours(location);
}

FOLDER_TEST(root_reads_what_a_killed_user_left_in_the_journal) {
  if (!has_other_user()) return;
  const char *location = fresh_folder();
  CHECK_INT(0, mkdir(location, 0700) | chmod(file_of(location, ".."), 0755));
  give_away(location);
  child writer = start_child("writes_as_nobody", location);
  await_child(&writer);
  play_child("only_reads", location);
  kill_child(&writer);
  play_child("only_reads", location);
  expect_nothing_of_ours(location);
}

FOLDER_TEST(root_makes_no_store_in_a_folder_of_another_user_s) {
  if (!has_other_user()) return;
  const char *location = fresh_folder();
  CHECK_INT(0, mkdir(location, 0700));
  give_away(location);
  play_child("expect_denied", location);
  expect_nothing_of_ours(location);
}

/* The environment */

ROLE(asks_for_the_standard_place, location) {
  kept_store *store = NULL;
  kept_options options = KEPT_OPTIONS_INIT;
  if (getauxval(AT_SECURE) == 0) {
    fprintf(stderr, "left out, as programs get no other rights from their files here\n");
    return;
  }
  /* In the home folder of the effective user, who has none; homes.c tests the place. */
  CHECK(kept_open("com.example.secure", NULL, &store, &why) < 0);
  options.environment = "KEPT_SECURE_";
  store = open_with("memory:", &options);
  CHECK_TEXT("absent", json_of(store, "number"));
}

FOLDER_TEST(a_program_with_other_rights_ignores_its_caller_s_environment) {
  if (!has_other_user()) return;
  const char *program = fresh_folder(), *folder = fresh_folder();
  copy_program(program);
  give_away(program);
  CHECK_INT(0, chmod(program, 04755) | mkdir(folder, 0777) | chmod(folder, 0777));
  CHECK_INT(0, chmod(file_of(folder, ".."), 0755));
  pid_t pid = fork();
  if (pid == 0) {
    setenv("XDG_CONFIG_HOME", folder, 1);
    setenv("KEPT_SECURE_NUMBER", "7", 1);
    execl(program, program, "--child", "asks_for_the_standard_place", "none", (char *)NULL);
    _exit(127);
  }
  CHECK_INT(0, end_of(pid));
  CHECK_UINT(0, mode_at(file_of(folder, "kept")));
}

ROLE(works_under_any_umask, location) {
  alarm(60);
  umask(0777);
  kept_store *store = open_at(file_of(location, "a/b"));
  EXPECT(KEPT_OK, kept_set_int64(store, "number", 1, &why));
  EXPECT(KEPT_OK, migrate(store));
  EXPECT(KEPT_OK, kept_export_file(store, file_of(location, "a/export.json"), NULL, &why));
  EXPECT(KEPT_OK, kept_backup(store, file_of(location, "a/backup"), 0, NULL, &why));
  EXPECT(KEPT_OK, kept_backup(store, file_of(location, "a/folder/"), 0, NULL, &why));
  EXPECT(KEPT_OK, kept_restore(store, file_of(location, "a/backup"), NULL, NULL, &why));
  kept_close(store);
  store = open_at(file_of(location, "a/folder"));
  CHECK_TEXT("1", json_of(store, "number"));
  char directory[5000];
  snprintf(directory, sizeof directory, "dir:%s/a/directory", location);
  store = open_at(directory);
  EXPECT(KEPT_OK, kept_set_int64(store, "number", 1, &why));
  CHECK_TEXT("1", json_of(store, "number"));
  CHECK_UINT(S_IFDIR | 0700, mode_at(file_of(location, "a")));
  CHECK_UINT(S_IFDIR | 0700, mode_at(file_of(location, "a/b")));
  CHECK_UINT(S_IFDIR | 0700, mode_at(file_of(location, "a/directory")));
  CHECK_UINT(S_IFREG | 0600, mode_at(file_of(location, "a/b/values")));
  CHECK_UINT(S_IFREG | 0600, mode_at(file_of(location, "a/b/pulse")));
  CHECK_UINT(S_IFREG | 0600, mode_at(file_of(location, "a/export.json")));
  CHECK_UINT(S_IFREG | 0600, mode_at(file_of(location, "a/directory/number.json")));
}

ROLE(works_as_nobody_under_any_umask, location) {
  become_nobody();
  works_under_any_umask(location);
}

FOLDER_TEST(no_umask_takes_the_owner_s_rights) {
  const char *location = fresh_folder();
  CHECK_INT(0, mkdir(location, 0700));
  play_child("works_under_any_umask", location);
  if (!has_other_user()) return;
  const char *other = fresh_folder();
  CHECK_INT(0, mkdir(other, 0700) | chmod(file_of(other, ".."), 0755));
  give_away(other);
  play_child("works_as_nobody_under_any_umask", other);
}

/* Set-user-ID programs: the rights of the caller are not used. */

ROLE(works_with_other_rights, location) {
  if (getauxval(AT_SECURE) == 0) {
    fprintf(stderr, "left out, as programs get no other rights from their files here\n");
    return;
  }
  CHECK(getuid() != geteuid());
  works_under_any_umask(location);
  /* A second backup must see the first one. */
  kept_store *store = open_at(file_of(location, "a/b"));
  CHECK_TEXT("1", json_of(store, "number"));
  EXPECT(KEPT_INVALID, kept_backup(store, file_of(location, "a/folder/"), 0, NULL, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "number", 2, &why));
  EXPECT(KEPT_OK, kept_restore(store, file_of(location, "a/folder"), NULL, NULL, &why));
  CHECK_TEXT("1", json_of(store, "number"));
  char directory[5000];
  snprintf(directory, sizeof directory, "dir:%s/a/directory", location);
  store = open_at(directory);
  CHECK_TEXT("absent", json_of(store, "other"));
  EXPECT(KEPT_OK, kept_flush(store, &why));
}

FOLDER_TEST(a_set_user_id_program_works_with_a_store_that_its_caller_cannot_reach) {
  static const uid_t owners[] = { 0, NOBODY - 1 };
  if (!has_other_user()) return;
  for (int i = 0; i < 2; i++) {
    const char *program = fresh_folder(), *location = fresh_folder();
    copy_program(program);
    CHECK_INT(0, mkdir(location, 0700) | chmod(file_of(location, ".."), 0755));
    CHECK_INT(0, chown(program, owners[i], owners[i]) | chown(location, owners[i], owners[i]) | chmod(program, 04755));
    pid_t pid = fork();
    if (pid == 0) {
      become_nobody();
      execl(program, program, "--child", "works_with_other_rights", location, (char *)NULL);
      _exit(127);
    }
    CHECK_INT(0, end_of(pid));
  }
}
