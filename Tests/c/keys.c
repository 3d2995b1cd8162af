/* Keys: which exist, their order, and since which revision. */
#include "suite.h"

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

TEST(a_listing_may_be_json) {
  kept_store *store = fresh_store();
  static const char *const keys[] = { "audio", "audio.mute", "audio.volume", "\xf0\x9f\x8e\xb5", NULL };
  set_all(store, keys);
  CHECK_TEXT("[\"audio.mute\",\"audio.volume\"]", listed_json(store, "audio."));
  CHECK_TEXT("[\"\xf0\x9f\x8e\xb5\"]", listed_json(store, "\xf0\x9f\x8e\xb5"));
  CHECK_TEXT("[]", listed_json(store, "nothing"));
}

TEST(a_listing_stops_when_its_callback_asks) {
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

TEST(a_listing_shows_one_revision_whatever_its_callback_does) {
  kept_store *store = fresh_store();
  listing list;
  sweep sweep = { store, 0 };
  static const char *const keys[] = { "a", "b", "c", NULL };
  set_all(store, keys);
  EXPECT(KEPT_OK, kept_list(store, "", replace, &sweep, &why));
  CHECK_INT(3, sweep.count);
  CHECK_TEXT("a+,b+,c+,", listed(&list, store, ""));
}

TEST(an_absent_key_has_no_revision) {
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

TEST(bad_arguments_are_refused) {
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

TEST(a_closed_store_returns_closed) {
  kept_store *store = fresh_store();
  listing list = { "", 0, 0 };
  kept_close(store);
  every_call_answers(KEPT_CLOSED, store, "key");
  EXPECT(KEPT_CLOSED, kept_list(store, "", note, &list, &why));
  CHECK_INT(0, list.count);
}
