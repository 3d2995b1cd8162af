/* LMDB copies its file, and has no function for the others: to restore, a program replaces the file while no process
 * has it open. */
#include "copier.h"

#include "../fatal.h"
#include "../folders.h"

#include <lmdb.h>
#include <stdlib.h>
#include <sys/stat.h>

static void back_up(life *life, const char *path) {
  if (mkdir(path, 0700) != 0) die("cannot make the folder %s", path);
  int status = mdb_env_copy2(life->store, path, MDB_CP_COMPACT);
  if (status != MDB_SUCCESS) die("LMDB cannot copy itself: %s", mdb_strerror(status));
  char *file = folder_path(path, "data.mdb");
  sync_file(file);
  free(file);
}

static void migrate(life *life, const char *path) {
  back_up(life, path);
  lmdb.set_together(life->session, &life->walk);
}

const copier lmdb_copier = { &lmdb, { [BACKUP] = back_up, [MIGRATION] = migrate } };
