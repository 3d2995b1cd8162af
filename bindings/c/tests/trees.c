/* Trees: the meaning of a json_object is stored, whatever json-c would print, and the caller keeps its tree. */
#include "suite.h"

#include <json-c/json_tokener.h>
#include <kept_json.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

/** Writes a tree that the caller owns, and frees it. */
static void set(kept_store *store, const char *key, json_object *value) {
  EXPECT(KEPT_OK, kept_json_set(store, key, value, &why));
  json_object_put(value);
}

static json_object *get(kept_store *store, const char *key) {
  json_object *value = NULL;
  EXPECT(KEPT_OK, kept_json_get(store, key, &value, &why));
  CHECK(value != NULL);
  return value;
}

TEST(a_tree_round_trips) {
  static const char text[] =
    "{\"array\":[1,1.5,true,null,\"text\"],\"empty\":{},\"nested\":{\"a\":{\"b\":[[]]}},\"text\":\"caf\xc3\xa9\"}";
  kept_store *store = fresh_store();
  json_object *tree = json_tokener_parse(text);
  EXPECT(KEPT_OK, kept_json_set(store, "tree", tree, &why));
  json_object *found = get(store, "tree");
  CHECK(json_object_equal(tree, found));
  CHECK_TEXT(text, json_of(store, "tree"));
  json_object_put(found);
  json_object_put(tree);
}

TEST(every_scalar_is_a_tree) {
  kept_store *store = fresh_store();
  set(store, "bool", json_object_new_boolean(1));
  set(store, "integer", json_object_new_int64(INT64_MIN));
  set(store, "natural", json_object_new_uint64(UINT64_MAX));
  set(store, "small", json_object_new_uint64(7));
  set(store, "one", json_object_new_double(1.0));
  set(store, "text", json_object_new_string_len("a\0\"\\\n\x7f", 6));
  CHECK_TEXT("true", json_of(store, "bool"));
  CHECK_TEXT("-9223372036854775808", json_of(store, "integer"));
  CHECK_TEXT("{\"$numberULong\":\"18446744073709551615\"}", json_of(store, "natural"));
  CHECK_TEXT("7", json_of(store, "small"));
  CHECK_TEXT("1.0", json_of(store, "one"));
  CHECK_TEXT("\"a\\u0000\\\"\\\\\\n\x7f\"", json_of(store, "text"));
  json_object *text = get(store, "text");
  CHECK_INT(6, json_object_get_string_len(text));
  json_object_put(text);
}

TEST(a_double_round_trips_bit_for_bit) {
  static const double numbers[] = { 0.1, 1.0 / 3, 1e16, 1e300, 5e-324, -0.0, 123456789012345680.0,
    1.7976931348623157e308 };
  kept_store *store = fresh_store();
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    set(store, "number", json_object_new_double(numbers[i]));
    json_object *found = get(store, "number");
    double number = json_object_get_double(found);
    CHECK(json_object_is_type(found, json_type_double));
    CHECK(memcmp(&numbers[i], &number, sizeof number) == 0);
    json_object_put(found);
  }
}

TEST(the_double_format_of_json_c_is_not_used) {
  kept_store *store = fresh_store();
  CHECK_INT(0, json_c_set_serialization_double_format("%.0f", JSON_C_OPTION_GLOBAL));
  set(store, "plain", json_object_new_double(0.1));
  set(store, "array", json_tokener_parse("[0.25]"));
  set(store, "said", json_object_new_double_s(2.5, "nonsense"));
  json_object *found = get(store, "plain");
  CHECK_INT(0, json_c_set_serialization_double_format(NULL, JSON_C_OPTION_GLOBAL));
  CHECK_TEXT("0.1", json_of(store, "plain"));
  CHECK_TEXT("[0.25]", json_of(store, "array"));
  CHECK_TEXT("2.5", json_of(store, "said"));
  CHECK(json_object_get_double(found) == 0.1);
  json_object_put(found);
}

TEST(NaN_and_infinity_are_stored_as_doubles) {
  kept_store *store = fresh_store();
  double number = 0;
  set(store, "nan", json_object_new_double(NAN));
  set(store, "minus", json_object_new_double(-INFINITY));
  EXPECT(KEPT_OK, kept_get_double(store, "nan", &number, &why));
  CHECK(isnan(number));
  EXPECT(KEPT_OK, kept_get_double(store, "minus", &number, &why));
  CHECK(isinf(number) && number < 0);
}

TEST(a_null_removes) {
  kept_store *store = fresh_store();
  set(store, "key", json_object_new_int(1));
  EXPECT(KEPT_OK, kept_json_set(store, "key", NULL, &why));
  EXPECT(KEPT_OK, kept_json_set(store, "key", NULL, &why));
  CHECK_TEXT("absent", json_of(store, "key"));
}

TEST(the_tree_that_is_written_stays_the_callers) {
  kept_store *store = fresh_store();
  json_object *tree = json_tokener_parse("{\"a\":[1]}");
  EXPECT(KEPT_OK, kept_json_set(store, "key", tree, &why));
  json_object_object_add(tree, "a", NULL);
  CHECK_TEXT("{\"a\":[1]}", json_of(store, "key"));
  CHECK_INT(1, json_object_put(tree)); /* it was the only reference */
}

TEST(the_tree_that_is_read_is_the_callers_alone) {
  kept_store *store = fresh_store();
  set(store, "key", json_tokener_parse("{\"a\":1}"));
  json_object *one = get(store, "key"), *other = get(store, "key");
  json_object_object_add(one, "a", json_object_new_int(2));
  CHECK_INT(1, json_object_get_int(json_object_object_get(other, "a")));
  CHECK_INT(1, json_object_put(one));
  CHECK_INT(1, json_object_put(other));
}

