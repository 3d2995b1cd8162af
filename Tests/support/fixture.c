#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "files.h"

static int in_memory;
static char root[4096];

/* Memory that is freed when a test ends. */
static void *borrowed[256];
static size_t borrowed_count;
static kept_store *opened[64];
static size_t opened_count;

static void *borrow(void *memory) {
  if (memory == NULL || borrowed_count == COUNT(borrowed)) {
    fprintf(stderr, "a test borrows too much\n");
    exit(2);
  }
  return borrowed[borrowed_count++] = memory;
}

static const char *fresh(const char *beginning) {
  static unsigned number;
  size_t size = strlen(beginning) + 24;
  char *text = borrow(malloc(size));
  snprintf(text, size, "%sstore-%u", beginning, ++number);
  return text;
}

const char *fresh_folder(void) { return fresh(file_of(root, "")); }

const char *fresh_location(void) { return in_memory ? fresh("memory:") : fresh_folder(); }

kept_store *open_at(const char *location) { return open_with(location, NULL); }

kept_store *open_with(const char *location, const kept_options *options) {
  kept_store *store = NULL;
  EXPECT(KEPT_OK, kept_open(location, options, &store, &why));
  if (store != NULL && opened_count < COUNT(opened)) opened[opened_count++] = store;
  return store;
}

kept_store *fresh_store(void) { return open_at(fresh_location()); }

void keep_secrets_plain(kept_store *store) {
  char *json = NULL;
  kept_status status = kept_secrets_json(store, "{\"do\":\"plain\"}", &json, &why);
  if (status != KEPT_UNSUPPORTED) EXPECT(KEPT_OK, status);
  kept_free(json);
}

const char *json_of(kept_store *store, const char *key) {
  char *json = NULL;
  kept_status status = kept_get_json(store, key, &json, NULL);
  if (status != KEPT_OK) return kept_status_text(status);
  char *copy = borrow(strdup(json));
  kept_free(json);
  return copy;
}

const char *fresh_file(const char *text) {
  const char *path = fresh_folder();
  put_file(path, text);
  return path;
}

const char *bad_text(size_t index) {
  static const char *const texts[] = {
    "\xff",             /* never a byte of UTF-8 */
    "caf\xe9",          /* Latin-1 */
    "cut \xe2\x82",     /* ends inside a character */
    "\x80",             /* begins inside one */
    "\xc0\x80",         /* a NUL in two bytes */
    "\xe0\x80\xaf",     /* a slash in three bytes */
    "\xed\xa0\x80",     /* half of a surrogate pair */
    "\xf4\x90\x80\x80", /* beyond U+10FFFF */
    NULL,
  };
  return texts[index];
}

const char *bad_key(size_t index) {
  if (index == 0) return "";
  if (index == 1) return repeated('k', 1025);
  return bad_text(index - 2);
}

char *repeated(char byte, size_t count) {
  char *text = borrow(malloc(count + 1));
  memset(text, byte, count);
  text[count] = 0;
  return text;
}

const char *text_at(const char *path) {
  char *text = read_file(path, NULL);
  CHECK(text != NULL);
  return text == NULL ? "" : borrow(text);
}

void begin_fixtures(const char *owner, int are_in_memory) {
  in_memory = are_in_memory;
  if (owner != NULL) {
    snprintf(root, sizeof root, "%s/child-%ld", owner, (long)getpid());
  } else {
    make_folder(root, sizeof root, "kept-test");
    setenv("XDG_CONFIG_HOME", root, 1);
  }
}

void end_fixture(void) {
  while (opened_count > 0) kept_close(opened[--opened_count]);
  while (borrowed_count > 0) free(borrowed[--borrowed_count]);
}

void end_fixtures(void) { remove_tree(root); }
