/* JSON: any value as canonical text, the offset of an error in a text, and compare-and-set. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void any_value_is_returned_as_canonical_text(void) {
  static const char *const texts[][2] = {
    { "true", "true" },
    { " false ", "false" },
    { "1", "1" },
    { "-9223372036854775808", "-9223372036854775808" },
    { "1.0", "1.0" },
    { "-0.0", "-0.0" },
    { "1e3", "1000.0" },
    { "0.1", "0.1" },
    { "5e-324", "5e-324" },
    { "\"\"", "\"\"" },
    { "\"a\\u00e9\\/\\n\\u0000\"", "\"a\xc3\xa9/\\n\\u0000\"" },
    { "\"\\ud83c\\udfb5\"", "\"\xf0\x9f\x8e\xb5\"" },
    { "[]", "[]" },
    { "[1, 1.0, null, [true]]", "[1,1.0,null,[true]]" },
    { "{ \"b\" : 1, \"a\" : { } }", "{\"a\":{},\"b\":1}" },
    { "{\"$numberULong\":\"18446744073709551615\"}", "{\"$numberULong\":\"18446744073709551615\"}" },
    { "{\"$numberLong\":\"7\"}", "7" },
    { "{\"$numberDouble\":\"NaN\"}", "{\"$numberDouble\":\"NaN\"}" },
    { "{\"$numberDouble\":\"-Infinity\"}", "{\"$numberDouble\":\"-Infinity\"}" },
    { "{\"$binary\":{\"subType\":\"00\",\"base64\":\"AAECAw==\"}}",
      "{\"$binary\":{\"base64\":\"AAECAw==\",\"subType\":\"00\"}}" },
    { "{\"$date\":\"2026-11-20T23:44:01.250Z\"}", "{\"$date\":\"2026-11-20T23:44:01.25Z\"}" },
    { "{\"$literal\":{\"$price\":5}}", "{\"$literal\":{\"$price\":5}}" },
  };
  kept_store *store = fresh_store();
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    EXPECT(KEPT_OK, kept_set_json(store, "key", texts[i][0], &why));
    CHECK_TEXT(texts[i][1], json_of(store, "key"));
  }
}

static void keys_are_ordered_by_their_bytes(void) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_set_json(store, "key", "{\"e\xcc\x81\":1,\"\xc3\xa9\":2,\"Z\":3,\"a\":4,\"\":5}", &why));
  CHECK_TEXT("{\"\":5,\"Z\":3,\"a\":4,\"e\xcc\x81\":1,\"\xc3\xa9\":2}", json_of(store, "key"));
}

static void null_removes_a_key_even_if_it_is_absent(void) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_set_json(store, "key", "1", &why));
  EXPECT(KEPT_OK, kept_set_json(store, "key", "null", &why));
  CHECK_TEXT("absent", json_of(store, "key"));
  EXPECT(KEPT_OK, kept_set_json(store, "key", " null ", &why));
}

static void invalid_text_is_refused_with_its_offset_and_changes_nothing(void) {
  static const struct {
    const char *text;
    int64_t offset;
  } wrong[] = {
    { "", 0 },
    { "   ", 3 },
    { "1 2", 2 },
    { "[1,]", 3 },
    { "[1", 2 },
    { "{\"a\" 1}", 5 },
    { "{\"a\":1,}", 7 },
    { "{a:1}", 1 },
    { "{'a':1}", 1 },
    { "tru", 0 },
    { "NaN", 0 },
    { "Infinity", 0 },
    { "+1", 0 },
    { "\"caf\xe9\"", 4 },
    { "{\"a\":1,\"a\":2}", 7 },
    { "/* no */ 1", 0 },
  };
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_set_json(store, "key", "\"safe\"", &why));
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    EXPECT(KEPT_INVALID, kept_set_json(store, "key", wrong[i].text, &why));
    if (why.offset != wrong[i].offset) fprintf(stderr, "%s\n  %s\n", wrong[i].text, why.message);
    CHECK_INT(wrong[i].offset, why.offset);
  }
  CHECK_TEXT("\"safe\"", json_of(store, "key"));
}

