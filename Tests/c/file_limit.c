/* A limit on the size of files, as set by `ulimit -f`. The system kills a process at its first write past the limit
 * unless the library prevents it. The message names the limit. */
#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void limit_files(rlim_t bytes) {
  struct rlimit limit = { bytes, bytes };
  CHECK_INT(0, setrlimit(RLIMIT_FSIZE, &limit));
}

static void expect_limit(kept_status status) {
  CHECK_INT(KEPT_NO_SPACE, status);
  CHECK(strstr(why.message, "ulimit -f") != NULL);
}

ROLE(one_with_small_files, location) {
  char *large = repeated('x', 300000), path[4400];
  limit_files(100000);
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "small", 1, &why));
  for (int i = 0; i < 2; i++) expect_limit(kept_set_string(store, "large", large, 300000, &why));
  CHECK_TEXT("absent", json_of(store, "large"));
  EXPECT(KEPT_OK, kept_set_int64(store, "small", 2, &why));
  CHECK_TEXT("2", json_of(store, "small"));
  snprintf(path, sizeof path, "%s-copy", location);
  expect_limit(kept_export_file(store, path, NULL, &why));
  expect_limit(kept_backup(store, path, 0, NULL, &why));
  CHECK_INT(-1, access(path, F_OK));
  kept_close(store);
}

ROLE(one_with_tiny_files, location) {
  kept_store *store = NULL;
  limit_files(3000);
  expect_limit(kept_open(location, NULL, &store, &why));
  char files[4400];
  snprintf(files, sizeof files, "dir:%s-files", location);
  store = open_at(files);
  char *large = repeated('x', 5000);
  expect_limit(kept_set_string(store, "large", large, 5000, &why));
}

FOLDER_TEST(a_limit_on_file_sizes_is_reported_and_ends_no_process) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  char *large = repeated('y', 300000);
  EXPECT(KEPT_OK, kept_set_string(store, "there", large, 300000, &why));
  kept_close(store);
  child small = start_child("one_with_small_files", location);
  CHECK_INT(0, finish_child(&small));
  CHECK_TEXT("2", json_of(open_at(location), "small"));
  child tiny = start_child("one_with_tiny_files", fresh_folder());
  CHECK_INT(0, finish_child(&tiny));
}

ROLE(one_without_files, location) {
  limit_files(0);
  kept_store *store = open_at("memory:");
  EXPECT(KEPT_OK, kept_set_int64(store, "small", 1, &why));
  CHECK_TEXT("1", json_of(store, "small"));
}

TEST(a_store_in_memory_has_no_files) {
  child process = start_child("one_without_files", "memory:");
  CHECK_INT(0, finish_child(&process));
}
