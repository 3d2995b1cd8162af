#include "names.h"

#include <string.h>

/* Nearly every path is ASCII without dots and percent signs: then only the slashes differ. NULL for any other. */
static char *plain_key(const char *path) {
  gsize length = strlen(path);
  char *key = g_malloc(length + 1);
  for (gsize i = 0; i <= length; i++) {
    guchar byte = (guchar)path[i];
    if (byte >= 0x80 || byte == '.' || byte == '%') return g_free(key), NULL;
    key[i] = byte == '/' ? '.' : (char)byte;
  }
  return key;
}

char *key_of_path(const char *path) {
  if (*path != '/') return NULL;
  char *plain = plain_key(path + 1);
  if (plain != NULL) return plain;
  GString *key = g_string_new(NULL);
  for (const char *rest = path + 1; *rest;) {
    gunichar character = g_utf8_get_char_validated(rest, -1);
    gboolean is_text = character != (gunichar)-1 && character != (gunichar)-2;
    if (*rest == '/') g_string_append_c(key, '.');
    else if (*rest == '.' || *rest == '%' || !is_text) g_string_append_printf(key, "%%%02X", (guchar)*rest);
    else g_string_append_len(key, rest, g_utf8_next_char(rest) - rest);
    rest = is_text ? g_utf8_next_char(rest) : rest + 1;
  }
  return g_string_free(key, FALSE);
}

/* The byte of %XX in the only form that key_of_path() writes; -1 for anything else. */
static int escaped_byte(const char *text) {
  int high = g_ascii_xdigit_value(text[1]), low = high < 0 ? -1 : g_ascii_xdigit_value(text[2]);
  if (low < 0 || g_ascii_islower(text[1]) || g_ascii_islower(text[2])) return -1;
  int byte = high << 4 | low;
  return byte == '.' || byte == '%' || byte >= 0x80 ? byte : -1;
}

char *path_of_key(const char *key) {
  GString *path = g_string_new("/");
  for (const char *rest = key; *rest; rest++) {
    if (*rest == '%') {
      int byte = escaped_byte(rest);
      if (byte >= 0) g_string_append_c(path, (char)byte);
      else g_string_append_c(path, '/'), g_string_append_c(path, '%');
      if (byte >= 0) rest += 2;
    } else {
      g_string_append_c(path, *rest == '.' ? '/' : *rest);
    }
  }
  /* A key with a slash, or with another escape, is the key of no path. */
  char *again = key_of_path(path->str);
  gboolean is_key = strcmp(again, key) == 0;
  g_free(again);
  return g_string_free(path, !is_key);
}
