/* How a store keeps its secrets: requests to kept_secrets_json(). */
#include "files.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Sends a request, and returns its status; `json` receives the answer. */
static kept_status ask(kept_store *store, const char *request, char **json) {
  *json = NULL;
  return kept_secrets_json(store, request, json, &why);
}

TEST(secrets_are_encrypted_with_a_key_file_and_a_new_data_key) {
  const char *location = fresh_location();
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_declare_json(store, "token", "{\"type\":\"string\",\"secret\":true}", &why));
  EXPECT(KEPT_UNAVAILABLE, kept_set_string(store, "token", "SECRET", 6, &why));
  CHECK(strstr(why.message, "\"token\"") != NULL && strstr(why.message, "kept secrets STORE init") != NULL);
  char request[512], *json;
  EXPECT(KEPT_OK, ask(store, NULL, &json));
  CHECK_TEXT("{\"providers\":[],\"state\":\"undecided\",\"unsealed\":0}", json);
  kept_free(json);
  EXPECT(KEPT_OK, ask(store, "{\"do\":\"plain\"}", &json));
  kept_free(json);
  EXPECT(KEPT_OK, kept_set_string(store, "token", "SECRET", 6, &why));
  snprintf(request, sizeof request, "{\"do\":\"encrypt\",\"provider\":{\"kind\":\"file\",\"path\":\"%s\"}}",
    file_of(location, "../key"));
  EXPECT(KEPT_OK, ask(store, request, &json));
  CHECK(strstr(json, "\"state\":\"encrypted\",\"unsealed\":0") != NULL && strstr(json, "\"kind\":\"file\"") != NULL);
  kept_free(json);
  EXPECT(KEPT_OK, ask(store, "{\"do\":\"rotate\"}", &json));
  kept_free(json);
  EXPECT(KEPT_OK, ask(store, "{\"do\":\"check\"}", &json));
  CHECK(strstr(json, "reason") == NULL);
  kept_free(json);
  char text[16];
  size_t length;
  EXPECT(KEPT_OK, kept_get_string(store, "token", text, sizeof text, &length, &why));
  CHECK_TEXT("SECRET", text);
  EXPECT(KEPT_INVALID, ask(store, "{\"do\":\"plain\"}", &json));
  EXPECT(KEPT_ABSENT, ask(store, "{\"do\":\"remove\",\"provider\":{\"kind\":\"secret-service\"}}", &json));
  CHECK(json == NULL);
  kept_close(store);
  char *bytes = read_file(file_of(location, "values"), &length);
  for (size_t at = 0; at + 6 <= length; at++) CHECK(memcmp(bytes + at, "SECRET", 6) != 0);
  free(bytes);
}

TEST(malformed_requests_about_secrets_are_refused) {
  static const char *const wrong[] = {
    "",
    "{",
    "1",
    "{\"do\":1}",
    "{\"do\":\"other\"}",
    "{\"do\":\"encrypt\"}",
    "{\"do\":\"encrypt\",\"provider\":\"file\"}",
    "{\"do\":\"encrypt\",\"provider\":{\"kind\":\"file\"}}",
    "{\"do\":\"encrypt\",\"provider\":{\"kind\":\"file\",\"path\":\"relative\"}}",
    "{\"do\":\"encrypt\",\"provider\":{\"kind\":\"program\",\"arguments\":[1]}}",
    "{\"do\":\"encrypt\",\"provider\":{\"kind\":\"passphrase\",\"passphrase\":\"\"}}",
    "{\"do\":\"rotate\"}",
    "{\"do\":\"plain\",\"passphrase\":\"x\"}",
    "{\"do\":\"unlock\",\"passphrase\":1}",
    "{\"do\":\"add\",\"provider\":{\"kind\":\"secret-service\",\"path\":\"/x\"}}",
  };
  kept_store *store = open_at(fresh_location());
  char *json;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) EXPECT(KEPT_INVALID, ask(store, wrong[i], &json));
  EXPECT(KEPT_INVALID, ask(store, "{\"do\":\"plain\",\"dryRun\":true}", &json));
  CHECK(strstr(why.message, "\"dryRun\"") != NULL);
  EXPECT(KEPT_OK, ask(store, NULL, &json));
  CHECK_TEXT("{\"providers\":[],\"state\":\"undecided\",\"unsealed\":0}", json);
  kept_free(json);
  EXPECT(KEPT_INVALID, kept_secrets_json(store, NULL, NULL, &why));
  EXPECT(KEPT_INVALID, kept_secrets_json(NULL, NULL, &json, &why));
  EXPECT(KEPT_OK, ask(store, "{\"do\":\"plain\"}", &json));
  CHECK_TEXT("{\"providers\":[],\"state\":\"plain\",\"unsealed\":0}", json);
  kept_free(json);
  kept_close(store);
  store = open_at("memory:");
  EXPECT(KEPT_UNSUPPORTED, ask(store, NULL, &json));
  kept_close(store);
}

