/* Stores of other users: they are read, never written, and reading always terminates, whatever they contain. */
#include "others.h"
#include "suite.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
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

/* A database whose pages refer to the same page repeatedly, and so has more rows than fit in memory. */

enum { MOST_PAGES = 20 };

static size_t header_of(unsigned page, unsigned size) { return (size_t)(page - 1) * size + (page == 1 ? 100 : 0); }

static unsigned word(const unsigned char *bytes) { return (unsigned)bytes[0] << 8 | bytes[1]; }

static void lead_to(unsigned char *bytes, unsigned page) {
  for (int i = 0; i < 4; i++) bytes[i] = (unsigned char)(page >> (24 - 8 * i));
}

static unsigned root_of_entries(const char *path) {
  sqlite3 *connection = NULL;
  sqlite3_stmt *rows = NULL;
  CHECK_INT(SQLITE_OK, sqlite3_open(path, &connection));
  CHECK_INT(SQLITE_OK,
    sqlite3_prepare_v2(connection, "SELECT rootpage FROM sqlite_schema WHERE name = 'entry'", -1, &rows, NULL));
  CHECK_INT(SQLITE_ROW, sqlite3_step(rows));
  unsigned root = (unsigned)sqlite3_column_int(rows, 0);
  sqlite3_finalize(rows);
  sqlite3_close(connection);
  return root;
}

static void tie_in_loops(const char *path) {
  unsigned root = root_of_entries(path), chain[MOST_PAGES] = { root }, count = 1, leaf = 0;
  int file = open(path, O_RDWR);
  struct stat status;
  CHECK(file >= 0 && fstat(file, &status) == 0);
  unsigned char *bytes = malloc((size_t)status.st_size);
  CHECK(bytes != NULL && read(file, bytes, (size_t)status.st_size) == status.st_size);
  unsigned size = word(bytes + 16);
  for (unsigned page = 2; page <= status.st_size / size; page++) {
    unsigned kind = bytes[header_of(page, size)];
    if (kind == 2 && page != root && count < MOST_PAGES) chain[count++] = page;
    if (kind == 10) leaf = page;
  }
  CHECK(count > 5 && leaf > 0);
  for (unsigned i = 0; i < count; i++) {
    unsigned char *header = bytes + header_of(chain[i], size);
    unsigned next = i + 1 < count ? chain[i + 1] : leaf;
    lead_to(header + 8, next);
    for (unsigned cell = 0; cell < word(header + 3); cell++)
      lead_to(bytes + (size_t)(chain[i] - 1) * size + word(header + 12 + 2 * cell), next);
  }
  CHECK_INT(status.st_size, pwrite(file, bytes, (size_t)status.st_size, 0));
  close(file);
  free(bytes);
}

ROLE(reads_loops, location) {
  kept_store *store = NULL;
  char *json = NULL;
  alarm(60);
  if (kept_open(location, NULL, &store, &why) == KEPT_OK) EXPECT(KEPT_CORRUPT, kept_list_json(store, "", &json, &why));
  CHECK_INT(KEPT_CORRUPT, why.status);
  kept_close(store);
}

FOLDER_TEST(pages_that_lead_to_each_other_are_damage) {
  if (!has_other_user()) return;
  const char *location = fresh_folder();
  kept_store *store = open_at(location), *transaction = NULL;
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  for (int i = 0; i < 15000; i++) {
    /* Long keys, so that many pages lead to others. */
    char key[120];
    snprintf(key, sizeof key, "key%0100d", i);
    CHECK_INT(KEPT_OK, kept_set_int64(transaction, key, 1, NULL));
  }
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  kept_close(store);
  tie_in_loops(file_of(location, "values.sqlite"));
  give_away_store(location);
  play_child("reads_loops", location);
}

static int is_over;

/** Reads a store whose file is touched before each read, so that it is copied again. */
static void *read_copies(void *location) {
  kept_store *store = open_at(location);
  const char *file = file_of(location, "values.sqlite");
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
