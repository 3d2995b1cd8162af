// Cuts the power at every event of a program's life: durable writes remain, others are lost only from the end, a
// transaction is complete or absent, and nothing is damaged.
//   power_loss [STRIDE [FAILING]]   STRIDE: test every STRIDE-th event (1); FAILING: every so many syncs of the
//                                   journal one fails (0: none), and every second one of the maintenance thread
#include "disk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "files.h"

enum { COMMITS = 400, MOST_TEXT = 140000, MANY = 100 };

static struct {
  size_t begun, returned;
  int durable;
} commits[COMMITS + 1];

static int is_failing;

static void must(kept_status status, const char *what) {
  if (status == KEPT_OK) return;
  fprintf(stderr, "%s: %s\n", what, why.message);
  exit(1);
}

/// Whether the ring, which is small then, goes round without anything that needs a sync of the database's log.
static int goes_round(int64_t number) { return number > 40 && number <= 200; }

/// The text that a commit writes: short, or so long that the database holds it before the frame that names it.
static size_t text_of(int64_t number, char *text) {
  size_t length = number % 10 == 5 && !goes_round(number) ? MOST_TEXT : 12000;
  memset(text, 'a' + (int)(number % 26), length);
  return length;
}

/// One transaction: sets both keys to the number, and writes a text so that the ring of the journal fills. Now and then
/// it is too large for the ring, so that another one begins. Returns whether it survives a loss of power.
static int commit(kept_store *store, int64_t number, uint32_t durability) {
  static char text[MOST_TEXT];
  size_t length = text_of(number, text);
  kept_store *transaction;
  kept_transaction_options options = KEPT_TRANSACTION_OPTIONS_INIT;
  options.durability = durability;
  must(kept_begin(store, &options, &transaction, &why), "begin");
  must(kept_set_int64(transaction, "first", number, &why), "set");
  must(kept_set_string(transaction, "text", text, length, &why), "set");
  int is_too_large = number % 150 == 100 && !goes_round(number);
  for (int other = 0; is_too_large && other < MANY; other++) {
    char key[32];
    snprintf(key, sizeof key, "other%d", other);
    must(kept_set_string(transaction, key, text, 12000, &why), "set");
  }
  must(kept_set_int64(transaction, "second", number, &why), "set");
  kept_status status = kept_commit(transaction, NULL, &why);
  // A sync has failed: it may be lost.
  if (status == KEPT_UNAVAILABLE && is_failing) return 0;
  must(status, "commit");
  return durability == KEPT_DURABLE;
}

static void live(const char *folder) {
  kept_store *store;
  must(kept_open(folder, NULL, &store, &why), "open");
  commit(store, 0, KEPT_DURABLE);
  kept_close(store);
  must(kept_open(folder, NULL, &store, &why), "open again");
  disk_record();
  for (int number = 1; number <= COMMITS; number++) {
    commits[number].begun = disk_events();
    commits[number].durable = commit(store, number, number % 7 == 0 ? KEPT_DURABLE : KEPT_SHARED);
    commits[number].returned = disk_events();
  }
  disk_stop();
  kept_close(store);
}

/// Returns 1 and prints why if the state of the store is not possible after a power loss at this event.
static int check(const char *folder, size_t event, unsigned seed) {
  int64_t least = 0, most = 0, one = -1, two = -2;
  for (int number = 1; number <= COMMITS; number++) {
    if (commits[number].durable && commits[number].returned <= event) least = number;
    if (commits[number].begun <= event) most = number;
  }
  kept_store *store;
  must(kept_open(folder, NULL, &store, &why), "open after the power loss");
  must(kept_get_int64(store, "first", &one, &why), "get");
  must(kept_get_int64(store, "second", &two, &why), "get");
  static char text[MOST_TEXT], found[MOST_TEXT + 1];
  size_t found_length = 0;
  must(kept_get_string(store, "text", found, sizeof found, &found_length, &why), "get");
  size_t length = text_of(one, text);
  int is_text = found_length == length && memcmp(found, text, length) == 0;
  kept_close(store);
  int is_wrong = one != two || !is_text || one < least || one > most || is_there(file_of(folder, "quarantine"));
  if (is_wrong)
    fprintf(stderr, "event %zu, seed %u: found %" PRId64 " and %" PRId64 ", expected %" PRId64 " to %" PRId64 "\n",
      event, seed, one, two, least, most);
  return is_wrong;
}

int main(int count, char **arguments) {
  size_t stride = count > 1 ? strtoul(arguments[1], NULL, 10) : 1;
  is_failing = count > 2 && atoi(arguments[2]) > 0;
  disk_fail(is_failing ? (unsigned)atoi(arguments[2]) : 0);
  char folder[512], alive[600], dead[600];
  make_folder(folder, sizeof folder, "kept-power-loss");
  snprintf(alive, sizeof alive, "%s/alive", folder);
  snprintf(dead, sizeof dead, "%s/dead", folder);
  if (mkdir(alive, 0700) != 0) return 2;
  disk_watch(alive);
  live(alive);
  int failures = 0;
  size_t losses = 0;
  for (size_t event = 0; event <= disk_events(); event += stride ? stride : 1) {
    for (unsigned mode = 0; mode < 3; mode++, losses++) {
      unsigned seed = mode < 2 ? mode : (unsigned)event + 2;
      if (mkdir(dead, 0700) != 0 || disk_cut(event, seed, dead) != 0) return 2;
      failures += check(dead, event, seed);
      remove_tree(dead);
    }
  }
  printf("%zu events, %zu power losses, %d wrong\n", disk_events(), losses, failures);
  if (failures == 0) remove_tree(folder);
  return failures != 0;
}
