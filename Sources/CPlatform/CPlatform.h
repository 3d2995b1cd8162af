// What Kept asks of the operating system, in one place: the headers, and the few calls that Swift cannot spell alike on
// every system. Header-only: nothing here is linked.
#ifndef KEPT_CPLATFORM_H
#define KEPT_CPLATFORM_H

#include "Atomics.h"
#include "EventDescriptor.h"
#include "FileLocks.h"
#include "FileSystem.h"
#include "Files.h"
#include "Futex.h"
#include "Seqlock.h"
#include "Hash.h"
#include "Inotify.h"
#include "Memory.h"
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

/// Writes text to standard error, by one system call; a failure is nothing to report anywhere.
static inline void kept_print_error(const void *text, size_t length) {
  if (write(STDERR_FILENO, text, length) < 0) errno = 0;
}

/// Gives a file its blocks on the disk. Returns 0 or an errno.
static inline int kept_allocate(int file, off_t size) {
  kept_size_signal held = kept_hold_size_signal();
#if defined(__linux__)
  int status = posix_fallocate(file, 0, size);
#else
  int status = ftruncate(file, size) == 0 ? 0 : errno;
#endif
  kept_release_size_signal(&held);
  return status;
}

/// What mmap returns when it fails.
static inline void *kept_map_failed(void) { return MAP_FAILED; }

/// Puts mapped memory in the place of other mapped memory; whoever reads there meanwhile sees the one or the other.
/// Returns 0 or an errno.
static inline int kept_replace_mapping(void *place, void *memory, size_t size) {
#if defined(__linux__)
  // MREMAP_MAYMOVE | MREMAP_FIXED, which glibc shows only with _GNU_SOURCE.
  return syscall(SYS_mremap, memory, size, size, 3, place) == (long)place ? 0 : errno;
#else
  (void)place, (void)memory, (void)size;
  return ENOTSUP;
#endif
}

/// Memory of this process alone, as mapped pages of zeros; NULL where there is none.
static inline void *kept_map_own(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/// Gives the whole pages in memory that was allocated back to the system. It stays readable, whatever is in it then.
static inline void kept_give_back(void *memory, size_t size) {
  uintptr_t page = 4096 > sysconf(_SC_PAGESIZE) ? 4096 : (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t start = ((uintptr_t)memory + page - 1) & ~(page - 1), end = ((uintptr_t)memory + size) & ~(page - 1);
  // As advice it may be ignored, as for memory that the host has locked.
  if (start < end) (void)madvise((void *)start, end - start, MADV_DONTNEED);
}

/// Whether a path leads to a folder, through symbolic links too.
static inline int kept_is_folder(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/// Tells one thread from another, for as long as both live. On the reading path, so a register and not a call.
static inline uintptr_t kept_thread_current(void) {
#if defined(__linux__) && __has_builtin(__builtin_thread_pointer)
  return (uintptr_t)__builtin_thread_pointer();
#else
  return (uintptr_t)pthread_self();
#endif
}

/// Makes a condition for kept_wait_until. Its clock is one that nobody sets.
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

/// The moment in so many milliseconds, for kept_wait_until.
static inline struct timespec kept_deadline(int64_t milliseconds) {
  struct timespec moment;
  clock_gettime(CLOCK_MONOTONIC, &moment);
  moment.tv_sec += milliseconds / 1000;
  moment.tv_nsec += (milliseconds % 1000) * 1000000;
  if (moment.tv_nsec >= 1000000000) {
    moment.tv_sec += 1;
    moment.tv_nsec -= 1000000000;
  }
  return moment;
}

/// Waits for a condition that kept_condition_init has made; false when the moment has come.
static inline bool kept_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, struct timespec moment) {
#if defined(__APPLE__)
  struct timespec now = kept_deadline(0), left = {moment.tv_sec - now.tv_sec, moment.tv_nsec - now.tv_nsec};
  if (left.tv_nsec < 0) {
    left.tv_sec -= 1;
    left.tv_nsec += 1000000000;
  }
  return left.tv_sec >= 0 && pthread_cond_timedwait_relative_np(condition, mutex, &left) == 0;
#else
  return pthread_cond_timedwait(condition, mutex, &moment) == 0;
#endif
}

/// A number below `count` that spreads threads apart and stays the same for a thread.
static inline uint32_t kept_stripe(uint32_t count) {
  return (uint32_t)(((uint64_t)(kept_thread_current() >> 12) * 0x9E3779B97F4A7C15u) >> 32) % count;
}

/// Lets pthread_cancel() wait until kept_admit_cancelling(): a thread that ended in the middle of a call would keep its
/// locks for ever. Returns what it was before.
static inline int kept_hold_cancelling(void) {
  int before = PTHREAD_CANCEL_ENABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}

static inline void kept_admit_cancelling(int before) { pthread_setcancelstate(before, &before); }

/// Starts a detached thread that receives no signals: those are the host's. Its stack is as large as those of other
/// threads, and at least 1 MiB: their size is a limit (ulimit -s) that others may have set. Returns 0 or an errno.
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
