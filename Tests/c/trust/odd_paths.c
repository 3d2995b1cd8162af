/* Paths with names that are not UTF-8: an existing file is not reported as missing, and nothing is created under a
 * similar name. */
#include "others.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char locks[] = "{\"values\":{\"k\":1}}";
static const char name[] = "caf\xe9";

/** A folder that contains a folder whose name is not UTF-8, which holds a layer, and a symbolic link `link` to it. */
static const char *odd_folder(void) {
  const char *folder = fresh_folder();
  CHECK_INT(0, mkdir(folder, 0700) | mkdir(file_of(folder, name), 0700) | symlink(name, file_of(folder, "link")));
  put_file(file_of(folder, "caf\xe9/layer.json"), locks);
  return folder;
}

static void expect_sentence(void) { CHECK(strstr(why.message, "UTF-8") != NULL); }

static void expect_unopened(const char *location, const kept_options *options) {
  kept_store *store = NULL;
  EXPECT(KEPT_UNAVAILABLE, kept_open(location, options, &store, &why));
  expect_sentence();
  CHECK(store == NULL);
  kept_close(store);
}

static void expect_no_managed(const char *path) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = path;
  expect_unopened("memory:", &options);
  CHECK(strstr(why.message, "managed layer") != NULL);
}

FOLDER_TEST(a_managed_layer_behind_a_link_is_not_absent) {
  const char *folder = odd_folder();
  expect_no_managed(file_of(folder, "link/layer.json"));
  /* The name of the link counts, wherever it is in the path. */
  CHECK_INT(0, symlink("link", file_of(folder, "second")));
  expect_no_managed(file_of(folder, "second/layer.json"));
  CHECK_INT(0, unlink(file_of(folder, "link")) | symlink("caf\xe9/../caf\xe9", file_of(folder, "link")));
  expect_no_managed(file_of(folder, "link/layer.json"));
}

ROLE(works_in_the_folder, folder) {
  CHECK_INT(0, chdir(file_of(folder, name)));
  expect_no_managed("layer.json");
  expect_unopened("./store", NULL);
  expect_unopened("dir:store", NULL);
  CHECK_INT(1, names_in(".", ""));
}

FOLDER_TEST(a_managed_layer_below_the_working_directory_is_not_absent) {
  const char *folder = odd_folder();
  play_child("works_in_the_folder", folder);
  CHECK_INT(2, names_in(folder, ""));
}

FOLDER_TEST(a_store_is_made_nowhere_else) {
  const char *folder = odd_folder(), *there = file_of(folder, name);
  expect_unopened(file_of(folder, "link"), NULL);
  CHECK_INT(2, names_in(folder, ""));
  CHECK_INT(1, names_in(there, ""));
}

FOLDER_TEST(a_backup_goes_nowhere_else) {
  const char *folder = odd_folder();
  kept_store *store = open_at(fresh_folder());
  EXPECT(KEPT_UNAVAILABLE, kept_backup(store, file_of(folder, "link/backup"), 0, NULL, &why));
  expect_sentence();
  EXPECT(KEPT_UNAVAILABLE, kept_export_file(store, file_of(folder, "link/export"), NULL, &why));
  expect_sentence();
  EXPECT(KEPT_UNAVAILABLE, kept_restore(store, file_of(folder, "link/layer.json"), NULL, NULL, &why));
  expect_sentence();
  CHECK_INT(2, names_in(folder, ""));
  CHECK_INT(1, names_in(file_of(folder, name), ""));
}

ROLE(asks_for_its_place, folder) {
  setenv("XDG_CONFIG_HOME", file_of(folder, name), 1);
  expect_unopened("com.example.odd", NULL);
  unsetenv("XDG_CONFIG_HOME");
  setenv("HOME", file_of(folder, name), 1);
  expect_unopened("com.example.odd", NULL);
}

FOLDER_TEST(a_variable_leads_nowhere_else) {
  const char *folder = odd_folder();
  play_child("asks_for_its_place", folder);
  CHECK_INT(2, names_in(folder, ""));
  CHECK_INT(1, names_in(file_of(folder, name), ""));
}
