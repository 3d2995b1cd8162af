// A file descriptor that an event loop can watch: an eventfd, or a pipe on systems without eventfd.
#ifndef KEPT_EVENT_DESCRIPTOR_H
#define KEPT_EVENT_DESCRIPTOR_H

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "Files.h"

#if defined(__linux__)
#include <sys/eventfd.h>

/// Opens the descriptor to watch and the descriptor to signal, which may be the same. Returns 0, or -1 with errno set.
static inline int kept_event_open(int *watched, int *rung) {
  *watched = *rung = kept_not_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return *watched < 0 ? -1 : 0;
}

static inline void kept_event_close(int watched, int rung) {
  (void)rung;
  close(watched);
}

static inline void kept_event_signal(int rung) {
  uint64_t one = 1;
  (void)!write(rung, &one, sizeof one);
}

static inline void kept_event_clear(int watched) {
  uint64_t count;
  (void)!read(watched, &count, sizeof count);
}

/// Creates a separate event under the same descriptor number, in the child of a fork, where no other thread can take
/// that number.
static inline void kept_event_renew(int watched, int rung) {
  (void)rung;
  // Closed first, so that a number is free for the other descriptor; and the parent's event is never cleared here, even
  // on failure.
  close(watched);
  int other = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (other < 0 || other == watched) return;
  dup3(other, watched, O_CLOEXEC);
  close(other);
}

#else

static inline int kept_event_open(int *watched, int *rung) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  for (int i = 0; i < 2; i++) {
    fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    fcntl(ends[i], F_SETFL, O_NONBLOCK);
  }
  *watched = ends[0];
  *rung = ends[1];
  return 0;
}

static inline void kept_event_close(int watched, int rung) {
  close(watched);
  close(rung);
}

static inline void kept_event_signal(int rung) { (void)!write(rung, "", 1); }

static inline void kept_event_clear(int watched) {
  char bytes[64];
  while (read(watched, bytes, sizeof bytes) > 0) continue;
}

static inline void kept_event_renew(int watched, int rung) {
  int ends[2];
  if (kept_event_open(&ends[0], &ends[1]) != 0) return;
  dup2(ends[0], watched);
  dup2(ends[1], rung);
  kept_event_close(ends[0], ends[1]);
}

#endif
#endif
