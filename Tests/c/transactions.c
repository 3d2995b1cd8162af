/* Transactions: keys change together or not at all. conflicts.c has what others write meanwhile. */
#define _XOPEN_SOURCE 700
#include "transacting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Together or not at all */

static void only_the_transaction_itself_reads_its_writes(void) {
  kept_store *store = fresh_store(), *transaction = begin(store);
  set(transaction, "a", 1);
  set(transaction, "b", 2);
  CHECK_TEXT("1", json_of(transaction, "a"));
  CHECK_INT(2, count_of(transaction, ""));
  CHECK_TEXT("absent", json_of(store, "a"));
  CHECK_INT(0, count_of(store, ""));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("1", json_of(store, "a"));
  CHECK_TEXT("2", json_of(store, "b"));
}

static void all_its_keys_have_one_revision(void) {
  kept_store *store = fresh_store();
  uint64_t committed = 0, a = 0, b = 0;
  set(store, "before", 1);
  kept_store *transaction = begin(store);
  set(transaction, "a", 1);
  set(transaction, "b", 2);
  EXPECT(KEPT_OK, kept_commit(transaction, &committed, &why));
  EXPECT(KEPT_OK, kept_revision_of(store, "a", &a, &why));
  EXPECT(KEPT_OK, kept_revision_of(store, "b", &b, &why));
  CHECK_UINT(2, committed);
  CHECK_UINT(2, a);
  CHECK_UINT(2, b);
}

static void every_kind_of_write_may_be_part_of_it(void) {
  kept_store *store = fresh_store();
  set(store, "gone", 1);
  kept_store *transaction = begin(store);
  EXPECT(KEPT_OK, kept_set_bool(transaction, "bool", true, &why));
  EXPECT(KEPT_OK, kept_set_uint64(transaction, "uint64", UINT64_MAX, &why));
  EXPECT(KEPT_OK, kept_set_double(transaction, "double", 0.5, &why));
  EXPECT(KEPT_OK, kept_set_string(transaction, "string", "text", 4, &why));
  EXPECT(KEPT_OK, kept_set_bytes(transaction, "bytes", "\0", 1, &why));
  EXPECT(KEPT_OK, kept_set_date(transaction, "date", 0, 0, &why));
  EXPECT(KEPT_OK, kept_set_json(transaction, "json", "[]", &why));
  EXPECT(KEPT_OK, kept_remove(transaction, "gone", &why));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_INT(7, count_of(store, ""));
  CHECK_TEXT("\"text\"", json_of(store, "string"));
  CHECK_TEXT("absent", json_of(store, "gone"));
}

static void check_last(kept_store *store, const char *key, const char *expected) {
  char *json = NULL;
  if (kept_get_json(store, key, &json, &why) == KEPT_ABSENT) CHECK_TEXT("absent", expected);
  else CHECK_TEXT(json, expected);
  kept_free(json);
}

