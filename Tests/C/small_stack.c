/* A thread with the smallest stack that kept.h allows, 128 KiB: the deepest nesting of everything fits. */
#define _GNU_SOURCE /* pthread_setattr_default_np */
#include "check.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { stack_bytes = 128 << 10, depth = 60 };

static const char *place, *files;

/** `before`, `open` repeated, `middle`, `close` repeated, `after`; freed when the test ends. */
static const char *nested(
  const char *before, const char *open, const char *middle, const char *close, const char *after) {
  char *text = repeated(' ', strlen(before) + depth * (strlen(open) + strlen(close)) + strlen(middle) + strlen(after));
  char *end = text + sprintf(text, "%s", before);
  for (int i = 0; i < depth; i++) end += sprintf(end, "%s", open);
  end += sprintf(end, "%s", middle);
  for (int i = 0; i < depth; i++) end += sprintf(end, "%s", close);
  sprintf(end, "%s", after);
  return text;
}

static void import(kept_store *store, uint32_t format, const char *text) {
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  options.format = format;
  EXPECT(KEPT_OK, kept_import(store, text, strlen(text), &options, NULL, &why));
}

/** `before`, and so many times `part`; freed when the test ends. */
static const char *repeated_text(const char *before, const char *part, int count) {
  char *text = repeated(' ', strlen(before) + strlen(part) * (size_t)count);
  char *end = text + sprintf(text, "%s", before);
  for (int i = 0; i < count; i++) end += sprintf(end, "%s", part);
  return text;
}

static void import_refused(kept_store *store, uint32_t format, const char *text) {
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  options.format = format;
  CHECK(kept_import(store, text, strlen(text), &options, NULL, &why) < 0);
}

/** Imports a binary property list of dictionaries inside each other. */
static void import_dictionaries(kept_store *store, unsigned count, kept_status status) {
  unsigned char list[1024];
  size_t size = 8, offsets[70], objects = 0;
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  memcpy(list, "bplist00", 8);
  for (unsigned i = 0; i < count; i++) {
    offsets[objects++] = size;
    list[size++] = 0xD1, list[size++] = (unsigned char)count, list[size++] = (unsigned char)(i + 1);
    /* The object behind the last dictionary is the key: as the value of the last one it is a text. */
  }
  offsets[objects++] = size;
  list[size++] = 0x51, list[size++] = 'a';
  size_t table = size;
  for (size_t i = 0; i < objects; i++)
    list[size++] = (unsigned char)(offsets[i] >> 8), list[size++] = offsets[i] & 0xFF;
  memset(list + size, 0, 32);
  list[size + 6] = 2, list[size + 7] = 1, list[size + 15] = (unsigned char)objects;
  list[size + 30] = (unsigned char)(table >> 8), list[size + 31] = table & 0xFF;
  const char *file = file_of(files, "list");
  FILE *stream = fopen(file, "wb");
  CHECK(stream != NULL && fwrite(list, 1, size + 32, stream) == size + 32);
  if (stream != NULL) fclose(stream);
  options.format = KEPT_FORMAT_PROPERTY_LIST;
  EXPECT(status, kept_import_file(store, file, &options, NULL, &why));
}

static kept_status migrate_deeply(void *deep, kept_store *transaction, kept_error *error) {
  return kept_set_json(transaction, "migrated", deep, error);
}

static void look_at(void *context, const kept_notice *notice) {
  (void)context;
  kept_notice_new_json(notice, 0);
}

/** Declares a key by schemas that are nested as deeply as possible, around a pattern that is nested as deeply as
 * possible. */
