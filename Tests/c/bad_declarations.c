/* Declarations that are refused: bad schemas, bad arguments, and texts over the limits. */
#include "declaring.h"
#include "suite.h"

#include <string.h>
#include <sys/stat.h>

static const char settings[] =
  "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"Player\",\"type\":\"object\","
  "\"properties\":{\"volume\":{\"type\":\"integer\",\"default\":50},\"theme\":{\"type\":\"string\"}}}";

/* Bad schemas */

TEST(an_invalid_schema_is_refused) {
  static const struct {
    kept_status status;
    const char *schema, *says;
  } bad[] = {
    { KEPT_INVALID, "", "" },
    { KEPT_INVALID, "1", "object" },
    { KEPT_INVALID, "{}", "type" },
    { KEPT_INVALID, "{\"type\":\"text\"}", "text" },
    { KEPT_INVALID, "{\"type\":[\"string\"]}", "/type" },
    { KEPT_INVALID, "{\"type\":\"integer\",\"minimum\":\"0\"}", "/minimum" },
    { KEPT_INVALID, "{\"type\":\"integer\",\"minimum\":2,\"maximum\":1}", "minimum" },
    { KEPT_INVALID, "{\"type\":\"integer\",\"default\":\"1\"}", "default" },
    { KEPT_INVALID, "{\"type\":\"string\",\"enum\":[\"a\",1]}", "/enum" },
    { KEPT_INVALID, "{\"type\":\"string\",\"pattern\":\"(\"}", "/pattern" },
    { KEPT_INVALID, "{\"type\":\"string\",\"minimum\":1}", "/minimum" },
    { KEPT_UNSUPPORTED, "{\"type\":\"integer\",\"dependentSchemas\":0}", "dependentSchemas" },
    { KEPT_UNSUPPORTED, "{\"type\":\"array\",\"items\":{\"$ref\":\"#\"}}", "/items/$ref" },
    { KEPT_UNSUPPORTED, "{\"type\":\"array\",\"items\":{\"default\":1}}", "/items/default" },
  };
  kept_store *store = fresh_store();
  for (size_t i = 0; i < COUNT(bad); i++) {
    EXPECT(bad[i].status, kept_declare_json(store, "k", bad[i].schema, &why));
    CHECK(says("\"k\"") && says(bad[i].says));
  }
  EXPECT(KEPT_INVALID, kept_declare_json(store, "k", "{\"type\":\"integer\",}", &why));
  CHECK_INT(18, why.offset);
  char *deep = repeated('[', 130);
  memset(deep + 65, ']', 65);
  EXPECT(KEPT_TOO_LARGE, kept_declare_json(store, "k", deep, &why));
  CHECK_TEXT("absent", declared(store, "k"));
}

static void every_call_answers(kept_status status, kept_store *store, const char *key) {
  char *schema = NULL;
  EXPECT(status, kept_declare_json(store, key, volume, &why));
  EXPECT(status, kept_undeclare(store, key, &why));
  EXPECT(status, kept_declaration_json(store, key, &schema, &why));
  CHECK(schema == NULL);
}

TEST(bad_arguments_are_refused) {
  kept_store *store = fresh_store(), *ended = NULL;
  char *schema = NULL;
  every_call_answers(KEPT_INVALID, NULL, "k");
  every_call_answers(KEPT_INVALID, store, NULL);
  for (size_t i = 0; bad_key(i) != NULL; i++) every_call_answers(KEPT_INVALID, store, bad_key(i));
  for (size_t i = 0; bad_text(i) != NULL; i++) {
    EXPECT(KEPT_INVALID, kept_declare_json(store, "k", bad_text(i), &why));
    EXPECT(KEPT_INVALID, kept_declare_list(store, bad_text(i), &why));
    EXPECT(KEPT_INVALID, kept_declare_file(store, bad_text(i), &why));
    EXPECT(KEPT_INVALID, kept_declarations_json(store, bad_text(i), &schema, &why));
  }
  EXPECT(KEPT_INVALID, kept_declare_json(store, "k", NULL, &why));
  EXPECT(KEPT_INVALID, kept_declare_list(store, NULL, &why));
  EXPECT(KEPT_INVALID, kept_declare_file(store, NULL, &why));
  EXPECT(KEPT_INVALID, kept_declare_file(NULL, "missing", &why));
  EXPECT(KEPT_INVALID, kept_declare_list(NULL, settings, &why));
  EXPECT(KEPT_INVALID, kept_declaration_json(store, "k", NULL, &why));
  EXPECT(KEPT_INVALID, kept_declarations_json(store, NULL, &schema, &why));
  EXPECT(KEPT_INVALID, kept_declarations_json(store, "", NULL, &why));
  EXPECT(KEPT_INVALID, kept_declarations_json(NULL, "", &schema, &why));
  EXPECT(KEPT_INVALID, kept_declare_list(store, "{\"properties\":{\"\":{\"type\":\"string\"}}}", &why));
  EXPECT(KEPT_OK, kept_begin(store, NULL, &ended, &why));
  kept_rollback(ended);
  every_call_answers(KEPT_CLOSED, ended, "k");
  kept_close(store);
  every_call_answers(KEPT_CLOSED, store, "k");
  EXPECT(KEPT_CLOSED, kept_declare_list(store, settings, &why));
  EXPECT(KEPT_CLOSED, kept_declarations_json(store, "", &schema, &why));
  CHECK(schema == NULL);
}
