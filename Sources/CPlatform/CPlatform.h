// All operating system interfaces that Kept uses: the headers, and the few calls that Swift cannot express identically
// on every system. Header-only: nothing here is linked.
#ifndef KEPT_CPLATFORM_H
#define KEPT_CPLATFORM_H

#include "Atomics.h"
#include "Changes.h"
#include "Checksum.h"
#include "EngineCalls.h"
#include "EventDescriptor.h"
#include "FileLocks.h"
#include "FileSystem.h"
#include "Files.h"
#include "Futex.h"
#include "Seqlock.h"
#include "Hash.h"
#include "Image.h"
#include "Inotify.h"
#include "Memory.h"
#include "Program.h"
#include "SizeSignal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/// Why the last system call of this thread failed.
static inline int kept_errno(void) { return errno; }

/// Writes text to standard error with one system call. A failure is ignored, because there is no way to report it.
static inline void kept_print_error(const void *text, size_t length) {
  if (write(STDERR_FILENO, text, length) < 0) errno = 0;
}

/// Allocates disk blocks for a file. Returns 0 or an errno.
static inline int kept_allocate(int file, off_t size) {
  kept_size_signal held = kept_hold_size_signal();
#if defined(__linux__)
  int status;
  do status = posix_fallocate(file, 0, size);
  while (status == EINTR);
#else
  int status = ftruncate(file, size) == 0 ? 0 : errno;
#endif
  kept_release_size_signal(&held);
  return status;
}

/// Atomically replaces mapped memory by other mapped memory. Concurrent readers see one or the other. Returns 0 or an
/// errno.
static inline int kept_replace_mapping(void *place, void *memory, size_t size) {
#if defined(__linux__)
  // MREMAP_MAYMOVE | MREMAP_FIXED, which glibc declares only with _GNU_SOURCE.
  return syscall(SYS_mremap, memory, size, size, 3, place) == (long)place ? 0 : errno;
#else
  (void)place, (void)memory, (void)size;
  return ENOTSUP;
#endif
}

