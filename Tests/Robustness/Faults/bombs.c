/* Texts that are designed to take much memory. Each is set, read by another process, or imported, in a process of its
 * own, whose memory may grow by a fixed multiple of the text. */
#include "check.h"

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

static void put_number(unsigned char *place, uint64_t number) {
  for (int i = 7; i >= 0; i--, number >>= 8) place[i] = (unsigned char)number;
}

/* A binary property list whose root has one member, `a`, an object with as many references as fit, each of one byte to
 * the third object. `marker`: of an array or a dictionary; `each`: references for each member. */
static void refer(unsigned char marker, unsigned each) {
  unsigned char trailer[32] = { 0 }, head[] = { marker | 0xF, 0x13, 0, 0, 0, 0, 0, 0, 0, 0 };
  uint64_t count = (text_length - 100) / each;
  begin("bplist00");
  append("\xD1\1\2\x51"
         "a",
    5);
  put_number(head + 2, count);
  append((const char *)head, sizeof head);
  memset(text + length, 3, count * each);
  length += count * each;
  size_t last = length;
  append("\x51"
         "b",
    2);
  size_t table = length;
  uint64_t offsets[] = { 8, 11, 13, last };
  for (int i = 0; i < 4; i++) {
    unsigned char entry[8];
    put_number(entry, offsets[i]);
    append((const char *)entry, 8);
  }
  trailer[6] = 8;
  trailer[7] = 1;
  put_number(trailer + 8, 4);
  put_number(trailer + 24, table);
  append((const char *)trailer, 32);
}

static void refer_in_array(void) { refer(0xA0, 1); }
static void refer_in_dictionary(void) { refer(0xD0, 2); }

