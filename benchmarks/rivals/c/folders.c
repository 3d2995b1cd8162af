/* Creates and removes the folders of stores. */
#include "folders.h"

#include "fatal.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

char *folder_path(const char *folder, const char *name) {
  char *path;
  if (asprintf(&path, "%s/%s", folder, name) < 0) die("no memory for a path");
  return path;
}

char *folder_make(const char *parent, const char *name) {
  char *path = folder_path(parent, name);
  folder_remove(path);
  if (mkdir(path, 0700) != 0) die("cannot make the folder %s: %s", path, strerror(errno));
  return path;
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *place) {
  (void)status, (void)flag, (void)place;
  return remove(path);
}

void folder_remove(const char *path) {
  if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT) {
    die("cannot remove the folder %s: %s", path, strerror(errno));
  }
}
