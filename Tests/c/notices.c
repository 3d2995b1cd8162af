/* Notices: what an observer receives for a commit, and what it can query. */
#include "recorder.h"
#include "suite.h"

#include <poll.h>
#include <string.h>

static void ask_beyond(void *context, const kept_notice *notice) {
  CHECK_UINT(1, kept_notice_count(notice));
  CHECK_TEXT("key", kept_notice_key(notice, 0));
  CHECK_TEXT("1", kept_notice_new_json(notice, 0));
  for (size_t index = 1; index != 0; index = index == 1 ? SIZE_MAX : 0) {
    CHECK(kept_notice_key(notice, index) == NULL);
    CHECK(kept_notice_old_json(notice, index) == NULL);
    CHECK(kept_notice_new_json(notice, index) == NULL);
    CHECK(kept_notice_old(notice, index) == NULL);
    CHECK(kept_notice_new(notice, index) == NULL);
  }
  /* Valid during the callback: both calls return the same text. */
  CHECK(kept_notice_key(notice, 0) == kept_notice_key(notice, 0));
  recorder_notice(context, notice);
}

TEST(there_is_nothing_past_the_last_change) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  EXPECT(
    KEPT_OK, kept_observe(store, "key", KEPT_OBSERVE_KEY, ask_beyond, recorder, NULL, &recorder->subscription, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
  recorded(recorder, 1);
}

/* Tags and revisions */

TEST(a_notice_has_the_tag_of_its_writer) {
  const char *location = fresh_location();
  kept_options options = KEPT_OPTIONS_INIT;
  kept_transaction_options import = KEPT_TRANSACTION_OPTIONS_INIT;
  kept_store *store = open_at(location), *player = NULL, *transaction = NULL;
  recorder *recorder = new_recorder();
  char tag[] = "player";
  options.tag = tag;
  import.tag = "import";
  EXPECT(KEPT_OK, kept_open(location, &options, &player, &why));
  memset(tag, 'x', 6); /* it was copied */
  record(recorder, store, "key", KEPT_OBSERVE_KEY);
  EXPECT(KEPT_OK, kept_set_int64(player, "key", 1, &why));
  recorded(recorder, 1);
  CHECK_TEXT("player", recorder->tag);
  EXPECT(KEPT_OK, kept_begin(player, &import, &transaction, &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "key", 2, &why));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  recorded(recorder, 2);
  CHECK_TEXT("import", recorder->tag);
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 3, &why));
  recorded(recorder, 3);
  CHECK_TEXT("", recorder->tag);
  kept_close(player);
}

/* Typed values */

typedef void value_check(const kept_value *value);

static void check_new_value(void *context, const kept_notice *notice) {
  value_check *check;
  memcpy(&check, context, sizeof check);
  CHECK(kept_notice_old(notice, 0) == NULL);
  check(kept_notice_new(notice, 0));
}

/** Checks the value that an observer receives for this JSON. */
static void check_value(const char *json, value_check *check) {
  kept_store *store = fresh_store();
  recorder *recorder = new_recorder();
  kept_subscription *subscription = NULL;
  EXPECT(KEPT_OK,
    kept_observe(
      store, "key", KEPT_OBSERVE_KEY | KEPT_OBSERVE_POLLED, check_new_value, &check, NULL, &subscription, &why));
  record(recorder, store, "key", KEPT_OBSERVE_KEY);
  EXPECT(KEPT_OK, kept_set_json(store, "key", json, &why));
  size_t delivered = 0;
  /* Another thread may not have signalled that it is due when the set returned. */
  struct pollfd watched = { -1, POLLIN, 0 };
  EXPECT(KEPT_OK, kept_subscription_fd(subscription, &watched.fd, &why));
  CHECK_INT(1, poll(&watched, 1, 60000));
  /* The check inside uses `why`. */
  CHECK_INT(KEPT_OK, kept_subscription_dispatch(subscription, 0, &delivered, NULL));
  CHECK_UINT(1, delivered);
  recorded(recorder, 1);
}

static bool truth;
static int64_t integer, seconds;
static uint64_t natural;
static double number;
static int32_t nanoseconds;
static const char *text;
static const void *bytes;
static size_t length;

/** The kinds that must be refused, as bits in the order of the functions: bool, int64, uint64, double, date, string,
 *  bytes. */
static void check_refusals(const kept_value *value, unsigned readable) {
  kept_status statuses[] = {
    kept_value_bool(value, &truth, NULL),
    kept_value_int64(value, &integer, NULL),
    kept_value_uint64(value, &natural, NULL),
    kept_value_double(value, &number, NULL),
    kept_value_date(value, &seconds, &nanoseconds, NULL),
    kept_value_string(value, &text, &length, NULL),
    kept_value_bytes(value, &bytes, &length, NULL),
  };
  for (size_t i = 0; i < 7; i++) CHECK_INT(readable >> i & 1 ? KEPT_OK : KEPT_WRONG_TYPE, statuses[i]);
}

static void is_true(const kept_value *value) {
  EXPECT(KEPT_OK, kept_value_bool(value, &truth, &why));
  CHECK(truth);
  EXPECT(KEPT_WRONG_TYPE, kept_value_int64(value, &integer, &why));
  check_refusals(value, 1);
}

