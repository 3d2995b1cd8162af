/* Checking the files of a store and of a backup, which opens neither. */
#include "files.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

TEST(files_are_checked_while_a_store_is_open_and_in_a_backup) {
  const char *location = fresh_location();
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "volume", 70, &why));
  const char *backup = file_of(location, "../backup");
  EXPECT(KEPT_OK, kept_backup(store, backup, 0, NULL, &why));
  char *json = NULL;
  for (int round = 0; round < 3; round++) {
    const char *place = round == 1 ? backup : location;
    EXPECT(KEPT_OK, kept_verify_files_json(place, &json, &why));
    CHECK_TEXT("[]", json);
    kept_free(json);
    if (round == 1) kept_close(store);
  }
  size_t length;
  char *bytes = read_file(backup, &length);
  for (size_t at = 4096; at + 6 < length; at++)
    if (memcmp(bytes + at, "volume", 6) == 0) bytes[at + 6] ^= 1;
  write_file(backup, bytes, length);
  free(bytes);
  EXPECT(KEPT_OK, kept_verify_files_json(backup, &json, &why));
  CHECK(strstr(json, "\"key\":\"volume\"") != NULL && strstr(json, "backup has a damaged block at byte 4096") != NULL);
  kept_free(json);
  EXPECT(KEPT_UNAVAILABLE, kept_verify_files_json("/no/such", &json, &why));
  EXPECT(KEPT_UNSUPPORTED, kept_verify_files_json("memory:", &json, &why));
  EXPECT(KEPT_INVALID, kept_verify_files_json(NULL, &json, &why));
  EXPECT(KEPT_INVALID, kept_verify_files_json(location, NULL, &why));
}
