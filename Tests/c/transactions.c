/* Transactions: keys change together or not at all. conflicts.c has the writes of others during a transaction. */
#include "suite.h"
#include "transacting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_last(kept_store *store, const char *key, const char *expected) {
  char *json = NULL;
  if (kept_get_json(store, key, &json, &why) == KEPT_ABSENT) CHECK_TEXT("absent", expected);
  else CHECK_TEXT(json, expected);
  kept_free(json);
}

/** Edits of all kinds, of known and unknown keys and of one key several times, in every order. */
FOLDER_TEST(each_key_has_its_last_edit_whatever_the_order) {
  enum { KEYS = 5, EDITS = 6, TRANSACTIONS = 600, KINDS = 6 };
  static const char *const keys[KEYS] = { "a", "b", "c", "secret", "bounded" };
  kept_store *store = open_at(fresh_folder());
  keep_secrets_plain(store);
  EXPECT(KEPT_OK, kept_declare_json(store, "secret", "{\"type\":\"integer\",\"secret\":true}", &why));
  EXPECT(KEPT_OK, kept_declare_json(store, "bounded", "{\"type\":\"integer\",\"minimum\":0}", &why));
  char last[KEYS][16];
  for (size_t key = 0; key < KEYS; key++) strcpy(last[key], "absent");
  srand(1);
  for (int64_t number = 1; number <= TRANSACTIONS; number++) {
    kept_store *transaction = begin(store);
    for (int edit = 0, edits = 1 + rand() % EDITS; edit < edits; edit++) {
      size_t place = (size_t)rand() % KEYS;
      /* The declared keys have numbers. */
      int kind = rand() % (place < 3 ? KINDS : 3);
      int64_t value = number * EDITS + edit;
      const char *key = keys[place];
      char text[16];
      snprintf(text, sizeof text, "%lld", (long long)value);
      switch (kind) {
        case 0: EXPECT(KEPT_OK, kept_set_int64(transaction, key, value, &why)); break;
        case 1: EXPECT(KEPT_OK, kept_set_uint64(transaction, key, (uint64_t)value, &why)); break;
        case 2:
          EXPECT(strcmp(last[place], "absent") ? KEPT_OK : KEPT_ABSENT, kept_remove(transaction, key, &why));
          strcpy(text, "absent");
          break;
        case 3: EXPECT(KEPT_OK, kept_set_json(transaction, key, text, &why)); break;
        case 4:
          snprintf(text, sizeof text, "\"%lld\"", (long long)value);
          EXPECT(KEPT_OK, kept_set_string(transaction, key, text + 1, strlen(text) - 2, &why));
          break;
        default:
          snprintf(text, sizeof text, "[%lld]", (long long)value);
          EXPECT(KEPT_OK, kept_set_json(transaction, key, text, &why));
      }
      strcpy(last[place], text);
    }
    EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
    for (size_t key = 0; key < KEYS; key++) check_last(store, keys[key], last[key]);
  }
}

/** Keys that are read or written before: their values are staged and committed without a search in the database. */
TEST(known_keys_are_written_like_others) {
  kept_store *store = open_at(fresh_folder());
  uint64_t committed = 0, same = 0;
  set(store, "int64", 1);
  set(store, "same", 1);
  set(store, "string", 1);
  EXPECT(KEPT_OK, kept_declare_json(store, "number", "{\"type\":\"number\",\"maximum\":9}", &why));
  EXPECT(KEPT_OK, kept_set_double(store, "number", 0.5, &why));
  kept_store *transaction = begin(store);
  set(transaction, "int64", 2);
  set(transaction, "int64", 3);
  set(transaction, "same", 1);
  set(transaction, "number", 7);
  EXPECT(KEPT_INVALID, kept_set_int64(transaction, "number", 10, &why));
  EXPECT(KEPT_WRONG_TYPE, kept_set_bool(transaction, "number", true, &why));
  EXPECT(KEPT_INVALID, kept_set_string(transaction, "string", "\xFF", 1, &why));
  EXPECT(KEPT_OK, kept_set_string(transaction, "string", "text", 4, &why));
  CHECK_TEXT("3", json_of(transaction, "int64"));
  CHECK_TEXT("1", json_of(store, "int64"));
  EXPECT(KEPT_OK, kept_commit(transaction, &committed, &why));
  CHECK_UINT(6, committed);
  EXPECT(KEPT_OK, kept_revision_of(store, "same", &same, &why));
  CHECK_UINT(2, same);
  CHECK_TEXT("3", json_of(store, "int64"));
  CHECK_TEXT("7.0", json_of(store, "number"));
  CHECK_TEXT("\"text\"", json_of(store, "string"));
}

