/* Values of random types come back; what a program has stored for one type never breaks a reader of another. */
#include "settings_test.h"
#include "values.h"
#include "variants.h"

enum { rounds = 5000, deepest = 4 };

static void random_values_come_back(void) {
  for (int round = 0; round < rounds; round++) {
    GVariantType *type = random_type(deepest);
    GVariant *value = g_variant_ref_sink(random_value(type, deepest));
    kept_error why = { .message = "" };
    GVariant *found = through_store(other_handle(), value, &why);
    g_assert_cmpstr(why.message, ==, "");
    assert_same_value(value, found);
    g_variant_unref(found), g_variant_unref(value);
    g_variant_type_free(type);
  }
}

/* If a value of one type can be read as another, it is written as the type that was read. */
static void assert_reads_as(const char *json, const GVariantType *type) {
  GVariant *found = read_as(json, type);
  if (found == NULL) return;
  g_assert_true(g_variant_is_of_type(found, type));
  g_assert_true(g_variant_is_normal_form(found));
  char *again = json_of_variant(found);
  GVariant *same = read_as(again, type);
  assert_same_value(found, same);
  g_variant_unref(same), g_variant_unref(found);
  g_free(again);
}

static void values_of_one_type_are_read_as_another_or_not_at_all(void) {
  for (int round = 0; round < 4 * rounds; round++) {
    GVariantType *type = random_type(2), *other = random_type(2);
    GVariant *value = g_variant_ref_sink(random_value(type, 2));
    char *json = json_of_variant(value);
    assert_reads_as(json, other);
    g_free(json);
    g_variant_unref(value);
    g_variant_type_free(type), g_variant_type_free(other);
  }
}

int main(int argc, char **argv) {
  set_up(&argc, &argv);
  g_test_add_func("/values/random values come back", random_values_come_back);
  g_test_add_func("/values/values of one type are read as another or not at all",
    values_of_one_type_are_read_as_another_or_not_at_all);
  return run_tests();
}
