/* The floor: a value in memory that two processes share, and a futex. */
#include "channel.h"

#include "../fatal.h"
#include "../folders.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

bell *bell_map(const char *folder) {
  char *path = folder_path(folder, "bell");
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof(bell)) != 0) die("cannot make %s", path);
  bell *mapped = mmap(NULL, sizeof(bell), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) die("cannot map %s", path);
  free(path);
  close(file);
  return mapped;
}

void bell_ring(bell *bell) {
  atomic_fetch_add(&bell->word, 1);
  syscall(SYS_futex, &bell->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

uint32_t bell_await(bell *bell, uint32_t seen) {
  while (atomic_load(&bell->word) == seen) syscall(SYS_futex, &bell->word, FUTEX_WAIT, seen, NULL, NULL, 0);
  return atomic_load(&bell->word);
}

static void hear(const char *folder, samples *samples) {
  bell *bell = bell_map(folder);
  uint32_t seen = atomic_load(&bell->word);
  atomic_store(&samples->is_ready, 1);
  for (;;) {
    seen = bell_await(bell, seen);
    heard(samples, atomic_load(&bell->value));
  }
}

static void *open_bell(const char *folder) { return bell_map(folder); }

static void write_value(void *writer, uint64_t value) {
  atomic_store(&((bell *)writer)->value, value);
  bell_ring(writer);
}

const channel futex_channel = {"bare futex", "floor", hear, open_bell, write_value};
