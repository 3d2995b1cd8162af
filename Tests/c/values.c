/* Values: each kind is read back as it was written, converts only without loss, and is refused as another kind. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t bits_of(double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static uint64_t revision_of(kept_store *store, const char *key) {
  uint64_t revision = 0;
  EXPECT(KEPT_OK, kept_revision_of(store, key, &revision, &why));
  return revision;
}

/* Bool and numbers */

static void a_bool_round_trips(void) {
  kept_store *store = fresh_store();
  bool flag = false;
  EXPECT(KEPT_OK, kept_set_bool(store, "flag", true, &why));
  EXPECT(KEPT_OK, kept_get_bool(store, "flag", &flag, &why));
  CHECK(flag);
  EXPECT(KEPT_OK, kept_set_bool(store, "flag", false, &why));
  EXPECT(KEPT_OK, kept_get_bool(store, "flag", &flag, &why));
  CHECK(!flag);
  CHECK_TEXT("false", json_of(store, "flag"));
}

static void integers_round_trip_up_to_their_limits(void) {
  static const int64_t numbers[] = { 0, 1, -1, 50, INT32_MAX, INT64_MAX, INT64_MIN };
  static const uint64_t naturals[] = { 0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX };
  kept_store *store = fresh_store();
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    int64_t number = 99;
    EXPECT(KEPT_OK, kept_set_int64(store, "number", numbers[i], &why));
    EXPECT(KEPT_OK, kept_get_int64(store, "number", &number, &why));
    CHECK_INT(numbers[i], number);
  }
  for (size_t i = 0; i < sizeof naturals / sizeof *naturals; i++) {
    uint64_t natural = 99;
    EXPECT(KEPT_OK, kept_set_uint64(store, "natural", naturals[i], &why));
    EXPECT(KEPT_OK, kept_get_uint64(store, "natural", &natural, &why));
    CHECK_UINT(naturals[i], natural);
  }
}

static void a_double_round_trips_bit_for_bit(void) {
  static const double numbers[] = { 0.0, -0.0, 0.1, 1.0 / 3, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308,
    INFINITY, -INFINITY };
  kept_store *store = fresh_store();
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    double number = 99;
    EXPECT(KEPT_OK, kept_set_double(store, "number", numbers[i], &why));
    EXPECT(KEPT_OK, kept_get_double(store, "number", &number, &why));
    CHECK_UINT(bits_of(numbers[i]), bits_of(number));
  }
}

static void every_NaN_is_stored_as_the_same(void) {
  kept_store *store = fresh_store();
  uint64_t payload = UINT64_C(0xFFF0000000000123), found[2];
  double odd, number = 0;
  memcpy(&odd, &payload, sizeof odd);
  EXPECT(KEPT_OK, kept_set_double(store, "number", NAN, &why));
  EXPECT(KEPT_OK, kept_get_double(store, "number", &number, &why));
  found[0] = bits_of(number);
  uint64_t revision = revision_of(store, "number");
  EXPECT(KEPT_OK, kept_set_double(store, "number", odd, &why));
  EXPECT(KEPT_OK, kept_get_double(store, "number", &number, &why));
  found[1] = bits_of(number);
  CHECK(isnan(number));
  CHECK_UINT(found[0], found[1]);
  CHECK_UINT(revision, revision_of(store, "number"));
}

/* Conversions */

static void a_number_converts_where_its_value_survives(void) {
  kept_store *store = fresh_store();
  double real = 0;
  int64_t integer = 0;
  uint64_t natural = 0;
  EXPECT(KEPT_OK, kept_set_int64(store, "integer", INT64_C(1) << 53, &why));
  EXPECT(KEPT_OK, kept_get_double(store, "integer", &real, &why));
  CHECK(real == 9007199254740992.0);
  EXPECT(KEPT_OK, kept_get_uint64(store, "integer", &natural, &why));
  CHECK_UINT(UINT64_C(1) << 53, natural);
  EXPECT(KEPT_OK, kept_set_double(store, "real", -3.0, &why));
  EXPECT(KEPT_OK, kept_get_int64(store, "real", &integer, &why));
  CHECK_INT(-3, integer);
  EXPECT(KEPT_OK, kept_set_double(store, "real", 18446744073709549568.0, &why));
  EXPECT(KEPT_OK, kept_get_uint64(store, "real", &natural, &why));
  CHECK_UINT(UINT64_C(18446744073709549568), natural);
  CHECK_TEXT("9007199254740992", json_of(store, "integer"));
}

