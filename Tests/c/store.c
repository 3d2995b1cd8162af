/* Store: opening, closing, sharing one location between handles and processes, and failures to open. */
#include "suite.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FOLDER_TEST(a_folder_is_its_owners_alone) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_bool(store, "secret", true, &why));
  CHECK_UINT(0700, 07777 & mode_at(location));
  CHECK_UINT(0600, 07777 & mode_at(file_of(location, "values")));
}

FOLDER_TEST(an_identifier_lives_in_the_configuration_folder) {
  kept_store *store = open_at("com.example.player");
  EXPECT(KEPT_OK, kept_set_bool(store, "open", true, &why));
  CHECK_UINT(0700, 07777 & mode_at(file_of(getenv("XDG_CONFIG_HOME"), "kept/com.example.player.kept")));
}

TEST(an_invalid_location_is_refused) {
  kept_store *store = NULL;
  EXPECT(KEPT_INVALID, kept_open(NULL, NULL, &store, &why));
  EXPECT(KEPT_INVALID, kept_open("memory:", NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_open("", NULL, &store, &why));
  for (size_t i = 0; bad_text(i) != NULL; i++) EXPECT(KEPT_INVALID, kept_open(bad_text(i), NULL, &store, &why));
  CHECK(store == NULL);
}

FOLDER_TEST(a_file_where_the_folder_should_be_is_refused_and_untouched) {
  const char *location = fresh_folder();
  kept_store *store = NULL;
  struct stat status;
  put_file(location, "not a folder");
  poison_why();
  CHECK(kept_open(location, NULL, &store, &why) < 0);
  CHECK(strstr(why.message, location) != NULL);
  CHECK_INT(0, stat(location, &status));
  CHECK(S_ISREG(status.st_mode) && status.st_size == 12);
  CHECK(store == NULL);
}

FOLDER_TEST(a_file_that_is_not_a_checkpoint_is_set_aside_untouched) {
  const char *location = fresh_folder();
  struct stat status;
  glob_t found;
  kept_close(open_at(location));
  put_file(file_of(location, "values"), repeated('x', 10000));
  kept_store *store = NULL;
  EXPECT(KEPT_SALVAGED, kept_open(location, NULL, &store, &why));
  CHECK(strstr(why.message, location) != NULL && strstr(why.message, "quarantine") != NULL);
  EXPECT(KEPT_OK, kept_set_int64(store, "a", 1, &why));
  CHECK_INT(0, glob(file_of(location, "quarantine/*/values"), 0, NULL, &found));
  CHECK_INT(1, found.gl_pathc);
  CHECK_INT(0, stat(found.gl_pathv[0], &status));
  CHECK_INT(10000, status.st_size);
  globfree(&found);
  kept_close(store);
}

FOLDER_TEST(a_salvage_is_reported_until_it_is_acknowledged) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location), *other = NULL;
  char *quarantine = NULL;
  EXPECT(KEPT_ABSENT, kept_salvaged(store, &quarantine, &why));
  EXPECT(KEPT_OK, kept_acknowledge_salvage(store, &why));
  kept_close(store);
  put_file(file_of(location, "values"), "damaged");
  CHECK_INT(KEPT_SALVAGED, kept_open(location, NULL, &store, NULL));
  EXPECT(KEPT_SALVAGED, kept_open(location, NULL, &other, &why));
  EXPECT(KEPT_OK, kept_salvaged(store, &quarantine, &why));
  CHECK_INT(0, access(file_of(quarantine, "values"), F_OK));
  kept_free(quarantine);
  EXPECT(KEPT_INVALID, kept_salvaged(store, NULL, &why));
  EXPECT(KEPT_OK, kept_acknowledge_salvage(store, &why));
  EXPECT(KEPT_ABSENT, kept_salvaged(other, &quarantine, &why));
  kept_close(other);
  kept_close(store);
  kept_close(open_at(location));
  EXPECT(KEPT_CLOSED, kept_salvaged(store, &quarantine, &why));
  EXPECT(KEPT_CLOSED, kept_acknowledge_salvage(store, &why));
  EXPECT(KEPT_INVALID, kept_acknowledge_salvage(NULL, &why));
}