/** The handles of both are numbers, and each kind counts for itself. */
FOLDER_TEST(a_snapshot_is_not_taken_for_a_transaction) {
  kept_store *store = open_at(fresh_folder()), *snapshot = NULL;
  set(store, "a", 1);
  kept_store *transaction = begin(store);
  EXPECT(KEPT_OK, kept_snapshot(store, "", &snapshot, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_set_int64(snapshot, "a", 2, &why));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("1", json_of(store, "a"));
  kept_snapshot_end(snapshot);
}

ROLE(half_done, location) {
  kept_store *transaction = begin(open_at(location));
  char key[32];
  for (int i = 0; i < 100; i++) {
    snprintf(key, sizeof key, "half.%d", i);
    set(transaction, key, i);
  }
  signal_parent();
  await_parent();
}

FOLDER_TEST(a_process_killed_before_the_commit_leaves_nothing) {
  const char *location = fresh_folder();
  child child = start_child("half_done", location);
  await_child(&child);
  kill_child(&child);
  kept_store *store = open_at(location);
  CHECK_INT(0, count_of(store, ""));
  set(store, "after", 1);
}

/* The end */

/** Every call on it answers that it has ended. */
static void has_ended(kept_store *transaction) {
  char *json = NULL;
  EXPECT(KEPT_CLOSED, kept_get_json(transaction, "key", &json, &why));
  EXPECT(KEPT_CLOSED, kept_set_int64(transaction, "key", 1, &why));
  EXPECT(KEPT_CLOSED, kept_commit(transaction, NULL, &why));
  kept_rollback(transaction);
  kept_close(transaction);
}

TEST(an_ended_transaction_returns_closed_however_it_ended) {
  kept_store *store = fresh_store();
  kept_store *committed = begin(store), *rolled_back = begin(store), *closed = begin(store), *failed = begin(store);
  EXPECT(KEPT_OK, kept_commit(committed, NULL, &why));
  kept_rollback(rolled_back);
  kept_close(closed);
  CHECK_TEXT("absent", json_of(failed, "key"));
  set(store, "key", 1);
  set(failed, "key", 2);
  EXPECT(KEPT_CONFLICT, kept_commit(failed, NULL, &why));
  has_ended(committed);
  has_ended(rolled_back);
  has_ended(closed);
  has_ended(failed);
  CHECK_TEXT("1", json_of(store, "key"));
}

TEST(closing_a_transaction_leaves_its_store_open) {
  kept_store *store = fresh_store(), *transaction = begin(store);
  set(transaction, "key", 1);
  kept_close(transaction);
  CHECK_TEXT("absent", json_of(store, "key"));
  set(store, "key", 2);
}

TEST(closing_the_store_ends_its_transactions) {
  const char *location = fresh_location();
  kept_store *other = open_at(location), *store = open_at(location), *transaction = begin(store);
  set(transaction, "key", 1);
  kept_close(store);
  has_ended(transaction);
  CHECK_TEXT("absent", json_of(other, "key"));
}

TEST(rolling_back_NULL_is_allowed) { kept_rollback(NULL); }

TEST(a_tag_has_at_most_1024_bytes) {
  kept_store *store = fresh_store(), *other = NULL, *transaction = NULL;
  kept_transaction_options options = KEPT_TRANSACTION_OPTIONS_INIT;
  kept_options opening = KEPT_OPTIONS_INIT;
  char tag[1026];
  memset(tag, 't', 1023);
  memcpy(tag + 1023, "\xC3\xA9", 3);
  options.tag = opening.tag = tag;
  EXPECT(KEPT_TOO_LARGE, kept_begin(store, &options, &transaction, &why));
  CHECK_TEXT("the tag has 1025 bytes, but at most 1024 are allowed; shorten it", why.message);
  EXPECT(KEPT_TOO_LARGE, kept_open("memory:", &opening, &other, &why));
  memcpy(tag + 1022, "\xC3\xA9", 3);
  EXPECT(KEPT_OK, kept_begin(store, &options, &transaction, &why));
  EXPECT(KEPT_OK, kept_set_int64(transaction, "a", 1, &why));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
}

/** The struct of the first version: the bytes behind it are not the program's. */
TEST(options_of_an_older_program_are_accepted) {
  kept_store *store = fresh_store(), *transaction = NULL;
  kept_transaction_options options = KEPT_TRANSACTION_OPTIONS_INIT;
  options.size = 16;
  options.tag = bad_text(0);
  EXPECT(KEPT_OK, kept_begin(store, &options, &transaction, &why));
  kept_rollback(transaction);
  options.size = 15;
  EXPECT(KEPT_INVALID, kept_begin(store, &options, &transaction, &why));
}

TEST(options_of_a_newer_program_are_accepted_unless_they_ask_for_something) {
  struct {
    kept_transaction_options known;
    uint64_t later;
  } options = { KEPT_TRANSACTION_OPTIONS_INIT, 0 };
  kept_store *store = fresh_store(), *transaction = NULL, *other = NULL;
  options.known.size = sizeof options;
  EXPECT(KEPT_OK, kept_begin(store, &options.known, &transaction, &why));
  kept_rollback(transaction);
  options.later = 1;
  EXPECT(KEPT_UNSUPPORTED, kept_begin(store, &options.known, &other, &why));
  options.later = 0;
  options.known.reserved = 1;
  EXPECT(KEPT_UNSUPPORTED, kept_begin(store, &options.known, &other, &why));
  options.known.reserved = 0;
  options.known.tag = bad_text(0);
  EXPECT(KEPT_INVALID, kept_begin(store, &options.known, &other, &why));
  CHECK(other == NULL);
}

TEST(bad_arguments_are_refused) {
  kept_store *store = fresh_store(), *transaction = NULL;
  kept_transaction_options unsized = { 0, KEPT_AS_OPENED, 0, NULL }, unknown = KEPT_TRANSACTION_OPTIONS_INIT;
  unknown.durability = 7;
  EXPECT(KEPT_INVALID, kept_begin(NULL, NULL, &transaction, &why));
  EXPECT(KEPT_INVALID, kept_begin(store, NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_begin(store, &unsized, &transaction, &why));
  EXPECT(KEPT_INVALID, kept_begin(store, &unknown, &transaction, &why));
  EXPECT(KEPT_INVALID, kept_commit(NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_commit(store, NULL, &why));
  CHECK(transaction == NULL);
  set(store, "key", 1);
}

TEST(a_transaction_in_a_transaction_is_unsupported) {
  kept_store *transaction = begin(fresh_store()), *inner = NULL;
  EXPECT(KEPT_UNSUPPORTED, kept_begin(transaction, NULL, &inner, &why));
  CHECK(inner == NULL);
  kept_rollback(transaction);
}
