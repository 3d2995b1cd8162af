/* Observers that receive trees: complete, typed, owned by the library, and freed after the call. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <json-c/json_tokener.h>
#include <kept_json.h>
#include <string.h>

/** What the last callback received, as text and as copies of the trees. Callbacks run in kept_dispatch(), here. */
typedef struct heard {
  char text[512];
  json_object *old_value, *new_value;   /* of the last change */
  uint32_t origin;
  int calls, releases;
  kept_subscription *subscription;
} heard;

static void append_tree(heard *heard, json_object *tree) {
  strcat(heard->text, tree == NULL ? "-" : json_object_to_json_string_ext(tree, JSON_C_TO_STRING_PLAIN));
}

static void keep(json_object **place, json_object *tree) {
  json_object_put(*place);
  *place = NULL;
  if (tree != NULL) CHECK_INT(0, json_object_deep_copy(tree, place, NULL));
}

static void hear(void *context, const kept_notice *notice, const kept_json_change *changes, size_t count) {
  heard *heard = context;
  CHECK_UINT(kept_notice_count(notice), count);
  heard->calls++;
  heard->origin = kept_notice_origin(notice);
  heard->text[0] = 0;
  for (size_t i = 0; i < count; i++) {
    CHECK_TEXT(kept_notice_key(notice, i), changes[i].key);
    strcat(heard->text, changes[i].key);
    strcat(heard->text, ":");
    append_tree(heard, changes[i].old_value);
    strcat(heard->text, ">");
    append_tree(heard, changes[i].new_value);
    strcat(heard->text, ";");
    keep(&heard->old_value, changes[i].old_value);
    keep(&heard->new_value, changes[i].new_value);
  }
}

static void release(void *context) { ((heard *)context)->releases++; }

static void observe(heard *heard, kept_store *store, const char *key, uint32_t flags) {
  EXPECT(KEPT_OK, kept_json_observe(store, key, flags | KEPT_OBSERVE_POLLED, hear, heard, release,
                                    &heard->subscription, &why));
}

static const char *next(heard *heard) {
  size_t delivered = 0;
  CHECK_INT(KEPT_OK, kept_subscription_dispatch(heard->subscription, 1, &delivered, NULL));
  CHECK_UINT(1, delivered);
  return heard->text;
}

static void end(heard *heard) {
  kept_unobserve(heard->subscription);
  CHECK_INT(1, heard->releases);
  json_object_put(heard->old_value);
  json_object_put(heard->new_value);
}

static void set(kept_store *store, const char *key, const char *json) {
  EXPECT(KEPT_OK, kept_set_json(store, key, json, &why));
}

static void old_and_new_are_trees_and_what_is_not_there_is_NULL(void) {
  kept_store *store = fresh_store();
  heard heard = { 0 };
  observe(&heard, store, "key", KEPT_OBSERVE_KEY);
  set(store, "key", "{\"b\":[1,2.5,null],\"a\":\"caf\xc3\xa9\"}");
  CHECK_TEXT("key:->{\"a\":\"caf\xc3\xa9\",\"b\":[1,2.5,null]};", next(&heard));
  CHECK_INT(KEPT_ORIGIN_STORE, heard.origin);
  set(store, "key", "true");
  CHECK_TEXT("key:{\"a\":\"caf\xc3\xa9\",\"b\":[1,2.5,null]}>true;", next(&heard));
  CHECK(json_object_is_type(heard.new_value, json_type_boolean));
  set(store, "key", "null");
  CHECK_TEXT("key:true>-;", next(&heard));
  end(&heard);
}

static void a_transaction_is_one_call(void) {
  kept_store *store = fresh_store(), *transaction = NULL;
  heard heard = { 0 };
  set(store, "p.b", "1");
  observe(&heard, store, "p.", KEPT_OBSERVE_PREFIX);
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_OK, kept_remove(transaction, "p.b", &why));
  set(transaction, "p.a", "[[]]");
  set(transaction, "q", "1");
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("p.a:->[[]];p.b:1>-;", next(&heard));
  CHECK_INT(1, heard.calls);
  end(&heard);
}

