/* Display: text that is safe for a terminal and a log. */
#include "check.h"

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

static void what_acts_on_a_terminal_is_escaped(void) {
  CHECK_TEXT("plain", DISPLAYED("plain", KEPT_DISPLAY_LINE));
  CHECK_TEXT("", DISPLAYED("", KEPT_DISPLAY_LINE));
  CHECK_TEXT("a\\n\\t\\r\\u{1B}\\u{0}b", DISPLAYED("a\n\t\r\x1b\0b", KEPT_DISPLAY_LINE));
  CHECK_TEXT(
    "\\u{61C}\\u{202E}\\u{200B}\\u{9B}", DISPLAYED("\xd8\x9c\xe2\x80\xae\xe2\x80\x8b\xc2\x9b", KEPT_DISPLAY_LINE));
  CHECK_TEXT("a\n\t\\r\\u{1B}", DISPLAYED("a\n\t\r\x1b", KEPT_DISPLAY_LINES));
  CHECK_TEXT("{\"a\": \"\\u061c\\u009b\\udb40\\udc41\"}",
    DISPLAYED("{\"a\": \"\xd8\x9c\xc2\x9b\xf3\xa0\x81\x81\"}", KEPT_DISPLAY_JSON));
}

static void an_emoji_stays(void) {
  const char family[] = "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7";
  CHECK_TEXT(family, displayed(family, strlen(family), KEPT_DISPLAY_LINE));
}

static void a_wrong_argument_is_refused(void) {
  char *out = NULL;
  EXPECT(KEPT_INVALID, kept_display_text(NULL, 0, KEPT_DISPLAY_LINE, &out, &why));
  EXPECT(KEPT_INVALID, kept_display_text("a", 1, KEPT_DISPLAY_LINE, NULL, &why));
  EXPECT(KEPT_INVALID, kept_display_text("a", 1, 3, &out, &why));
  EXPECT(KEPT_TOO_LARGE, kept_display_text("a", SIZE_MAX, KEPT_DISPLAY_LINE, &out, &why));
  for (size_t i = 0; bad_text(i) != NULL; i++) {
    EXPECT(KEPT_INVALID, kept_display_text(bad_text(i), strlen(bad_text(i)), KEPT_DISPLAY_LINE, &out, &why));
  }
  CHECK(out == NULL);
}

static void a_message_is_one_safe_line(void) {
  kept_store *store = fresh_store();
  uint64_t revision = 0;
  EXPECT(KEPT_ABSENT, kept_revision_of(store, "a\n\x1b\xe2\x80\xae", &revision, &why));
  CHECK(strpbrk(why.message, "\n\x1b") == NULL && strstr(why.message, "\"a\\n\\u{1B}\\u{202E}\"") != NULL);
}

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(what_acts_on_a_terminal_is_escaped),
    TEST(an_emoji_stays),
    TEST(a_wrong_argument_is_refused),
    TEST(a_message_is_one_safe_line),
    { NULL, NULL, 0 },
  };
  return run_tests(argc, argv, tests, NULL);
}
