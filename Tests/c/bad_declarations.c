/* Declarations that are refused: bad schemas, bad arguments, and texts over the limits. */
#define _XOPEN_SOURCE 700
#include "declaring.h"
#include "recorder.h"
#include "reports.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char settings[] =
  "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"Player\",\"type\":\"object\","
  "\"properties\":{\"volume\":{\"type\":\"integer\",\"default\":50},\"theme\":{\"type\":\"string\"}}}";

/* Bad schemas */

static void an_invalid_schema_is_refused(void) {
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
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
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

static void a_schema_over_the_limit_is_too_large(void) {
  kept_store *store = fresh_store();
  char *schema = repeated('x', 65536 + 100);
  const char head[] = "{\"type\":\"string\",\"summary\":\"", tail[] = "\"}";
  memcpy(schema, head, sizeof head - 1);
  strcpy(schema + 65536 - (sizeof tail - 1), tail);
  declare(store, "k", schema);
  schema[65536 - 2] = 'x';
  strcpy(schema + 65536 - 1, tail);
  EXPECT(KEPT_TOO_LARGE, kept_declare_json(store, "l", schema, &why));
  CHECK_TEXT("absent", declared(store, "l"));
}

static void a_pattern_that_takes_too_long_refuses_the_value(void) {
  kept_store *store = fresh_store();
  declare(store, "k", "{\"type\":\"string\",\"pattern\":\"^(a+)+$\"}");
  const char *text = repeated('a', 5000);
  EXPECT(KEPT_OK, kept_set_string(store, "k", text, 100, &why));
  char *worse = repeated('a', 5000);
  worse[4999] = 'b';
  EXPECT(KEPT_INVALID, kept_set_string(store, "k", worse, 5000, &why));
  CHECK_INT(100 + 2, strlen(json_of(store, "k")));
}

static void every_call_answers(kept_status status, kept_store *store, const char *key) {
  char *schema = NULL;
  EXPECT(status, kept_declare_json(store, key, volume, &why));
  EXPECT(status, kept_undeclare(store, key, &why));
  EXPECT(status, kept_declaration_json(store, key, &schema, &why));
  CHECK(schema == NULL);
}

static void bad_arguments_are_refused(void) {
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

static void an_error_gives_the_offset_of_invalid_UTF_8(void) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_INVALID, kept_declare_json(store, "k", "{\"type\":\"\xff\"}", &why));
  CHECK_INT(9, why.offset);
  EXPECT(KEPT_INVALID, kept_declare_list(store, "{\"title\":\"\xff\"}", &why));
  CHECK_INT(10, why.offset);
}

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(an_invalid_schema_is_refused),
    TEST(a_schema_over_the_limit_is_too_large),
    TEST(a_pattern_that_takes_too_long_refuses_the_value),
    TEST(bad_arguments_are_refused),
    TEST(an_error_gives_the_offset_of_invalid_UTF_8),
    { 0 },
  };
  static const role roles[] = { { 0 } };
  return run_tests(argc, argv, tests, roles);
}
