/* Administration: places, the states of layers' files, the check of a document, texts of values, and comparisons. */
#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(a_wrong_argument_is_refused) {
  kept_store *store = fresh_store();
  char *json = NULL;
  EXPECT(KEPT_INVALID, kept_layer_files_json(NULL, &json, &why));
  EXPECT(KEPT_INVALID, kept_layer_files_json(store, NULL, &why));
  EXPECT(KEPT_INVALID, kept_layer_check(NULL, 0, KEPT_LAYER_SYSTEM, &why));
  EXPECT(KEPT_INVALID, kept_layer_check("{}", 2, KEPT_LAYER_NONE, &why));
  EXPECT(KEPT_INVALID, kept_layer_check("{}", 2, KEPT_LAYER_USER, &why));
  EXPECT(KEPT_INVALID, kept_layer_check("{}", 2, 8, &why));
  EXPECT(KEPT_TOO_LARGE, kept_layer_check("{}", SIZE_MAX, KEPT_LAYER_SYSTEM, &why));
  EXPECT(KEPT_INVALID, kept_place_json(NULL, &json, &why));
  EXPECT(KEPT_INVALID, kept_place_json("memory:", NULL, &why));
  EXPECT(KEPT_INVALID, kept_places_json("/", NULL, &why));
  EXPECT(KEPT_INVALID, kept_processes_json(NULL, &json, &why));
  EXPECT(KEPT_INVALID, kept_findings_json(NULL, NULL, NULL, NULL, &json, &why));
  EXPECT(KEPT_INVALID, kept_findings_json("memory:", NULL, NULL, NULL, NULL, &why));
  kept_options wrong = KEPT_OPTIONS_INIT;
  wrong.size = 1;
  EXPECT(KEPT_INVALID, kept_findings_json("memory:", &wrong, NULL, NULL, &json, &why));
  EXPECT(KEPT_INVALID, kept_processes_json("memory:", NULL, &why));
  for (size_t i = 0; bad_text(i) != NULL; i++) {
    EXPECT(KEPT_INVALID, kept_place_json(bad_text(i), &json, &why));
    EXPECT(KEPT_INVALID, kept_places_json(bad_text(i), &json, &why));
  }
  CHECK(json == NULL);
}

/** Copies the identity of the folder at a path; "" if there is none. */
static void copy_identity(const char *path, char *identity, size_t size) {
  char *json = NULL;
  EXPECT(KEPT_OK, kept_place_json(path, &json, &why));
  const char *at = json ? strstr(json, "\"identity\":\"") : NULL;
  snprintf(identity, size, "%.*s", at ? (int)strcspn(at + 12, "\"") : 0, at ? at + 12 : "");
  kept_free(json);
}

FOLDER_TEST(a_folder_that_is_made_again_has_another_identity) {
  const char *path = fresh_folder();
  char first[64], same[64], other[64];
  mkdir(path, 0700);
  copy_identity(path, first, sizeof first);
  copy_identity(file_of(path, "/"), same, sizeof same);
  CHECK(first[0] != 0);
  CHECK_TEXT(first, same);
  rmdir(path);
  copy_identity(path, other, sizeof other);
  CHECK_TEXT("", other);
  mkdir(path, 0700);
  copy_identity(path, other, sizeof other);
  CHECK(other[0] != 0 && strcmp(first, other) != 0);
  rmdir(path);
}

static int stop_at_the_end(void *context, uint64_t done, uint64_t total) {
  *(uint64_t *)context = total;
  return done == total;
}

FOLDER_TEST(an_examination_reports_its_progress_and_can_be_stopped) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  uint64_t total = 0;
  char *json = NULL;
  EXPECT(KEPT_OK, kept_set_int64(store, "a", 1, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "b", 1, &why));
  EXPECT(KEPT_FAILED, kept_findings_json(location, NULL, stop_at_the_end, &total, &json, &why));
  CHECK(json == NULL && total == 2);
  kept_close(store);
}

TEST(a_document_is_called_by_its_name) {
  EXPECT(KEPT_OK, kept_layer_check("{}", 2, KEPT_LAYER_MANAGED, &why));
  EXPECT(KEPT_INVALID, kept_layer_check("{\"a\":1}", 7, KEPT_LAYER_SYSTEM, &why));
  CHECK(strncmp(why.message, "the document: ", 14) == 0 && why.offset == -1);
  for (size_t i = 0; bad_text(i) != NULL; i++)
    EXPECT(KEPT_INVALID, kept_layer_check(bad_text(i), strlen(bad_text(i)), KEPT_LAYER_SYSTEM, &why));
}

TEST(a_type_is_one_of_a_declaration) {
  char *out = NULL;
  EXPECT(KEPT_INVALID, kept_text_to_json("1", 1, "int", &out, &why));
  EXPECT(KEPT_INVALID, kept_text_to_json("\xff", 1, "string", &out, &why));
  EXPECT(KEPT_INVALID, kept_text_to_json(NULL, 0, NULL, &out, &why));
  EXPECT(KEPT_INVALID, kept_text_to_json("1", 1, NULL, NULL, &why));
  EXPECT(KEPT_TOO_LARGE, kept_text_to_json("1", SIZE_MAX, NULL, &out, &why));
  EXPECT(KEPT_INVALID, kept_json_to_text("1", "int", &out, &why));
  EXPECT(KEPT_INVALID, kept_json_to_text(NULL, NULL, &out, &why));
  EXPECT(KEPT_INVALID, kept_json_to_text("1", NULL, NULL, &why));
  CHECK(out == NULL);
}

TEST(a_side_of_a_comparison_is_a_store_or_a_file) {
  kept_store *store = fresh_store();
  const char *file = fresh_file("{\"kept\":1,\"values\":{\"a\":1}}"), *text = fresh_file("text");
  char *json = NULL;
  EXPECT(KEPT_INVALID, kept_differences_json(NULL, NULL, store, NULL, 0, &json, &why));
  EXPECT(KEPT_INVALID, kept_differences_json(store, file, store, NULL, 0, &json, &why));
  EXPECT(KEPT_INVALID, kept_differences_json(store, NULL, NULL, "", 0, &json, &why));
  EXPECT(KEPT_INVALID, kept_differences_json(store, NULL, NULL, "/", 0, &json, &why));
  EXPECT(KEPT_INVALID, kept_differences_json(store, NULL, store, NULL, 2, &json, &why));
  EXPECT(KEPT_INVALID, kept_differences_json(store, NULL, store, NULL, 0, NULL, &why));
  EXPECT(KEPT_INVALID, kept_differences_json(store, NULL, NULL, text, 0, &json, &why));
  CHECK(says(text));
  CHECK(json == NULL);
  EXPECT(KEPT_OK, kept_differences_json(store, NULL, NULL, file, 0, &json, &why));
  CHECK_TEXT(
    "{\"comparesDeclarations\":true,\"declarations\":[],\"unknown\":[],\"values\":[{\"key\":\"a\",\"new\":1}]}", json);
  kept_free(json);
}

TEST(a_text_with_a_NUL_is_JSON) {
  char *out = NULL;
  EXPECT(KEPT_OK, kept_text_to_json("a\0b", 3, "string", &out, &why));
  CHECK_TEXT("\"a\\u0000b\"", out);
  char *text = NULL;
  EXPECT(KEPT_OK, kept_json_to_text(out, "string", &text, &why));
  CHECK_TEXT(out, text);
  kept_free(out);
  kept_free(text);
}