static void text_that_json_c_would_accept_is_refused(void) {
  static const char *const wrong[] = {
    "1.",
    ".5",
    "01",
    "-",
    "1e",
    "9223372036854775808",
    "-9223372036854775809",
    "1e400",
    "\"tab\there\"",
    "\"\\x\"",
    "\"\\ud800\"",
    "\"\\udc00\\ud800\"",
    "{\"k\\u0000x\":1}",
    "\"open",
    "[1 2]",
    "nul",
    "truefalse",
    "{\"$numberLong\":7}",
    "{\"$numberLong\":\"x\"}",
    "{\"$numberULong\":\"-1\"}",
    "{\"$numberDouble\":\"nan\"}",
    "{\"$binary\":{\"base64\":\"AAE\",\"subType\":\"00\"}}",
    "{\"$binary\":{\"base64\":\"AA==\",\"subType\":\"05\"}}",
    "{\"$date\":\"2026-02-30T00:00:00Z\"}",
    "{\"$date\":\"yesterday\"}",
    "{\"$unknown\":1}",
    "{\"$date\":\"2026-11-20T23:44:01Z\",\"more\":1}",
  };
  kept_store *store = fresh_store();
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    EXPECT(KEPT_INVALID, kept_set_json(store, "key", wrong[i], &why));
    if (why.offset < 0) fprintf(stderr, "%s has no offset: %s\n", wrong[i], why.message);
    CHECK(why.offset >= 0 && why.offset <= (int64_t)strlen(wrong[i]));
  }
  CHECK_TEXT("absent", json_of(store, "key"));
}

static char *nested(size_t depth) {
  char *text = repeated('[', 2 * depth);
  memset(text + depth, ']', depth);
  return text;
}

static void arrays_nest_at_most_64_levels_deep(void) {
  kept_store *store = fresh_store();
  char *text = nested(64);
  EXPECT(KEPT_OK, kept_set_json(store, "key", text, &why));
  CHECK_TEXT(text, json_of(store, "key"));
  EXPECT(KEPT_TOO_LARGE, kept_set_json(store, "key", nested(65), &why));
  CHECK_INT(64, why.offset);
  EXPECT(KEPT_TOO_LARGE, kept_set_json(store, "key", nested(100000), &why));
  CHECK_TEXT(text, json_of(store, "key"));
}

static void a_text_over_the_limit_is_too_large(void) {
  kept_store *store = fresh_store();
  char *text = repeated('x', (16u << 20) + 3);
  text[0] = text[(16u << 20) + 2] = '"';
  EXPECT(KEPT_TOO_LARGE, kept_set_json(store, "key", text, &why));
  CHECK_TEXT("absent", json_of(store, "key"));
}

static void NULL_is_refused(void) {
  kept_store *store = fresh_store();
  char *json = NULL;
  EXPECT(KEPT_INVALID, kept_get_json(NULL, "key", &json, &why));
  EXPECT(KEPT_INVALID, kept_get_json(store, NULL, &json, &why));
  EXPECT(KEPT_INVALID, kept_get_json(store, "key", NULL, &why));
  EXPECT(KEPT_INVALID, kept_set_json(NULL, "key", "1", &why));
  EXPECT(KEPT_INVALID, kept_set_json(store, NULL, "1", &why));
  EXPECT(KEPT_INVALID, kept_set_json(store, "key", NULL, &why));
  EXPECT(KEPT_INVALID, kept_set_json_if(NULL, "key", "1", 0, NULL, &why));
  EXPECT(KEPT_INVALID, kept_set_json_if(store, NULL, "1", 0, NULL, &why));
  EXPECT(KEPT_INVALID, kept_set_json_if(store, "key", NULL, 0, NULL, &why));
  CHECK(json == NULL);
}

static void a_bad_key_is_refused(void) {
  kept_store *store = fresh_store();
  char *json = NULL;
  for (size_t i = 0; bad_key(i) != NULL; i++) {
    EXPECT(KEPT_INVALID, kept_get_json(store, bad_key(i), &json, &why));
    EXPECT(KEPT_INVALID, kept_set_json(store, bad_key(i), "1", &why));
    EXPECT(KEPT_INVALID, kept_set_json_if(store, bad_key(i), "1", 0, NULL, &why));
  }
  CHECK(json == NULL);
}

