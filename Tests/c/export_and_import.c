/* Export and import: a store as a text or a file, and back. The tests of KeptCore cover why texts are refused. */
#include "suite.h"

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

/* Exporting */

TEST(an_export_is_canonical_text) {
  kept_store *store = fresh_store();
  char *text = NULL;
  EXPECT(KEPT_OK, kept_set_json(store, "b", "[1, 2.5]", &why));
  keep_secrets_plain(store);
  EXPECT(KEPT_OK, kept_declare_json(store, "token", "{\"secret\":true,\"type\":\"string\"}", &why));
  EXPECT(KEPT_OK, kept_set_string(store, "token", "hidden", 6, &why));
  EXPECT(KEPT_OK, kept_export_json(store, NULL, &text, &why));
  CHECK_TEXT("{\"kept\":1,\"omitted\":[\"token\"],\"prefix\":\"\",\"revision\":3,\"values\":{\"b\":[1,2.5]}}", text);
  kept_free(text);
  kept_transfer_options options =
    with(KEPT_TRANSFER_SECRETS | KEPT_TRANSFER_PLAIN | KEPT_TRANSFER_DECLARATIONS | KEPT_TRANSFER_READABLE);
  options.prefix = "t";
  EXPECT(KEPT_OK, kept_export_json(store, &options, &text, &why));
  CHECK_TEXT("{\"declarations\":{\"token\":{\"secret\":true,\"type\":\"string\"}},\"kept\":1,\"prefix\":\"t\","
             "\"revision\":3,\"unreadable\":[],\"values\":{\"token\":\"hidden\"}}",
    text);
  kept_free(text);
}

TEST(an_exported_file_has_the_same_text_and_is_private) {
  const char *path = fresh_file("the former text");
  kept_store *store = fresh_store();
  char *text = NULL;
  struct stat status;
  EXPECT(KEPT_OK, take(store, kept_text(), NULL, NULL));
  EXPECT(KEPT_OK, kept_export_file(store, path, NULL, &why));
  EXPECT(KEPT_OK, kept_export_json(store, NULL, &text, &why));
  char *found = read_file(path, NULL);
  CHECK_TEXT(text, found);
  CHECK(stat(path, &status) == 0 && (status.st_mode & 0777) == 0600);
  EXPECT(KEPT_INVALID, kept_export_file(store, "/dev/null", NULL, &why));
  EXPECT(KEPT_UNAVAILABLE, kept_export_file(store, "/nowhere/at/all", NULL, &why));
  kept_free(text);
  free(found);
}

/* Importing */

TEST(an_import_reports_what_it_has_changed) {
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
    keep_secrets_plain(store);
    if (store_declares != NULL) EXPECT(KEPT_OK, kept_declare_json(store, "token", store_declares, &why));
    why.message[0] = 0;
    take(store, text, flags == 0 ? NULL : &options, &report);
    CHECK(strstr(why.message, "hunter2") == NULL);
    CHECK(report == NULL || strstr(report, "hunter2") == NULL);
    kept_free(report);
    kept_close(store);
  }
}

TEST(a_secret_is_never_shown) {
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

TEST(progress_is_reported_and_can_stop_a_transfer) {
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

TEST(bad_arguments_are_refused) {
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

TEST(options_without_a_meaning_are_refused) {
  kept_store *store = fresh_store();
  char *text = NULL;
  static const uint32_t not_of_import[] = { KEPT_TRANSFER_SECRETS, KEPT_TRANSFER_READABLE, 256u, 512u,
    KEPT_TRANSFER_FLAT | KEPT_TRANSFER_NESTED };
  static const uint32_t not_of_export[] = { KEPT_TRANSFER_REPLACE, KEPT_TRANSFER_DRY_RUN, KEPT_TRANSFER_FLAT,
    KEPT_TRANSFER_NESTED, 256u };
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