static void declare_deeply(kept_store *store, const char *open, const char *close, const char *value) {
  enum { schemas = 12, groups = 24 };
  char *declaration = repeated(' ', schemas * (strlen(open) + strlen(close)) + 2 * groups + 60), *end = declaration;
  for (int i = 0; i < schemas; i++) end += sprintf(end, "%s", open);
  end += sprintf(end, "{\"type\":\"string\",\"pattern\":\"");
  for (int i = 0; i < groups; i++) end += sprintf(end, "(");
  end += sprintf(end, "a+");
  for (int i = 0; i < groups; i++) end += sprintf(end, ")");
  end += sprintf(end, "\"}");
  for (int i = 0; i < schemas; i++) end += sprintf(end, "%s", close);
  *end = 0;
  EXPECT(KEPT_OK, kept_declare_json(store, "declared", declaration, &why));
  EXPECT(KEPT_OK, kept_set_json(store, "declared", value, &why));
  CHECK_TEXT(value, json_of(store, "declared"));
  EXPECT(KEPT_INVALID, kept_declare_json(store, "declared", "{\"type\":\"array\",\"default\":1}", &why));
  EXPECT(KEPT_OK, kept_remove(store, "declared", &why));
  EXPECT(KEPT_OK, kept_undeclare(store, "declared", &why));
}

static const char *value_of_depth(const char *open, const char *close) {
  enum { values = 12 };
  char *value = repeated(' ', values * (strlen(open) + strlen(close)) + 3), *end = value;
  for (int i = 0; i < values; i++) end += sprintf(end, "%s", open);
  end += sprintf(end, "\"a\"");
  for (int i = 0; i < values; i++) end += sprintf(end, "%s", close);
  *end = 0;
  return value;
}

static void *use_everything(void *unused) {
  kept_store *store = NULL, *snapshot = NULL;
  kept_subscription *subscription = NULL;
  char *json = NULL;
  const char *deep = nested("", "[", "1", "]", ""), *copy = file_of(files, "copy");
  kept_migration step = { 1, 0, "deep", migrate_deeply, (void *)deep };
  EXPECT(KEPT_OK, kept_open(place, NULL, &store, &why));
  EXPECT(KEPT_OK, kept_set_json(store, "deep", deep, &why));
  CHECK_TEXT(deep, json_of(store, "deep"));
  EXPECT(KEPT_OK,
    kept_declare_json(store, "text", "{\"type\":\"string\",\"pattern\":\"^((a|b)*c)*(x|(y|(z|w)))+$\"}", &why));
  EXPECT(KEPT_OK, kept_set_string(store, "text", "ababababababababababcx", 22, &why));
  const char *array = value_of_depth("[", "]"), *object = value_of_depth("{\"b\":", "}");
  declare_deeply(store, "{\"type\":\"array\",\"items\":", "}", array);
  declare_deeply(store, "{\"type\":\"array\",\"prefixItems\":[", "]}", array);
  declare_deeply(store, "{\"type\":\"object\",\"properties\":{\"b\":", "}}", object);
  declare_deeply(store, "{\"type\":\"object\",\"additionalProperties\":", "}", object);
  declare_deeply(store, "{\"type\":\"object\",\"patternProperties\":{\"b\":", "}}", object);
  EXPECT(KEPT_OK, kept_explain_json(store, "deep", &json, &why));
  kept_free(json);
  EXPECT(KEPT_OK, kept_export_json(store, NULL, &json, &why));
  import(store, KEPT_FORMAT_KEPT, json);
  kept_free(json);
  import(store, KEPT_FORMAT_JSON, nested("{\"json\":", "{\"a\":", "1", "}", "}"));
  import(store, KEPT_FORMAT_NESTED_JSON, nested("", "{\"a\":", "1", "}", ""));
  import(store, KEPT_FORMAT_PROPERTY_LIST,
    nested("<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>list</key>", "<array>", "<true/>", "</array>",
      "</dict></plist>"));
  import(store, KEPT_FORMAT_PROPERTY_LIST, nested("{ old = ", "(", "text", ")", "; }"));
  import(store, KEPT_FORMAT_DCONF, nested("[/]\ndconf=", "[", "1", "]", "\n"));
  import(store, KEPT_FORMAT_DCONF, nested("[/]\ndconf=", "{'a': ", "1", "}", "\n"));
  import_refused(store, KEPT_FORMAT_DCONF, repeated_text("[/]\ndconf=", "{'a': ", 300));
  import_refused(store, KEPT_FORMAT_DCONF, repeated_text("[/]\ndconf=", "just ", 300));
  import_dictionaries(store, 40, KEPT_OK);
  import_dictionaries(store, 62, KEPT_TOO_LARGE);
  EXPECT(KEPT_OK, kept_backup(store, copy, 0, NULL, &why));
  EXPECT(KEPT_OK, kept_restore(store, copy, NULL, &why));
  EXPECT(KEPT_OK, kept_migrate(store, &step, 1, 0, NULL, NULL, &why));
  EXPECT(KEPT_OK, kept_snapshot(store, "", &snapshot, &why));
  EXPECT(KEPT_OK,
    kept_observe(store, "", KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL, look_at, NULL, NULL, &subscription, &why));
  EXPECT(KEPT_OK, kept_set_json(store, "deep", "[]", &why));
  EXPECT(KEPT_OK, kept_list_json(store, "", &json, &why));
  kept_free(json);
  kept_close(store);
  return unused;
}

