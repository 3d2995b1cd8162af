/* Stores of other users: they are read, and never written. */
#include "others.h"
#include "suite.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *directory(const char *folder) {
  char *location = repeated(0, strlen(folder) + 5);
  sprintf(location, "dir:%s", folder);
  return location;
}

static const char *folder_with_number(void) {
  const char *folder = fresh_folder();
  kept_store *store = open_at(directory(folder));
  EXPECT(KEPT_OK, kept_set_int64(store, "number", 1, &why));
  kept_close(store);
  return folder;
}

FOLDER_TEST(a_directory_that_others_may_write_is_denied) {
  static const mode_t modes[] = { 0720, 0702, 0777, 01777 };
  for (int i = 0; i < 4; i++) {
    const char *folder = folder_with_number();
    kept_store *store = NULL;
    CHECK_INT(0, chmod(folder, modes[i]));
    EXPECT(KEPT_DENIED, kept_open(directory(folder), NULL, &store, &why));
    CHECK(strstr(why.message, folder) != NULL);
  }
}

FOLDER_TEST(a_file_of_a_key_that_others_may_write_is_denied) {
  const char *folder = folder_with_number();
  int64_t number = 0;
  CHECK_INT(0, chmod(file_of(folder, "number.json"), 0666));
  kept_store *store = open_at(directory(folder));
  EXPECT(KEPT_DENIED, kept_get_int64(store, "number", &number, &why));
  CHECK_INT(0, chmod(file_of(folder, "number.json"), 0600));
  CHECK_TEXT("1", json_of(store, "number"));
  if (!has_other_user()) return;
  give_away(file_of(folder, "number.json"));
  EXPECT(KEPT_DENIED, kept_get_int64(store, "number", &number, &why));
}

FOLDER_TEST(a_directory_of_another_user_s_is_only_read) {
  if (!has_other_user()) return;
  const char *folder = folder_with_number();
  give_away_store(folder);
  kept_store *store = open_at(directory(folder));
  CHECK_TEXT("1", json_of(store, "number"));
  EXPECT(KEPT_DENIED, kept_set_int64(store, "number", 2, &why));
  EXPECT(KEPT_DENIED, kept_remove(store, "number", &why));
  CHECK_TEXT("1", json_of(store, "number"));
  struct stat status;
  CHECK(lstat(file_of(folder, ".kept-lock"), &status) != 0 || status.st_uid == NOBODY);
}

static int is_over;

/** Reads a store whose file is touched before each read, so that it is copied again. */
static void *read_copies(void *location) {
  kept_store *store = open_at(location);
  const char *file = file_of(location, "values");
  int64_t number = 0;
  while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
    utimensat(AT_FDCWD, file, NULL, 0);
    kept_get_int64(store, "number", &number, NULL);
  }
  kept_close(store);
  return NULL;
}

ROLE(reads_and_forks, location) {
  const char *own = closed_store();
  pthread_t thread;
  CHECK_INT(0, pthread_create(&thread, NULL, read_copies, (void *)location));
  for (int i = 0; i < 100; i++) {
    pid_t child = fork();
    if (child == 0) {
      kept_store *store = NULL;
      kept_status opened = kept_open(own, NULL, &store, NULL);
      kept_close(store);
      leave_fork(opened == KEPT_OK ? 0 : 1);
    }
    CHECK_INT(0, end_of(child));
  }
  __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
  CHECK_INT(0, pthread_join(thread, NULL));
}

FOLDER_TEST(a_child_of_a_fork_opens_stores_while_another_s_is_read) {
  if (!has_other_user()) return;
  const char *location = closed_store();
  give_away_store(location);
  play_child("reads_and_forks", location);
}