static void first_values_are_trees_too(void) {
  kept_store *store = fresh_store();
  heard some = { 0 }, none = { 0 }, empty = { 0 };
  set(store, "key", "7");
  observe(&some, store, "key", KEPT_OBSERVE_INITIAL);
  CHECK_TEXT("key:->7;", some.text);
  CHECK_INT(KEPT_ORIGIN_INITIAL, some.origin);
  observe(&none, store, "none", KEPT_OBSERVE_INITIAL);
  CHECK_TEXT("none:->-;", none.text);
  observe(&empty, store, "none.", KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL);
  CHECK_INT(1, empty.calls);
  CHECK_TEXT("", empty.text);
  end(&some);
  end(&none);
  end(&empty);
}

static void the_kinds_that_JSON_lacks_are_read_as_everywhere(void) {
  kept_store *store = fresh_store();
  heard heard = { 0 };
  int64_t seconds = 0;
  int32_t nanoseconds = 0;
  uint64_t natural = 0;
  observe(&heard, store, "key", KEPT_OBSERVE_KEY);
  EXPECT(KEPT_OK, kept_set_date(store, "key", 1, 5, &why));
  next(&heard);
  EXPECT(KEPT_OK, kept_json_to_date(heard.new_value, &seconds, &nanoseconds, &why));
  CHECK_INT(1, seconds);
  CHECK_INT(5, nanoseconds);
  EXPECT(KEPT_OK, kept_set_uint64(store, "key", UINT64_MAX, &why));
  next(&heard);
  EXPECT(KEPT_OK, kept_json_to_uint64(heard.new_value, &natural, &why));
  CHECK_UINT(UINT64_MAX, natural);
  end(&heard);
}

static void end_inside(void *context, const kept_notice *notice, const kept_json_change *changes, size_t count) {
  heard *ending = context;
  kept_unobserve(ending->subscription);
  CHECK_INT(0, ending->releases);
  hear(context, notice, changes, count);
}

static void it_may_end_itself_and_still_has_its_trees(void) {
  kept_store *store = fresh_store();
  heard heard = { 0 };
  EXPECT(KEPT_OK, kept_json_observe(store, "key", KEPT_OBSERVE_POLLED, end_inside, &heard, release,
                                    &heard.subscription, &why));
  set(store, "key", "{\"a\":1}");
  CHECK_TEXT("key:->{\"a\":1};", next(&heard));
  end(&heard);
}

static void closing_the_store_releases_the_context_and_none_is_fine(void) {
  kept_store *store = fresh_store();
  heard heard = { 0 };
  kept_subscription *unreleased = NULL;
  observe(&heard, store, "", KEPT_OBSERVE_PREFIX);
  EXPECT(KEPT_OK, kept_json_observe(store, "key", KEPT_OBSERVE_POLLED, hear, NULL, NULL, &unreleased, &why));
  set(store, "key", "1");
  kept_close(store);
  CHECK_INT(0, heard.calls);
  end(&heard);
}

static void bad_arguments_are_refused_and_nothing_is_released(void) {
  kept_store *store = fresh_store();
  heard heard = { 0 };
  kept_subscription **out = &heard.subscription;
  EXPECT(KEPT_INVALID, kept_json_observe(NULL, "key", 0, hear, &heard, release, out, &why));
  EXPECT(KEPT_INVALID, kept_json_observe(store, NULL, 0, hear, &heard, release, out, &why));
  EXPECT(KEPT_INVALID, kept_json_observe(store, "key", 8, hear, &heard, release, out, &why));
  EXPECT(KEPT_INVALID, kept_json_observe(store, "key", 0, NULL, &heard, release, out, &why));
  EXPECT(KEPT_INVALID, kept_json_observe(store, "key", 0, hear, &heard, release, NULL, &why));
  CHECK_INT(KEPT_INVALID, kept_json_observe(NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL));
  kept_close(store);
  EXPECT(KEPT_CLOSED, kept_json_observe(store, "key", 0, hear, &heard, release, out, &why));
  CHECK(heard.subscription == NULL);
  CHECK_INT(0, heard.calls + heard.releases);
}

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(old_and_new_are_trees_and_what_is_not_there_is_NULL),
    TEST(a_transaction_is_one_call),
    TEST(first_values_are_trees_too),
    TEST(the_kinds_that_JSON_lacks_are_read_as_everywhere),
    TEST(it_may_end_itself_and_still_has_its_trees),
    TEST(closing_the_store_releases_the_context_and_none_is_fine),
    TEST(bad_arguments_are_refused_and_nothing_is_released),
    { 0 },
  };
  static const role roles[] = { { 0 } };
  return run_tests(argc, argv, tests, roles);
}
