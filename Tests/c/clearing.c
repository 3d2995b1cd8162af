/* Clearing: values return to their defaults, and no file of a closed store still holds a secret. */
#include "suite.h"
#include "transacting.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

TEST(bad_arguments_are_refused) {
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

/** Whether a file of a store contains a text. */
static int is_anywhere(const char *location, const char *text) {
  int found = 0;
  DIR *files = opendir(location);
  CHECK(files != NULL);
  for (struct dirent *entry; files && (entry = readdir(files));) found |= holds(file_of(location, entry->d_name), text);
  if (files) closedir(files);
  return found;
}

FOLDER_TEST(a_replaced_or_removed_secret_is_in_no_file) {
  const char *location = fresh_location();
  kept_store *store = open_at(location);
  for (int i = 0; i < 200; i++) {
    char key[16];
    snprintf(key, sizeof key, "k%d", i);
    set(store, key, i);
  }
  keep_secrets_plain(store);
  EXPECT(KEPT_OK, kept_declare_json(store, "k7.token", "{\"type\":\"string\",\"secret\":true}", &why));
  const char *secrets[] = { "FIRST-SECRET", "SECOND-SECRET", "THIRD-SECRET" };
  for (int i = 0; i < 3; i++) {
    EXPECT(KEPT_OK, kept_set_string(store, "k7.token", secrets[i], strlen(secrets[i]), &why));
    CHECK(is_anywhere(location, secrets[i]));
    kept_close(store);
    for (int before = 0; before < 3; before++) CHECK_INT(before == i, is_anywhere(location, secrets[before]));
    store = open_at(location);
  }
  EXPECT(KEPT_OK, kept_reset(store, "k7.token", &why));
  kept_close(store);
  for (int i = 0; i < 3; i++) CHECK(!is_anywhere(location, secrets[i]));
  CHECK_TEXT("199", json_of(open_at(location), "k199"));
}
