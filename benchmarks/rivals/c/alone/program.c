/* A program with one engine, linked with that engine's library and no other. CMakeLists.txt builds one for each ENGINE:
 *
 *   alone-ENGINE first FOLDER KEYS   opens the store and prints its first value
 *   alone-ENGINE fill FOLDER KEYS    creates a store with this number of texts
 *   alone-ENGINE read FOLDER KEYS    reads each key once
 *   alone-ENGINE set FOLDER KEYS     sets 10,000 times, each a commit
 *
 * Each prints a line when it is done. The last two then wait for the end of their standard input before they close. */
#include "../fatal.h"
#include "../filling.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_LENGTH 20
#define SETS 10000

static void done(uint64_t figure) {
  printf("%" PRIu64 "\n", figure);
  fflush(stdout);
}

static void await_end(void) {
  char ignored;
  while (read(STDIN_FILENO, &ignored, 1) > 0) {}
}

static void fill(const char *folder, size_t count) {
  ENGINE.close(open_filled(&ENGINE, folder, false, (contents){ .keys = count, .length = TEXT_LENGTH }));
  done(count);
}

/* One key at a time: a list of all keys would use memory too. */
static uint64_t read_first(void *session, size_t count) {
  key key;
  walk walk = walk_begin(&key, 1, TEXT_LENGTH);
  walk.steps = 1;
  for (size_t index = 0; index < count; index++) {
    key = key_of(index);
    ENGINE.get(session, &walk);
  }
  walk_end(&walk);
  return walk.sum;
}

static uint64_t set_keys(void *session, size_t count) {
  walk walk = walk_begin(keys_of(count)->shuffled, count, TEXT_LENGTH);
  walk.steps = SETS;
  walk.stamp = (int64_t)count; /* differs from the stored text */
  ENGINE.set(session, &walk);
  walk_end(&walk);
  return SETS;
}

int main(int count, char **arguments) {
  if (count != 4) die("usage: %s first|fill|read|set FOLDER KEYS", arguments[0]);
  const char *verb = arguments[1], *folder = arguments[2];
  size_t keys = strtoul(arguments[3], NULL, 10);
  if (strcmp(verb, "fill") == 0) return fill(folder, keys), 0;
  bool is_first = strcmp(verb, "first") == 0;
  void *store = ENGINE.open(folder, false);
  void *session = ENGINE.join(store);
  done(strcmp(verb, "set") == 0 ? set_keys(session, keys) : read_first(session, is_first ? 1 : keys));
  if (!is_first) await_end();
  ENGINE.leave(session);
  ENGINE.close(store);
  return 0;
}
