/* Status: every code has a name, every refusal has a message, and the layout of kept_error never changes. */
#include "suite.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

TEST(the_library_is_the_one_of_the_header) {
  char expected[32];
  snprintf(expected, sizeof expected, "%d.%d.%d", KEPT_VERSION_MAJOR, KEPT_VERSION_MINOR, KEPT_VERSION_PATCH);
  CHECK_TEXT(expected, kept_version());
}

TEST(every_status_has_a_name_of_its_own) {
  for (kept_status status = KEPT_FAILED; status <= KEPT_DEPRECATED; status++) {
    CHECK(strlen(kept_status_text(status)) > 1);
    CHECK(strcmp("unknown status", kept_status_text(status)) != 0);
    for (kept_status other = KEPT_FAILED; other < status; other++) {
      CHECK(strcmp(kept_status_text(other), kept_status_text(status)) != 0);
    }
  }
  CHECK_TEXT("wrong type", kept_status_text(KEPT_WRONG_TYPE));
  CHECK_TEXT("no space", kept_status_text(KEPT_NO_SPACE));
}

TEST(the_name_of_a_status_is_static) {
  CHECK(kept_status_text(KEPT_ABSENT) == kept_status_text(KEPT_ABSENT));
  CHECK(kept_version() == kept_version());
}

TEST(a_status_of_another_version_is_unknown) {
  static const kept_status unknown[] = { KEPT_FAILED - 1, KEPT_DEPRECATED + 1, INT32_MIN, INT32_MAX };
  for (size_t i = 0; i < COUNT(unknown); i++) { CHECK_TEXT("unknown status", kept_status_text(unknown[i])); }
}

TEST(freeing_NULL_is_allowed) { kept_free(NULL); }

TEST(the_layout_of_the_error_never_moves) {
  CHECK_UINT(512, sizeof(kept_error));
  CHECK_UINT(0, offsetof(kept_error, status));
  CHECK_UINT(8, offsetof(kept_error, offset));
  CHECK_UINT(16, offsetof(kept_error, message));
}

TEST(a_refusal_without_an_error_to_fill_is_the_same_refusal) {
  kept_store *store = fresh_store();
  bool flag;
  CHECK_INT(KEPT_INVALID, kept_open(NULL, NULL, NULL, NULL));
  CHECK_INT(KEPT_ABSENT, kept_get_bool(store, "nothing", &flag, NULL));
  CHECK_INT(KEPT_INVALID, kept_set_json(store, "key", "{", NULL));
}

TEST(the_sentence_names_the_key) {
  kept_store *store = fresh_store();
  int64_t number;
  EXPECT(KEPT_OK, kept_set_string(store, "audio.volume", "loud", 4, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_get_int64(store, "audio.volume", &number, &why));
  CHECK(strstr(why.message, "audio.volume") != NULL);
  CHECK_INT(-1, why.offset);
}

TEST(a_long_sentence_ends_with_a_whole_character) {
  char location[3000];
  for (size_t start = 0; start < 4; start++) {
    memset(location, 'x', start);
    for (size_t i = start; i + 3 < sizeof location; i += 3) memcpy(location + i, "\xe2\x82\xac", 4);
    location[0] = '/';
    kept_store *store;
    poison_why();
    CHECK(kept_open(location, NULL, &store, &why) < 0);
    size_t length = strnlen(why.message, sizeof why.message);
    CHECK(length < sizeof why.message);
    CHECK(length < 3 || (why.message[length - 1] & 0xC0) != 0xC0);
    kept_store *judge = fresh_store();
    EXPECT(KEPT_OK, kept_set_string(judge, "message", why.message, length, &why));
  }
}
