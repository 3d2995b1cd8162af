/* No memory, at every allocation of json-c, PCRE2 and the binding: a tree is written and read completely, or the call
 * returns KEPT_FAILED. json-c itself reports success, with nulls instead of values and with missing members. */
#include "suite.h"
#include "starving.h"

#include <json-c/json_tokener.h>
#include <kept_json.h>
#include <string.h>

static const char text[] =
  "{\"array\":[1,1.5,true,null,\"a text that is longer than others\",{},[[0]],{\"a\":{\"b\":\"\\u0001\\n\"}}],"
  "\"empty\":{},\"long\":\"0123456789012345678901234567890123456789012345678901234567890123456789\","
  "\"when\":{\"$date\":\"2026-11-20T23:44:01Z\"}}";

static kept_store *store;
static json_object *tree, *three_bytes;

static kept_status read_tree(void) {
  json_object *found = NULL;
  kept_status status = kept_json_get(store, "tree", &found, &why);
  if (status == KEPT_OK) CHECK(json_object_equal(tree, found));
  json_object_put(found);
  return status;
}

static kept_status write_tree(void) { return kept_json_set(store, "tree", tree, &why); }

static kept_status make_bytes(void) {
  json_object *bytes = kept_json_new_bytes("\0\1\2", 3);
  if (bytes) CHECK(json_object_equal(three_bytes, bytes));
  json_object_put(bytes);
  return bytes ? KEPT_OK : KEPT_FAILED;
}

static void receive(void *context, const kept_notice *notice, const kept_json_change *changes, size_t count) {
  for (size_t i = 0; changes && i < count; i++) CHECK(json_object_equal(tree, changes[i].new_value));
}

static kept_status observe(void) {
  kept_subscription *subscription = NULL;
  kept_status status = kept_json_observe(
    store, "tree", KEPT_OBSERVE_INITIAL | KEPT_OBSERVE_POLLED, receive, NULL, NULL, &subscription, &why);
  kept_unobserve(subscription);
  return status;
}

static void expect_text(void) {
  char *found = NULL;
  EXPECT(KEPT_OK, kept_get_json(store, "tree", &found, &why));
  CHECK_TEXT(text, found);
  kept_free(found);
}

/* Fails at the first allocation, the second, and so on. */
static void play(kept_status (*act)(void)) {
  for (int for_ever = 0; for_ever < 2; for_ever++) {
    for (long point = 1;; point++) {
      plan_shortage(point, for_ever);
      kept_status status = act();
      if (end_shortage() == 0) break;
      if (status < 0) CHECK_INT(KEPT_FAILED, status);
      expect_text();
    }
  }
}

TEST(without_memory_a_tree_is_whole_or_refused) {
  begin_starving();
  store = fresh_store();
  tree = json_tokener_parse(text);
  three_bytes = json_tokener_parse("{\"$binary\":{\"base64\":\"AAEC\",\"subType\":\"00\"}}");
  EXPECT(KEPT_OK, kept_json_set(store, "tree", tree, &why));
  play(read_tree);
  play(write_tree);
  play(make_bytes);
  play(observe);
  json_object_put(three_bytes);
  json_object_put(tree);
}
