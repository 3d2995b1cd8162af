/* Paths and keys: each path has a key of its own, and back. */
#include "names.h"
#include "settings_test.h"

#include <string.h>

static void assert_pair(const char *path, const char *key) {
  char *found = key_of_path(path);
  g_assert_cmpstr(found, ==, key);
  char *back = path_of_key(found);
  g_assert_cmpstr(back, ==, path);
  g_free(back), g_free(found);
}

static void paths_are_natural_keys(void) {
  assert_pair("/org/gnome/desktop/sound/event-sounds", "org.gnome.desktop.sound.event-sounds");
  assert_pair("/org/gnome/", "org.gnome.");
  assert_pair("/key", "key");
  assert_pair("/", "");
  assert_pair("/org/gnome/terminal/profiles:/:b1dcc9dd-5262/visible-name",
    "org.gnome.terminal.profiles:.:b1dcc9dd-5262.visible-name");
  assert_pair("/a b/c\td/é/😀", "a b.c\td.é.😀");
}

static void other_bytes_are_escaped(void) {
  assert_pair("/org/example/v1.2/50%/name", "org.example.v1%2E2.50%25.name");
  assert_pair("/%2E/.", "%252E.%2E");
  assert_pair("//a//", ".a..");
  assert_pair("/\xff/\xc3/a\x80z", "%FF.%C3.a%80z");
  assert_pair("/\xc3", "%C3");
  assert_pair("/\xed\xa0\x80\xc0\x80\xf4\x90\x80\x80", "%ED%A0%80%C0%80%F4%90%80%80");
}

static void long_paths_have_keys(void) {
  GString *path = g_string_new("/");
  for (int i = 0; i < 10000; i++) g_string_append(path, "a.");
  char *key = key_of_path(path->str), *back = path_of_key(key);
  g_assert_cmpuint(strlen(key), ==, 40000);
  g_assert_cmpstr(back, ==, path->str);
  g_free(back), g_free(key);
  g_string_free(path, TRUE);
}

static void texts_without_a_slash_are_not_paths(void) {
  g_assert_null(key_of_path(""));
  g_assert_null(key_of_path("org/gnome"));
}

static void keys_of_other_programs_that_are_not_paths_are_left_alone(void) {
  static const char *const keys[] = { "a/b", "/", "/a", "%", "%2", "%2e", "%ff", "%41", "%00", "%2F", "%zz", "a%",
    "%C3%A4", "100%", "%%", "%E2%82%AC", NULL };
  for (gsize i = 0; keys[i] != NULL; i++) {
    char *path = path_of_key(keys[i]);
    if (path != NULL) g_error("%s is the key of %s", keys[i], path);
  }
}

static char *any_bytes(int first) {
  static const char frequent[] = "/.%2Ea\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xff";
  GString *bytes = g_string_new(NULL);
  if (first != 0) g_string_append_c(bytes, (char)first);
  for (int count = g_test_rand_int_range(0, 12); count > 0; count--)
    g_string_append_c(bytes,
      g_test_rand_int_range(0, 3) ? frequent[g_test_rand_int_range(0, sizeof frequent - 1)]
                                  : (char)g_test_rand_int_range(1, 256));
  return g_string_free(bytes, FALSE);
}

static void random_paths_come_back(void) {
  for (int i = 0; i < 200000; i++) {
    char *path = any_bytes('/'), *key = key_of_path(path);
    g_assert_true(g_utf8_validate(key, -1, NULL));
    g_assert_null(strchr(key, '/'));
    assert_pair(path, key);
    g_free(key), g_free(path);
  }
}

static void random_keys_come_back_or_have_no_path(void) {
  for (int i = 0; i < 200000; i++) {
    char *key = any_bytes(0), *path = g_utf8_validate(key, -1, NULL) ? path_of_key(key) : NULL;
    if (path != NULL) assert_pair(path, key);
    g_free(path), g_free(key);
  }
}

int main(int argc, char **argv) {
  set_up(&argc, &argv);
  g_test_add_func("/names/paths are natural keys", paths_are_natural_keys);
  g_test_add_func("/names/other bytes are escaped", other_bytes_are_escaped);
  g_test_add_func("/names/long paths have keys", long_paths_have_keys);
  g_test_add_func("/names/texts without a slash are not paths", texts_without_a_slash_are_not_paths);
  g_test_add_func("/names/keys of other programs that are not paths are left alone",
    keys_of_other_programs_that_are_not_paths_are_left_alone);
  g_test_add_func("/names/random paths come back", random_paths_come_back);
  g_test_add_func("/names/random keys come back or have no path", random_keys_come_back_or_have_no_path);
  return run_tests();
}
