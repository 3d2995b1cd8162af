/* Prepared keys: every store returns the same results as for the key's text, at all times. */
#include "suite.h"

#include <string.h>

static const kept_key *prepared(const char *text) {
  const kept_key *key = NULL;
  EXPECT(KEPT_OK, kept_key_prepare(text, &key, &why));
  CHECK(key != NULL);
  return key;
}

TEST(every_kind_is_read_by_a_prepared_key_as_by_its_text) {
  kept_store *store = fresh_store();
  bool loud = false;
  int64_t volume = 0;
  double gain = 0;
  char name[8];
  size_t length = 0;
  EXPECT(KEPT_OK, kept_set_bool(store, "loud", true, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "volume", INT64_MIN, &why));
  EXPECT(KEPT_OK, kept_set_double(store, "gain", -0.5, &why));
  EXPECT(KEPT_OK, kept_set_string(store, "name", "a\0b", 3, &why));
  /* The first round reads the storage, the second reads the cache that the first has filled. */
  for (int round = 0; round < 2; round++) {
    EXPECT(KEPT_OK, kept_key_get_bool(store, prepared("loud"), &loud, &why));
    EXPECT(KEPT_OK, kept_key_get_int64(store, prepared("volume"), &volume, &why));
    EXPECT(KEPT_OK, kept_key_get_double(store, prepared("gain"), &gain, &why));
    EXPECT(KEPT_OK, kept_key_get_string(store, prepared("name"), name, sizeof name, &length, &why));
    CHECK(loud && volume == INT64_MIN && gain == -0.5);
    CHECK(length == 3 && memcmp("a\0b", name, 4) == 0);
    loud = false, volume = 0, gain = 0, length = 0;
    memset(name, 'x', sizeof name);
  }
}

TEST(numbers_convert_by_a_prepared_key_as_by_its_text) {
  kept_store *store = fresh_store();
  int64_t whole = 99;
  double real = 99;
  EXPECT(KEPT_OK, kept_set_double(store, "three", 3.0, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "one", 1, &why));
  EXPECT(KEPT_OK, kept_set_double(store, "half", 0.5, &why));
  EXPECT(KEPT_OK, kept_key_get_int64(store, prepared("three"), &whole, &why));
  EXPECT(KEPT_OK, kept_key_get_double(store, prepared("one"), &real, &why));
  CHECK(whole == 3 && real == 1.0);
  EXPECT(KEPT_WRONG_TYPE, kept_key_get_int64(store, prepared("half"), &whole, &why));
  CHECK_INT(3, whole);
}

TEST(equal_texts_give_equal_keys_and_different_texts_do_not) {
  CHECK(prepared("audio.volume") == prepared("audio.volume"));
  CHECK(prepared("audio.volume") != prepared("audio.volumf"));
  CHECK(prepared("caf\xc3\xa9") != prepared("cafe\xcc\x81"));
  CHECK(prepared(repeated('k', 1024)) == prepared(repeated('k', 1024)));
}

TEST(keys_of_every_length_find_their_own_value) {
  kept_store *store = fresh_store();
  for (int pass = 0; pass < 2; pass++) {
    for (size_t length = 1; length <= 40; length++) {
      char *key = repeated('k', length);
      int64_t found = -1;
      if (pass == 0) {
        EXPECT(KEPT_OK, kept_set_int64(store, key, (int64_t)length, &why));
        /* A key that differs in one byte: the first, the last or one between. */
        key[length / 2] = 'x';
        EXPECT(KEPT_OK, kept_set_int64(store, key, -1, &why));
        continue;
      }
      for (int round = 0; round < 2; round++) {
        EXPECT(KEPT_OK, kept_key_get_int64(store, prepared(key), &found, &why));
        CHECK_INT((int64_t)length, found);
        EXPECT(KEPT_OK, kept_get_int64(store, key, &found, &why));
        CHECK_INT((int64_t)length, found);
      }
    }
  }
}

TEST(a_prepared_key_serves_every_store_and_outlives_them) {
  const kept_key *key = prepared("n");
  for (int64_t number = 0; number < 3; number++) {
    kept_store *store = fresh_store();
    int64_t found = -1;
    EXPECT(KEPT_ABSENT, kept_key_get_int64(store, key, &found, &why));
    EXPECT(KEPT_OK, kept_set_int64(store, "n", number, &why));
    EXPECT(KEPT_OK, kept_key_get_int64(store, key, &found, &why));
    CHECK_INT(number, found);
    kept_close(store);
    EXPECT(KEPT_CLOSED, kept_key_get_int64(store, key, &found, &why));
  }
}