/// Allocates zeroed private memory as mapped pages; NULL on failure.
static inline void *kept_map_own(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/// Returns the whole pages inside allocated memory to the system. The memory stays readable, with undefined contents.
static inline void kept_give_back(void *memory, size_t size) {
  uintptr_t page = 4096 > sysconf(_SC_PAGESIZE) ? 4096 : (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t start = ((uintptr_t)memory + page - 1) & ~(page - 1), end = ((uintptr_t)memory + size) & ~(page - 1);
  // The advice may be ignored, as for memory that the host has locked.
  if (start < end) (void)madvise((void *)start, end - start, MADV_DONTNEED);
}

/// Whether a path leads to a folder, also through symbolic links.
static inline int kept_is_folder(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/// Identifies a thread while it runs. It is on the reading path, so it reads a register instead of making a call.
static inline uintptr_t kept_thread_current(void) {
#if defined(__linux__) && __has_builtin(__builtin_thread_pointer)
  return (uintptr_t)__builtin_thread_pointer();
#else
  return (uintptr_t)pthread_self();
#endif
}

/// Initializes a condition for kept_wait_until. It uses a clock that cannot be set.
static inline int kept_condition_init(pthread_cond_t *condition) {
#if defined(__APPLE__)
  return pthread_cond_init(condition, NULL);
#else
  pthread_condattr_t attributes;
  int status = pthread_condattr_init(&attributes);
  if (status != 0) return status;
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  status = pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
  return status;
#endif
}

/// The deadline after a number of milliseconds, for kept_wait_until.
static inline struct timespec kept_deadline(int64_t milliseconds) {
  struct timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_sec += milliseconds / 1000;
  deadline.tv_nsec += (milliseconds % 1000) * 1000000;
  if (deadline.tv_nsec >= 1000000000) {
    deadline.tv_sec += 1;
    deadline.tv_nsec -= 1000000000;
  }
  return deadline;
}

/// Waits for a condition initialized by kept_condition_init; returns false once the deadline has passed.
static inline bool kept_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, struct timespec deadline) {
#if defined(__APPLE__)
  struct timespec now = kept_deadline(0), left = { deadline.tv_sec - now.tv_sec, deadline.tv_nsec - now.tv_nsec };
  if (left.tv_nsec < 0) {
    left.tv_sec -= 1;
    left.tv_nsec += 1000000000;
  }
  return left.tv_sec >= 0 && pthread_cond_timedwait_relative_np(condition, mutex, &left) == 0;
#else
  return pthread_cond_timedwait(condition, mutex, &deadline) == 0;
#endif
}

/// The number of stripes that threads count in, so that they seldom meet: four for each processor that this
/// process may use, as a power of two from 8 to 64.
static inline uint32_t kept_stripe_count(void) {
  uint32_t processors = 16, count = 8;
#if defined(__linux__)
  uint64_t usable[64];
  long bytes = syscall(SYS_sched_getaffinity, 0, sizeof usable, usable);
  if (bytes > 0) processors = 0;
  for (long word = 0; word < bytes / 8; word++) processors += (uint32_t)__builtin_popcountll(usable[word]);
#endif
  while (count < 4 * processors && count < 64) count *= 2;
  return count;
}

/// A number below `count`, a power of two, that distributes threads and stays the same for each thread.
static inline uint32_t kept_stripe(uint32_t count) {
  return (uint32_t)(((uint64_t)(kept_thread_current() >> 12) * 0x9E3779B97F4A7C15u) >> 32) & (count - 1);
}

/// Changes how often this thread is inside the gate that a fork closes, and returns it. Only ForkGate.swift may call
/// it, in functions that are not inlined: each object file that calls it has a word of its own.
static inline int kept_fork_depth(int change) {
#if defined(__GLIBC__)
  // At a fixed distance from the thread's pointer: calls to find the word took a thirtieth of a set. glibc sets memory
  // aside for libraries that want this and are loaded later; others may refuse to load them.
  static __thread __attribute__((tls_model("initial-exec"))) int depth;
#else
  static __thread int depth;
#endif
  return depth += change;
}

/// Whether all words that are `apart` words from each other are 0. Loads are sequentially consistent.
static inline bool kept_are_zero(const uint64_t *words, size_t count, size_t apart) {
  uint64_t found = 0;
#if defined(__clang__)
#pragma clang loop unroll_count(16)
#endif
  for (size_t index = 0; index < count; index++) found |= kept_load64(words + index * apart);
  return found == 0;
}

/// Defers pthread_cancel() until kept_admit_cancelling(): a thread that ended in the middle of a call would never
/// release its locks. Returns the previous state.
static inline int kept_hold_cancelling(void) {
  int before = PTHREAD_CANCEL_ENABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}

static inline void kept_admit_cancelling(int before) { pthread_setcancelstate(before, &before); }

/// Starts a detached thread that receives no signals, because signals belong to the host. Its stack is as large as
/// those of other threads, and at least 1 MiB: the default size is a limit (ulimit -s) that others may have set.
/// Returns 0 or an errno.
static inline int kept_thread_start(void *(*run)(void *context), void *context) {
  enum { LEAST_STACK = 1 << 20 };
  pthread_attr_t attributes;
  size_t stack = 0;
  int status = pthread_attr_init(&attributes);
  if (status != 0) return status;
  pthread_attr_getstacksize(&attributes, &stack);
  if (stack < LEAST_STACK) pthread_attr_setstacksize(&attributes, stack = LEAST_STACK);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigset_t everything, hosts;
  sigfillset(&everything);
  pthread_sigmask(SIG_BLOCK, &everything, &hosts);
  pthread_t thread;
  status = EAGAIN;
  // Where there is room for little more than its stack, what it needs would end the process: a connection, for one.
  if (kept_has_memory(stack + (4 << 20))) status = pthread_create(&thread, &attributes, run, context);
  pthread_sigmask(SIG_SETMASK, &hosts, NULL);
  pthread_attr_destroy(&attributes);
  return status;
}

#endif
