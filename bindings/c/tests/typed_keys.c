/* Typed keys: a default if there is no value, and a reason if a value cannot be read. */
#include "suite.h"

#include <kept_keys.h>
#include <string.h>

KEPT_KEY_INT64(volume, "audio.volume", 50)
KEPT_KEY_BOOL(shuffle, "playlist.shuffle", true)
KEPT_KEY_DOUBLE(speed, "playback.speed", 1.25)
KEPT_KEY_STRING(theme, "window.theme", "system")

TEST(an_absent_key_has_its_default_and_no_error) {
  kept_store *store = fresh_store();
  kept_error error = { .status = KEPT_FAILED };
  char buffer[16];
  CHECK_INT(50, volume_get(store, &error));
  CHECK_INT(KEPT_OK, error.status);
  CHECK_TEXT("", error.message);
  CHECK(shuffle_get(store, NULL));
  CHECK(speed_get(store, NULL) == 1.25);
  CHECK_TEXT("system", theme_get(store, buffer, sizeof buffer, &error));
  CHECK_INT(KEPT_OK, error.status);
  CHECK_TEXT("absent", json_of(store, "audio.volume"));
}

TEST(a_value_is_read_until_it_is_reset) {
  kept_store *store = fresh_store();
  kept_error error = { .status = KEPT_FAILED };
  char buffer[16];
  EXPECT(KEPT_OK, volume_set(store, -70, &why));
  EXPECT(KEPT_OK, shuffle_set(store, false, &why));
  EXPECT(KEPT_OK, speed_set(store, 0.5, &why));
  EXPECT(KEPT_OK, theme_set(store, "dark", &why));
  CHECK_INT(-70, volume_get(store, &error));
  CHECK_INT(KEPT_OK, error.status);
  CHECK(!shuffle_get(store, NULL));
  CHECK(speed_get(store, NULL) == 0.5);
  CHECK(theme_get(store, buffer, sizeof buffer, NULL) == buffer);
  CHECK_TEXT("dark", buffer);
  EXPECT(KEPT_OK, volume_reset(store, &why));
  CHECK_INT(50, volume_get(store, NULL));
  CHECK_TEXT("absent", json_of(store, volume_key()));
}

TEST(resetting_an_absent_key_is_allowed) {
  kept_store *store = fresh_store();
  kept_error error = { .status = KEPT_FAILED };
  CHECK_INT(KEPT_OK, volume_reset(store, &error));
  CHECK_INT(KEPT_OK, error.status);
  CHECK_INT(KEPT_OK, volume_reset(store, NULL));
}

TEST(a_value_of_another_kind_gives_the_default_and_the_reason) {
  kept_store *store = fresh_store();
  kept_error error;
  char buffer[16];
  EXPECT(KEPT_OK, kept_set_json(store, volume_key(), "\"loud\"", &why));
  CHECK_INT(50, volume_get(store, &error));
  CHECK_INT(KEPT_WRONG_TYPE, error.status);
  CHECK(strstr(error.message, "audio.volume") != NULL);
  CHECK_INT(50, volume_get(store, NULL));
  EXPECT(KEPT_OK, kept_set_json(store, theme_key(), "7", &why));
  CHECK_TEXT("system", theme_get(store, buffer, sizeof buffer, &error));
  CHECK_INT(KEPT_WRONG_TYPE, error.status);
  CHECK_TEXT("\"loud\"", json_of(store, volume_key()));
}

TEST(a_text_that_does_not_fit_gives_the_default_and_the_reason) {
  kept_store *store = fresh_store();
  kept_error error;
  char buffer[4] = "xxx";
  EXPECT(KEPT_OK, theme_set(store, "dark", &why));
  CHECK_TEXT("system", theme_get(store, buffer, sizeof buffer, &error));
  CHECK_INT(KEPT_TOO_LARGE, error.status);
  CHECK_TEXT("system", theme_get(store, NULL, 0, &error));
  CHECK_TEXT("xxx", buffer);
}

TEST(a_transaction_is_a_store_too) {
  kept_store *store = fresh_store(), *transaction = NULL;
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_OK, volume_set(transaction, volume_get(transaction, NULL) + 1, &why));
  CHECK_INT(50, volume_get(store, NULL));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_INT(51, volume_get(store, NULL));
}

TEST(bad_arguments_are_refused_and_the_default_is_given) {
  kept_store *closed = fresh_store();
  kept_error error;
  kept_close(closed);
  CHECK_INT(50, volume_get(NULL, &error));
  CHECK_INT(KEPT_INVALID, error.status);
  CHECK_INT(50, volume_get(closed, &error));
  CHECK_INT(KEPT_CLOSED, error.status);
  EXPECT(KEPT_INVALID, volume_set(NULL, 1, &why));
  EXPECT(KEPT_CLOSED, volume_set(closed, 1, &why));
  EXPECT(KEPT_CLOSED, volume_reset(closed, &why));
  EXPECT(KEPT_INVALID, theme_set(fresh_store(), NULL, &why));
  EXPECT(KEPT_INVALID, theme_set(fresh_store(), bad_text(0), &why));
}
