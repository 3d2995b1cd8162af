/* Display: text that is safe for a terminal and a log. */
#include "suite.h"

#include <string.h>

static const char *displayed(const char *text, size_t length, uint32_t form) {
  static char copy[256];
  char *out = NULL;
  EXPECT(KEPT_OK, kept_display_text(text, length, form, &out, &why));
  strncpy(copy, out ? out : "nothing", sizeof copy - 1);
  kept_free(out);
  return copy;
}

#define DISPLAYED(text, form) displayed("" text, sizeof text - 1, form)

TEST(what_acts_on_a_terminal_is_escaped) {
  CHECK_TEXT("plain", DISPLAYED("plain", KEPT_DISPLAY_LINE));
  CHECK_TEXT("", DISPLAYED("", KEPT_DISPLAY_LINE));
  CHECK_TEXT("a\\n\\t\\r\\u{1B}\\u{0}b", DISPLAYED("a\n\t\r\x1b\0b", KEPT_DISPLAY_LINE));
  CHECK_TEXT(
    "\\u{61C}\\u{202E}\\u{200B}\\u{9B}", DISPLAYED("\xd8\x9c\xe2\x80\xae\xe2\x80\x8b\xc2\x9b", KEPT_DISPLAY_LINE));
  CHECK_TEXT("a\n\t\\r\\u{1B}", DISPLAYED("a\n\t\r\x1b", KEPT_DISPLAY_LINES));
  CHECK_TEXT("{\"a\": \"\\u061c\\u009b\\udb40\\udc41\"}",
    DISPLAYED("{\"a\": \"\xd8\x9c\xc2\x9b\xf3\xa0\x81\x81\"}", KEPT_DISPLAY_JSON));
}

TEST(a_text_is_shortened_to_columns) {
  static const struct {
    const char *text;
    size_t columns;
    const char *cut;
    size_t used;
  } cases[] = {
    { "abc", 3, "abc", 3 },
    { "abcd", 3, "ab\xe2\x80\xa6", 3 },
    { "abc", 0, "", 0 },
    { "", 0, "", 0 },
    { "a\x1b", 4, "a\\u\xe2\x80\xa6", 4 },
    // Two wide characters.
    { "\xe6\xbc\xa2\xe5\xad\x97", 4, "\xe6\xbc\xa2\xe5\xad\x97", 4 },
    { "\xe6\xbc\xa2\xe5\xad\x97", 3, "\xe6\xbc\xa2\xe2\x80\xa6", 3 },
    { "\xe6\xbc\xa2\xe5\xad\x97", 2, "\xe2\x80\xa6", 1 },
    { "abc", SIZE_MAX, "abc", 3 },
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    char *cut = NULL;
    size_t used = 99;
    EXPECT(KEPT_OK, kept_display_cut(cases[i].text, strlen(cases[i].text), cases[i].columns, &cut, &used, &why));
    CHECK_TEXT(cases[i].cut, cut);
    CHECK_UINT(cases[i].used, used);
    kept_free(cut);
  }
}

TEST(an_emoji_stays) {
  const char family[] = "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7";
  CHECK_TEXT(family, displayed(family, strlen(family), KEPT_DISPLAY_LINE));
}

TEST(a_wrong_argument_is_refused) {
  char *out = NULL;
  EXPECT(KEPT_INVALID, kept_display_text(NULL, 0, KEPT_DISPLAY_LINE, &out, &why));
  EXPECT(KEPT_INVALID, kept_display_text("a", 1, KEPT_DISPLAY_LINE, NULL, &why));
  EXPECT(KEPT_INVALID, kept_display_text("a", 1, 3, &out, &why));
  EXPECT(KEPT_INVALID, kept_display_cut(NULL, 0, 1, &out, NULL, &why));
  EXPECT(KEPT_INVALID, kept_display_cut("a", 1, 1, NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_display_cut("\xff", 1, 1, &out, NULL, &why));
  EXPECT(KEPT_TOO_LARGE, kept_display_text("a", SIZE_MAX, KEPT_DISPLAY_LINE, &out, &why));
  for (size_t i = 0; bad_text(i) != NULL; i++) {
    EXPECT(KEPT_INVALID, kept_display_text(bad_text(i), strlen(bad_text(i)), KEPT_DISPLAY_LINE, &out, &why));
  }
  CHECK(out == NULL);
}

TEST(a_message_is_one_safe_line) {
  kept_store *store = fresh_store();
  uint64_t revision = 0;
  EXPECT(KEPT_ABSENT, kept_revision_of(store, "a\n\x1b\xe2\x80\xae", &revision, &why));
  CHECK(strpbrk(why.message, "\n\x1b") == NULL && strstr(why.message, "\"a\\n\\u{1B}\\u{202E}\"") != NULL);
}