/** Opens as a user without permission. */
ROLE(without_permission, location) {
  kept_store *store = NULL;
  if (geteuid() == 0) CHECK_INT(0, setuid(65534));
  EXPECT(KEPT_DENIED, kept_open(location, NULL, &store, &why));
}

FOLDER_TEST(a_folder_without_permission_is_denied) {
  const char *parent = fresh_folder();
  CHECK_INT(0, mkdir(parent, 0500));
  child child = start_child("without_permission", file_of(parent, "store"));
  CHECK_INT(0, finish_child(&child));
}

/* Options */

TEST(options_say_how_to_open) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  options.durability = KEPT_DURABLE;
  options.busy_timeout_ms = 10;
  EXPECT(KEPT_OK, kept_open(fresh_location(), &options, &store, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
  CHECK_TEXT("1", json_of(store, "key"));
  kept_close(store);
}

TEST(a_time_out_may_be_any_number) {
  static const uint32_t timeouts[] = { 0, INT32_MAX, (uint32_t)INT32_MAX + 1, UINT32_MAX };
  for (size_t i = 0; i < COUNT(timeouts); i++) {
    kept_options options = KEPT_OPTIONS_INIT;
    kept_store *transaction = NULL;
    options.busy_timeout_ms = timeouts[i];
    kept_store *store = open_with(fresh_location(), &options);
    EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
    EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
    EXPECT(KEPT_OK, kept_set_int64(transaction, "key", 2, &why));
    EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
    CHECK_TEXT("2", json_of(store, "key"));
  }
}

TEST(options_that_were_not_initialised_are_refused) {
  kept_store *store = NULL;
  kept_options options = KEPT_OPTIONS_INIT;
  options.size = 0;
  EXPECT(KEPT_INVALID, kept_open(fresh_location(), &options, &store, &why));
  options.size = 3;
  EXPECT(KEPT_INVALID, kept_open(fresh_location(), &options, &store, &why));
  options.size = SIZE_MAX;
  EXPECT(KEPT_INVALID, kept_open(fresh_location(), &options, &store, &why));
  CHECK(strstr(why.message, "-1 ") == NULL);
  options.size = sizeof options;
  options.durability = 7;
  EXPECT(KEPT_INVALID, kept_open(fresh_location(), &options, &store, &why));
  options.durability = KEPT_SHARED;
  options.delivery = 7;
  EXPECT(KEPT_INVALID, kept_open(fresh_location(), &options, &store, &why));
  options.delivery = KEPT_BY_LIBRARY;
  for (size_t i = 0; bad_text(i) != NULL; i++) {
    options.tag = bad_text(i);
    EXPECT(KEPT_INVALID, kept_open(fresh_location(), &options, &store, &why));
  }
  CHECK(store == NULL);
}

/** The struct of the first version: the bytes behind it are not the program's. */
TEST(options_of_an_older_program_are_accepted) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  int fd;
  options.size = 16;
  options.delivery = options.access = 7;
  options.tag = bad_text(0);
  EXPECT(KEPT_OK, kept_open(fresh_location(), &options, &store, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_store_fd(store, &fd, &why));
  kept_close(store);
  options.size = 15;
  EXPECT(KEPT_INVALID, kept_open(fresh_location(), &options, &store, &why));
}

TEST(an_unknown_access_is_refused) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  options.access = 2;
  EXPECT(KEPT_INVALID, kept_open(fresh_location(), &options, &store, &why));
  CHECK(store == NULL);
}

TEST(options_of_a_newer_program_are_accepted) {
  struct {
    kept_options known;
    uint64_t later[4];
  } options = { KEPT_OPTIONS_INIT, { 0 } };
  kept_store *store = NULL;
  options.known.size = sizeof options;
  EXPECT(KEPT_OK, kept_open(fresh_location(), &options.known, &store, &why));
  kept_close(store);
}

