/* Keys: which exist, in which order, and since which revision. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <stdio.h>
#include <string.h>

/** The keys that kept_list() passed to the callback, with a comma behind each. */
typedef struct listing {
  char text[512];
  int limit; /* stop after this many; 0 for no limit */
  int count;
} listing;

static int note(void *context, const char *key) {
  listing *list = context;
  size_t used = strlen(list->text);
  snprintf(list->text + used, sizeof list->text - used, "%s,", key);
  return ++list->count == list->limit;
}

static const char *listed(listing *list, kept_store *store, const char *prefix) {
  memset(list, 0, sizeof *list);
  EXPECT(KEPT_OK, kept_list(store, prefix, note, list, &why));
  return list->text;
}

/** What kept_list_json() returns; valid until the next call. */
static const char *listed_json(kept_store *store, const char *prefix) {
  static char copy[512];
  char *json = NULL;
  EXPECT(KEPT_OK, kept_list_json(store, prefix, &json, &why));
  snprintf(copy, sizeof copy, "%s", json ? json : "NULL");
  kept_free(json);
  return copy;
}

static void set_all(kept_store *store, const char *const *keys) {
  for (; *keys != NULL; keys++) EXPECT(KEPT_OK, kept_set_bool(store, *keys, true, &why));
}

static void a_key_exists_from_set_to_remove(void) {
  kept_store *store = fresh_store();
  bool there = true;
  EXPECT(KEPT_OK, kept_contains(store, "key", &there, &why));
  CHECK(!there);
  EXPECT(KEPT_OK, kept_set_bool(store, "key", false, &why));
  EXPECT(KEPT_OK, kept_contains(store, "key", &there, &why));
  CHECK(there);
  EXPECT(KEPT_OK, kept_remove(store, "key", &why));
  EXPECT(KEPT_OK, kept_contains(store, "key", &there, &why));
  CHECK(!there);
}

static void removing_an_absent_key_changes_nothing(void) {
  kept_store *store = fresh_store();
  uint64_t before = 0, after = 0;
  EXPECT(KEPT_ABSENT, kept_remove(store, "key", &why));
  EXPECT(KEPT_OK, kept_set_json_if(store, "one", "1", 0, &before, &why));
  EXPECT(KEPT_ABSENT, kept_remove(store, "key", &why));
  EXPECT(KEPT_OK, kept_set_json_if(store, "two", "2", 0, &after, &why));
  CHECK_UINT(before + 1, after);
}

static void the_shortest_and_the_longest_key_are_kept(void) {
  kept_store *store = fresh_store();
  const char *longest = repeated('k', 1024);
  EXPECT(KEPT_OK, kept_set_int64(store, "k", 1, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, longest, 2, &why));
  CHECK_TEXT("1", json_of(store, "k"));
  CHECK_TEXT("2", json_of(store, longest));
}

static void keys_that_look_alike_are_different_keys(void) {
  kept_store *store = fresh_store();
  listing list;
  static const char *const keys[] = { "caf\xc3\xa9", "cafe\xcc\x81", "Caf\xc3\xa9", "a.b", "a", "a.b.c", NULL };
  set_all(store, keys);
  CHECK_TEXT("Caf\xc3\xa9,a,a.b,a.b.c,cafe\xcc\x81,caf\xc3\xa9,", listed(&list, store, ""));
}

static void a_prefix_lists_only_the_keys_that_begin_with_it(void) {
  kept_store *store = fresh_store();
  listing list;
  static const char *const keys[] = { "audio", "audio.mute", "audio.volume", "audio_x", "Audio.up", "video", "%", "_",
    "\xc3\xa9", "\xf0\x9f\x8e\xb5", NULL };
  set_all(store, keys);
  CHECK_TEXT("audio.mute,audio.volume,", listed(&list, store, "audio."));
  CHECK_TEXT("audio,audio.mute,audio.volume,audio_x,", listed(&list, store, "audio"));
  CHECK_TEXT("%,", listed(&list, store, "%"));
  CHECK_TEXT("_,", listed(&list, store, "_"));
  CHECK_TEXT("\xf0\x9f\x8e\xb5,", listed(&list, store, "\xf0\x9f\x8e\xb5"));
  CHECK_TEXT("", listed(&list, store, "nothing"));
  CHECK_TEXT("[\"audio.mute\",\"audio.volume\"]", listed_json(store, "audio."));
  CHECK_TEXT("[\"\xf0\x9f\x8e\xb5\"]", listed_json(store, "\xf0\x9f\x8e\xb5"));
  CHECK_TEXT("[]", listed_json(store, "nothing"));
  CHECK_TEXT(
    "%,Audio.up,_,audio,audio.mute,audio.volume,audio_x,video,\xc3\xa9,\xf0\x9f\x8e\xb5,", listed(&list, store, ""));
}