/* As many objects as fit, all unused. */
static void many_objects(void) {
  unsigned char trailer[32] = { 0 };
  uint64_t count = (text_length - 100) / 2;
  begin("bplist00");
  append("\xD0", 1);
  memset(text + length, 9, count);
  length += count;
  size_t table = length;
  memset(text + length, 8, count);
  length += count;
  trailer[6] = trailer[7] = 1;
  put_number(trailer + 8, count);
  put_number(trailer + 24, table);
  append((const char *)trailer, 32);
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
static void old_array(void) { repeat("{a=(", "b,", ");}"); }
static void old_deep(void) { repeat("{a=(", nested('(', ')', 60), ");}"); }
static void old_dictionary(void) { count_up("{a={", "#=b;", "};}"); }
static void old_repeats(void) { repeat("{a={", "b=b;", "};}"); }
static void xml_array(void) { repeat("<dict><key>a</key><array>", "<true/>", "</array></dict>"); }
static void xml_deep(void) {
  repeat("<dict><key>a</key><array>", "<dict><key>a</key><dict/></dict>", "</array></dict>");
}
static void lines(void) { count_up("", "#=\n", ""); }
static void repeated_lines(void) { repeat("", "a=\n", ""); }
static void wrong_lines(void) { repeat("", "-\n", ""); }
static void dconf_array(void) { repeat("[/]\na=[", "1,", "]\n"); }
static void dconf_tuple(void) { repeat("[/]\na=(", "1,", "1)\n"); }

/* A section with a name of `size` bytes, which is the prefix of each of its keys. */
static const char *section(const char *open, int size, const char *close) {
  static char text[1200];
  int start = sprintf(text, "%s", open);
  memset(text + start, 's', (size_t)size);
  strcpy(text + start + size, close);
  return text;
}

static void dconf_short_group(void) { count_up(section("[", 16, "]\n"), "#=1\n", ""); }
static void dconf_group(void) { count_up(section("[", 48, "]\n"), "#=1\n", ""); }
static void dconf_long_group(void) { count_up(section("[", 1000, "]\n"), "#=1\n", ""); }
static void dconf_many_groups(void) { count_up("", section("[#", 1000, "]\na=1\na=1\na=1\na=1\n"), ""); }
static void ini_section(void) { count_up(section("[", 48, "]\n"), "#=\n", ""); }
static void ini_long_section(void) { count_up(section("[", 1000, "]\n"), "#=\n", ""); }
static void ini_repeats(void) { repeat(section("[", 1000, "]\n"), "a=\n", ""); }
static void nested_member(void) { count_up(section("{\"", 48, "\":{"), "\"#\":0,", "}}"); }
static void nested_long_member(void) { count_up(section("{\"", 1000, "\":{"), "\"#\":0,", "}}"); }
static void nested_forms(void) { count_up(section("{\"", 1000, "\":{\"a\":0,"), "\"$#\":0,", "}}"); }
static void exported_declarations(void) {
  count_up("{\"kept\":1,\"values\":{},\"declarations\":{", "\"#\":{\"type\":\"integer\"},", "}}");
}
static void exported_omissions(void) { count_up("{\"kept\":1,\"values\":{},\"omitted\":[", "\"#\",", "]}"); }
static void dconf_dictionary(void) { count_up("[/]\na={", "'#':1,", "}\n"); }

/* Operations on them */

static kept_status set(kept_store *store, kept_error *error) { return kept_set_json(store, "value", text, error); }

static kept_status import(kept_store *store, uint32_t format, kept_error *error) {
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  options.format = format;
  options.flags = KEPT_TRANSFER_DRY_RUN;
  return kept_import(store, text, length, &options, NULL, error);
}

static kept_status import_prefixed(kept_store *store, kept_error *error) {
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  char prefix[501];
  memset(prefix, 'p', 500), prefix[500] = 0;
  options.format = KEPT_FORMAT_ENV;
  options.prefix = prefix;
  options.flags = KEPT_TRANSFER_DRY_RUN;
  return kept_import(store, text, length, &options, NULL, error);
}

/* With the report, which names each key. */
static kept_status report_dconf(kept_store *store, kept_error *error) {
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  char *report = NULL;
  options.format = KEPT_FORMAT_DCONF;
  options.flags = KEPT_TRANSFER_DRY_RUN;
  kept_status status = kept_import(store, text, length, &options, &report, error);
  kept_free(report);
  return status;
}

static kept_status import_kept(kept_store *s, kept_error *error) { return import(s, KEPT_FORMAT_KEPT, error); }
static kept_status import_json(kept_store *s, kept_error *error) { return import(s, KEPT_FORMAT_JSON, error); }
static kept_status import_nested(kept_store *s, kept_error *error) { return import(s, KEPT_FORMAT_NESTED_JSON, error); }
static kept_status import_list(kept_store *s, kept_error *error) { return import(s, KEPT_FORMAT_PROPERTY_LIST, error); }
static kept_status import_env(kept_store *s, kept_error *error) { return import(s, KEPT_FORMAT_ENV, error); }
static kept_status import_ini(kept_store *s, kept_error *error) { return import(s, KEPT_FORMAT_INI, error); }
static kept_status import_dconf(kept_store *s, kept_error *error) { return import(s, KEPT_FORMAT_DCONF, error); }

static const struct bomb {
  const char *name;
  void (*make)(void);
  kept_status (*act)(kept_store *store, kept_error *error);
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
  { "binary references", refer_in_array, import_list },
  { "binary members", refer_in_dictionary, import_list },
  { "binary objects", many_objects, import_list },
  { "old array", old_array, import_list },
  { "old nested arrays", old_deep, import_list },
  { "old dictionary", old_dictionary, import_list },
  { "old repeated keys", old_repeats, import_list },
  { "XML array", xml_array, import_list },
  { "XML nested", xml_deep, import_list },
  { ".env", lines, import_env },
  { ".env, repeated", repeated_lines, import_env },
  { ".env, wrong", wrong_lines, import_env },
  { "INI", lines, import_ini },
  { "INI, repeated", repeated_lines, import_ini },
  { "dconf array", dconf_array, import_dconf },
  { "dconf tuple", dconf_tuple, import_dconf },
  { "dconf dictionary", dconf_dictionary, import_dconf },
  { "dconf group, 16 bytes", dconf_short_group, import_dconf },
  { "dconf group, 48 bytes", dconf_group, import_dconf },
  { "dconf group, with a report", dconf_group, report_dconf },
  { "dconf group, 1000 bytes", dconf_long_group, import_dconf },
  { "dconf groups", dconf_many_groups, import_dconf },
  { "INI section, 48 bytes", ini_section, import_ini },
  { "INI section, 1000 bytes", ini_long_section, import_ini },
  { "INI section, repeated keys", ini_repeats, import_ini },
  { "nested JSON, 48 bytes", nested_member, import_nested },
  { "nested JSON, 1000 bytes", nested_long_member, import_nested },
  { "nested JSON, wrong names", nested_forms, import_nested },
  { ".env with a prefix", lines, import_prefixed },
  { "declarations", exported_declarations, import_kept },
  { "omitted keys", exported_omissions, import_kept },
};
static const struct bomb *bomb;

/* Measuring */

/* The peak of memory since the last call, in bytes. */
static int64_t peak(void) {
  char line[200];
  long kibibytes = -1;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file)) sscanf(line, "VmHWM: %ld kB", &kibibytes);
  if (file) fclose(file);
  if (kibibytes < 0) fail("the memory of the process is not known");
  file = fopen("/proc/self/clear_refs", "w");
  if (file == NULL || fputs("5", file) < 0 || fclose(file) != 0) fail("the peak of the memory cannot be reset");
  return kibibytes * INT64_C(1024);
}

static void act(void *unused) {
  kept_error error;
  (void)unused;
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  expect_ok(kept_set_int64(store, "other", 1, &error), "write", &error);
  (void)peak();
  int64_t before = peak();
  shared->status = bomb->act(store, &error);
  shared->grown = peak() - before;
  if (shared->status != KEPT_OK && strchr(error.message, ' ') == NULL) fail("no sentence");
  kept_close(store);
}

/* Another process, which is notified as of any change. */
static void read_it(void *unused) {
  kept_error error;
  char *json = NULL;
  (void)unused;
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  (void)peak();
  int64_t before = peak();
  kept_status status = kept_get_json(store, "value", &json, &error);
  shared->grown = peak() - before;
  expect_ok(status, "read", &error);
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
  for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
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