static void measure_stack(void *pipe, const kept_notice *notice) {
  pthread_attr_t attributes;
  size_t size = 0;
  (void)notice;
  CHECK_INT(0, pthread_getattr_np(pthread_self(), &attributes));
  CHECK_INT(0, pthread_attr_getstacksize(&attributes, &size));
  pthread_attr_destroy(&attributes);
  CHECK(write(((int *)pipe)[1], &size, sizeof size) == sizeof size);
}

/* The limit on the stack (ulimit -s) sets the size of new threads, and the caller of a program may have lowered it. */
static void the_librarys_threads_have_a_stack_of_their_own(void) {
  pthread_attr_t usual, small;
  size_t size = 0;
  int ends[2];
  CHECK_INT(0, pipe(ends));
  CHECK_INT(0, pthread_getattr_default_np(&usual));
  pthread_attr_init(&small);
  CHECK_INT(0, pthread_attr_setstacksize(&small, stack_bytes));
  CHECK_INT(0, pthread_setattr_default_np(&small));
  kept_store *store = fresh_store();
  kept_subscription *subscription = NULL;
  EXPECT(KEPT_OK, kept_observe(store, "key", 0, measure_stack, ends, NULL, &subscription, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "key", 1, &why));
  struct pollfd measured = { ends[0], POLLIN, 0 };
  CHECK_INT(1, poll(&measured, 1, 10000));
  kept_unobserve(subscription);
  CHECK(measured.revents != 0 && read(ends[0], &size, sizeof size) == sizeof size);
  CHECK(size >= 1 << 20);
  close(ends[0]), close(ends[1]);
  CHECK_INT(0, pthread_setattr_default_np(&usual));
  pthread_attr_destroy(&small);
  pthread_attr_destroy(&usual);
}

static void every_call_fits_on_a_small_stack(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  files = fresh_folder();
  place = file_of(files, "store");
  mkdir(files, 0700);
  pthread_attr_init(&attributes);
  CHECK_INT(0, pthread_attr_setstacksize(&attributes, stack_bytes));
  CHECK_INT(0, pthread_create(&thread, &attributes, use_everything, NULL));
  CHECK_INT(0, pthread_join(thread, NULL));
  pthread_attr_destroy(&attributes);
}

int main(int argc, char **argv) {
  static const test tests[] = {
    FOLDER_TEST(every_call_fits_on_a_small_stack),
    TEST(the_librarys_threads_have_a_stack_of_their_own),
    { 0 },
  };
  static const role roles[] = { { 0 } };
  return run_tests(argc, argv, tests, roles);
}