static void a_listing_stops_when_its_callback_asks(void) {
  kept_store *store = fresh_store();
  listing list = { "", 2, 0 };
  static const char *const keys[] = { "a", "b", "c", NULL };
  set_all(store, keys);
  EXPECT(KEPT_OK, kept_list(store, "", note, &list, &why));
  CHECK_TEXT("a,b,", list.text);
}

typedef struct sweep {
  kept_store *store;
  int count;
} sweep;

/** Removes each key it is called with, and writes a new one, while the listing runs. */
static int replace(void *context, const char *key) {
  sweep *sweep = context;
  char new_key[64];
  snprintf(new_key, sizeof new_key, "%s+", key);
  EXPECT(KEPT_OK, kept_remove(sweep->store, key, &why));
  EXPECT(KEPT_OK, kept_set_bool(sweep->store, new_key, true, &why));
  sweep->count++;
  return 0;
}

static void a_listing_shows_one_revision_whatever_its_callback_does(void) {
  kept_store *store = fresh_store();
  listing list;
  sweep sweep = { store, 0 };
  static const char *const keys[] = { "a", "b", "c", NULL };
  set_all(store, keys);
  EXPECT(KEPT_OK, kept_list(store, "", replace, &sweep, &why));
  CHECK_INT(3, sweep.count);
  CHECK_TEXT("a+,b+,c+,", listed(&list, store, ""));
}

static void a_revision_counts_the_commits_of_the_store(void) {
  kept_store *store = fresh_store();
  uint64_t first = 0, second = 0;
  EXPECT(KEPT_OK, kept_set_int64(store, "one", 1, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "two", 2, &why));
  EXPECT(KEPT_OK, kept_revision_of(store, "one", &first, &why));
  EXPECT(KEPT_OK, kept_revision_of(store, "two", &second, &why));
  CHECK_UINT(1, first);
  CHECK_UINT(2, second);
}

static void an_absent_key_has_no_revision(void) {
  kept_store *store = fresh_store();
  uint64_t revision = 99;
  EXPECT(KEPT_ABSENT, kept_revision_of(store, "key", &revision, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
  EXPECT(KEPT_OK, kept_remove(store, "key", &why));
  EXPECT(KEPT_ABSENT, kept_revision_of(store, "key", &revision, &why));
  CHECK_UINT(99, revision);
}

/** Calls every function of this section. Each must return `status` and leave its out arguments untouched. */
static void every_call_answers(kept_status status, kept_store *store, const char *key) {
  bool there = true;
  uint64_t revision = 99;
  EXPECT(status, kept_contains(store, key, &there, &why));
  EXPECT(status, kept_remove(store, key, &why));
  EXPECT(status, kept_revision_of(store, key, &revision, &why));
  CHECK(there && revision == 99);
}

static void bad_arguments_are_refused(void) {
  kept_store *store = fresh_store();
  listing list = { "", 0, 0 };
  every_call_answers(KEPT_INVALID, NULL, "key");
  every_call_answers(KEPT_INVALID, store, NULL);
  for (size_t i = 0; bad_key(i) != NULL; i++) every_call_answers(KEPT_INVALID, store, bad_key(i));
  EXPECT(KEPT_INVALID, kept_contains(store, "key", NULL, &why));
  EXPECT(KEPT_INVALID, kept_revision_of(store, "key", NULL, &why));
  EXPECT(KEPT_INVALID, kept_list(NULL, "", note, &list, &why));
  EXPECT(KEPT_INVALID, kept_list(store, NULL, note, &list, &why));
  EXPECT(KEPT_INVALID, kept_list(store, "", NULL, NULL, &why));
  for (size_t i = 0; bad_text(i) != NULL; i++) EXPECT(KEPT_INVALID, kept_list(store, bad_text(i), note, &list, &why));
  CHECK_INT(0, list.count);
}

static void a_closed_store_returns_closed(void) {
  kept_store *store = fresh_store();
  listing list = { "", 0, 0 };
  kept_close(store);
  every_call_answers(KEPT_CLOSED, store, "key");
  EXPECT(KEPT_CLOSED, kept_list(store, "", note, &list, &why));
  CHECK_INT(0, list.count);
}

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(a_key_exists_from_set_to_remove),
    TEST(removing_an_absent_key_changes_nothing),
    TEST(the_shortest_and_the_longest_key_are_kept),
    TEST(keys_that_look_alike_are_different_keys),
    TEST(a_prefix_lists_only_the_keys_that_begin_with_it),
    TEST(a_listing_stops_when_its_callback_asks),
    TEST(a_listing_shows_one_revision_whatever_its_callback_does),
    TEST(a_revision_counts_the_commits_of_the_store),
    TEST(an_absent_key_has_no_revision),
    TEST(bad_arguments_are_refused),
    TEST(a_closed_store_returns_closed),
    { 0 },
  };
  static const role roles[] = { { 0 } };
  return run_tests(argc, argv, tests, roles);
}
