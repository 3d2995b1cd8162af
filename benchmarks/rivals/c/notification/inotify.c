/* A file that is replaced atomically, and a process that watches its folder. */
#include "channel.h"

#include "../fatal.h"
#include "../folders.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

typedef struct paths {
  char *value, *next;
} paths;

static void *open_paths(const char *folder) {
  paths *paths = malloc(sizeof *paths);
  if (!paths) die("no memory");
  paths->value = folder_path(folder, "value");
  paths->next = folder_path(folder, "next");
  return paths;
}

static void receive(const char *folder, samples *samples) {
  paths *paths = open_paths(folder);
  char events[4096];
  int watch = inotify_init1(IN_CLOEXEC);
  if (inotify_add_watch(watch, folder, IN_MOVED_TO) < 0) die("cannot watch %s", folder);
  atomic_store(&samples->is_ready, 1);
  while (read(watch, events, sizeof events) > 0) {
    uint64_t value;
    int file = open(paths->value, O_RDONLY | O_CLOEXEC);
    if (read(file, &value, sizeof value) != sizeof value) die("cannot read %s", paths->value);
    close(file);
    record_delivery(samples, value);
  }
}

static void write_value(void *writer, uint64_t value) {
  paths *paths = writer;
  int file = open(paths->next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (write(file, &value, sizeof value) != sizeof value) die("cannot write %s", paths->next);
  close(file);
  if (rename(paths->next, paths->value) != 0) die("cannot rename %s", paths->next);
}

const channel inotify_channel = { "inotify", "candidate", receive, open_paths, write_value };
