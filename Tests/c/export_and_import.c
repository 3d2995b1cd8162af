/* Export and import: a store as a text or a file, and back. The tests of KeptCore cover why texts are refused. */
#include "check.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *kept_text(void) { return "{\"kept\":1,\"values\":{\"a\":1,\"b\":\"two\"}}"; }

static kept_transfer_options with(uint32_t flags) {
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  options.flags = flags;
  return options;
}

static kept_status take(kept_store *store, const char *text, const kept_transfer_options *options, char **report) {
  return kept_import(store, text, strlen(text), options, report, &why);
}

/* The whole file; freed by the caller. */
static char *contents(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = calloc(1, 4096);
  if (file == NULL || fread(text, 1, 4095, file) == 0) CHECK(0);
  if (file != NULL) fclose(file);
  return text;
}

/* Exporting */

static void an_export_is_canonical_text(void) {
  kept_store *store = fresh_store();
  char *text = NULL;
  EXPECT(KEPT_OK, kept_set_json(store, "b", "[1, 2.5]", &why));
  EXPECT(KEPT_OK, kept_declare_json(store, "token", "{\"secret\":true,\"type\":\"string\"}", &why));
  EXPECT(KEPT_OK, kept_set_string(store, "token", "hidden", 6, &why));
  EXPECT(KEPT_OK, kept_export_json(store, NULL, &text, &why));
  CHECK_TEXT("{\"kept\":1,\"omitted\":[\"token\"],\"prefix\":\"\",\"revision\":3,\"values\":{\"b\":[1,2.5]}}", text);
  kept_free(text);
  kept_transfer_options options = with(KEPT_TRANSFER_SECRETS | KEPT_TRANSFER_DECLARATIONS | KEPT_TRANSFER_READABLE);
  options.prefix = "t";
  EXPECT(KEPT_OK, kept_export_json(store, &options, &text, &why));
  CHECK_TEXT("{\"declarations\":{\"token\":{\"secret\":true,\"type\":\"string\"}},\"kept\":1,\"prefix\":\"t\","
             "\"revision\":3,\"unreadable\":[],\"values\":{\"token\":\"hidden\"}}",
    text);
  kept_free(text);
}

static void an_exported_file_has_the_same_text_and_is_private(void) {
  const char *path = fresh_file("what was there");
  kept_store *store = fresh_store();
  char *text = NULL;
  struct stat status;
  EXPECT(KEPT_OK, take(store, kept_text(), NULL, NULL));
  EXPECT(KEPT_OK, kept_export_file(store, path, NULL, &why));
  EXPECT(KEPT_OK, kept_export_json(store, NULL, &text, &why));
  char *found = contents(path);
  CHECK_TEXT(text, found);
  CHECK(stat(path, &status) == 0 && (status.st_mode & 0777) == 0600);
  EXPECT(KEPT_INVALID, kept_export_file(store, "/dev/null", NULL, &why));
  EXPECT(KEPT_UNAVAILABLE, kept_export_file(store, "/nowhere/at/all", NULL, &why));
  kept_free(text);
  free(found);
}

/* Importing */

static void an_import_reports_what_it_has_changed(void) {
  kept_store *store = fresh_store();
  char *report = NULL;
  EXPECT(KEPT_OK, take(store, kept_text(), NULL, NULL));
  kept_transfer_options options = with(KEPT_TRANSFER_REPLACE);
  EXPECT(KEPT_OK, take(store, "{\"kept\":1,\"values\":{\"b\":2,\"c\":3}}", &options, &report));
  CHECK_TEXT("{\"changed\":[{\"key\":\"b\",\"new\":2,\"old\":\"two\"},{\"key\":\"c\",\"new\":3}],\"declared\":[],"
             "\"notCarried\":[],\"refused\":[],\"removed\":[\"a\"],\"revision\":2,\"unchanged\":0}",
    report);
  kept_free(report);
  CHECK_TEXT("absent", json_of(store, "a"));
  CHECK_TEXT("2", json_of(store, "b"));
}

static void a_dry_run_changes_nothing_and_reports_every_refusal(void) {
  kept_store *store = fresh_store();
  char *report = NULL;
  kept_transfer_options options = with(KEPT_TRANSFER_DRY_RUN);
  const char *text = "{\"kept\":1,\"values\":{\"\":1,\"a\":null,\"b\":2}}";
  EXPECT(KEPT_INVALID, take(store, text, NULL, &report));
  CHECK(report == NULL);
  EXPECT(KEPT_OK, take(store, text, &options, &report));
  json_object *members = json_tokener_parse(report);
  CHECK_INT(2, (int64_t)json_object_array_length(json_object_object_get(members, "refused")));
  CHECK_INT(1, (int64_t)json_object_array_length(json_object_object_get(members, "changed")));
  CHECK_TEXT("absent", json_of(store, "b"));
  json_object_put(members);
  kept_free(report);
}

