/* Every value that a setting can have comes back from a store exactly; only dictionaries come back with sorted keys. */
#include "settings_test.h"
#include "values.h"
#include "variants.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <string.h>

static void assert_value_comes_back(GVariant *value) {
  kept_error why = { .message = "" };
  GVariant *found = through_store(other_handle(), value, &why);
  g_assert_cmpstr(why.message, ==, "");
  assert_same_value(value, found);
  g_variant_unref(found);
}

static void assert_comes_back(const char *text) {
  GVariant *value = parsed(text);
  assert_value_comes_back(value);
  g_variant_unref(value);
}

static void numbers_come_back_with_their_extremes(void) {
  static const char *const texts[] = { "true", "false", "byte 0", "byte 255", "int16 -32768", "int16 32767", "uint16 0",
    "uint16 65535", "-2147483648", "2147483647", "uint32 0", "uint32 4294967295", "int64 -9223372036854775808",
    "int64 9223372036854775807", "uint64 0", "uint64 9223372036854775807", "uint64 9223372036854775808",
    "uint64 18446744073709551615", "handle -2147483648", "handle 2147483647", NULL };
  for (gsize i = 0; texts[i] != NULL; i++) assert_comes_back(texts[i]);
}

static void doubles_come_back_to_the_last_bit(void) {
  static const double numbers[] = { 0, -0.0, 1, -1, 0.1, 1e15, 1e16, 1e17, 1e22, 1e23, 123456789012345678.0, DBL_MAX,
    -DBL_MAX, DBL_MIN, 0x0.fffffffffffffp-1022, 0x1p-1074, -0x1p-1074, 0x1p53 + 2, 0x1p63, -0x1p63, 0x1p64, INFINITY,
    -INFINITY, NAN };
  for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++) {
    GVariant *value = g_variant_ref_sink(g_variant_new_double(numbers[i]));
    assert_value_comes_back(value);
    g_variant_unref(value);
  }
}

static void text_comes_back(void) {
  static const char *const texts[] = { "''", "'plain'", "'\"'", "'\\\\'", "'\\n\\t\\r\\b\\f'",
    "'\\u0001\\u001f\\u007f'", "'äöü €'", "'\\U0001f600'", "'\\u2028\\ufeff\\uffff'", "'$binary'", "'null'", "'1.0'",
    "'{\"a\":1}'", "'%s %n'", "objectpath '/'", "objectpath '/org/example/a_1'", "signature ''",
    "signature 'a{sv}(ii)'", NULL };
  for (gsize i = 0; texts[i] != NULL; i++) assert_comes_back(texts[i]);
}

static void containers_come_back_also_if_they_are_empty(void) {
  static const char *const texts[] = { "@as []", "['a', '', 'a']", "@ay []", "b''", "b'text'", "[byte 0, 255, 0]",
    "@ai []", "[1, -1]", "@a{ss} {}", "{'a': 'b'}", "{'': 1}", "@a{sv} {}", "@aas []", "[@as [], ['a']]", "@() ()",
    "(1,)", "(1, 'a', true, 2.0)", "((1, 2), [(3, 4)])", "@ms nothing", "just 'a'", "@mms just nothing", "@mms nothing",
    "just just 'a'", "@mas just []", "@m() just ()", "[just 1, nothing]", "@a(ss) []", "[('xkb', 'de'), ('xkb', 'us')]",
    "[@aay [], [b'a', b'']]", "@a{oa{sa{sv}}} {}", "{objectpath '/b': {'i': {'p': <1>}}, '/a': {}}",
    "[{'b': 1, 'a': 2}, {}]", NULL };
  for (gsize i = 0; texts[i] != NULL; i++) assert_comes_back(texts[i]);
}

