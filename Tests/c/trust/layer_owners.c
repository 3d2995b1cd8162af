/* Owners of layers: the files of the managed and the system layer, and the folders that lead to them, must belong to
 * root or to the user of the program. A store whose managed layer cannot be read is not opened. */
#include "others.h"
#include "reports.h"
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char locks[] = "{\"values\":{\"k\":1}}";

static kept_options reporting_to(kept_options options, reports *reports) {
  options.report = write_report;
  options.report_context = reports;
  return options;
}

/** A folder with a valid file; returns the file. */
static const char *file_in_folder(void) {
  const char *folder = fresh_folder(), *path = file_of(folder, "layer.json");
  CHECK_INT(0, mkdir(folder, 0755));
  put_file(path, locks);
  return path;
}

static const char *folder_of(const char *path) {
  char *folder = strcpy(repeated(0, strlen(path)), path);
  *strrchr(folder, '/') = 0;
  return folder;
}

static void expect_managed(const char *path) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = path;
  kept_store *store = open_with("memory:", &options);
  CHECK_TEXT("1", json_of(store, "k"));
  EXPECT(KEPT_LOCKED, kept_set_int64(store, "k", 2, &why));
  kept_close(store);
}

static void expect_no_managed(const char *path) {
  kept_store *store = NULL;
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = path;
  EXPECT(KEPT_UNAVAILABLE, kept_open("memory:", &options, &store, &why));
  CHECK(strstr(why.message, "managed layer") != NULL);
  CHECK(store == NULL);
}

static void expect_no_system(const char *path) {
  reports *reports = new_reports();
  kept_options options = KEPT_OPTIONS_INIT;
  options.system = path;
  options = reporting_to(options, reports);
  kept_store *store = open_with("memory:", &options);
  CHECK(strstr(report_text(reports, 1), "system layer") != NULL);
  CHECK_TEXT("absent", json_of(store, "k"));
  kept_close(store);
}

static void expect_refused(const char *path) {
  expect_no_managed(path);
  expect_no_system(path);
}

FOLDER_TEST(a_layer_that_cannot_be_understood_is_no_layer) {
  const char *path = file_in_folder();
  put_file(path, "values: none");
  expect_refused(path);
  put_file(path, "");
  expect_refused(path);
  put_file(path, locks);
  expect_managed(path);
}

FOLDER_TEST(only_a_regular_file_is_a_layer) {
  const char *folder = fresh_folder(), *fifo = fresh_folder(), *link = fresh_folder();
  CHECK_INT(0, mkdir(folder, 0755) | mkfifo(fifo, 0644));
  expect_refused(folder);
  expect_refused(fifo);
  for (int i = 0; i < 2; i++) {
    CHECK_INT(0, symlink(i ? folder : fifo, link));
    expect_refused(link);
    CHECK_INT(0, unlink(link));
  }
}

FOLDER_TEST(a_file_that_other_users_may_write_is_no_layer) {
  const char *path = file_in_folder(), *folder = folder_of(path);
  CHECK_INT(0, chmod(path, 0664));
  expect_refused(path);
  CHECK_INT(0, chmod(path, 0646));
  expect_refused(path);
  CHECK_INT(0, chmod(path, 0644) | chmod(folder, 0775));
  expect_refused(path);
  CHECK_INT(0, chmod(folder, 0757));
  expect_refused(path);
  CHECK_INT(0, chmod(folder, 0755));
  expect_managed(path);
}

FOLDER_TEST(a_file_below_a_folder_that_other_users_may_write_is_no_layer) {
  const char *above = fresh_folder(), *folder = file_of(above, "kept"), *path = file_of(folder, "layer.json");
  CHECK_INT(0, mkdir(above, 0755) | mkdir(folder, 0755));
  put_file(path, locks);
  expect_managed(path);
  CHECK_INT(0, chmod(above, 0777));
  expect_refused(path);
  /* Also if there is no file, since another user could have removed it. */
  CHECK_INT(0, unlink(path));
  expect_refused(path);
  put_file(path, locks);
  /* As in /tmp, another user cannot remove the folder. */
  CHECK_INT(0, chmod(above, 01777));
  if (geteuid() == 0) expect_managed(path);
}

FOLDER_TEST(a_link_on_the_way_counts_with_its_folder) {
  const char *path = file_in_folder(), *place = fresh_folder(), *link = file_of(place, "link");
  const char *folder = folder_of(path);
  CHECK_INT(0, mkdir(place, 0755) | symlink(folder, link));
  expect_managed(file_of(link, "layer.json"));
  CHECK_INT(0, chmod(place, 0777));
  expect_refused(file_of(link, "layer.json"));
}

