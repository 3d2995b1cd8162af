/* What an observer receives of the changes that another process makes. */
#include "clock.h"
#include "recorder.h"
#include "suite.h"
#include "transacting.h"

#include <stdio.h>
#include <string.h>

static kept_store *open_with_tag(const char *location, const char *tag) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  options.tag = tag;
  EXPECT(KEPT_OK, kept_open(location, &options, &store, &why));
  return store;
}

ROLE(write_once, location) {
  kept_store *store = open_with_tag(location, "there");
  set(store, "key", 2);
  kept_close(store);
}

FOLDER_TEST(its_change_comes_with_old_and_new_revision_origin_tag_and_time) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  recorder *recorder = new_recorder();
  set(store, "key", 1);
  record(recorder, store, "key", KEPT_OBSERVE_KEY);
  int64_t before = wall_clock();
  play_child("write_once", location);
  int64_t after = wall_clock();
  CHECK_TEXT("O key:1>2;", recorded(recorder, 1));
  CHECK_UINT(2, recorder->first);
  CHECK_UINT(2, recorder->revision);
  CHECK_TEXT("there", recorder->tag);
  CHECK(before <= recorder->time && recorder->time <= after);
  CHECK(!recorder->missed);
}

ROLE(write_together, location) {
  kept_store *store = open_with_tag(location, "there"), *transaction = NULL;
  kept_transaction_options options = KEPT_TRANSACTION_OPTIONS_INIT;
  options.tag = "import";
  EXPECT(KEPT_OK, kept_begin(store, &options, &transaction, &why));
  set(transaction, "p.b", 2);
  set(transaction, "q", 3);
  EXPECT(KEPT_OK, kept_set_string(transaction, "p.a", "caf\xc3\xa9", 5, &why));
  EXPECT(KEPT_OK, kept_remove(transaction, "p.c", &why));
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  kept_close(store);
}

FOLDER_TEST(its_transaction_comes_as_one_notice_with_its_own_tag) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  recorder *prefix = new_recorder(), *key = new_recorder();
  set(store, "p.c", 1);
  record(prefix, store, "p.", KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL);
  record(key, store, "q", KEPT_OBSERVE_INITIAL);
  play_child("write_together", location);
  CHECK_TEXT("I p.c:->1;O p.a:->\"caf\xc3\xa9\" p.b:->2 p.c:1>-;", recorded(prefix, 2));
  CHECK_TEXT("I q:->-;O q:->3;", recorded(key, 2));
  CHECK_TEXT("import", prefix->tag);
  CHECK_TEXT("import", key->tag);
}

enum { many = 64 };
static const char *numbered(char *key, int number) {
  snprintf(key, 32, "k.%d", number);
  return key;
}

ROLE(write_many, location) {
  kept_store *store = open_at(location);
  char key[32];
  for (int i = 0; i < many; i++) set(store, numbered(key, i), i);
}

FOLDER_TEST(many_subscriptions_each_receive_their_own_key) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  recorder *recorders[many];
  char key[32], text[64];
  for (int i = 0; i < many; i++) record(recorders[i] = new_recorder(), store, numbered(key, i), KEPT_OBSERVE_KEY);
  play_child("write_many", location);
  for (int i = 0; i < many; i++) {
    snprintf(text, sizeof text, "O k.%d:->%d;", i, i);
    CHECK_TEXT(text, recorded(recorders[i], 1));
  }
}

/* Whole transactions, in order */

enum { writers = 3, rounds = 200 };

/** Adds one to both. */
static kept_status write_pair(kept_store *store) {
  kept_store *transaction = NULL;
  int64_t value = 0;
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  kept_status status = kept_get_int64(transaction, "p.a", &value, NULL);
  if (status == KEPT_CONFLICT) {
    kept_rollback(transaction);
    return status;
  }
  set(transaction, "p.a", value + 1);
  set(transaction, "p.b", value + 1);
  return kept_commit(transaction, NULL, NULL);
}

ROLE(write_pairs, location) {
  kept_store *store = open_at(location);
  kept_status status;
  signal_parent();
  await_parent();
  for (int i = 0; i < rounds; i++) {
    while ((status = write_pair(store)) == KEPT_CONFLICT) {}
    CHECK_INT(KEPT_OK, status);
  }
}

/** The deliveries so far. */
struct pair {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint64_t revision;
  int64_t a, b;
  int faults;
};

static void read_side(const kept_value *value, int64_t expected, int *faults) {
  int64_t found = 0;
  kept_status status = kept_value_int64(value, &found, NULL);
  if (status != KEPT_OK && status != KEPT_ABSENT) ++*faults;
  if (found != expected) ++*faults;
}

static void follow(void *context, const kept_notice *notice) {
  struct pair *pair = context;
  pthread_mutex_lock(&pair->lock);
  if (kept_notice_first_revision(notice) != pair->revision + 1) pair->faults++;
  if (kept_notice_origin(notice) != KEPT_ORIGIN_OTHER || kept_notice_may_have_missed(notice)) pair->faults++;
  if (kept_notice_count(notice) != 2) pair->faults++;
  read_side(kept_notice_old(notice, 0), pair->a, &pair->faults);
  read_side(kept_notice_old(notice, 1), pair->b, &pair->faults);
  kept_value_int64(kept_notice_new(notice, 0), &pair->a, NULL);
  kept_value_int64(kept_notice_new(notice, 1), &pair->b, NULL);
  /* Each transaction adds one: the state and the revision are the same number. */
  pair->revision = kept_notice_revision(notice);
  if (pair->a != pair->b || (uint64_t)pair->a != pair->revision) pair->faults++;
  pthread_cond_broadcast(&pair->changed);
  pthread_mutex_unlock(&pair->lock);
}

FOLDER_TEST(every_notice_has_complete_transactions_in_order) {
  static struct pair pair = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, 0 };
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  kept_subscription *subscription = NULL;
  child children[writers];
  EXPECT(KEPT_OK, kept_observe(store, "p.", KEPT_OBSERVE_PREFIX, follow, &pair, NULL, &subscription, &why));
  for (int i = 0; i < writers; i++) children[i] = start_child("write_pairs", location);
  for (int i = 0; i < writers; i++) await_child(&children[i]);
  for (int i = 0; i < writers; i++) release_child(&children[i]);
  for (int i = 0; i < writers; i++) CHECK_INT(0, finish_child(&children[i]));
  pthread_mutex_lock(&pair.lock);
  while (pair.revision < writers * rounds) pthread_cond_wait(&pair.changed, &pair.lock);
  CHECK_INT(writers * rounds, pair.a);
  CHECK_INT(0, pair.faults);
  pthread_mutex_unlock(&pair.lock);
}

/* kill -9 */

ROLE(write_and_wait, location) {
  set(open_at(location), "key", 1);
  signal_parent();
  await_parent();
}

FOLDER_TEST(commits_of_a_killed_process_are_delivered) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  recorder *recorder = new_recorder();
  record(recorder, store, "key", KEPT_OBSERVE_KEY);
  child child = start_child("write_and_wait", location);
  await_child(&child);
  kill_child(&child);
  CHECK_TEXT("O key:->1;", recorded(recorder, 1));
  set(store, "key", 2);
  CHECK_TEXT("O key:->1;S key:1>2;", recorded(recorder, 2));
}
