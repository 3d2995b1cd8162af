/* Observers that receive trees: complete, typed, owned by the library, and freed after the call. */
#include "suite.h"

#include <json-c/json_tokener.h>
#include <kept_json.h>
#include <string.h>

/** The last notice that a callback received, as text and as copies of the trees. Callbacks run in kept_dispatch(),
 *  here. */
typedef struct received {
  char text[512];
  json_object *old_value, *new_value; /* of the last change */
  uint32_t origin;
  int calls, releases;
  kept_subscription *subscription;
} received;

static void append_tree(received *received, json_object *tree) {
  strcat(received->text, tree == NULL ? "-" : json_object_to_json_string_ext(tree, JSON_C_TO_STRING_PLAIN));
}

static void keep(json_object **place, json_object *tree) {
  json_object_put(*place);
  *place = NULL;
  if (tree != NULL) CHECK_INT(0, json_object_deep_copy(tree, place, NULL));
}

static void receive(void *context, const kept_notice *notice, const kept_json_change *changes, size_t count) {
  received *received = context;
  CHECK_UINT(kept_notice_count(notice), count);
  received->calls++;
  received->origin = kept_notice_origin(notice);
  received->text[0] = 0;
  for (size_t i = 0; i < count; i++) {
    CHECK_TEXT(kept_notice_key(notice, i), changes[i].key);
    strcat(received->text, changes[i].key);
    strcat(received->text, ":");
    append_tree(received, changes[i].old_value);
    strcat(received->text, ">");
    append_tree(received, changes[i].new_value);
    strcat(received->text, ";");
    keep(&received->old_value, changes[i].old_value);
    keep(&received->new_value, changes[i].new_value);
  }
}

static void release(void *context) { ((received *)context)->releases++; }

static void observe(received *received, kept_store *store, const char *key, uint32_t flags) {
  EXPECT(KEPT_OK,
    kept_json_observe(
      store, key, flags | KEPT_OBSERVE_POLLED, receive, received, release, &received->subscription, &why));
}

static const char *next(received *received) {
  size_t delivered = 0;
  CHECK_INT(KEPT_OK, kept_subscription_dispatch(received->subscription, 1, &delivered, NULL));
  CHECK_UINT(1, delivered);
  return received->text;
}

static void end(received *received) {
  kept_unobserve(received->subscription);
  CHECK_INT(1, received->releases);
  json_object_put(received->old_value);
  json_object_put(received->new_value);
}

static void set(kept_store *store, const char *key, const char *json) {
  EXPECT(KEPT_OK, kept_set_json(store, key, json, &why));
}

TEST(old_and_new_are_trees_and_NULL_if_absent) {
  kept_store *store = fresh_store();
  received received = { 0 };
  observe(&received, store, "key", KEPT_OBSERVE_KEY);
  set(store, "key", "{\"b\":[1,2.5,null],\"a\":\"caf\xc3\xa9\"}");
  CHECK_TEXT("key:->{\"a\":\"caf\xc3\xa9\",\"b\":[1,2.5,null]};", next(&received));
  CHECK_INT(KEPT_ORIGIN_STORE, received.origin);
  set(store, "key", "true");
  CHECK_TEXT("key:{\"a\":\"caf\xc3\xa9\",\"b\":[1,2.5,null]}>true;", next(&received));
  CHECK(json_object_is_type(received.new_value, json_type_boolean));
  set(store, "key", "null");
  CHECK_TEXT("key:true>-;", next(&received));
  end(&received);
}

TEST(a_transaction_is_one_call) {
  kept_store *store = fresh_store(), *transaction = NULL;
  received received = { 0 };
  set(store, "p.b", "1");
  observe(&received, store, "p.", KEPT_OBSERVE_PREFIX);
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_OK, kept_remove(transaction, "p.b", &why));
  set(transaction, "p.a", "[[]]");
  set(transaction, "q", "1");
  EXPECT(KEPT_OK, kept_commit(transaction, NULL, &why));
  CHECK_TEXT("p.a:->[[]];p.b:1>-;", next(&received));
  CHECK_INT(1, received.calls);
  end(&received);
}

TEST(initial_values_are_trees_too) {
  kept_store *store = fresh_store();
  received some = { 0 }, none = { 0 }, empty = { 0 };
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

TEST(the_kinds_that_JSON_lacks_are_read_as_everywhere) {
  kept_store *store = fresh_store();
  received received = { 0 };
  int64_t seconds = 0;
  int32_t nanoseconds = 0;
  uint64_t natural = 0;
  observe(&received, store, "key", KEPT_OBSERVE_KEY);
  EXPECT(KEPT_OK, kept_set_date(store, "key", 1, 5, &why));
  next(&received);
  EXPECT(KEPT_OK, kept_json_to_date(received.new_value, &seconds, &nanoseconds, &why));
  CHECK_INT(1, seconds);
  CHECK_INT(5, nanoseconds);
  EXPECT(KEPT_OK, kept_set_uint64(store, "key", UINT64_MAX, &why));
  next(&received);
  EXPECT(KEPT_OK, kept_json_to_uint64(received.new_value, &natural, &why));
  CHECK_UINT(UINT64_MAX, natural);
  end(&received);
}

static void end_inside(void *context, const kept_notice *notice, const kept_json_change *changes, size_t count) {
  received *ending = context;
  kept_unobserve(ending->subscription);
  CHECK_INT(0, ending->releases);
  receive(context, notice, changes, count);
}

TEST(a_subscription_may_end_itself_and_still_has_its_trees) {
  kept_store *store = fresh_store();
  received received = { 0 };
  EXPECT(KEPT_OK,
    kept_json_observe(store, "key", KEPT_OBSERVE_POLLED, end_inside, &received, release, &received.subscription, &why));
  set(store, "key", "{\"a\":1}");
  CHECK_TEXT("key:->{\"a\":1};", next(&received));
  end(&received);
}

TEST(closing_the_store_releases_the_context_and_none_is_fine) {
  kept_store *store = fresh_store();
  received received = { 0 };
  kept_subscription *unreleased = NULL;
  observe(&received, store, "", KEPT_OBSERVE_PREFIX);
  EXPECT(KEPT_OK, kept_json_observe(store, "key", KEPT_OBSERVE_POLLED, receive, NULL, NULL, &unreleased, &why));
  set(store, "key", "1");
  kept_close(store);
  CHECK_INT(0, received.calls);
  end(&received);
}

TEST(bad_arguments_are_refused_and_nothing_is_released) {
  kept_store *store = fresh_store();
  received received = { 0 };
  kept_subscription **out = &received.subscription;
  EXPECT(KEPT_INVALID, kept_json_observe(NULL, "key", 0, receive, &received, release, out, &why));
  EXPECT(KEPT_INVALID, kept_json_observe(store, NULL, 0, receive, &received, release, out, &why));
  EXPECT(KEPT_INVALID, kept_json_observe(store, "key", 8, receive, &received, release, out, &why));
  EXPECT(KEPT_INVALID, kept_json_observe(store, "key", 0, NULL, &received, release, out, &why));
  EXPECT(KEPT_INVALID, kept_json_observe(store, "key", 0, receive, &received, release, NULL, &why));
  CHECK_INT(KEPT_INVALID, kept_json_observe(NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL));
  kept_close(store);
  EXPECT(KEPT_CLOSED, kept_json_observe(store, "key", 0, receive, &received, release, out, &why));
  CHECK(received.subscription == NULL);
  CHECK_INT(0, received.calls + received.releases);
}
