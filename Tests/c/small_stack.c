/* A thread with the smallest stack that kept.h allows, 128 KiB: the deepest nesting of everything fits. */
#include "suite.h"

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

static void import(kept_store *store, uint32_t flags, const char *text) {
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  options.flags = flags;
  EXPECT(KEPT_OK, kept_import(store, text, strlen(text), &options, NULL, &why));
}

static kept_status migrate_deeply(void *deep, kept_store *transaction, kept_error *error) {
  return kept_set_json(transaction, "migrated", deep, error);
}

static void look_at(void *context, const kept_notice *notice) { kept_notice_new_json(notice, 0); }

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
  import(store, 0, json);
  kept_free(json);
  import(store, KEPT_TRANSFER_FLAT, nested("{\"json\":", "{\"a\":", "1", "}", "}"));
  import(store, KEPT_TRANSFER_NESTED, nested("", "{\"a\":", "1", "}", ""));
  EXPECT(KEPT_OK, kept_backup(store, copy, 0, NULL, &why));
  EXPECT(KEPT_OK, kept_restore(store, copy, NULL, NULL, &why));
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
  CHECK_INT(0, pthread_getattr_np(pthread_self(), &attributes));
  CHECK_INT(0, pthread_attr_getstacksize(&attributes, &size));
  pthread_attr_destroy(&attributes);
  CHECK(write(((int *)pipe)[1], &size, sizeof size) == sizeof size);
}

/* The limit on the stack (ulimit -s) sets the size of new threads, and the caller of a program may have lowered it. */
TEST(the_librarys_threads_have_a_stack_of_their_own) {
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

FOLDER_TEST(every_call_fits_on_a_small_stack) {
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
