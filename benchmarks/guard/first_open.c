/* first_open FOLDER COUNT: opens a store of COUNT keys and gets a value, for callgrind to count instructions. It is the
 * first use of the library in this process; loading the library is not included. */
#include "../rivals/c/fatal.h"
#include "../rivals/c/filling.h"
#include "../rivals/c/folders.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

/* In another process, which callgrind neither counts nor mentions. */
static void fill(const char *folder, size_t count) {
  pid_t process = fork();
  if (process < 0) die("no process");
  if (process == 0) {
    kept.close(open_filled(&kept, folder, false, (contents){ .keys = count }));
    _exit(0);
  }
  int status;
  if (waitpid(process, &status, 0) < 0 || status != 0) die("the process that fills the store failed");
}

int main(int count, char **arguments) {
  if (count != 3) die("usage: first_open FOLDER COUNT");
  const keys *keys = keys_of(strtoul(arguments[2], NULL, 10));
  char *folder = folder_make(arguments[1], "first");
  fill(folder, keys->count);
  walk walk = walk_begin(keys->shuffled, keys->count, 0);
  walk.steps = 1;
  CALLGRIND_TOGGLE_COLLECT;
  void *store = kept.open(folder, false), *session = kept.join(store);
  kept.get(session, &walk);
  CALLGRIND_TOGGLE_COLLECT;
  walk_end(&walk);
  kept.leave(session);
  kept.close(store);
  folder_remove(folder);
  free(folder);
  return 0;
}