/** Edits of all kinds, of known and unknown keys and of one key several times, in every order. */
static void each_key_has_its_last_edit_whatever_the_order(void) {
  enum { KEYS = 5, EDITS = 6, TRANSACTIONS = 600, KINDS = 6 };
  static const char *const keys[KEYS] = { "a", "b", "c", "secret", "bounded" };
  kept_store *store = open_at(fresh_folder());
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
static void known_keys_are_written_like_others(void) {
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
static void a_snapshot_is_not_taken_for_a_transaction(void) {
  kept_store *store = open_at(fresh_folder()), *snapshot = NULL;
  set(store, "a", 1);
  kept_store *transaction = begin(store);
  EXPECT(KEPT_OK, kept_snapshot(store, "", &snapshot, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_set_int64(snapshot, "a", 2, &why));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("1", json_of(store, "a"));
  kept_snapshot_end(snapshot);
}

static void a_rolled_back_transaction_leaves_nothing(void) {
  kept_store *store = fresh_store(), *transaction = begin(store);
  uint64_t revision = 0;
  set(transaction, "a", 1);
  kept_rollback(transaction);
  CHECK_TEXT("absent", json_of(store, "a"));
  EXPECT(KEPT_OK, kept_set_json_if(store, "a", "2", 0, &revision, &why));
  CHECK_UINT(1, revision);
}

static void a_transaction_that_changes_nothing_makes_no_revision(void) {
  kept_store *store = fresh_store();
  uint64_t revision = 0;
  set(store, "a", 1);
  kept_store *transaction = begin(store);
  set(transaction, "a", 1);
  EXPECT(KEPT_OK, kept_commit(transaction, &revision, &why));
  CHECK_UINT(1, revision);
  EXPECT(KEPT_OK, kept_commit(begin(store), &revision, &why));
  CHECK_UINT(1, revision);
}

static void half_done(const char *location) {
  kept_store *transaction = begin(open_at(location));
  char key[32];
  for (int i = 0; i < 100; i++) {
    snprintf(key, sizeof key, "half.%d", i);
    set(transaction, key, i);
  }
  signal_parent();
  await_parent();
}

static void a_process_killed_before_the_commit_leaves_nothing(void) {
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

static void an_ended_transaction_returns_closed_however_it_ended(void) {
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

static void closing_a_transaction_leaves_its_store_open(void) {
  kept_store *store = fresh_store(), *transaction = begin(store);
  set(transaction, "key", 1);
  kept_close(transaction);
  CHECK_TEXT("absent", json_of(store, "key"));
  set(store, "key", 2);
}

static void closing_the_store_ends_its_transactions(void) {
  const char *location = fresh_location();
  kept_store *other = open_at(location), *store = open_at(location), *transaction = begin(store);
  set(transaction, "key", 1);
  kept_close(store);
  has_ended(transaction);
  CHECK_TEXT("absent", json_of(other, "key"));
}

static void rolling_back_NULL_is_allowed(void) { kept_rollback(NULL); }

/* Options and bad arguments */

static void a_transaction_may_be_durable(void) {
  kept_store *store = fresh_store(), *transaction = NULL;
  kept_transaction_options options = KEPT_TRANSACTION_OPTIONS_INIT;
  options.durability = KEPT_DURABLE;
  EXPECT(KEPT_OK, kept_begin(store, &options, &transaction, &why));
  set(transaction, "key", 1);
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("1", json_of(store, "key"));
}

/** The struct of the first version: the bytes behind it are not the program's. */
static void options_of_an_older_program_are_accepted(void) {
  kept_store *store = fresh_store(), *transaction = NULL;
  kept_transaction_options options = KEPT_TRANSACTION_OPTIONS_INIT;
  options.size = 16;
  options.tag = bad_text(0);
  EXPECT(KEPT_OK, kept_begin(store, &options, &transaction, &why));
  kept_rollback(transaction);
  options.size = 15;
  EXPECT(KEPT_INVALID, kept_begin(store, &options, &transaction, &why));
}

static void options_of_a_newer_program_are_accepted_unless_they_ask_for_something(void) {
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

static void bad_arguments_are_refused(void) {
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

static void a_transaction_in_a_transaction_is_unsupported(void) {
  kept_store *transaction = begin(fresh_store()), *inner = NULL;
  EXPECT(KEPT_UNSUPPORTED, kept_begin(transaction, NULL, &inner, &why));
  CHECK(inner == NULL);
  kept_rollback(transaction);
}

static void a_closed_store_begins_no_transaction(void) {
  kept_store *store = fresh_store(), *transaction = NULL;
  kept_close(store);
  EXPECT(KEPT_CLOSED, kept_begin(store, NULL, &transaction, &why));
  CHECK(transaction == NULL);
}

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(only_the_transaction_itself_reads_its_writes),
    TEST(all_its_keys_have_one_revision),
    TEST(every_kind_of_write_may_be_part_of_it),
    FOLDER_TEST(each_key_has_its_last_edit_whatever_the_order),
    TEST(known_keys_are_written_like_others),
    FOLDER_TEST(a_snapshot_is_not_taken_for_a_transaction),
    TEST(a_rolled_back_transaction_leaves_nothing),
    TEST(a_transaction_that_changes_nothing_makes_no_revision),
    FOLDER_TEST(a_process_killed_before_the_commit_leaves_nothing),
    TEST(an_ended_transaction_returns_closed_however_it_ended),
    TEST(closing_a_transaction_leaves_its_store_open),
    TEST(closing_the_store_ends_its_transactions),
    TEST(rolling_back_NULL_is_allowed),
    TEST(a_transaction_may_be_durable),
    TEST(options_of_an_older_program_are_accepted),
    TEST(options_of_a_newer_program_are_accepted_unless_they_ask_for_something),
    TEST(bad_arguments_are_refused),
    TEST(a_transaction_in_a_transaction_is_unsupported),
    TEST(a_closed_store_begins_no_transaction),
    { 0 },
  };
  static const role roles[] = { ROLE(half_done), { 0 } };
  return run_tests(argc, argv, tests, roles);
}