static void dictionaries_come_back_whatever_their_keys(void) {
  static const char *const texts[] = { "@a{us} {}", "{uint32 2: 'b', 1: 'a'}", "{2: 1, 1: 2, 2: 3}", "{true: 1}",
    "{0.5: 1, nan: 2}", "{byte 7: 'x'}", "{handle 1: 'x'}", "{int64 -1: @as []}", "{'$a': 1}", "{'$a': 1, 'b': 2}",
    "{'$binary': 'AA=='}", "{'$numberDouble': 'NaN'}", "{'$literal': {'$literal': 1}}", "{'$date': <'x'>}",
    "{'a': 1, 'a': 2}", "{'b': 1, 'a': 2, 'b': 3}", "{'$a': 1, '$a': 2}", "{'': 1, '': 2}", "{'\\n\"\\\\': 1}",
    "{'\\U0001f600': 1, 'é': 2}", "{signature 'i': 1, '': 2}", "{objectpath '/a': 1, '/a': 2}", NULL };
  for (gsize i = 0; texts[i] != NULL; i++) assert_comes_back(texts[i]);
}

static void variants_come_back_with_their_type(void) {
  static const char *const texts[] = { "<true>", "<1>", "<1.0>", "<'a'>", "<byte 1>", "<int16 1>", "<uint16 1>",
    "<uint32 1>", "<int64 1>", "<uint64 18446744073709551615>", "<handle 1>", "<objectpath '/'>", "<signature 'i'>",
    "<nan>", "<-0.0>", "<inf>", "<<1>>", "<<<'a'>>>", "<@as []>", "<['a']>", "<{'type': 's', 'value': 'x'}>",
    "<{'type': <'s'>, 'value': <'x'>}>", "<(1, <2>)>", "<@mi nothing>", "<b'x'>", "<{'$a': 1}>", "<@() ()>",
    "{'a': <1>, 'b': <@ay []>, '$c': <'d'>}", "[<1>, <'a'>, <2.0>]", "just <@ms nothing>", NULL };
  for (gsize i = 0; texts[i] != NULL; i++) assert_comes_back(texts[i]);
}

static void dictionaries_come_back_with_sorted_keys(void) {
  GVariant *value = parsed("{'b': 1, 'a': 2, 'B': 3}");
  kept_error why;
  GVariant *found = through_store(other_handle(), value, &why);
  char *text = g_variant_print(found, FALSE);
  g_assert_cmpstr(text, ==, "{'B': 3, 'a': 2, 'b': 1}");
  g_free(text);
  g_variant_unref(found), g_variant_unref(value);
}

/* An array in an array, and so on. */
static GVariant *nested(int depth) {
  GVariant *value = g_variant_new_int32(1);
  for (; depth > 0; depth--) value = g_variant_new_array(NULL, &value, 1);
  return g_variant_ref_sink(value);
}

static void sixty_four_arrays_in_one_another_come_back(void) {
  GVariant *value = nested(64);
  assert_value_comes_back(value);
  g_variant_unref(value);
}

static void values_that_are_too_deep_are_refused(void) {
  GVariant *value = nested(65);
  kept_error why = { .message = "" };
  g_assert_null(through_store(other_handle(), value, &why));
  g_assert_cmpint(why.status, ==, KEPT_TOO_LARGE);
  g_variant_unref(value);
}

static void deep_variants_come_back_or_are_refused(void) {
  gboolean was_refused = FALSE;
  GVariant *value = g_variant_ref_sink(g_variant_new_int32(1));
  for (int depth = 1; depth <= 70; depth++) {
    GVariant *outer = g_variant_ref_sink(g_variant_new_variant(value));
    g_variant_unref(value);
    value = outer;
    kept_error why = { .status = KEPT_OK };
    GVariant *found = through_store(other_handle(), value, &why);
    if (found != NULL) assert_same_value(value, found), g_variant_unref(found);
    else g_assert_cmpint(why.status, ==, KEPT_TOO_LARGE);
    g_assert_true(found == NULL || !was_refused);
    was_refused = found == NULL;
  }
  g_assert_true(was_refused);
  g_variant_unref(value);
}

