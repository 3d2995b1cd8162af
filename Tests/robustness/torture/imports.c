/* kill -9 in the middle of an import that replaces everything: the store holds exactly the contents of one import,
 * either the last acknowledged one or the one in progress. An exported file is complete, or still the old one. */
#include "outside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 400, TEXT = KEYS * 40 };

static struct shared {
  int64_t begun, acknowledged, exported;
} *shared;

static const char *folder;
static char file[4300];
static unsigned writing;

/* The values of an import. All but every third key are unique to the import. */
static void fill_values(char *text, int64_t number) {
  char *end = text;
  for (int i = 0; i < KEYS; i++) {
    int64_t part = i % 3 == 0 ? 0 : number % 2 + 1;
    end += sprintf(end, "%s\"key%03d.%" PRId64 "\":%" PRId64, i == 0 ? "{" : ",", i, part, number);
  }
  strcpy(end, "}");
}

static void import_and_export(void *unused) {
  static char text[TEXT + 64], values[TEXT];
  kept_transfer_options options = KEPT_TRANSFER_OPTIONS_INIT;
  options.flags = KEPT_TRANSFER_REPLACE;
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  for (;;) {
    int64_t number = load(&shared->begun) + 1;
    store_word(&shared->begun, number);
    fill_values(values, number);
    int length = sprintf(text, "{\"kept\":1,\"values\":%s}", values);
    expect_ok(kept_import(store, text, (size_t)length, &options, NULL, &why), "import");
    store_word(&shared->acknowledged, number);
    expect_ok(kept_export_file(store, file, NULL, &why), "export");
    store_word(&shared->exported, number);
  }
}

/* The number of the import whose contents these are; fails if they are not those of exactly one import. */
static int64_t number_in(const char *export, const char *what) {
  static char values[TEXT];
  const char *found = strstr(export, "\"values\":");
  if (found == NULL) fail("%s is not an export", what);
  const char *first = strstr(found, "key000.0\":");
  int64_t number = first == NULL ? 0 : strtoll(first + strlen("key000.0\":"), NULL, 10);
  fill_values(values, number);
  size_t length = strlen(values);
  if (strncmp(found + strlen("\"values\":"), values, length) != 0 || strcmp(found + 9 + length, "}") != 0)
    fail("%s is part of import %" PRId64 ": %.300s", what, number, found);
  return number;
}

static void look_at_file(int64_t least, int64_t most) {
  char *text = read_file(file, NULL);
  if (text == NULL && least == 0) return;
  if (text == NULL) fail("the exported file is gone");
  int64_t number = number_in(text, "the exported file");
  free(text);
  if (number < least || number > most) fail("the exported file is %" PRId64, number);
}

static void look(void *unused) {
  char *text = NULL;
  kept_store *store = open_store(folder, KEPT_SHARED, 30000);
  expect_ok(kept_export_json(store, NULL, &text, &why), "export after the kill");
  int64_t number = number_in(text, "the store");
  if (number < shared->acknowledged || number > shared->begun)
    fail("the store is %" PRId64 " of %" PRId64 " to %" PRId64, number, shared->acknowledged, shared->begun);
  look_at_file(shared->exported, number);
  shared->begun = shared->acknowledged = number;
  kept_free(text);
  kept_close(store);
}

static void play_round(uint64_t *random) {
  if (round_now % 20 == 0) {
    memset(shared, 0, sizeof *shared);
    folder = fresh_folder();
    snprintf(file, sizeof file, "%s.json", folder);
  }
  int64_t before = load(&shared->exported);
  pid_t victim = start(import_and_export, NULL);
  await_word(&shared->exported, before + 1, "nothing was imported");
  if (round_now % 2 == 0) let_pass(random_below(random, 20000));
  else if (stop_at(victim, COMMITTING, folder, random)) writing++;
  kill_now(victim);
  finish(start(look, NULL));
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 0);
  shared = share(sizeof *shared);
  play_rounds(play_round);
  return end_torture("%u imports killed (%u of them with the write lock)", rounds, writing);
}
