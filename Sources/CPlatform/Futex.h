// Sleeping on a word of shared memory until it changes: the Linux futex, or bounded sleeps on other systems.
#ifndef KEPT_FUTEX_H
#define KEPT_FUTEX_H

#include <limits.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "Atomics.h"

// About as long as a writer holds the write lock. No other number was measured.
#if defined(KEPT_SCHEDULES)
enum { KEPT_SPINS = 2 };
#else
enum { KEPT_SPINS = 100 };
#endif

/// Waits for a few microseconds at most until a word is 0, without a system call. Returns whether it is.
static inline bool kept_spin_until_zero(const uint64_t *word) {
  for (int times = 0; times < KEPT_SPINS; times++) {
    if (kept_load64(word) == 0) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
  }
  return false;
}

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>

/// Sleeps while the word has the value `seen`, up to a time limit. It may return early: check again.
static inline void kept_sleep_on(uint32_t *word, uint32_t seen, int milliseconds) {
  struct timespec limit = { milliseconds / 1000, (milliseconds % 1000) * 1000000L };
  syscall(SYS_futex, word, FUTEX_WAIT, seen, &limit, NULL, 0);
}

/// Wakes all threads, in every process, that sleep on the word.
static inline void kept_wake_all(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0); }

/// Sleeps on a word that only this process has: the kernel need not look up the owner of the memory.
static inline void kept_sleep_here(uint32_t *word, uint32_t seen, int milliseconds) {
  struct timespec limit = { milliseconds / 1000, (milliseconds % 1000) * 1000000L };
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &limit, NULL, 0);
}

static inline void kept_wake_all_here(uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#else

/// Without futexes: polls the word every few milliseconds, up to the time limit.
static inline void kept_sleep_on(uint32_t *word, uint32_t seen, int milliseconds) {
  struct timespec nap = { 0, 5 * 1000000L };
  for (int slept = 0; slept < milliseconds && kept_load32(word) == seen; slept += 5) nanosleep(&nap, NULL);
}

static inline void kept_wake_all(uint32_t *word) { (void)word; }

static inline void kept_sleep_here(uint32_t *word, uint32_t seen, int milliseconds) {
  kept_sleep_on(word, seen, milliseconds);
}

static inline void kept_wake_all_here(uint32_t *word) { kept_wake_all(word); }

#endif
#endif
