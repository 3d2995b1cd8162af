/* How the fault programs create a store and check it afterwards. */
#include "expectations.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void make(void *folder) {
  kept_store *store = open_store(folder, KEPT_SHARED, 5000);
  expect_ok(kept_set_int64(store, "number", 1, &why), "write");
  expect_ok(set_both(store, 1, KEPT_SHARED), "write");
  kept_close(store);
}

void make_store(const char *folder) { finish(start(make, (void *)folder)); }

long stride(void) {
  static uint64_t state;
  if (state == 0) state = seed;
  return rounds > 1 ? 1 : 1 + (long)random_below(&state, 15);
}

kept_status status_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT: return KEPT_NO_SPACE;
    case EACCES:
    case EPERM:
    case EROFS: return KEPT_DENIED;
    case ENOMEM: return KEPT_FAILED;
    default: return KEPT_UNAVAILABLE;
  }
}

void expect_status(kept_status wanted, kept_status status, const char *what) {
  if (status != wanted) {
    fail("%s: \"%s\" where \"%s\" was expected: %s", what, kept_status_text(status), kept_status_text(wanted),
      status == KEPT_OK ? "" : why.message);
  }
  if (status == KEPT_OK) return;
  if (why.status != status) fail("%s: the error has another status than the call", what);
  if (strchr(why.message, ';') == NULL) fail("%s: a sentence without an advice: %s", what, why.message);
}

kept_status set_both(kept_store *store, int64_t value, uint32_t durability) {
  kept_transaction_options options = KEPT_TRANSACTION_OPTIONS_INIT;
  kept_store *transaction = NULL;
  options.durability = durability;
  kept_status status = kept_begin(store, &options, &transaction, &why);
  if (status == KEPT_OK) status = kept_set_int64(transaction, "first", value, &why);
  if (status == KEPT_OK) status = kept_set_int64(transaction, "second", value, &why);
  if (status == KEPT_OK) return kept_commit(transaction, NULL, &why);
  kept_rollback(transaction);
  return status;
}

int64_t get_both(kept_store *store) {
  int64_t first = -1, second = -2;
  expect_ok(kept_get_int64(store, "first", &first, &why), "read the first");
  expect_ok(kept_get_int64(store, "second", &second, &why), "read the second");
  if (first != second) fail("half a transaction: %" PRId64 " and %" PRId64, first, second);
  return first;
}

static const char *looked_at;
static int64_t least_expected, most_expected;
static bool expects_tidiness;

static void expect_nothing_but_the_store(void) {
  DIR *folder = opendir(looked_at);
  if (folder == NULL) fail("no folder at %s: %s", looked_at, strerror(errno));
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if ((expects_tidiness && strncmp(entry->d_name, ".new-", 5) == 0) || strcmp(entry->d_name, "quarantine") == 0 ||
      strcmp(entry->d_name, "damaged") == 0) {
      fail("%s lies in the folder", entry->d_name);
    }
  }
  closedir(folder);
}

static void look(void *unused) {
  kept_store *store = open_store(looked_at, KEPT_SHARED, 5000);
  int64_t found = get_both(store);
  if (found < least_expected || found > most_expected) {
    fail("another process reads %" PRId64 ", and %" PRId64 " to %" PRId64 " was expected", found, least_expected,
      most_expected);
  }
  kept_close(store);
  expect_nothing_but_the_store();
}

void expect_whole(const char *folder, int64_t least, int64_t most, bool is_tidy) {
  looked_at = folder;
  least_expected = least;
  most_expected = most;
  expects_tidiness = is_tidy;
  finish(start(look, NULL));
}

void limit_address_space(double mebibytes) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld", &pages) != 1) fail("the size of the process is not known");
  fclose(file);
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)(mebibytes * (1 << 20));
  if (setrlimit(RLIMIT_AS, &limit) != 0) fail("the address space could not be limited");
}

void free_address_space(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_AS, &limit);
}
