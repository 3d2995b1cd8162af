/* Buffers: text and bytes are copied into the caller's memory completely or not at all. */
#include "suite.h"

#include <stdio.h>
#include <string.h>

TEST(text_is_returned_with_its_length_and_a_terminating_NUL) {
  kept_store *store = fresh_store();
  const char text[] = "caf\xc3\xa9 \xf0\x9f\x8e\xb5";
  char buffer[32];
  size_t length = 0;
  memset(buffer, 'x', sizeof buffer);
  EXPECT(KEPT_OK, kept_set_string(store, "text", text, strlen(text), &why));
  EXPECT(KEPT_OK, kept_get_string(store, "text", buffer, sizeof buffer, &length, &why));
  CHECK_TEXT(text, buffer);
  CHECK_UINT(strlen(text), length);
  CHECK_INT('x', buffer[length + 1]);
  EXPECT(KEPT_OK, kept_get_string(store, "text", buffer, sizeof buffer, NULL, &why));
}

TEST(only_the_given_length_of_a_text_is_kept) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_set_string(store, "text", "loud and clear", 4, &why));
  CHECK_TEXT("\"loud\"", json_of(store, "text"));
}

TEST(a_buffer_that_is_too_small_is_untouched_and_the_length_is_returned) {
  kept_store *store = fresh_store();
  char buffer[6] = "xxxxx";
  size_t length = 0;
  EXPECT(KEPT_OK, kept_set_string(store, "text", "hello", 5, &why));
  EXPECT(KEPT_TOO_LARGE, kept_get_string(store, "text", NULL, 0, &length, &why));
  CHECK_UINT(5, length);
  EXPECT(KEPT_TOO_LARGE, kept_get_string(store, "text", buffer, 5, &length, &why));
  EXPECT(KEPT_TOO_LARGE, kept_get_string(store, "text", buffer, 5, NULL, &why));
  CHECK_TEXT("xxxxx", buffer);
  EXPECT(KEPT_OK, kept_get_string(store, "text", buffer, 6, &length, &why));
  CHECK_TEXT("hello", buffer);

  memcpy(buffer, "xxxxx", 6);
  EXPECT(KEPT_OK, kept_set_bytes(store, "bytes", "hello", 5, &why));
  EXPECT(KEPT_TOO_LARGE, kept_get_bytes(store, "bytes", buffer, 4, &length, &why));
  CHECK_UINT(5, length);
  CHECK_TEXT("xxxxx", buffer);
  EXPECT(KEPT_OK, kept_get_bytes(store, "bytes", buffer, 5, &length, &why));
  CHECK_TEXT("hello", buffer);
}

/* A repeated read comes from memory: short text is copied from the key's slot, in a number of parts that depends on its
 * length. */
TEST(text_of_every_length_round_trips_and_nothing_is_written_past_it) {
  kept_store *store = fresh_store();
  const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (size_t count = 0; count <= 40; count++) {
    char key[64];
    /* Use keys of each length too: they are hashed and compared in parts. */
    snprintf(key, sizeof key, "%.*s", (int)count + 1, letters);
    EXPECT(KEPT_OK, kept_set_string(store, key, letters + 5, count, &why));
  }
  for (int again = 0; again < 3; again++) {
    for (size_t count = 0; count <= 40; count++) {
      char key[64], buffer[64];
      size_t length = 99;
      snprintf(key, sizeof key, "%.*s", (int)count + 1, letters);
      memset(buffer, '#', sizeof buffer);
      EXPECT(KEPT_OK, kept_get_string(store, key, buffer, count + 1, &length, &why));
      CHECK_UINT(count, length);
      CHECK(memcmp(buffer, letters + 5, count) == 0);
      CHECK_INT(0, buffer[count]);
      CHECK_INT('#', buffer[count + 1]);
      memset(buffer, '#', sizeof buffer);
      EXPECT(KEPT_TOO_LARGE, kept_get_string(store, key, buffer, count, &length, &why));
      CHECK_INT('#', buffer[0]);
    }
  }
}

