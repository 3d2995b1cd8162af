#include "files.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void require(bool condition, const char *path) {
  if (condition) return;
  perror(path);
  exit(2);
}

const char *file_of(const char *folder, const char *name) {
  static char paths[256][4300];
  static unsigned next;
  char *path = paths[next++ % 256];
  snprintf(path, sizeof *paths, "%s/%s", folder, name);
  return path;
}

void make_folder(char *path, size_t size, const char *name) {
  const char *base = getenv("TMPDIR");
  snprintf(path, size, "%s/%s-XXXXXX", base && *base ? base : "/tmp", name);
  require(mkdtemp(path) != NULL, path);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk) {
  return remove(path);
}

void remove_tree(const char *path) { nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

void put_file(const char *path, const char *text) {
  char new[4400];
  snprintf(new, sizeof new, "%s.new", path);
  write_file(new, text, strlen(text));
  require(chmod(new, 0644) == 0 && rename(new, path) == 0, path);
}

void write_file(const char *path, const void *bytes, size_t length) {
  FILE *file = fopen(path, "wb");
  require(file != NULL && fwrite(bytes, 1, length, file) == length && fclose(file) == 0, path);
}

bool write_into(const char *path, const char *text) {
  int file = open(path, O_WRONLY);
  bool done = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
  if (file >= 0) close(file);
  return done;
}

char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  size_t used = 0, size = 1 << 16;
  if (file == NULL) return NULL;
  char *bytes = malloc(size);
  for (size_t count; bytes != NULL && (count = fread(bytes + used, 1, size - used - 1, file)) > 0;) {
    used += count;
    if (size - used < 2) bytes = realloc(bytes, size *= 2);
  }
  fclose(file);
  require(bytes != NULL, path);
  bytes[used] = 0;
  if (length != NULL) *length = used;
  return bytes;
}

bool copy_file(const char *from, const char *to) {
  size_t length = 0;
  char *bytes = read_file(from, &length);
  if (bytes == NULL) return false;
  write_file(to, bytes, length);
  free(bytes);
  return true;
}

bool holds(const char *path, const char *text) {
  size_t length = 0;
  char *bytes = read_file(path, &length);
  bool found = bytes != NULL && memmem(bytes, length, text, strlen(text)) != NULL;
  free(bytes);
  return found;
}

long number_in_file(const char *path, const char *name) {
  char *text = read_file(path, NULL), *place = text == NULL ? NULL : strstr(text, name);
  long number = place == NULL ? -1 : strtol(place + strlen(name), NULL, 10);
  free(text);
  return number;
}

mode_t mode_at(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0 ? status.st_mode : 0;
}

bool is_there(const char *path) { return mode_at(path) != 0; }

int names_in(const char *folder, const char *beginning) {
  DIR *names = opendir(folder);
  int count = 0;
  for (struct dirent *entry; names != NULL && (entry = readdir(names)) != NULL;) {
    bool is_folder = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    count += !is_folder && strncmp(entry->d_name, beginning, strlen(beginning)) == 0;
  }
  if (names != NULL) closedir(names);
  return count;
}