static void values_look_natural_to_other_programs(void) {
  static const char *const pairs[][2] = { { "true", "true" }, { "-5", "-5" }, { "byte 7", "7" }, { "5.0", "5.0" },
    { "1e300", "1e+300" }, { "nan", "{\"$numberDouble\":\"NaN\"}" }, { "'a'", "\"a\"" },
    { "objectpath '/a'", "\"/a\"" }, { "['a', 'b']", "[\"a\",\"b\"]" },
    { "b'a'", "{\"$binary\":{\"base64\":\"YQA=\",\"subType\":\"00\"}}" }, { "{'a': 1}", "{\"a\":1}" },
    { "{'$a': 1}", "{\"$literal\":{\"$a\":1}}" }, { "(1, 'a')", "[1,\"a\"]" }, { "@ms nothing", "[]" },
    { "just 'a'", "[\"a\"]" }, { "<1>", "1" }, { "<uint32 1>", "{\"type\":\"u\",\"value\":1}" },
    { "{uint32 1: 'a'}", "[[1,\"a\"]]" },
    { "uint64 18446744073709551615", "{\"$numberULong\":\"18446744073709551615\"}" } };
  for (gsize i = 0; i < G_N_ELEMENTS(pairs); i++) {
    GVariant *value = parsed(pairs[i][0]);
    char *json = json_of_variant(value);
    g_assert_cmpstr(json, ==, pairs[i][1]);
    g_free(json);
    g_variant_unref(value);
  }
}

/* Whether the C library writes one half as 0,5. */
static gboolean has_comma(void) {
  char text[16];
  g_snprintf(text, sizeof text, "%.1f", 0.5);
  return strcmp(text, "0,5") == 0;
}

/* Most machines have no such locale, and can make one. */
static gboolean choose_locale_with_comma(void) {
  char *make[] = { "localedef", "-i", "de_DE", "-f", "UTF-8", (char *)file_named("de_DE.UTF-8"), NULL };
  if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL &&
    g_spawn_sync(NULL, make, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL,
      NULL, NULL, NULL, NULL, NULL)) {
    g_setenv("LOCPATH", g_getenv("SETTINGS_TEST_FOLDER"), TRUE);
    setlocale(LC_ALL, "de_DE.UTF-8");
    g_unsetenv("LOCPATH");
  }
  return has_comma();
}

static void values_do_not_depend_on_the_locale(void) {
  if (choose_locale_with_comma()) {
    doubles_come_back_to_the_last_bit();
    values_look_natural_to_other_programs();
  } else {
    g_test_skip("there is no locale with a decimal comma, and localedef cannot make one");
  }
  setlocale(LC_ALL, "C.UTF-8");
}

int main(int argc, char **argv) {
  set_up(&argc, &argv);
  g_test_add_func("/values/numbers come back with their extremes", numbers_come_back_with_their_extremes);
  g_test_add_func("/values/doubles come back to the last bit", doubles_come_back_to_the_last_bit);
  g_test_add_func("/values/text comes back", text_comes_back);
  g_test_add_func("/values/containers come back, also if they are empty", containers_come_back_also_if_they_are_empty);
  g_test_add_func("/values/dictionaries come back whatever their keys", dictionaries_come_back_whatever_their_keys);
  g_test_add_func("/values/variants come back with their type", variants_come_back_with_their_type);
  g_test_add_func("/values/dictionaries come back with sorted keys", dictionaries_come_back_with_sorted_keys);
  g_test_add_func("/values/64 arrays in one another come back", sixty_four_arrays_in_one_another_come_back);
  g_test_add_func("/values/values that are too deep are refused", values_that_are_too_deep_are_refused);
  g_test_add_func("/values/deep variants come back or are refused", deep_variants_come_back_or_are_refused);
  g_test_add_func("/values/values look natural to other programs", values_look_natural_to_other_programs);
  g_test_add_func("/values/values do not depend on the locale", values_do_not_depend_on_the_locale);
  return run_tests();
}
