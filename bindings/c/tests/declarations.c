/* Declarations and explanations as trees. */
#include "suite.h"

#include <json-c/json_tokener.h>
#include <kept_json.h>
#include <string.h>

static void declare(kept_status status, kept_store *store, const char *schema) {
  json_object *tree = json_tokener_parse(schema);
  EXPECT(status, kept_json_declare(store, "volume", tree, &why));
  if (status < 0) CHECK_INT(-1, why.offset);
  json_object_put(tree);
}

static const char *member(json_object *object, const char *name) {
  json_object *value = NULL;
  return json_object_object_get_ex(object, name, &value) ? json_object_get_string(value) : "-";
}

TEST(a_key_is_declared_by_a_tree_and_gives_one) {
  kept_store *store = fresh_store();
  json_object *schema = NULL, *all = NULL;
  declare(KEPT_OK, store, "{\"type\":\"integer\",\"maximum\":100,\"default\":50,\"$comment\":\"loud\"}");
  CHECK_TEXT("50", json_of(store, "volume"));
  EXPECT(KEPT_INVALID, kept_set_int64(store, "volume", 101, &why));
  EXPECT(KEPT_OK, kept_json_declaration(store, "volume", &schema, &why));
  CHECK_TEXT("integer", member(schema, "type"));
  CHECK_TEXT("100", member(schema, "maximum"));
  EXPECT(KEPT_OK, kept_json_declarations(store, "", &all, &why));
  CHECK(json_object_equal(schema, json_object_object_get(json_object_object_get(all, "properties"), "volume")));
  json_object_put(schema);
  json_object_put(all);
  schema = NULL;
  EXPECT(KEPT_ABSENT, kept_json_declaration(store, "other", &schema, &why));
  CHECK(schema == NULL);
}

TEST(a_tree_that_declares_nothing_is_refused) {
  kept_store *store = fresh_store();
  declare(KEPT_INVALID, store, "{\"type\":\"loud\"}");
  declare(KEPT_UNSUPPORTED, store, "{\"type\":\"integer\",\"anyOf\":[]}");
  declare(KEPT_INVALID, store, "null");
  declare(KEPT_OK, store, "{\"type\":\"integer\"}");
  declare(KEPT_TYPE_CONFLICT, store, "{\"type\":\"string\"}");
  EXPECT(KEPT_OK, kept_set_int64(store, "volume", 5, &why));
  declare(KEPT_MISFIT, store, "{\"type\":\"integer\",\"maximum\":1}");
}

TEST(an_explanation_is_a_tree) {
  kept_store *store = fresh_store();
  json_object *defaults = json_tokener_parse("{\"volume\":7}"), *explanation = NULL;
  EXPECT(KEPT_OK, kept_json_register(store, defaults, &why));
  json_object_put(defaults);
  EXPECT(KEPT_OK, kept_json_explain(store, "volume", &explanation, &why));
  CHECK_TEXT("7", member(explanation, "value"));
  CHECK_TEXT("registered", member(explanation, "layer"));
  CHECK_INT(3, json_object_array_length(json_object_object_get(explanation, "layers")));
  json_object_put(explanation);
}

TEST(an_export_is_a_tree) {
  kept_store *store = fresh_store();
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  json_object *tree = NULL;
  EXPECT(KEPT_OK, kept_set_int64(store, "audio.volume", 5, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "other", 6, &why));
  options.prefix = "audio.";
  EXPECT(KEPT_OK, kept_json_export(store, &options, &tree, &why));
  CHECK_TEXT("{\"audio.volume\":5}",
    json_object_to_json_string_ext(json_object_object_get(tree, "values"), JSON_C_TO_STRING_PLAIN));
  json_object_put(tree);
  options.flags = 1u << 31;
  EXPECT(KEPT_INVALID, kept_json_export(store, &options, &tree, &why));
}

TEST(bad_arguments_are_refused) {
  kept_store *store = fresh_store();
  json_object *tree = NULL;
  EXPECT(KEPT_INVALID, kept_json_declare(store, NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_json_declaration(store, "volume", NULL, &why));
  EXPECT(KEPT_INVALID, kept_json_declarations(store, "", NULL, &why));
  EXPECT(KEPT_INVALID, kept_json_explain(store, "volume", NULL, &why));
  EXPECT(KEPT_INVALID, kept_json_explain(NULL, "volume", &tree, &why));
  EXPECT(KEPT_INVALID, kept_json_export(store, NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_json_register(store, NULL, &why));
  CHECK_INT(KEPT_INVALID, kept_json_explain(NULL, NULL, NULL, NULL));
  kept_close(store);
  EXPECT(KEPT_CLOSED, kept_json_explain(store, "volume", &tree, &why));
  EXPECT(KEPT_CLOSED, kept_json_declarations(store, "", &tree, &why));
  CHECK(tree == NULL);
}
