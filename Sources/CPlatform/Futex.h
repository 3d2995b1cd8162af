// Sleeping on a word of shared memory until somebody changes it: the Linux futex, and a bounded nap where there is
// none.
#ifndef KEPT_FUTEX_H
#define KEPT_FUTEX_H

#include <limits.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "Atomics.h"

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>

/// Sleeps while the word holds `seen`, at most so long. It may return early: look again.
static inline void kept_sleep_on(uint32_t *word, uint32_t seen, int milliseconds) {
  struct timespec limit = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
  syscall(SYS_futex, word, FUTEX_WAIT, seen, &limit, NULL, 0);
}

/// Wakes everyone, in every process, who sleeps on the word.
static inline void kept_wake_all(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0); }

/// The same for a word that only this process has: the kernel need not look up whose memory it is.
static inline void kept_sleep_here(uint32_t *word, uint32_t seen, int milliseconds) {
  struct timespec limit = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &limit, NULL, 0);
}

static inline void kept_wake_all_here(uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#else

/// Without futexes: looks at the word every few milliseconds, at most so long.
static inline void kept_sleep_on(uint32_t *word, uint32_t seen, int milliseconds) {
  struct timespec nap = {0, 5 * 1000000L};
  for (int slept = 0; slept < milliseconds && kept_load32(word) == seen; slept += 5) nanosleep(&nap, NULL);
}

static inline void kept_wake_all(uint32_t *word) { (void)word; }

static inline void kept_sleep_here(uint32_t *word, uint32_t seen, int milliseconds) {
  kept_sleep_on(word, seen, milliseconds);
}

static inline void kept_wake_all_here(uint32_t *word) { kept_wake_all(word); }

#endif
#endif
