/* Clearing: values return to their defaults, and no file still holds a secret. */
#define _XOPEN_SOURCE 700
#define _GNU_SOURCE
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set(kept_store *store, const char *key, int64_t value) {
  EXPECT(KEPT_OK, kept_set_int64(store, key, value, &why));
}

static uint64_t revision(kept_store *store) {
  uint64_t value = 0;
  EXPECT(KEPT_OK, kept_store_revision(store, &value, &why));
  return value;
}

static void a_key_that_is_reset_reads_as_its_default(void) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_declare_json(store, "volume", "{\"type\":\"integer\",\"default\":50}", &why));
  set(store, "volume", 70);
  EXPECT(KEPT_OK, kept_reset(store, "volume", &why));
  CHECK_TEXT("50", json_of(store, "volume"));
  uint64_t before = revision(store);
  EXPECT(KEPT_OK, kept_reset(store, "volume", &why));
  EXPECT(KEPT_OK, kept_reset(store, "never", &why));
  CHECK_UINT(before, revision(store));
}

static void all_keys_with_a_prefix_are_removed_in_one_commit(void) {
  kept_store *store = fresh_store();
  size_t removed = 99;
  set(store, "a.one", 1);
  set(store, "a.two", 2);
  set(store, "b", 3);
  EXPECT(KEPT_OK, kept_remove_all(store, "a.", &removed, &why));
  CHECK_UINT(2, removed);
  CHECK_UINT(4, revision(store));
  CHECK_TEXT("absent", json_of(store, "a.one"));
  CHECK_TEXT("3", json_of(store, "b"));
  EXPECT(KEPT_OK, kept_remove_all(store, "a.", &removed, &why));
  CHECK_UINT(0, removed);
  EXPECT(KEPT_OK, kept_remove_all(store, "", NULL, &why));
  CHECK_TEXT("absent", json_of(store, "b"));
}

static void nothing_is_removed_if_one_key_is_locked(void) {
  const char *location = fresh_location();
  kept_store *plain = open_at(location);
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = fresh_file("{\"locked\":[\"a.two\"]}");
  set(plain, "a.one", 1);
  set(plain, "a.two", 2);
  kept_store *locked = open_with(location, &options);
  size_t removed = 99;
  EXPECT(KEPT_LOCKED, kept_remove_all(locked, "a.", &removed, &why));
  EXPECT(KEPT_LOCKED, kept_reset(locked, "a.two", &why));
  CHECK_UINT(99, removed);
  CHECK_TEXT("1", json_of(plain, "a.one"));
  EXPECT(KEPT_OK, kept_remove_all(locked, "a.o", &removed, &why));
  CHECK_UINT(1, removed);
}

static void a_transaction_resets_and_removes(void) {
  kept_store *store = fresh_store(), *transaction = NULL;
  set(store, "a", 1);
  set(store, "b", 2);
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_OK, kept_reset(transaction, "a", &why));
  EXPECT(KEPT_OK, kept_remove_all(transaction, "b", NULL, &why));
  CHECK_TEXT("absent", json_of(transaction, "a"));
  CHECK_TEXT("1", json_of(store, "a"));
  kept_rollback(transaction);
  CHECK_TEXT("2", json_of(store, "b"));
  EXPECT(KEPT_CLOSED, kept_reset(transaction, "a", &why));
  EXPECT(KEPT_CLOSED, kept_remove_all(transaction, "", NULL, &why));
}

static void bad_arguments_are_refused(void) {
  kept_store *store = fresh_store();
  set(store, "a", 1);
  EXPECT(KEPT_INVALID, kept_reset(NULL, "a", &why));
  EXPECT(KEPT_INVALID, kept_remove_all(NULL, "", NULL, &why));
  EXPECT(KEPT_INVALID, kept_remove_all(store, NULL, NULL, &why));
  for (size_t i = 0; bad_key(i) != NULL; i++) EXPECT(KEPT_INVALID, kept_reset(store, bad_key(i), &why));
  for (size_t i = 0; bad_text(i) != NULL; i++) EXPECT(KEPT_INVALID, kept_remove_all(store, bad_text(i), NULL, &why));
  CHECK_TEXT("1", json_of(store, "a"));
  kept_close(store);
  EXPECT(KEPT_CLOSED, kept_reset(store, "a", &why));
  EXPECT(KEPT_CLOSED, kept_remove_all(store, "", NULL, &why));
}

/* Whether a file of the store contains a text. */
static int stands_in(const char *location, const char *name, const char *text) {
  FILE *file = fopen(file_of(location, name), "rb");
  if (file == NULL) return 0;
  char *bytes = malloc(16 << 20);
  size_t count = fread(bytes, 1, 16 << 20, file);
  int found = memmem(bytes, count, text, strlen(text)) != NULL;
  free(bytes);
  fclose(file);
  return found;
}

static int stands_anywhere(const char *location, const char *text) {
  return stands_in(location, "values.sqlite", text) || stands_in(location, "values.sqlite-wal", text) ||
    stands_in(location, "values.sqlite-shm", text);
}

static void a_replaced_or_removed_secret_is_in_no_file(void) {
  const char *location = fresh_location();
  kept_store *store = open_at(location);
  for (int i = 0; i < 200; i++) {
    char key[16];
    snprintf(key, sizeof key, "k%d", i);
    set(store, key, i);
  }
  EXPECT(KEPT_OK, kept_declare_json(store, "k7.token", "{\"type\":\"string\",\"secret\":true}", &why));
  const char *secrets[] = { "FIRST-SECRET", "SECOND-SECRET", "THIRD-SECRET" };
  for (int i = 0; i < 3; i++) {
    EXPECT(KEPT_OK, kept_set_string(store, "k7.token", secrets[i], strlen(secrets[i]), &why));
    CHECK(stands_anywhere(location, secrets[i]));
    for (int before = 0; before < i; before++) CHECK(!stands_anywhere(location, secrets[before]));
  }
  EXPECT(KEPT_OK, kept_reset(store, "k7.token", &why));
  for (int i = 0; i < 3; i++) CHECK(!stands_anywhere(location, secrets[i]));
  CHECK_TEXT("199", json_of(store, "k199"));
}

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(a_key_that_is_reset_reads_as_its_default),
    TEST(all_keys_with_a_prefix_are_removed_in_one_commit),
    TEST(nothing_is_removed_if_one_key_is_locked),
    TEST(a_transaction_resets_and_removes),
    TEST(bad_arguments_are_refused),
    FOLDER_TEST(a_replaced_or_removed_secret_is_in_no_file),
    { 0 },
  };
  static const role roles[] = { { 0 } };
  return run_tests(argc, argv, tests, roles);
}
