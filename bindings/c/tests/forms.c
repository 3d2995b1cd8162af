/* The kinds that JSON lacks: bytes, dates, large integers, infinities and NaN, anywhere in a tree. */
#include "suite.h"

#include <json-c/json_tokener.h>
#include <kept_json.h>
#include <math.h>
#include <string.h>

TEST(bytes_and_dates_stand_in_a_tree_and_come_back) {
  kept_store *store = fresh_store();
  json_object *song = json_object_new_object(), *found = NULL;
  json_object_object_add(song, "cover", kept_json_new_bytes("\0\1\2\3", 4));
  json_object_object_add(song, "added", kept_json_new_date(1795218241, 250000000));
  EXPECT(KEPT_OK, kept_json_set(store, "song", song, &why));
  CHECK_TEXT("{\"added\":{\"$date\":\"2026-11-20T23:44:01.25Z\"},"
             "\"cover\":{\"$binary\":{\"base64\":\"AAECAw==\",\"subType\":\"00\"}}}",
    json_of(store, "song"));

  EXPECT(KEPT_OK, kept_json_get(store, "song", &found, &why));
  char cover[4];
  size_t length = 0;
  int64_t seconds = 0;
  int32_t nanoseconds = 0;
  EXPECT(KEPT_OK, kept_json_to_bytes(json_object_object_get(found, "cover"), cover, 4, &length, &why));
  EXPECT(KEPT_OK, kept_json_to_date(json_object_object_get(found, "added"), &seconds, &nanoseconds, &why));
  CHECK(length == 4 && memcmp(cover, "\0\1\2\3", 4) == 0);
  CHECK_INT(1795218241, seconds);
  CHECK_INT(250000000, nanoseconds);
  json_object_put(found);
  json_object_put(song);
}

TEST(bytes_alone_are_what_kept_get_bytes_reads) {
  kept_store *store = fresh_store();
  json_object *bytes = kept_json_new_bytes(NULL, 0);
  size_t length = 99;
  EXPECT(KEPT_OK, kept_json_set(store, "empty", bytes, &why));
  EXPECT(KEPT_OK, kept_get_bytes(store, "empty", NULL, 0, &length, &why));
  CHECK_UINT(0, length);
  json_object_put(bytes);
}

TEST(a_large_integer_is_read_in_both_its_forms) {
  json_object *own = json_object_new_uint64(UINT64_MAX);
  json_object *form = json_tokener_parse("{\"$numberULong\":\"18446744073709551615\"}");
  json_object *small = json_object_new_int(7), *negative = json_object_new_int(-7);
  uint64_t natural = 0;
  EXPECT(KEPT_OK, kept_json_to_uint64(own, &natural, &why));
  CHECK_UINT(UINT64_MAX, natural);
  natural = 0;
  EXPECT(KEPT_OK, kept_json_to_uint64(form, &natural, &why));
  CHECK_UINT(UINT64_MAX, natural);
  EXPECT(KEPT_OK, kept_json_to_uint64(small, &natural, &why));
  CHECK_UINT(7, natural);
  EXPECT(KEPT_WRONG_TYPE, kept_json_to_uint64(negative, &natural, &why));
  CHECK_UINT(7, natural);
  json_object_put(own);
  json_object_put(form);
  json_object_put(small);
  json_object_put(negative);
}

TEST(a_double_is_read_in_both_its_forms) {
  static const char *const forms[] = { "NaN", "Infinity", "-Infinity" };
  double number = 0;
  json_object *half = json_object_new_double(0.5);
  EXPECT(KEPT_OK, kept_json_to_double(half, &number, &why));
  CHECK(number == 0.5);
  json_object_put(half);
  for (size_t i = 0; i < 3; i++) {
    json_object *form = json_object_new_object();
    json_object_object_add(form, "$numberDouble", json_object_new_string(forms[i]));
    EXPECT(KEPT_OK, kept_json_to_double(form, &number, &why));
    CHECK(i == 0 ? isnan(number) : isinf(number) && (number > 0) == (i == 1));
    json_object_put(form);
  }
}

TEST(invalid_forms_are_not_made) {
  CHECK(kept_json_new_bytes(NULL, 3) == NULL);
  CHECK(kept_json_new_bytes("x", (16u << 20) + 1) == NULL);
  CHECK(kept_json_new_date(253402300800, 0) == NULL);
  CHECK(kept_json_new_date(0, -1) == NULL);
  CHECK(kept_json_new_date(0, 1000000000) == NULL);
}

TEST(a_tree_of_another_kind_is_of_the_wrong_type) {
  static const char *const others[] = { "1.5", "\"2026-11-20T23:44:01Z\"", "\"AAECAw==\"", "[]", "true", "{\"a\":1}" };
  int64_t seconds = 99;
  int32_t nanoseconds = 99;
  uint64_t natural = 99;
  size_t length = 99;
  char buffer[8] = "buffer";
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    json_object *other = json_tokener_parse(others[i]);
    EXPECT(KEPT_WRONG_TYPE, kept_json_to_date(other, &seconds, &nanoseconds, &why));
    EXPECT(KEPT_WRONG_TYPE, kept_json_to_bytes(other, buffer, 8, &length, &why));
    EXPECT(KEPT_WRONG_TYPE, kept_json_to_uint64(other, &natural, &why));
    json_object_put(other);
  }
  CHECK(seconds == 99 && nanoseconds == 99 && natural == 99 && length == 99);
  CHECK_TEXT("buffer", buffer);
}

TEST(an_invalid_form_is_refused) {
  json_object *none = json_tokener_parse("{\"$date\":\"yesterday\"}");
  int64_t seconds = 99;
  int32_t nanoseconds = 99;
  EXPECT(KEPT_INVALID, kept_json_to_date(none, &seconds, &nanoseconds, &why));
  CHECK(seconds == 99 && nanoseconds == 99);
  json_object_put(none);
}

TEST(a_buffer_that_is_too_small_gets_only_the_length) {
  json_object *bytes = kept_json_new_bytes("hello", 5);
  size_t length = 0;
  char buffer[5] = "xxxx";
  EXPECT(KEPT_TOO_LARGE, kept_json_to_bytes(bytes, buffer, 4, &length, &why));
  CHECK_UINT(5, length);
  CHECK_TEXT("xxxx", buffer);
  json_object_put(bytes);
}

TEST(bad_arguments_are_refused) {
  json_object *date = kept_json_new_date(0, 0);
  int64_t seconds;
  int32_t nanoseconds;
  EXPECT(KEPT_INVALID, kept_json_to_date(date, NULL, &nanoseconds, &why));
  EXPECT(KEPT_INVALID, kept_json_to_date(date, &seconds, NULL, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_json_to_date(NULL, &seconds, &nanoseconds, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_json_to_bytes(NULL, NULL, 0, NULL, &why));
  EXPECT(KEPT_INVALID, kept_json_to_uint64(date, NULL, &why));
  EXPECT(KEPT_INVALID, kept_json_to_double(date, NULL, &why));
  CHECK_INT(KEPT_WRONG_TYPE, kept_json_to_double(NULL, NULL, NULL));
  json_object_put(date);
}
