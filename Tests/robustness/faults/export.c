/* A disk that fills up while a store is exported to a file: every call that can fail does so once. The program receives
 * the error, the file at the path is unchanged, and no draft is left. */
#include "expectations.h"
#include "failing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TEXTS = 5, TEXT = 60000, MOST_POINTS = 1000 };

static const char *folder;
/* The folder of the exports, which is not that of a store. */
static char exports[4200];
static char file[4300];

static void fill_store(kept_store *store) {
  static char text[TEXT];
  memset(text, 'x', TEXT);
  for (int i = 0; i < TEXTS; i++) {
    char key[16];
    snprintf(key, sizeof key, "text%d", i);
    expect_ok(kept_set_string(store, key, text, TEXT, &why), "write a text");
  }
}

/* Whether the old file is in place; otherwise the new one must be complete. */
static bool is_old_file(void) {
  size_t length = 0;
  char *text = read_file(file, &length);
  if (text == NULL) fail("the file is gone");
  bool is_old = strcmp(text, "old") == 0;
  if (!is_old && (length < TEXTS * TEXT || strcmp(text + length - 2, "}}") != 0)) fail("the file is part of an export");
  free(text);
  return is_old;
}

/* Fails at every point, once or from there on. @return the number of points */
static int play(kept_store *store, int met, unsigned kinds, bool for_ever) {
  int done = 0;
  for (int point = 1; point < MOST_POINTS; point++) {
    write_file(file, "old", 3);
    plan_failure(met, kinds, point, for_ever);
    kept_status status = kept_export_file(store, file, NULL, &why);
    if (end_failure() == 0) {
      expect_ok(status, "export when nothing fails");
      return point - 1;
    }
    expect_status(status_of(met), status, "export on a full disk");
    if (names_in(exports, ".new") > 0) fail("a draft was left");
    /* At the last point the new file is in place, and its name could not be synced. */
    if (!is_old_file() && ++done > 1) fail("a file was replaced, and the call failed");
  }
  fail("no end of points");
}

static void export_again_and_again(void *unused) {
  kept_store *store = open_store(folder, KEPT_SHARED, 1000);
  fill_store(store);
  int full = play(store, ENOSPC, CALL_CREATE | CALL_WRITE | CALL_SYNC, false);
  full += play(store, ENOSPC, CALL_CREATE | CALL_WRITE | CALL_SYNC, true);
  int denied = play(store, EACCES, CALL_CREATE, false);
  if (full < 8 || denied == 0) fail("only %d and %d points were met", full, denied);
  printf("%d points with a full disk, %d without permission\n", full, denied);
  fflush(stdout);
  kept_close(store);
}

int main(int argc, char **argv) {
  begin_torture(argc, argv, 1);
  folder = fresh_folder();
  snprintf(exports, sizeof exports, "%s-exports", folder);
  snprintf(file, sizeof file, "%s/export.json", exports);
  make_store(folder);
  if (mkdir(exports, 0700) != 0) fail("no folder could be made for the exports");
  failing_folder(exports);
  finish(start(export_again_and_again, NULL));
  return end_torture("exports to a disk that fills up");
}
