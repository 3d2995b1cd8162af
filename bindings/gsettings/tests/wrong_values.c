/* What other programs may have stored: read if it is a value of the type that the schema expects, and otherwise
 * absent. */
#include "settings_test.h"
#include "variants.h"

#include <string.h>

/* Each kind of JSON that a store can have, under a letter. */
static const struct {
  char letter;
  const char *json;
} kinds[] = {
  { 'b', "true" },
  { '0', "0" },
  { '-', "-1" },
  { 'y', "255" },
  { 'q', "65535" },
  { 'i', "2147483647" },
  { 'u', "4294967295" },
  { 'x', "-9223372036854775808" },
  { 't', "{\"$numberULong\":\"18446744073709551615\"}" },
  { '3', "3.0" },
  { 'd', "0.5" },
  { 'N', "{\"$numberDouble\":\"NaN\"}" },
  { 's', "\"text \"" },
  { 'e', "\"\"" },
  { 'o', "\"/a\"" },
  { 'z', "\"a\\u0000b\"" },
  { 'B', "{\"$binary\":{\"base64\":\"AAEC\",\"subType\":\"00\"}}" },
  { 'D', "{\"$date\":\"2026-11-20T23:44:01Z\"}" },
  { '[', "[]" },
  { '1', "[1]" },
  { '2', "[1,2]" },
  { 'S', "[\"a\"]" },
  { 'M', "[\"a\",1]" },
  { 'n', "[null]" },
  { 'p', "[[1,\"a\"]]" },
  { '{', "{}" },
  { 'm', "{\"a\":1}" },
  { 'k', "{\"a\":\"b\",\"c\":null}" },
  { 'l', "{\"$literal\":{\"$a\":1}}" },
  { 'v', "{\"type\":\"u\",\"value\":1}" },
  { 'w', "{\"type\":\"u\",\"value\":-1}" },
  { 'W', "{\"type\":\"?\",\"value\":1}" },
  { 'V', "{\"type\":\"no type\",\"value\":1}" },
};

/* For each type, the letters of the values that it has. */
static const char *const accepted[][2] = {
  { "b", "b" },
  { "y", "0y3" },
  { "n", "0-y3" },
  { "q", "0yq3" },
  { "i", "0-yqi3" },
  { "h", "0-yqi3" },
  { "u", "0yqiu3" },
  { "x", "0-yqiux3" },
  { "t", "0yqiut3" },
  { "d", "0-yqiux3dN" },
  { "s", "seo" },
  { "o", "o" },
  { "g", "e" },
  { "ay", "B[12" },
  { "as", "[S" },
  { "ai", "[12" },
  { "av", "[12SM" },
  { "a{ss}", "[{" },
  { "a{si}", "[{ml" },
  { "a{sv}", "[{mlvwWV" },
  { "a{is}", "[p{" },
  { "a(is)", "[p" },
  { "()", "[" },
  { "(i)", "1" },
  { "(ii)", "2" },
  { "(si)", "M" },
  { "mi", "[1" },
  { "ms", "[S" },
  { "v", "b0-yqi3dNseov" },
};

static void every_kind_is_read_as_the_types_that_have_it(void) {
  for (gsize i = 0; i < G_N_ELEMENTS(accepted); i++) {
    GString *found = g_string_new(NULL);
    for (gsize j = 0; j < G_N_ELEMENTS(kinds); j++) {
      GVariant *value = read_as(kinds[j].json, G_VARIANT_TYPE(accepted[i][0]));
      if (value == NULL) continue;
      g_assert_cmpstr(g_variant_get_type_string(value), ==, accepted[i][0]);
      g_string_append_c(found, kinds[j].letter);
      g_variant_unref(value);
    }
    if (strcmp(found->str, accepted[i][1]) != 0)
      g_error("%s: expected \"%s\", found \"%s\"", accepted[i][0], accepted[i][1], found->str);
    g_string_free(found, TRUE);
  }
}

static void a_store_has_every_kind(void) {
  for (gsize j = 0; j < G_N_ELEMENTS(kinds); j++) set_elsewhere("kind", kinds[j].json);
}

int main(int argc, char **argv) {
  set_up(&argc, &argv);
  g_test_add_func(
    "/wrong values/every kind is read as the types that have it", every_kind_is_read_as_the_types_that_have_it);
  g_test_add_func("/wrong values/a store has every kind", a_store_has_every_kind);
  return run_tests();
}
