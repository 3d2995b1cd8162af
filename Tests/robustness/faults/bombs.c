/* Texts that are designed to take much memory. Each is set, read by another process, or imported, in a process of its
 * own, whose memory may grow by a fixed multiple of the text. */
#include "expectations.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MIB = 1 << 20, MOST_TEXT = 4 * MIB, ALLOWED = 64, BASE = 24 * MIB };

/* The length of the texts: a quarter, unless the program runs more than one round. */
static size_t text_length;

static struct shared {
  int64_t grown;
  kept_status status;
} *shared;

static const char *folder;
static char *text;
static size_t length;

/* Texts of about text_length bytes */

static void append(const char *part, size_t size) {
  memcpy(text + length, part, size);
  length += size;
}

static void begin(const char *start) {
  free(text);
  text = malloc(text_length + 4096);
  length = 0;
  append(start, strlen(start));
}

static void end(const char *ending) {
  if (text[length - 1] == ',') length--;
  append(ending, strlen(ending));
  text[length] = 0;
}

static void repeat(const char *start, const char *part, const char *ending) {
  size_t size = strlen(part);
  begin(start);
  while (length + size < text_length) append(part, size);
  end(ending);
}

/* Unique parts, each with a number in base 36 in the place of #. */
static void count_up(const char *start, const char *part, const char *ending) {
  static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  begin(start);
  for (unsigned long number = 0; length + 256 < text_length; number++) {
    for (const char *place = part; *place; place++) {
      if (*place != '#') {
        text[length++] = *place;
        continue;
      }
      unsigned long rest = number;
      do text[length++] = digits[rest % 36];
      while (rest /= 36);
    }
  }
  end(ending);
}

static char nested_part[200];
static const char *nested(char open, char close, int depth) {
  memset(nested_part, open, (size_t)depth);
  memset(nested_part + depth, close, (size_t)depth);
  strcpy(nested_part + 2 * depth, ",");
  return nested_part;
}

static void empty_objects(void) { repeat("[", "{},", "]"); }
static void empty_arrays(void) { repeat("[", "[],", "]"); }
static void numbers(void) { repeat("[", "0,", "]"); }
static void doubles(void) { repeat("[", "0e0,", "]"); }
static void strings(void) { repeat("[", "\"0123456789abcdef\",", "]"); }
static void singles(void) { repeat("[", "[0],", "]"); }
static void deep_arrays(void) { repeat("[", nested('[', ']', 63), "]"); }
static void deep_objects(void) { repeat("[", "{\"\":{\"\":{\"\":{\"\":{\"\":{\"\":{\"\":{\"\":0}}}}}}}},", "]"); }
static void small_objects(void) { repeat("[", "{\"\":0},", "]"); }
static void members(void) { count_up("{", "\"#\":0,", "}"); }
static void long_members(void) { count_up("{", "\"0123456789abcdef#\":0,", "}"); }
static void spaces(void) { repeat("[", "                                ", "]"); }
static void escapes(void) { repeat("\"", "\\u0001", "\""); }
static void settings(void) { count_up("{", "\"#\":0,", "}"); }
static void one_setting(void) { repeat("{\"a\":[", "{},", "]}"); }
static void exported(void) { count_up("{\"kept\":1,\"values\":{", "\"#\":0,", "}}"); }
/* An object with a name of `size` bytes, which is the prefix of each of its keys. */
static const char *section(const char *open, int size, const char *close) {
  static char text[1200];
  int start = sprintf(text, "%s", open);
  memset(text + start, 's', (size_t)size);
  strcpy(text + start + size, close);
  return text;
}

static void nested_member(void) { count_up(section("{\"", 48, "\":{"), "\"#\":0,", "}}"); }
static void nested_long_member(void) { count_up(section("{\"", 1000, "\":{"), "\"#\":0,", "}}"); }
static void nested_forms(void) { count_up(section("{\"", 1000, "\":{\"a\":0,"), "\"$#\":0,", "}}"); }
static void exported_declarations(void) {
  count_up("{\"kept\":1,\"values\":{},\"declarations\":{", "\"#\":{\"type\":\"integer\"},", "}}");
}
static void exported_omissions(void) { count_up("{\"kept\":1,\"values\":{},\"omitted\":[", "\"#\",", "]}"); }

/* Operations on them */

static kept_status set(kept_store *store) { return kept_set_json(store, "value", text, &why); }

static kept_status import(kept_store *store, uint32_t flags) {
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  options.flags = flags | KEPT_TRANSFER_DRY_RUN;
  return kept_import(store, text, length, &options, NULL, &why);
}