/* The links of a ConfigMap, which are replaced when it changes. */
FOLDER_TEST(a_link_to_the_file_counts_with_both_folders) {
  const char *volume = fresh_folder(), *data = file_of(volume, "..2026"), *link = file_of(volume, "managed.json");
  CHECK_INT(0, mkdir(volume, 0755) | mkdir(data, 0755) | symlink("..2026", file_of(volume, "..data")));
  CHECK_INT(0, symlink("..data/managed.json", link));
  expect_refused(link);
  put_file(file_of(data, "managed.json"), locks);
  expect_managed(link);
  const char *folders[] = { volume, data };
  for (int i = 0; i < 2; i++) {
    CHECK_INT(0, chmod(folders[i], 0777));
    expect_refused(link);
    CHECK_INT(0, chmod(folders[i], 0755));
  }
  expect_managed(link);
  if (!has_other_user()) return;
  give_away(link);
  expect_refused(link);
  CHECK_INT(0, lchown(link, 0, 0));
  give_away(file_of(volume, "..data"));
  expect_refused(link);
}

FOLDER_TEST(a_layer_belongs_to_root_or_to_the_user) {
  if (!has_other_user()) return;
  const char *path = file_in_folder();
  const char *folder = folder_of(path);
  give_away(path);
  expect_refused(path);
  CHECK_INT(0, chown(path, 0, 0));
  give_away(folder);
  expect_refused(path);
}

ROLE(reads_as_nobody, location) {
  become_nobody();
  /* Owned by root and by the user. */
  expect_managed(file_of(location, "root.json"));
  expect_managed(file_of(location, "own.json"));
  expect_no_managed(file_of(location, "other.json"));
  expect_no_managed(file_of(location, "closed.json"));
  expect_no_managed(file_of(location, "closed/layer.json"));
}

FOLDER_TEST(a_user_s_program_trusts_root_and_its_user) {
  if (!has_other_user()) return;
  const char *folder = fresh_folder();
  CHECK_INT(0, mkdir(folder, 0755) | chmod(file_of(folder, ".."), 0755));
  put_file(file_of(folder, "root.json"), locks);
  put_file(file_of(folder, "own.json"), locks);
  give_away(file_of(folder, "own.json"));
  put_file(file_of(folder, "other.json"), locks);
  CHECK_INT(0, chown(file_of(folder, "other.json"), NOBODY - 1, 0));
  put_file(file_of(folder, "closed.json"), locks);
  CHECK_INT(0, chmod(file_of(folder, "closed.json"), 0600) | mkdir(file_of(folder, "closed"), 0700));
  play_child("reads_as_nobody", folder);
}

/* Limits that the caller of a program with more rights may set. */

ROLE(opens_without_descriptors, path) {
  struct rlimit limit;
  CHECK_INT(0, getrlimit(RLIMIT_NOFILE, &limit));
  for (int left = 0; left < 12; left++) {
    int least = dup(0);
    close(least);
    limit.rlim_cur = (rlim_t)(least + left);
    CHECK_INT(0, setrlimit(RLIMIT_NOFILE, &limit));
    kept_options options = KEPT_OPTIONS_INIT;
    kept_store *store = NULL;
    options.managed = path;
    kept_status status = kept_open("memory:", &options, &store, NULL);
    if (status != KEPT_UNAVAILABLE) {
      CHECK_INT(KEPT_OK, status);
      EXPECT(KEPT_LOCKED, kept_set_int64(store, "k", 2, &why));
      kept_close(store);
    }
    limit.rlim_cur = limit.rlim_max;
    CHECK_INT(0, setrlimit(RLIMIT_NOFILE, &limit));
  }
}

ROLE(opens_without_room, path) {
  struct rlimit none = { 0, 0 };
  CHECK_INT(0, setrlimit(RLIMIT_FSIZE, &none) | setrlimit(RLIMIT_CORE, &none));
  expect_managed(path);
}

FOLDER_TEST(limits_do_not_switch_locks_off) {
  const char *path = file_in_folder();
  play_child("opens_without_descriptors", path);
  play_child("opens_without_room", path);
}

FOLDER_TEST(a_file_that_breaks_later_keeps_its_locks) {
  const char *path = file_in_folder();
  reports *reports = new_reports();
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = path;
  options = reporting_to(options, reports);
  kept_store *store = open_with("memory:", &options);
  CHECK_INT(0, chmod(path, 0666));
  CHECK(strstr(report_text(reports, 1), "managed layer") != NULL);
  CHECK_TEXT("1", json_of(store, "k"));
  EXPECT(KEPT_LOCKED, kept_set_int64(store, "k", 2, &why));
}