static void is_minus_seven(const kept_value *value) {
  EXPECT(KEPT_OK, kept_value_int64(value, &integer, &why));
  EXPECT(KEPT_OK, kept_value_double(value, &number, &why));
  CHECK_INT(-7, integer);
  CHECK(number == -7.0);
  EXPECT(KEPT_WRONG_TYPE, kept_value_uint64(value, &natural, &why));
  check_refusals(value, 2 | 8);
}

static void is_the_largest(const kept_value *value) {
  EXPECT(KEPT_OK, kept_value_uint64(value, &natural, &why));
  CHECK_UINT(UINT64_MAX, natural);
  check_refusals(value, 4);
}

static void is_two_and_a_half(const kept_value *value) {
  EXPECT(KEPT_OK, kept_value_double(value, &number, &why));
  CHECK(number == 2.5);
  check_refusals(value, 8);
}

static void is_a_date(const kept_value *value) {
  EXPECT(KEPT_OK, kept_value_date(value, &seconds, &nanoseconds, &why));
  CHECK_INT(1, seconds);
  CHECK_INT(250000000, nanoseconds);
  EXPECT(KEPT_INVALID, kept_value_date(value, NULL, &nanoseconds, &why));
  EXPECT(KEPT_INVALID, kept_value_date(value, &seconds, NULL, &why));
  check_refusals(value, 16);
}

static void is_text_with_a_nul(const kept_value *value) {
  const char *again;
  EXPECT(KEPT_OK, kept_value_string(value, &text, &length, &why));
  CHECK_UINT(6, length);
  CHECK_INT(0, memcmp("a\0caf!", text, 7)); /* with a NUL behind it */
  EXPECT(KEPT_OK, kept_value_string(value, &again, NULL, &why));
  CHECK(again == text);
  EXPECT(KEPT_INVALID, kept_value_string(value, NULL, &length, &why));
  check_refusals(value, 32);
}

static void is_three_bytes(const kept_value *value) {
  EXPECT(KEPT_OK, kept_value_bytes(value, &bytes, &length, &why));
  CHECK_UINT(3, length);
  CHECK_INT(0, memcmp("\0\1\2", bytes, 3));
  EXPECT(KEPT_INVALID, kept_value_bytes(value, NULL, &length, &why));
  EXPECT(KEPT_INVALID, kept_value_bytes(value, &bytes, NULL, &why));
  check_refusals(value, 64);
}

static void is_empty_text(const kept_value *value) {
  EXPECT(KEPT_OK, kept_value_string(value, &text, &length, &why));
  CHECK_UINT(0, length);
  CHECK_TEXT("", text);
}

static void is_no_bytes(const kept_value *value) {
  EXPECT(KEPT_OK, kept_value_bytes(value, &bytes, &length, &why));
  CHECK_UINT(0, length);
}

static void is_none_of_these(const kept_value *value) { check_refusals(value, 0); }

TEST(values_of_every_kind_are_read_typed) {
  check_value("true", is_true);
  check_value("-7", is_minus_seven);
  check_value("{\"$numberULong\":\"18446744073709551615\"}", is_the_largest);
  check_value("2.5", is_two_and_a_half);
  check_value("{\"$date\":\"1970-01-01T00:00:01.25Z\"}", is_a_date);
  check_value("\"a\\u0000caf!\"", is_text_with_a_nul);
  check_value("\"\"", is_empty_text);
  check_value("{\"$binary\":{\"base64\":\"AAEC\",\"subType\":\"00\"}}", is_three_bytes);
  check_value("{\"$binary\":{\"base64\":\"\",\"subType\":\"00\"}}", is_no_bytes);
  check_value("[1]", is_none_of_these);
  check_value("{\"a\":1}", is_none_of_these);
}

TEST(a_NULL_value_cannot_be_read) {
  EXPECT(KEPT_ABSENT, kept_value_bool(NULL, &truth, &why));
  EXPECT(KEPT_ABSENT, kept_value_int64(NULL, &integer, &why));
  EXPECT(KEPT_ABSENT, kept_value_uint64(NULL, &natural, &why));
  EXPECT(KEPT_ABSENT, kept_value_double(NULL, &number, &why));
  EXPECT(KEPT_ABSENT, kept_value_date(NULL, &seconds, &nanoseconds, &why));
  EXPECT(KEPT_ABSENT, kept_value_string(NULL, &text, &length, &why));
  EXPECT(KEPT_ABSENT, kept_value_bytes(NULL, &bytes, &length, &why));
  EXPECT(KEPT_INVALID, kept_value_bool(NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_value_int64(NULL, NULL, &why));
}

TEST(a_NULL_notice_is_empty) {
  CHECK_UINT(0, kept_notice_revision(NULL));
  CHECK_UINT(0, kept_notice_first_revision(NULL));
  CHECK(kept_notice_tag(NULL) == NULL);
  CHECK_INT(0, kept_notice_time(NULL));
  CHECK(!kept_notice_may_have_missed(NULL));
  CHECK(kept_notice_old(NULL, 0) == NULL);
  CHECK(kept_notice_new(NULL, 0) == NULL);
  CHECK_UINT(0, kept_notice_count(NULL));
  CHECK(kept_notice_origin(NULL) <= KEPT_ORIGIN_SEVERAL);
  CHECK(kept_notice_key(NULL, 0) == NULL);
  CHECK(kept_notice_old_json(NULL, 0) == NULL);
  CHECK(kept_notice_new_json(NULL, 0) == NULL);
}