static kept_status import_prefixed(kept_store *store) {
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  char prefix[501];
  memset(prefix, 'p', 500), prefix[500] = 0;
  options.prefix = prefix;
  options.flags = KEPT_TRANSFER_FLAT | KEPT_TRANSFER_DRY_RUN;
  return kept_import(store, text, length, &options, NULL, &why);
}

/* With the report, which names each key. */
static kept_status report_nested(kept_store *store) {
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  char *report = NULL;
  options.flags = KEPT_TRANSFER_NESTED | KEPT_TRANSFER_DRY_RUN;
  kept_status status = kept_import(store, text, length, &options, &report, &why);
  kept_free(report);
  return status;
}

static kept_status import_kept(kept_store *s) { return import(s, 0); }
static kept_status import_json(kept_store *s) { return import(s, KEPT_TRANSFER_FLAT); }
static kept_status import_nested(kept_store *s) { return import(s, KEPT_TRANSFER_NESTED); }

static const struct bomb {
  const char *name;
  void (*make)(void);
  kept_status (*act)(kept_store *store);
} bombs[] = {
  { "[{},{}]", empty_objects, set },
  { "[[],[]]", empty_arrays, set },
  { "[0,0]", numbers, set },
  { "[0e0,0e0]", doubles, set },
  { "strings", strings, set },
  { "[[0],[0]]", singles, set },
  { "[[[[]]]]", deep_arrays, set },
  { "{\"\":{\"\":0}}", deep_objects, set },
  { "[{\"\":0}]", small_objects, set },
  { "members", members, set },
  { "long members", long_members, set },
  { "spaces", spaces, set },
  { "escapes", escapes, set },
  { "JSON settings", settings, import_json },
  { "nested JSON settings", settings, import_nested },
  { "JSON with a large setting", one_setting, import_json },
  { "an export", exported, import_kept },
  { "nested JSON, 48 bytes", nested_member, import_nested },
  { "nested JSON, 1000 bytes", nested_long_member, import_nested },
  { "nested JSON, wrong names", nested_forms, import_nested },
  { "nested JSON, with a report", nested_member, report_nested },
  { "JSON with a prefix", settings, import_prefixed },
  { "declarations", exported_declarations, import_kept },
  { "omitted keys", exported_omissions, import_kept },
};
static const struct bomb *bomb;

/* Measuring */

/* The peak of memory since the last call, in bytes. */
static int64_t peak(void) {
  long kibibytes = number_in_file("/proc/self/status", "VmHWM:");
  if (kibibytes < 0) fail("the memory of the process is not known");
  if (!write_into("/proc/self/clear_refs", "5")) fail("the peak of the memory cannot be reset");
  return kibibytes * INT64_C(1024);
}

static void act(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  expect_ok(kept_set_int64(store, "other", 1, &why), "write");
  (void)peak();
  int64_t before = peak();
  shared->status = bomb->act(store);
  shared->grown = peak() - before;
  if (shared->status != KEPT_OK && strchr(why.message, ' ') == NULL) fail("no sentence");
  kept_close(store);
}

/* Another process, which is notified as of any change. */
static void read_it(void *unused) {
  char *json = NULL;
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  (void)peak();
  int64_t before = peak();
  kept_status status = kept_get_json(store, "value", &json, &why);
  shared->grown = peak() - before;
  expect_ok(status, "read");
  kept_free(json);
  kept_close(store);
}

static void expect_little(const char *deed) {
  double times = (double)shared->grown / (double)length;
  printf("%-28s %-6s %6.1f MiB, %5.1f times its text, \"%s\"\n", bomb->name, deed, (double)shared->grown / MIB, times,
    kept_status_text(shared->status));
  fflush(stdout);
  if (shared->grown > (int64_t)length * ALLOWED + BASE) fail("%s takes %.1f times its text", bomb->name, times);
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 1);
  text_length = rounds > 1 ? MOST_TEXT : MOST_TEXT / 4;
  shared = share(sizeof *shared);
  const char *only = getenv("KEPT_SCENE");
  unsigned count = 0;
  for (size_t i = 0; i < COUNT(bombs); i++) {
    bomb = &bombs[i];
    if (only && strcmp(only, bomb->name) != 0) continue;
    bomb->make();
    folder = fresh_folder();
    finish(start(act, NULL));
    expect_little(bomb->act == set ? "set" : "import");
    count++;
    if (bomb->act != set || shared->status != KEPT_OK) continue;
    finish(start(read_it, NULL));
    expect_little("read");
  }
  return end_torture("%u texts", count);
}