static void a_number_that_would_not_survive_is_of_the_wrong_type(void) {
  static const double reals[] = { 3.5, 9223372036854775808.0, -9223372036854777856.0, INFINITY, NAN };
  kept_store *store = fresh_store();
  double real = 99;
  int64_t integer = 99;
  uint64_t natural = 99;
  EXPECT(KEPT_OK, kept_set_int64(store, "integer", (INT64_C(1) << 53) + 1, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_get_double(store, "integer", &real, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "integer", INT64_MAX, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_get_double(store, "integer", &real, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "integer", -1, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_get_uint64(store, "integer", &natural, &why));
  EXPECT(KEPT_OK, kept_set_uint64(store, "integer", UINT64_MAX, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_get_int64(store, "integer", &integer, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_get_double(store, "integer", &real, &why));
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
    EXPECT(KEPT_OK, kept_set_double(store, "real", reals[i], &why));
    EXPECT(KEPT_WRONG_TYPE, kept_get_int64(store, "real", &integer, &why));
  }
  EXPECT(KEPT_OK, kept_set_double(store, "real", 18446744073709551616.0, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_get_uint64(store, "real", &natural, &why));
  CHECK(real == 99 && integer == 99 && natural == 99);
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

static void a_getter_of_another_kind_fails_and_leaves_its_argument_untouched(void) {
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
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    EXPECT(KEPT_OK, kept_set_json(store, "key", values[i].json, &why));
    only_reads_as(store, "key", values[i].reads_as);
    CHECK_TEXT(values[i].json, json_of(store, "key"));
  }
}

static void one_as_an_integer_and_one_as_a_double_are_two_values(void) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
  uint64_t revision = revision_of(store, "key");
  EXPECT(KEPT_OK, kept_set_double(store, "key", 1.0, &why));
  CHECK(revision_of(store, "key") > revision);
  CHECK_TEXT("1.0", json_of(store, "key"));
}

static void writing_the_stored_value_is_no_change(void) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_set_double(store, "key", -0.0, &why));
  uint64_t revision = revision_of(store, "key");
  EXPECT(KEPT_OK, kept_set_double(store, "key", -0.0, &why));
  CHECK_UINT(revision, revision_of(store, "key"));
  EXPECT(KEPT_OK, kept_set_double(store, "key", 0.0, &why));
  CHECK(revision_of(store, "key") > revision);
}

/* Dates */

static const int64_t first_second = -62167219200, last_second = 253402300799;

static void a_date_round_trips_to_the_nanosecond(void) {
  static const struct {
    int64_t seconds;
    int32_t nanoseconds;
  } dates[] = {
    { 0, 0 },
    { 0, 1 },
    { -1, 999999999 },
    { 1795218241, 250000000 },
    { -62135769600, 0 },
    { -62167219200, 0 },
    { 253402300799, 999999999 },
  };
  kept_store *store = fresh_store();
  for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
    int64_t seconds = 99;
    int32_t nanoseconds = 99;
    EXPECT(KEPT_OK, kept_set_date(store, "date", dates[i].seconds, dates[i].nanoseconds, &why));
    EXPECT(KEPT_OK, kept_get_date(store, "date", &seconds, &nanoseconds, &why));
    CHECK_INT(dates[i].seconds, seconds);
    CHECK_INT(dates[i].nanoseconds, nanoseconds);
  }
  EXPECT(KEPT_OK, kept_set_date(store, "date", -1, 500000000, &why));
  CHECK_TEXT("{\"$date\":\"1969-12-31T23:59:59.5Z\"}", json_of(store, "date"));
}

static void a_date_outside_the_calendar_is_refused(void) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_INVALID, kept_set_date(store, "date", first_second - 1, 999999999, &why));
  EXPECT(KEPT_INVALID, kept_set_date(store, "date", last_second + 1, 0, &why));
  EXPECT(KEPT_INVALID, kept_set_date(store, "date", INT64_MIN, 0, &why));
  EXPECT(KEPT_INVALID, kept_set_date(store, "date", INT64_MAX, 0, &why));
  EXPECT(KEPT_INVALID, kept_set_date(store, "date", 0, -1, &why));
  EXPECT(KEPT_INVALID, kept_set_date(store, "date", 0, 1000000000, &why));
  CHECK_TEXT("absent", json_of(store, "date"));
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

static void an_absent_key_leaves_the_out_argument_untouched(void) {
  every_call_answers(KEPT_ABSENT, fresh_store(), "key");
}

static void a_NULL_store_or_key_is_refused(void) {
  every_call_answers(KEPT_INVALID, NULL, "key");
  every_call_answers(KEPT_INVALID, fresh_store(), NULL);
}

static void a_bad_key_is_refused(void) {
  kept_store *store = fresh_store();
  for (size_t i = 0; bad_key(i) != NULL; i++) every_call_answers(KEPT_INVALID, store, bad_key(i));
}

static void a_closed_store_returns_closed(void) {
  kept_store *store = fresh_store();
  kept_close(store);
  every_call_answers(KEPT_CLOSED, store, "key");
}

static void a_NULL_out_argument_is_refused(void) {
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

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(a_bool_round_trips),
    TEST(integers_round_trip_up_to_their_limits),
    TEST(a_double_round_trips_bit_for_bit),
    TEST(every_NaN_is_stored_as_the_same),
    TEST(a_number_converts_where_its_value_survives),
    TEST(a_number_that_would_not_survive_is_of_the_wrong_type),
    TEST(a_getter_of_another_kind_fails_and_leaves_its_argument_untouched),
    TEST(one_as_an_integer_and_one_as_a_double_are_two_values),
    TEST(writing_the_stored_value_is_no_change),
    TEST(a_date_round_trips_to_the_nanosecond),
    TEST(a_date_outside_the_calendar_is_refused),
    TEST(an_absent_key_leaves_the_out_argument_untouched),
    TEST(a_NULL_store_or_key_is_refused),
    TEST(a_bad_key_is_refused),
    TEST(a_closed_store_returns_closed),
    TEST(a_NULL_out_argument_is_refused),
    { 0 },
  };
  static const role roles[] = { { 0 } };
  return run_tests(argc, argv, tests, roles);
}
