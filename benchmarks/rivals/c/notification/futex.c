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

event *event_map(const char *folder) {
  char *path = folder_path(folder, "event");
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof(event)) != 0) die("cannot make %s", path);
  event *mapped = mmap(NULL, sizeof(event), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) die("cannot map %s", path);
  free(path);
  close(file);
  return mapped;
}

void event_signal(event *event) {
  atomic_fetch_add(&event->word, 1);
  syscall(SYS_futex, &event->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

uint32_t event_await(event *event, uint32_t seen) {
  while (atomic_load(&event->word) == seen) syscall(SYS_futex, &event->word, FUTEX_WAIT, seen, NULL, NULL, 0);
  return atomic_load(&event->word);
}

static void receive(const char *folder, samples *samples) {
  event *event = event_map(folder);
  uint32_t seen = atomic_load(&event->word);
  atomic_store(&samples->is_ready, 1);
  for (;;) {
    seen = event_await(event, seen);
    record_delivery(samples, atomic_load(&event->value));
  }
}

static void *open_event(const char *folder) { return event_map(folder); }

static void write_value(void *writer, uint64_t value) {
  atomic_store(&((event *)writer)->value, value);
  event_signal(writer);
}

const channel futex_channel = { "bare futex", "floor", receive, open_event, write_value };
