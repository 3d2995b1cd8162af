#define _GNU_SOURCE
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

mode_t mode_at(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0 ? status.st_mode : 0;
}

const char *text_at(const char *path) {
  char *text = repeated(0, 1000);
  FILE *file = fopen(path, "r");
  CHECK(file != NULL);
  if (file == NULL) return "";
  text[fread(text, 1, 1000, file)] = 0;
  fclose(file);
  return text;
}

const char *closed_store(void) {
  const char *location = fresh_folder();
  kept_store *store = open_at(location);
  EXPECT(KEPT_OK, kept_set_int64(store, "number", 1, &why));
  kept_close(store);
  return location;
}

void play_in_time(const char *role, const char *location) {
  child child = start_child(role, location);
  CHECK_INT(0, finish_child(&child));
}