TEST(a_backup_is_restored_with_the_passphrase_of_its_store) {
  const char *location = fresh_location();
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_declare_json(store, "token", "{\"type\":\"string\",\"secret\":true}", &why));
  char *json;
  EXPECT(
    KEPT_OK, ask(store, "{\"do\":\"encrypt\",\"provider\":{\"kind\":\"passphrase\",\"passphrase\":\"words\"}}", &json));
  kept_free(json);
  EXPECT(KEPT_OK, kept_set_string(store, "token", "SECRET", 6, &why));
  char backup[512];
  snprintf(backup, sizeof backup, "%s", file_of(location, "../backup"));
  EXPECT(KEPT_OK, kept_backup(store, backup, 0, NULL, &why));
  kept_close(store);
  store = open_at(file_of(location, "../other"));
  EXPECT(KEPT_UNAVAILABLE, kept_restore(store, backup, NULL, NULL, &why));
  EXPECT(KEPT_DENIED, kept_restore(store, backup, "other", NULL, &why));
  EXPECT(KEPT_INVALID, kept_restore(store, backup, "not \xff UTF-8", NULL, &why));
  EXPECT(KEPT_OK, kept_restore(store, backup, "words", NULL, &why));
  char text[16];
  size_t length;
  EXPECT(KEPT_OK, kept_get_string(store, "token", text, sizeof text, &length, &why));
  CHECK_TEXT("SECRET", text);
  kept_close(store);
}

TEST(a_locked_secret_has_a_declaration_and_a_revision) {
  const char *location = fresh_location();
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_declare_json(store, "token", "{\"type\":\"string\",\"secret\":true}", &why));
  char *json;
  EXPECT(
    KEPT_OK, ask(store, "{\"do\":\"encrypt\",\"provider\":{\"kind\":\"passphrase\",\"passphrase\":\"words\"}}", &json));
  kept_free(json);
  EXPECT(KEPT_OK, kept_set_string(store, "token", "SECRET", 6, &why));
  uint64_t revision, found;
  EXPECT(KEPT_OK, kept_revision_of(store, "token", &revision, &why));
  kept_close(store);
  store = open_at(location);
  EXPECT(KEPT_UNAVAILABLE, kept_get_json(store, "token", &json, &why));
  EXPECT(KEPT_OK, kept_declaration_json(store, "token", &json, &why));
  CHECK_TEXT("{\"secret\":true,\"type\":\"string\"}", json);
  kept_free(json);
  EXPECT(KEPT_OK, kept_revision_of(store, "token", &found, &why));
  CHECK(found == revision);
  bool is_there = false;
  EXPECT(KEPT_OK, kept_contains(store, "token", &is_there, &why));
  CHECK(is_there);
  EXPECT(KEPT_CONFLICT, kept_set_json_if(store, "token", "\"OTHER\"", revision - 1, NULL, &why));
  EXPECT(KEPT_OK, kept_set_json_if(store, "token", "\"OTHER\"", revision, &found, &why));
  CHECK(found > revision);
  kept_close(store);
}