static void an_absent_key_leaves_the_out_argument_untouched(void) {
  char marker, *json = &marker;
  EXPECT(KEPT_ABSENT, kept_get_json(fresh_store(), "key", &json, &why));
  CHECK(json == &marker);
}

/* Compare-and-set */

static void a_key_is_written_if_its_revision_is_unchanged(void) {
  kept_store *store = fresh_store();
  uint64_t first = 0, second = 0, stored = 0;
  EXPECT(KEPT_OK, kept_set_json_if(store, "key", "1", 0, &first, &why));
  EXPECT(KEPT_OK, kept_revision_of(store, "key", &stored, &why));
  CHECK_UINT(stored, first);
  EXPECT(KEPT_OK, kept_set_json_if(store, "key", "2", first, &second, &why));
  CHECK(second > first);
  CHECK_TEXT("2", json_of(store, "key"));
}

static void an_old_revision_is_a_conflict_and_nothing_is_written(void) {
  const char *location = fresh_location();
  kept_store *store = open_at(location), *other = open_at(location);
  uint64_t revision = 0, untouched = 77;
  EXPECT(KEPT_OK, kept_set_json_if(store, "key", "1", 0, &revision, &why));
  EXPECT(KEPT_OK, kept_set_json(other, "key", "2", &why));
  EXPECT(KEPT_CONFLICT, kept_set_json_if(store, "key", "3", revision, &untouched, &why));
  EXPECT(KEPT_CONFLICT, kept_set_json_if(store, "key", "3", 0, &untouched, &why));
  EXPECT(KEPT_CONFLICT, kept_set_json_if(store, "other", "3", revision, NULL, &why));
  CHECK_UINT(77, untouched);
  CHECK_TEXT("2", json_of(store, "key"));
  CHECK_TEXT("absent", json_of(store, "other"));
}

static void a_conditional_write_of_null_is_refused(void) {
  kept_store *store = fresh_store();
  uint64_t revision = 0;
  EXPECT(KEPT_OK, kept_set_json_if(store, "key", "1", 0, &revision, &why));
  EXPECT(KEPT_INVALID, kept_set_json_if(store, "key", "null", revision, NULL, &why));
  CHECK_TEXT("1", json_of(store, "key"));
}

static void a_removed_key_is_absent_to_compare_and_set(void) {
  kept_store *store = fresh_store();
  uint64_t revision = 0;
  EXPECT(KEPT_OK, kept_set_json_if(store, "key", "1", 0, &revision, &why));
  EXPECT(KEPT_OK, kept_remove(store, "key", &why));
  EXPECT(KEPT_CONFLICT, kept_set_json_if(store, "key", "2", revision, NULL, &why));
  EXPECT(KEPT_OK, kept_set_json_if(store, "key", "2", 0, NULL, &why));
}

static void a_closed_store_returns_closed(void) {
  kept_store *store = fresh_store();
  kept_close(store);
  EXPECT(KEPT_CLOSED, kept_set_json_if(store, "key", "1", 0, NULL, &why));
  EXPECT(KEPT_CLOSED, kept_set_json(store, "key", "1", &why));
}

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(any_value_is_returned_as_canonical_text),
    TEST(keys_are_ordered_by_their_bytes),
    TEST(null_removes_a_key_even_if_it_is_absent),
    TEST(invalid_text_is_refused_with_its_offset_and_changes_nothing),
    TEST(text_that_json_c_would_accept_is_refused),
    TEST(arrays_nest_at_most_64_levels_deep),
    TEST(a_text_over_the_limit_is_too_large),
    TEST(NULL_is_refused),
    TEST(a_bad_key_is_refused),
    TEST(an_absent_key_leaves_the_out_argument_untouched),
    TEST(a_key_is_written_if_its_revision_is_unchanged),
    TEST(an_old_revision_is_a_conflict_and_nothing_is_written),
    TEST(a_conditional_write_of_null_is_refused),
    TEST(a_removed_key_is_absent_to_compare_and_set),
    TEST(a_closed_store_returns_closed),
    { 0 },
  };
  static const role roles[] = { { 0 } };
  return run_tests(argc, argv, tests, roles);
}
