/* Backups that are truncated, overwritten or permuted at random places and lengths: a restore either reports the damage
 * and changes nothing, or restores everything in the file. It never crashes or restores a part. */
#include "torture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEYS = 60 };

static struct shared {
  int64_t refused[17], restored;
} *shared;

static const char *folder;
static char backup[4400], damaged[4400];
static char *whole, *bytes;
static size_t length;

static const char *key_of(char *key, int number) {
  snprintf(key, 32, "key%02d", number);
  return key;
}

static void set_all(kept_store *settings, int64_t factor) {
  char key[32];
  for (int i = 0; i < KEYS; i++) expect_ok(kept_set_int64(settings, key_of(key, i), factor * (i + 1), &why), "set");
}

static void make(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  set_all(store, 1000000);
  expect_ok(kept_declare_json(store, "key00", "{\"type\":\"integer\"}", &why), "declare");
  expect_ok(kept_backup(store, backup, 0, NULL, &why), "back up");
  set_all(store, 1);
  kept_close(store);
}

/* Damages the file in one random way. */
static void damage(uint64_t *random) {
  size_t count = length, place = random_below(random, length), size = 1 + random_below(random, 2000);
  memcpy(bytes, whole, length);
  if (place + size > length) size = length - place;
  switch (random_below(random, 6)) {
    case 0: count = place; break;
    case 1: bytes[place] ^= (char)(1u << random_below(random, 8)); break;
    case 2: memset(bytes + place, 0, size); break;
    case 3:
      for (size_t i = 0; i < size; i++) bytes[place + i] = (char)random_below(random, 256);
      break;
    case 4: memmove(bytes + place, whole + random_below(random, length - size + 1), size); break;
    default: bytes[random_below(random, 100)] = (char)random_below(random, 256);
  }
  write_file(damaged, bytes, count);
}

static void expect_values(kept_store *store, int64_t factor) {
  char key[32];
  for (int i = 0; i < KEYS; i++) {
    int64_t number = 0;
    expect_ok(kept_get_int64(store, key_of(key, i), &number, &why), key);
    if (number != factor * (i + 1)) fail("%s is %" PRId64 ", and not %" PRId64, key, number, factor * (i + 1));
  }
  if (count_of(store, "") != KEYS) fail("there are %d keys", count_of(store, ""));
}

static void restore_damaged(void *unused) {
  char *before = NULL;
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  kept_status status = kept_restore(store, damaged, NULL, &before, &why);
  if (status == KEPT_OK) {
    /* The damage changed nothing, or one of the two headers. */
    add(&shared->restored, 1);
    expect_values(store, 1000000);
    if (before == NULL) fail("the previous contents were not set aside");
    expect_ok(kept_restore(store, before, NULL, NULL, &why), "take it back");
  } else {
    if (status != KEPT_CORRUPT && status != KEPT_UNSUPPORTED) fail("%s: %s", kept_status_text(status), why.message);
    if (strlen(why.message) < 20) fail("no sentence: %s", why.message);
    add(&shared->refused[-status], 1);
  }
  expect_values(store, 1);
  kept_free(before);
  kept_close(store);
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 0);
  shared = share(sizeof *shared);
  folder = fresh_folder();
  snprintf(backup, sizeof backup, "%s.backup", folder);
  snprintf(damaged, sizeof damaged, "%s.damaged", folder);
  finish(start(make, NULL));
  whole = read_file(backup, &length);
  bytes = malloc(length);
  if (whole == NULL || bytes == NULL) fail("the backup cannot be read");
  uint64_t random = seed;
  for (round_now = 0; round_now < rounds; round_now++) {
    damage(&random);
    finish(start(restore_damaged, NULL));
  }
  return end_torture("%u damaged backups of %zu bytes: %" PRId64 " corrupt, %" PRId64 " unsupported, %" PRId64
                     " without a visible effect",
    rounds, length, load(&shared->refused[10]), load(&shared->refused[15]), load(&shared->restored));
}