TEST(arbitrary_bytes_round_trip) {
  kept_store *store = fresh_store();
  unsigned char bytes[256], found[256];
  size_t length = 0;
  for (int i = 0; i < 256; i++) bytes[i] = (unsigned char)(255 - i);
  EXPECT(KEPT_OK, kept_set_bytes(store, "bytes", bytes, sizeof bytes, &why));
  EXPECT(KEPT_OK, kept_get_bytes(store, "bytes", found, sizeof found, &length, &why));
  CHECK_UINT(256, length);
  CHECK(memcmp(bytes, found, 256) == 0);
  EXPECT(KEPT_OK, kept_set_bytes(store, "bytes", NULL, 0, &why));
  EXPECT(KEPT_OK, kept_get_bytes(store, "bytes", NULL, 0, &length, &why));
  CHECK_UINT(0, length);
}

/** Calls every function of this section. Each must return `status` and leave its out arguments untouched. */
static void every_call_answers(kept_status status, kept_store *store, const char *key) {
  char buffer[8] = "buffer";
  size_t length = 99;
  EXPECT(status, kept_get_string(store, key, buffer, 8, &length, &why));
  EXPECT(status, kept_get_bytes(store, key, buffer, 8, &length, &why));
  CHECK_UINT(99, length);
  CHECK_TEXT("buffer", buffer);
  if (status == KEPT_ABSENT) return;
  EXPECT(status, kept_set_string(store, key, "1", 1, &why));
  EXPECT(status, kept_set_bytes(store, key, "1", 1, &why));
}

TEST(an_absent_key_leaves_the_buffer_untouched) { every_call_answers(KEPT_ABSENT, fresh_store(), "key"); }

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

TEST(a_NULL_buffer_or_value_is_refused) {
  kept_store *store = fresh_store();
  size_t length = 99;
  EXPECT(KEPT_OK, kept_set_string(store, "text", "1", 1, &why));
  EXPECT(KEPT_OK, kept_set_bytes(store, "bytes", "1", 1, &why));
  EXPECT(KEPT_INVALID, kept_get_string(store, "text", NULL, 8, &length, &why));
  EXPECT(KEPT_INVALID, kept_get_bytes(store, "bytes", NULL, 8, &length, &why));
  EXPECT(KEPT_INVALID, kept_set_string(store, "text", NULL, 3, &why));
  EXPECT(KEPT_INVALID, kept_set_string(store, "text", NULL, 0, &why));
  EXPECT(KEPT_INVALID, kept_set_bytes(store, "bytes", NULL, 3, &why));
  CHECK_UINT(99, length);
  CHECK_TEXT("\"1\"", json_of(store, "text"));
}

TEST(an_impossible_length_is_too_large) {
  kept_store *store = fresh_store();
  for (size_t i = 0; i < 4; i++) {
    size_t absurd = i < 2 ? SIZE_MAX - i : SIZE_MAX / 2 + i - 2;
    EXPECT(KEPT_TOO_LARGE, kept_set_string(store, "key", "1", absurd, &why));
    EXPECT(KEPT_TOO_LARGE, kept_set_bytes(store, "key", "1", absurd, &why));
  }
  CHECK_TEXT("absent", json_of(store, "key"));
}

/* A caller that knows its buffer is large enough need not state the exact capacity. */
TEST(a_capacity_may_be_any_number) {
  static const size_t capacities[] = { SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, SIZE_MAX / 2 + 1 };
  kept_store *store = fresh_store();
  const char *text = repeated('x', 100);
  for (size_t length = 0; length <= 100; length += 20) {
    EXPECT(KEPT_OK, kept_set_string(store, "text", text, length, &why));
    EXPECT(KEPT_OK, kept_set_bytes(store, "bytes", text, length, &why));
    /* Twice each: the second time from memory. */
    for (size_t i = 0; i < 8; i++) {
      char found[128] = "untouched";
      size_t count = 99;
      EXPECT(KEPT_OK, kept_get_string(store, "text", found, capacities[i / 2], &count, &why));
      CHECK_UINT(length, count);
      CHECK(strlen(found) == length && memcmp(found, text, length) == 0);
      EXPECT(KEPT_OK, kept_get_bytes(store, "bytes", found, capacities[i / 2], &count, &why));
      CHECK_UINT(length, count);
    }
  }
}
