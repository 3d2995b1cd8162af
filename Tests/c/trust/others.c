#include "others.h"

#include <dirent.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int has_other_user(void) {
  if (geteuid() == 0) return 1;
  fprintf(stderr, "left out, as only root can be another user\n");
  return 0;
}

void become_nobody(void) { CHECK(setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0); }

void give_away(const char *path) { CHECK_INT(0, lchown(path, NOBODY, NOBODY)); }

void give_away_store(const char *folder) {
  DIR *files = opendir(folder);
  CHECK(files != NULL);
  for (struct dirent *entry; files && (entry = readdir(files));) {
    if (strcmp(entry->d_name, "..") != 0) give_away(file_of(folder, entry->d_name));
  }
  if (files) closedir(files);
}

const char *closed_store(void) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "number", 1, &why));
  kept_close(store);
  return location;
}

void copy_program(const char *to) { CHECK(copy_file("/proc/self/exe", to) && chmod(to, 0700) == 0); }
