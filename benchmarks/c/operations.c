/* operations FOLDER OPERATION COUNT: does one operation on Kept so many times, for callgrind to count instructions. Two
 * runs of different length differ by the operations alone. */
#include "complaint.h"
#include "filling.h"
#include "folders.h"

#include <stdlib.h>
#include <string.h>

typedef struct counted {
  const char *name;
  void (*loop)(void *session, walk *walk);
  kind kind;
} counted;

static counted find(const char *name) {
  const counted known[] = {
    {"get-int64", kept.get_integers, INTEGER},
    {"get-string", kept.get_texts, TEXT},
    {"set-int64", kept.set, INTEGER},
  };
  for (size_t at = 0; at < sizeof known / sizeof *known; at++) {
    if (strcmp(known[at].name, name) == 0) return known[at];
  }
  complain("there is no operation %s", name);
}

int main(int count, char **arguments) {
  if (count != 4) complain("usage: operations FOLDER OPERATION COUNT");
  counted operation = find(arguments[2]);
  const keys *keys = keys_of(1000);
  char *folder = folder_make(arguments[1], arguments[2]);
  void *store = open_filled(&kept, folder, false, keys, operation.kind);
  void *session = kept.join(store);

  walk warm = {.ring = keys->sorted, .count = keys->count, .steps = keys->count, .stamp = 1000000};
  operation.loop(session, &warm);
  walk walk = {
    .ring = keys->shuffled, .count = keys->count, .steps = strtoul(arguments[3], NULL, 10), .stamp = 2000000};
  operation.loop(session, &walk);

  kept.leave(session);
  kept.close(store);
  folder_remove(folder);
  free(folder);
  return 0;
}