TEST(options_that_ask_for_what_a_newer_version_has_are_unsupported) {
  struct {
    kept_options known;
    uint64_t later[4];
  } options = { KEPT_OPTIONS_INIT, { 0, 0, 0, 1 } };
  kept_store *store = NULL;
  options.known.size = sizeof options;
  EXPECT(KEPT_UNSUPPORTED, kept_open(fresh_location(), &options.known, &store, &why));
  CHECK(store == NULL);
}

/* Closing */

TEST(closing_twice_or_closing_NULL_is_allowed) {
  kept_store *store = fresh_store();
  kept_close(NULL);
  kept_close(store);
  kept_close(store);
}

TEST(a_closed_store_returns_closed) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
  kept_close(store);
  char *json;
  EXPECT(KEPT_CLOSED, kept_get_json(store, "key", &json, &why));
  EXPECT(KEPT_CLOSED, kept_set_json(store, "key", "2", &why));
  EXPECT(KEPT_CLOSED, kept_flush(store, &why));
}

TEST(a_closed_handle_is_never_the_next_one) {
  kept_store *closed = fresh_store();
  kept_close(closed);
  for (int i = 0; i < 20; i++) CHECK(fresh_store() != closed);
  EXPECT(KEPT_CLOSED, kept_flush(closed, &why));
}

TEST(flushing_needs_a_store) {
  EXPECT(KEPT_OK, kept_flush(fresh_store(), &why));
  EXPECT(KEPT_INVALID, kept_flush(NULL, &why));
}

/* Sharing */

TEST(two_handles_on_one_location_see_the_same_values) {
  const char *location = fresh_location();
  kept_store *one = open_at(location), *other = open_at(location);
  CHECK(one != other);
  EXPECT(KEPT_OK, kept_set_int64(one, "key", 1, &why));
  CHECK_TEXT("1", json_of(other, "key"));
  EXPECT(KEPT_OK, kept_set_int64(other, "key", 2, &why));
  CHECK_TEXT("2", json_of(one, "key"));
  kept_close(one);
  EXPECT(KEPT_OK, kept_set_int64(other, "key", 3, &why));
  CHECK_TEXT("3", json_of(other, "key"));
}

ROLE(writer, location) {
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_string(store, "from.child", "hello", 5, &why));
  signal_parent();
  await_parent();
  CHECK_TEXT("\"answer\"", json_of(store, "from.parent"));
}

FOLDER_TEST(two_processes_see_each_others_values_at_once) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  child child = start_child("writer", location);
  await_child(&child);
  CHECK_TEXT("\"hello\"", json_of(store, "from.child"));
  EXPECT(KEPT_OK, kept_set_string(store, "from.parent", "answer", 6, &why));
  CHECK_INT(0, finish_child(&child));
}

FOLDER_TEST(a_write_that_returned_survives_kill_9) {
  const char *location = fresh_folder();
  child child = start_child("writer", location);
  await_child(&child);
  kill_child(&child);
  CHECK_TEXT("\"hello\"", json_of(open_at(location), "from.child"));
}

enum { many_writers = 4, keys_each = 50 };

ROLE(one_of_many_writers, location) {
  kept_store *store = open_at(location);
  char key[64];
  signal_parent();
  await_parent();
  for (int i = 0; i < keys_each; i++) {
    snprintf(key, sizeof key, "process.%ld.%d", (long)getpid(), i);
    EXPECT(KEPT_OK, kept_set_int64(store, key, i, &why));
  }
}

FOLDER_TEST(processes_that_write_at_once_lose_nothing) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  child children[many_writers];
  int count = 0;
  for (int i = 0; i < many_writers; i++) children[i] = start_child("one_of_many_writers", location);
  for (int i = 0; i < many_writers; i++) await_child(&children[i]);
  for (int i = 0; i < many_writers; i++) release_child(&children[i]);
  for (int i = 0; i < many_writers; i++) CHECK_INT(0, finish_child(&children[i]));
  EXPECT(KEPT_OK, kept_list(store, "process.", count_key, &count, &why));
  CHECK_INT(many_writers * keys_each, count);
}