static void a_file_is_imported_and_an_unreadable_one_is_refused(void) {
  kept_store *store = fresh_store();
  EXPECT(KEPT_OK, kept_import_file(store, fresh_file(kept_text()), NULL, NULL, &why));
  CHECK_TEXT("1", json_of(store, "a"));
  EXPECT(KEPT_UNAVAILABLE, kept_import_file(store, "/nowhere/at/all", NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_import_file(store, "/dev/null", NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_import_file(store, fresh_file("{\"kept\":1"), NULL, NULL, &why));
  CHECK_INT(9, why.offset);
}

static void texts_of_other_programs_are_imported(void) {
  static const struct {
    uint32_t flags;
    const char *text, *key, *json;
  } texts[] = {
    { KEPT_TRANSFER_FLAT, "{\"a.b\":{\"c\":1}}", "p.a.b", "{\"c\":1}" },
    { KEPT_TRANSFER_NESTED, "{\"a\":{\"b\":1}}", "p.a/b", "1" },
  };
  for (size_t i = 0; i < COUNT(texts); i++) {
    kept_store *store = fresh_store();
    kept_transfer_options options = with(texts[i].flags);
    options.prefix = "p.";
    options.separator = "/";
    EXPECT(KEPT_OK, take(store, texts[i].text, &options, NULL));
    CHECK_TEXT(texts[i].json, json_of(store, texts[i].key));
  }
}

static void a_number_out_of_range_is_reported_and_the_others_are_imported(void) {
  static const uint32_t flags[] = { KEPT_TRANSFER_FLAT, KEPT_TRANSFER_NESTED };
  for (size_t i = 0; i < COUNT(flags); i++) {
    kept_store *store = fresh_store();
    kept_transfer_options options = with(flags[i]);
    char *report = NULL;
    EXPECT(KEPT_OK,
      take(store, "{\"a\":1,\"b\":[18446744073709551616],\"c\":1e999,\"d\":18446744073709551615}", &options, &report));
    CHECK(strstr(report, "\"notCarried\":[{\"place\":\"b\"") != NULL && strstr(report, "{\"place\":\"c\"") != NULL);
    kept_free(report);
    CHECK_TEXT("1", json_of(store, "a"));
    CHECK_TEXT("absent", json_of(store, "b"));
    CHECK_TEXT("{\"$numberULong\":\"18446744073709551615\"}", json_of(store, "d"));
  }
}

/* Secrets */

/* What an import reports of a text, with these declarations of "token" in the store and in the text. */
static void check_nothing_shown(const char *store_declares, const char *text_declares) {
  char text[512];
  snprintf(text, sizeof text, "{\"declarations\":{\"token\":%s},\"kept\":1,\"values\":{\"token\":\"hunter2\"}}",
    text_declares);
  for (uint32_t flags = 0; flags < 8; flags++) {
    kept_store *store = fresh_store();
    kept_transfer_options options = with(flags);
    char *report = NULL;
    if (store_declares != NULL) EXPECT(KEPT_OK, kept_declare_json(store, "token", store_declares, &why));
    why.message[0] = 0;
    take(store, text, flags == 0 ? NULL : &options, &report);
    CHECK(strstr(why.message, "hunter2") == NULL);
    CHECK(report == NULL || strstr(report, "hunter2") == NULL);
    kept_free(report);
    kept_close(store);
  }
}

static void a_secret_is_never_shown(void) {
  static const char *const secret = "{\"secret\":true,\"type\":\"string\"}";
  static const char *const unfit[] = {
    "{\"type\":\"integer\"}",
    "{\"type\":\"string\",\"maxLength\":3}",
    "{\"type\":\"string\",\"enum\":[\"a\"]}",
  };
  static const char *const refused[] = {
    "{\"secret\":true,\"type\":\"string\",\"newWord\":1}",
    "{\"secret\":true}",
    "{\"secret\":true,\"type\":\"integer\",\"default\":\"x\"}",
    "{\"secret\":true,\"type\":\"string\",\"pattern\":\"(\"}",
  };
  for (size_t i = 0; i < COUNT(unfit); i++) {
    check_nothing_shown(unfit[i], secret);
    check_nothing_shown(secret, unfit[i]);
  }
  for (size_t i = 0; i < COUNT(refused); i++) check_nothing_shown(NULL, refused[i]);
}

/* Progress */

struct progress {
  uint64_t calls, last, total, stop;
};

static int receive_progress(void *context, uint64_t done, uint64_t total) {
  struct progress *progress = context;
  progress->calls++, progress->last = done, progress->total = total;
  return progress->calls == progress->stop;
}

static void progress_is_reported_and_can_stop_a_transfer(void) {
  kept_store *store = fresh_store();
  char *text = NULL;
  struct progress progress = { 0, 0, 0, 0 };
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  options.progress = receive_progress;
  options.progress_context = &progress;
  EXPECT(KEPT_OK, take(store, kept_text(), &options, NULL));
  CHECK(progress.calls > 1 && progress.last == progress.total && progress.total == strlen(kept_text()));
  progress = (struct progress){ 0, 0, 0, 1 };
  EXPECT(KEPT_FAILED, take(store, "{\"kept\":1,\"values\":{\"c\":1}}", &options, NULL));
  CHECK_TEXT("absent", json_of(store, "c"));
  progress = (struct progress){ 0, 0, 0, 2 };
  EXPECT(KEPT_FAILED, kept_export_json(store, &options, &text, &why));
  CHECK(text == NULL && progress.calls == 2 && progress.total == 2);
}

/* Bad input */

static void bad_arguments_are_refused(void) {
  kept_store *store = fresh_store(), *transaction = NULL;
  char *text = NULL;
  EXPECT(KEPT_INVALID, kept_export_json(NULL, NULL, &text, &why));
  EXPECT(KEPT_INVALID, kept_export_json(store, NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_export_file(store, NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_export_file(store, "", NULL, &why));
  EXPECT(KEPT_INVALID, kept_import(store, NULL, 1, NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_import(store, NULL, 0, NULL, NULL, &why));
  EXPECT(KEPT_TOO_LARGE, kept_import(store, "x", (size_t)-1, NULL, NULL, &why));
  static const uint32_t formats[] = { 0, KEPT_TRANSFER_FLAT, KEPT_TRANSFER_NESTED };
  for (size_t i = 0; i < COUNT(formats); i++) {
    kept_transfer_options any = with(formats[i]);
    EXPECT(KEPT_TOO_LARGE, kept_import(store, "{}", SIZE_MAX / 2, &any, NULL, &why));
    EXPECT(KEPT_TOO_LARGE, kept_import(store, "{}", SIZE_MAX / 2 + 1, &any, NULL, &why));
    EXPECT(KEPT_TOO_LARGE, kept_import(store, "{}", ((size_t)1 << 30) + 1, &any, NULL, &why));
  }
  EXPECT(KEPT_INVALID, kept_import_file(store, NULL, NULL, NULL, &why));
  for (size_t i = 0; bad_text(i) != NULL; i++) {
    EXPECT(KEPT_INVALID, take(store, bad_text(i), NULL, NULL));
    kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
    options.prefix = bad_text(i);
    EXPECT(KEPT_INVALID, take(store, kept_text(), &options, NULL));
    EXPECT(KEPT_INVALID, kept_export_json(store, &options, &text, &why));
  }
  EXPECT(KEPT_OK, kept_begin(store, NULL, &transaction, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_export_json(transaction, NULL, &text, &why));
  EXPECT(KEPT_UNSUPPORTED, take(transaction, kept_text(), NULL, NULL));
  kept_rollback(transaction);
  kept_close(store);
  EXPECT(KEPT_CLOSED, take(store, kept_text(), NULL, NULL));
}

static void options_without_a_meaning_are_refused(void) {
  kept_store *store = fresh_store();
  char *text = NULL;
  static const uint32_t not_of_import[] = { KEPT_TRANSFER_SECRETS, KEPT_TRANSFER_READABLE, 128u,
    KEPT_TRANSFER_FLAT | KEPT_TRANSFER_NESTED };
  static const uint32_t not_of_export[] = { KEPT_TRANSFER_REPLACE, KEPT_TRANSFER_DRY_RUN, KEPT_TRANSFER_FLAT,
    KEPT_TRANSFER_NESTED };
  for (size_t i = 0; i < COUNT(not_of_import); i++) {
    kept_transfer_options options = with(not_of_import[i]);
    EXPECT(KEPT_INVALID, take(store, kept_text(), &options, NULL));
    options = with(not_of_export[i]);
    EXPECT(KEPT_INVALID, kept_export_json(store, &options, &text, &why));
  }
  kept_transfer_options options = with(0);
  options.size = 3;
  EXPECT(KEPT_INVALID, take(store, kept_text(), &options, NULL));
}

int main(int argc, char **argv) {
  static const test tests[] = {
    TEST(an_export_is_canonical_text),
    TEST(an_exported_file_has_the_same_text_and_is_private),
    TEST(an_import_reports_what_it_has_changed),
    TEST(a_dry_run_changes_nothing_and_reports_every_refusal),
    TEST(a_file_is_imported_and_an_unreadable_one_is_refused),
    TEST(texts_of_other_programs_are_imported),
    TEST(a_number_out_of_range_is_reported_and_the_others_are_imported),
    TEST(a_secret_is_never_shown),
    TEST(progress_is_reported_and_can_stop_a_transfer),
    TEST(bad_arguments_are_refused),
    TEST(options_without_a_meaning_are_refused),
    { 0 },
  };
  static const role roles[] = { { 0 } };
  return run_tests(argc, argv, tests, roles);
}
