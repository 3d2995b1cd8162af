/* Values: each kind is read back as it was written, converts only without loss, and is refused as another kind. */
#include "suite.h"

#include <math.h>
#include <string.h>

static uint64_t bits_of(double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static uint64_t key_revision(kept_store *store, const char *key) {
  uint64_t revision = 0;
  EXPECT(KEPT_OK, kept_revision_of(store, key, &revision, &why));
  return revision;
}

TEST(every_NaN_is_stored_as_the_same) {
  kept_store *store = fresh_store();
  uint64_t payload = UINT64_C(0xFFF0000000000123), found[2];
  double odd, number = 0;
  memcpy(&odd, &payload, sizeof odd);
  EXPECT(KEPT_OK, kept_set_double(store, "number", NAN, &why));
  EXPECT(KEPT_OK, kept_get_double(store, "number", &number, &why));
  found[0] = bits_of(number);
  uint64_t revision = key_revision(store, "number");
  EXPECT(KEPT_OK, kept_set_double(store, "number", odd, &why));
  EXPECT(KEPT_OK, kept_get_double(store, "number", &number, &why));
  found[1] = bits_of(number);
  CHECK(isnan(number));
  CHECK_UINT(found[0], found[1]);
  CHECK_UINT(revision, key_revision(store, "number"));
}

/** Reads a key as every kind but those that `except` names. Each must be refused and leave its out argument
 * untouched. */
static void only_reads_as(kept_store *store, const char *key, const char *except) {
  bool flag = true;
  int64_t integer = 99, seconds = 99;
  uint64_t natural = 99;
  double real = 99;
  int32_t nanoseconds = 99;
  char buffer[8] = "buffer";
  size_t length = 99;
  if (!strchr(except, 'b')) EXPECT(KEPT_WRONG_TYPE, kept_get_bool(store, key, &flag, &why));
  if (!strchr(except, 'i')) EXPECT(KEPT_WRONG_TYPE, kept_get_int64(store, key, &integer, &why));
  if (!strchr(except, 'u')) EXPECT(KEPT_WRONG_TYPE, kept_get_uint64(store, key, &natural, &why));
  if (!strchr(except, 'd')) EXPECT(KEPT_WRONG_TYPE, kept_get_double(store, key, &real, &why));
  if (!strchr(except, 's')) EXPECT(KEPT_WRONG_TYPE, kept_get_string(store, key, buffer, 8, &length, &why));
  if (!strchr(except, 'y')) EXPECT(KEPT_WRONG_TYPE, kept_get_bytes(store, key, buffer, 8, &length, &why));
  if (!strchr(except, 't')) EXPECT(KEPT_WRONG_TYPE, kept_get_date(store, key, &seconds, &nanoseconds, &why));
  CHECK(flag && integer == 99 && seconds == 99 && natural == 99 && real == 99 && nanoseconds == 99 && length == 99);
  CHECK_TEXT("buffer", buffer);
}

TEST(a_getter_of_another_kind_fails_and_leaves_its_argument_untouched) {
  static const struct {
    const char *json, *reads_as;
  } values[] = {
    { "true", "b" },
    { "1", "iud" },
    { "2.5", "d" },
    { "\"1\"", "s" },
    { "\"true\"", "s" },
    { "{\"$binary\":{\"base64\":\"MQ==\",\"subType\":\"00\"}}", "y" },
    { "{\"$date\":\"1970-01-01T00:00:01Z\"}", "t" },
    { "[1]", "" },
    { "{\"one\":1}", "" },
  };
  kept_store *store = fresh_store();
  for (size_t i = 0; i < COUNT(values); i++) {
    EXPECT(KEPT_OK, kept_set_json(store, "key", values[i].json, &why));
    only_reads_as(store, "key", values[i].reads_as);
    CHECK_TEXT(values[i].json, json_of(store, "key"));
  }
}

/* Bad arguments, for every function */

/** Reads and writes every kind. Each must return `status` and leave its out arguments untouched. */
static void every_call_answers(kept_status status, kept_store *store, const char *key) {
  bool flag = true;
  int64_t integer = 99, seconds = 99;
  uint64_t natural = 99;
  double real = 99;
  int32_t nanoseconds = 99;
  EXPECT(status, kept_get_bool(store, key, &flag, &why));
  EXPECT(status, kept_get_int64(store, key, &integer, &why));
  EXPECT(status, kept_get_uint64(store, key, &natural, &why));
  EXPECT(status, kept_get_double(store, key, &real, &why));
  EXPECT(status, kept_get_date(store, key, &seconds, &nanoseconds, &why));
  CHECK(flag && integer == 99 && seconds == 99 && natural == 99 && real == 99 && nanoseconds == 99);
  if (status == KEPT_ABSENT) return;
  EXPECT(status, kept_set_bool(store, key, true, &why));
  EXPECT(status, kept_set_int64(store, key, 1, &why));
  EXPECT(status, kept_set_uint64(store, key, 1, &why));
  EXPECT(status, kept_set_double(store, key, 1, &why));
  EXPECT(status, kept_set_date(store, key, 1, 0, &why));
}

TEST(an_absent_key_leaves_the_out_argument_untouched) { every_call_answers(KEPT_ABSENT, fresh_store(), "key"); }

TEST(a_NULL_store_or_key_is_refused) {
  every_call_answers(KEPT_INVALID, NULL, "key");
  every_call_answers(KEPT_INVALID, fresh_store(), NULL);
}

TEST(a_bad_key_is_refused) {
  kept_store *store = fresh_store();
  for (size_t i = 0; bad_key(i) != NULL; i++) every_call_answers(KEPT_INVALID, store, bad_key(i));
}

TEST(a_closed_store_returns_closed) {
  kept_store *store = fresh_store();
  kept_close(store);
  every_call_answers(KEPT_CLOSED, store, "key");
}

TEST(a_NULL_out_argument_is_refused) {
  kept_store *store = fresh_store();
  int64_t seconds = 99;
  int32_t nanoseconds = 99;
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
  EXPECT(KEPT_INVALID, kept_get_bool(store, "key", NULL, &why));
  EXPECT(KEPT_INVALID, kept_get_int64(store, "key", NULL, &why));
  EXPECT(KEPT_INVALID, kept_get_uint64(store, "key", NULL, &why));
  EXPECT(KEPT_INVALID, kept_get_double(store, "key", NULL, &why));
  EXPECT(KEPT_INVALID, kept_get_date(store, "key", NULL, &nanoseconds, &why));
  EXPECT(KEPT_INVALID, kept_get_date(store, "key", &seconds, NULL, &why));
  CHECK(seconds == 99 && nanoseconds == 99);
  CHECK_TEXT("1", json_of(store, "key"));
}