/* Compare-and-set */

TEST(a_tree_is_written_if_the_revision_is_unchanged) {
  kept_store *store = fresh_store();
  json_object *one = json_object_new_int(1), *two = json_object_new_int(2);
  uint64_t revision = 0;
  EXPECT(KEPT_OK, kept_json_set_if(store, "key", one, 0, &revision, &why));
  CHECK_UINT(1, revision);
  EXPECT(KEPT_CONFLICT, kept_json_set_if(store, "key", two, 0, &revision, &why));
  EXPECT(KEPT_OK, kept_json_set_if(store, "key", two, revision, NULL, &why));
  EXPECT(KEPT_INVALID, kept_json_set_if(store, "key", NULL, revision, NULL, &why));
  CHECK_TEXT("2", json_of(store, "key"));
  json_object_put(one);
  json_object_put(two);
}

/* Bad trees */

static void refused(kept_status status, json_object *tree) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_set_bool(store, "key", true, &why));
  EXPECT(status, kept_json_set(store, "key", tree, &why));
  CHECK_INT(-1, why.offset);
  CHECK_TEXT("true", json_of(store, "key"));
}

TEST(text_that_is_not_UTF_8_is_refused) {
  for (size_t i = 0; bad_text(i) != NULL; i++) {
    json_object *text = json_object_new_string(bad_text(i)), *object = json_object_new_object();
    json_object_object_add(object, bad_text(i), NULL);
    refused(KEPT_INVALID, text);
    refused(KEPT_INVALID, object);
    json_object_put(text);
    json_object_put(object);
  }
}

TEST(an_invalid_dollar_form_is_refused) {
  json_object *unknown = json_tokener_parse("{\"$price\":5}"), *wrong = json_tokener_parse("{\"$date\":\"today\"}");
  refused(KEPT_INVALID, unknown);
  refused(KEPT_INVALID, wrong);
  json_object_put(unknown);
  json_object_put(wrong);
}

static json_object *nested(int depth) {
  json_object *tree = json_object_new_array();
  while (--depth > 0) {
    json_object *outer = json_object_new_array();
    json_object_array_add(outer, tree);
    tree = outer;
  }
  return tree;
}

TEST(trees_nest_at_most_64_levels_deep) {
  json_object *just = nested(64), *over = nested(65), *far = nested(5000);
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_json_set(store, "key", just, &why));
  json_object *found = get(store, "key");
  CHECK(json_object_equal(just, found));
  refused(KEPT_TOO_LARGE, over);
  refused(KEPT_TOO_LARGE, far);
  json_object_put(found);
  json_object_put(just);
  json_object_put(over);
  json_object_put(far);
}

TEST(a_tree_that_contains_itself_is_refused) {
  json_object *array = json_object_new_array();
  json_object_array_add(array, json_object_get(array));
  refused(KEPT_TOO_LARGE, array);
  json_object_array_put_idx(array, 0, NULL);
  json_object_put(array);
}

TEST(a_tree_over_the_limit_is_too_large) {
  json_object *text = json_object_new_string(repeated('x', (16u << 20) + 1));
  refused(KEPT_TOO_LARGE, text);
  json_object_put(text);
}

/* Bad arguments */

static void every_call_answers(kept_status status, kept_store *store, const char *key) {
  json_object *one = json_object_new_int(1), *found = one;
  EXPECT(status, kept_json_get(store, key, &found, &why));
  CHECK(found == one);
  if (status != KEPT_ABSENT) {
    EXPECT(status, kept_json_set(store, key, one, &why));
    EXPECT(status, kept_json_set_if(store, key, one, 0, NULL, &why));
  }
  json_object_put(one);
}

TEST(bad_arguments_are_refused) {
  kept_store *store = fresh_store();
  every_call_answers(KEPT_ABSENT, store, "key");
  every_call_answers(KEPT_INVALID, NULL, "key");
  every_call_answers(KEPT_INVALID, store, NULL);
  for (size_t i = 0; bad_key(i) != NULL; i++) every_call_answers(KEPT_INVALID, store, bad_key(i));
  EXPECT(KEPT_INVALID, kept_json_get(store, "key", NULL, &why));
  CHECK_INT(KEPT_INVALID, kept_json_get(NULL, NULL, NULL, NULL));
  CHECK_INT(KEPT_INVALID, kept_json_set(NULL, NULL, NULL, NULL));
}

TEST(a_closed_store_returns_closed) {
  kept_store *store = fresh_store();
  kept_close(store);
  every_call_answers(KEPT_CLOSED, store, "key");
}

/* Threads */

static void *work(void *context) {
  for (int i = 0; i < 50; i++) {
    json_object *tree = json_tokener_parse("{\"a\":[0.1,{\"b\":\"c\"}]}"), *found = NULL;
    kept_status status = kept_json_set(context, "tree", tree, NULL);
    if (status == KEPT_OK) status = kept_json_get(context, "tree", &found, NULL);
    int equal = json_object_equal(tree, found);
    json_object_put(found);
    json_object_put(tree);
    if (status != KEPT_OK || !equal) return "a tree was lost";
  }
  return NULL;
}

TEST(threads_share_a_store_but_no_tree) {
  pthread_t threads[4];
  kept_store *store = fresh_store();
  void *answer;
  for (int i = 0; i < 4; i++) CHECK_INT(0, pthread_create(&threads[i], NULL, work, store));
  for (int i = 0; i < 4; i++) {
    CHECK_INT(0, pthread_join(threads[i], &answer));
    CHECK_TEXT(NULL, answer);
  }
}