TEST(a_transaction_reads_its_own_writes_by_a_prepared_key) {
  kept_store *store = fresh_store(), *transaction = NULL;
  int64_t found = -1;
  EXPECT(KEPT_OK, kept_set_int64(store, "n", 1, &why));
  EXPECT(KEPT_OK, kept_key_get_int64(store, prepared("n"), &found, &why));
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "n", 2, &why));
  EXPECT(KEPT_OK, kept_key_get_int64(transaction, prepared("n"), &found, &why));
  CHECK_INT(2, found);
  EXPECT(KEPT_OK, kept_key_get_int64(store, prepared("n"), &found, &why));
  CHECK_INT(1, found);
  kept_rollback(transaction);
  EXPECT(KEPT_CLOSED, kept_key_get_int64(transaction, prepared("n"), &found, &why));
}

TEST(a_write_is_read_at_once) {
  kept_store *store = fresh_store();
  const kept_key *key = prepared("n");
  for (int64_t number = 0; number < 50; number++) {
    int64_t found = -1;
    EXPECT(KEPT_OK, kept_set_int64(store, "n", number, &why));
    EXPECT(KEPT_OK, kept_key_get_int64(store, key, &found, &why));
    CHECK_INT(number, found);
  }
  int64_t found = -1;
  EXPECT(KEPT_OK, kept_remove(store, "n", &why));
  EXPECT(KEPT_ABSENT, kept_key_get_int64(store, key, &found, &why));
}

TEST(a_buffer_that_is_too_small_is_untouched_and_the_length_is_returned) {
  kept_store *store = fresh_store();
  char buffer[6] = "xxxxx";
  size_t length = 0;
  EXPECT(KEPT_OK, kept_set_string(store, "text", "hello", 5, &why));
  EXPECT(KEPT_TOO_LARGE, kept_key_get_string(store, prepared("text"), buffer, 5, &length, &why));
  CHECK_UINT(5, length);
  CHECK_TEXT("xxxxx", buffer);
  EXPECT(KEPT_OK, kept_key_get_string(store, prepared("text"), buffer, 6, NULL, &why));
  CHECK_TEXT("hello", buffer);
}

TEST(an_invalid_key_is_not_prepared) {
  const kept_key *const untouched = prepared("untouched"), *key = untouched;
  EXPECT(KEPT_INVALID, kept_key_prepare(NULL, &key, &why));
  EXPECT(KEPT_INVALID, kept_key_prepare("key", NULL, &why));
  for (size_t i = 0; bad_key(i) != NULL; i++) EXPECT(KEPT_INVALID, kept_key_prepare(bad_key(i), &key, &why));
  CHECK(key == untouched);
}

/** Calls every read by a key. Each must return `status` and leave its out arguments untouched. */
static void every_read_answers(kept_status status, kept_store *store, const kept_key *key) {
  bool loud = true;
  int64_t volume = 99;
  double gain = 0.5;
  char name[4] = "xyz";
  size_t length = 99;
  EXPECT(status, kept_key_get_bool(store, key, &loud, &why));
  EXPECT(status, kept_key_get_int64(store, key, &volume, &why));
  EXPECT(status, kept_key_get_double(store, key, &gain, &why));
  EXPECT(status, kept_key_get_string(store, key, name, sizeof name, &length, &why));
  CHECK(loud && volume == 99 && gain == 0.5 && length == 99);
  CHECK_TEXT("xyz", name);
}

TEST(a_failed_read_gives_the_reason_and_touches_nothing) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_set_json(store, "list", "[1]", &why));
  for (int round = 0; round < 2; round++) {
    every_read_answers(KEPT_ABSENT, store, prepared("nothing"));
    every_read_answers(KEPT_WRONG_TYPE, store, prepared("list"));
  }
  every_read_answers(KEPT_INVALID, NULL, prepared("list"));
  every_read_answers(KEPT_INVALID, store, NULL);
  EXPECT(KEPT_INVALID, kept_key_get_bool(store, prepared("list"), NULL, &why));
  EXPECT(KEPT_INVALID, kept_key_get_int64(store, prepared("list"), NULL, &why));
  EXPECT(KEPT_INVALID, kept_key_get_double(store, prepared("list"), NULL, &why));
  EXPECT(KEPT_INVALID, kept_key_get_string(store, prepared("list"), NULL, 4, NULL, &why));
  kept_close(store);
  every_read_answers(KEPT_CLOSED, store, prepared("list"));
}
