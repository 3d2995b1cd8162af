// The functions of the C library that the engine and Swift's runtime call. A program that defines them replaces them in
// the libraries that it has loaded, too. Threads that are not simulated get the system's.
#define _GNU_SOURCE
#include "internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) \
  static __typeof__(&name) real; \
  if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/// Returns from the calling function if the call is to fail.
#define FAIL(kind) \
  do { \
    int error = failure(kind); \
    if (error > 0) errno = error; \
    if (error > 0) return (int)after(kind, -1); \
  } while (0)

/* Shared words */

static const void *pages[MOST_PROCESSES];

static const void **page_at(const void *address) {
  uintptr_t start = (uintptr_t)address & ~(uintptr_t)4095;
  for (int at = 0; at < MOST_PROCESSES; at++)
    if (pages[at] == (const void *)start) return &pages[at];
  return NULL;
}

/// Called before each access of a word that threads share (Atomics.h).
void kept_access(const void *word);
void kept_access(const void *word) {
  if (!own) return;
  if (page_at(word)) {
    before(STEP_PULSE, (int64_t)((uintptr_t)word & 4095));
    watch(word, (uintptr_t)word & 4095);
  } else {
    before(STEP_ACCESS, 0);
  }
}

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  if (own && address) watch(NULL, 0);
  void *result = (void *)system_call(SYS_mmap, (long)address, (long)size, protection, flags, file, offset);
  if (!own || !(flags & MAP_SHARED) || file < 0 || result == MAP_FAILED) return result;
  before(STEP_MAP, 0);
  for (int at = 0; at < MOST_PROCESSES; at++)
    if (pages[at] == NULL) return pages[at] = result, result;
  simulation_finding("too many pages");
  return result;
}

/* Locks of threads, and sleeping */

static int64_t nanoseconds(const struct timespec *time) { return time->tv_sec * 1000000000 + time->tv_nsec; }

/// The end of a pause. Days have no end: nothing would happen before.
static int64_t after_pause(const struct timespec *pause) {
  return pause == NULL || pause->tv_sec > 100000 ? INT64_MAX : shared->now + nanoseconds(pause);
}

static void acquire(pthread_mutex_t *mutex) {
  while (pthread_mutex_trylock(mutex) == EBUSY) block(own_key(mutex), INT64_MAX);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex) {
  REAL(pthread_mutex_trylock);
  return real(mutex);
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  REAL(pthread_mutex_lock);
  if (!own) return real(mutex);
  before(STEP_MUTEX, 0);
  acquire(mutex);
  return 0;
}

static int release(pthread_mutex_t *mutex) {
  REAL(pthread_mutex_unlock);
  int result = real(mutex);
  if (own) wake(own_key(mutex), false);
  return result;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  int result = release(mutex);
  if (own) before(STEP_UNLOCK, 0);
  return result;
}

static int await_condition(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t deadline) {
  before(STEP_CONDITION, 0);
  release(mutex);
  bool is_woken = block(own_key(condition), deadline);
  acquire(mutex);
  return is_woken ? 0 : ETIMEDOUT;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline) {
  REAL(pthread_cond_timedwait);
  return own ? await_condition(condition, mutex, nanoseconds(deadline)) : real(condition, mutex, deadline);
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  REAL(pthread_cond_wait);
  return own ? await_condition(condition, mutex, INT64_MAX) : real(condition, mutex);
}

int pthread_cond_broadcast(pthread_cond_t *condition) {
  REAL(pthread_cond_broadcast);
  if (!own) return real(condition);
  if (wake(own_key(condition), true)) before(STEP_NOTIFY, 0);
  return 0;
}

int pthread_cond_signal(pthread_cond_t *condition) {
  REAL(pthread_cond_signal);
  if (!own) return real(condition);
  if (wake(own_key(condition), false)) before(STEP_NOTIFY, 0);
  return 0;
}

/// No thread waits for it in the system.
int pthread_cond_destroy(pthread_cond_t *condition) {
  REAL(pthread_cond_destroy);
  return own ? 0 : real(condition);
}

int sched_yield(void) {
  if (!own) return (int)system_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
  before(STEP_YIELD, 0);
  return 0;
}

int nanosleep(const struct timespec *pause, struct timespec *rest) {
  if (!own) return (int)system_call(SYS_nanosleep, (long)pause, (long)rest, 0, 0, 0, 0);
  before(STEP_SLEEP, 0);
  FAIL(STEP_SLEEP);
  block(0, after_pause(pause));
  return 0;
}

static long futex(uint32_t *word, int operation, uint32_t value, const struct timespec *limit) {
  int command = operation & FUTEX_CMD_MASK;
  bool is_own = page_at(word) == NULL;
  uint64_t key = is_own ? own_key(word) : shared_key(word);
  before(command == FUTEX_WAKE ? STEP_WAKE : STEP_FUTEX, is_own ? 0 : (int64_t)((uintptr_t)word & 4095));
  switch (command) {
    case FUTEX_WAKE: return after(STEP_WAKE, wake(key, value > 1));
    case FUTEX_WAIT:
      FAIL(STEP_FUTEX);
      errno = EAGAIN;
      if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) return -1;
      if (block(key, after_pause(limit))) return 0;
      errno = ETIMEDOUT;
      return -1;
    // Swift's runtime keeps the number of its thread also in the child of a fork, where the system would refuse it.
    case FUTEX_LOCK_PI:
      for (uint32_t seen = 0;
        !__atomic_compare_exchange_n(word, &seen, (uint32_t)own, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); seen = 0) {
        __atomic_fetch_or(word, FUTEX_WAITERS, __ATOMIC_SEQ_CST);
        block(key, INT64_MAX);
      }
      return 0;
    case FUTEX_UNLOCK_PI:
      __atomic_store_n(word, 0, __ATOMIC_SEQ_CST);
      wake(key, true);
      return 0;
    default: simulation_finding("a futex operation that is not simulated"); return -1;
  }
}

ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
  if (!own) return system_call(SYS_getrandom, (long)bytes, (long)count, flags, 0, 0, 0);
  before(STEP_RANDOM, (int64_t)count);
  for (size_t at = 0; at < count; at++) ((unsigned char *)bytes)[at] = (unsigned char)simulated_random(256);
  return (ssize_t)count;
}

long syscall(long number, ...) {
  va_list values;
  va_start(values, number);
  long a = va_arg(values, long), b = va_arg(values, long), c = va_arg(values, long);
  long d = va_arg(values, long), e = va_arg(values, long), f = va_arg(values, long);
  va_end(values);
  if (own && number == SYS_futex) return futex((uint32_t *)a, (int)b, (uint32_t)c, (const struct timespec *)d);
  if (own && number == SYS_getrandom) return getrandom((void *)a, (size_t)b, (unsigned)c);
  if (own && number == SYS_mremap) {
    watch(NULL, 0);
    const void **from = page_at((void *)a), **to = page_at((void *)e);
    if (to) *to = NULL;
    if (from) *from = (void *)e;
  }
  return system_call(number, a, b, c, d, e, f);
}

int poll(struct pollfd *files, nfds_t count, int milliseconds) {
  if (!own) return (int)system_call(SYS_poll, (long)files, (long)count, milliseconds, 0, 0, 0);
  struct timespec pause = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
  int64_t deadline = milliseconds < 0 ? INT64_MAX : after_pause(&pause);
  before(STEP_POLL, 0);
  FAIL(STEP_POLL);
  while (true) {
    int result = (int)system_call(SYS_poll, (long)files, (long)count, 0, 0, 0, 0);
    if (result != 0 || shared->now >= deadline) return (int)after(STEP_POLL, result);
    block(POLL_KEY, deadline);
  }
}

/* Threads */

typedef struct beginning {
  void *(*run)(void *);
  void *context;
  int number;
} beginning;

static void *begin(void *context) {
  beginning beginning = *(struct beginning *)context;
  begin_thread(beginning.number);
  free(context);
  beginning.run(beginning.context);
  end_thread();
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context) {
  REAL(pthread_create);
  if (!own) return real(thread, attributes, run, context);
  beginning *given = malloc(sizeof *given);
  *given = (beginning){ run, context, add_thread(shared->threads[own].process) };
  int status = real(thread, attributes, begin, given);
  before(STEP_THREAD, given->number);
  return status;
}

static int running;
static void (*thread_body)(int);

static void *run_thread(void *argument) {
  thread_body((int)(intptr_t)argument);
  running--;
  wake(own_key(&running), true);
  return NULL;
}

void simulation_thread(void (*run)(int), int argument) {
  pthread_t thread;
  thread_body = run;
  running++;
  if (pthread_create(&thread, NULL, run_thread, (void *)(intptr_t)argument) != 0) abort();
}

void simulation_join(void) {
  while (running > 0) block(own_key(&running), INT64_MAX);
}

/* Time, and what is random */

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (!own) return (int)system_call(SYS_clock_gettime, clock, (long)time, 0, 0, 0, 0);
  before(STEP_CLOCK, 0);
  int64_t now = shared->now + (clock == CLOCK_REALTIME ? 1700000000000000000 : 0);
  *time = (struct timespec){ now / 1000000000, now % 1000000000 };
  return 0;
}

pid_t getpid(void) {
  return own ? 1000 + shared->threads[own].process : (pid_t)system_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/* Files */

/// Whether a call transfers nothing; a signal may also come after half of the bytes.
static bool is_cut(int error, size_t *count) {
  if (error <= 0) return false;
  if (error != EINTR || *count < 2 || simulated_random(2)) return true;
  *count /= 2;
  return false;
}

ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
  if (!own) return system_call(SYS_pread64, file, (long)bytes, (long)count, offset, 0, 0);
  before(STEP_READ, offset);
  int error = failure(STEP_READ);
  errno = error;
  if (is_cut(error, &count)) return after(STEP_READ, -1);
  return after(STEP_READ, system_call(SYS_pread64, file, (long)bytes, (long)count, offset, 0, 0));
}

ssize_t read(int file, void *bytes, size_t count) {
  if (!own) return system_call(SYS_read, file, (long)bytes, (long)count, 0, 0, 0);
  before(STEP_READ, 0);
  FAIL(STEP_READ);
  return after(STEP_READ, system_call(SYS_read, file, (long)bytes, (long)count, 0, 0, 0));
}

ssize_t write(int file, const void *bytes, size_t count) {
  if (own) FAIL(STEP_SIGNAL);
  ssize_t result = system_call(SYS_write, file, (long)bytes, (long)count, 0, 0, 0);
  if (own) {
    wake(POLL_KEY, true);
    before(STEP_SIGNAL, 0);
  }
  return result;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
  if (!own) return system_call(SYS_pwrite64, file, (long)bytes, (long)count, offset, 0, 0);
  before(STEP_WRITE, offset);
  int error = failure(STEP_WRITE);
  errno = error;
  if (is_cut(error, &count)) return after(STEP_WRITE, -1);
  if (error < 0) {
    // The rest finds a full disk.
    count /= 2;
    for (fault *fault = shared->faults; fault < shared->faults + MOST_FAULTS; fault++) {
      if (fault->what == 0) {
        *fault = (struct fault){ STEP_FAIL, STEP_WRITE, 1, ENOSPC, 0 };
        break;
      }
    }
  }
  ssize_t result = system_call(SYS_pwrite64, file, (long)bytes, (long)count, offset, 0, 0);
  if (result > 0) note_change(file);
  if (result > 0) record(EVENT_WRITE, file, bytes, (size_t)result, offset, NULL, NULL);
  return after(STEP_WRITE, result);
}

/// How often a sync of the file has failed.
static unsigned failed_syncs(int file, bool fails) {
  uint64_t inode = inode_of(file);
  failed_file *found = shared->failed_files;
  while (found->count > 0 && found->inode != inode) found++;
  if (fails) found->inode = inode, found->count++;
  return found->count;
}

/// How many of its failed syncs each open file has seen. The child of a fork has the parent's open files; the library
/// opens the store again there.
static unsigned seen_failures[1024];

static unsigned *seen_of(int file) {
  if (file >= (int)(sizeof seen_failures / sizeof *seen_failures)) simulation_finding("too many open files");
  return &seen_failures[file];
}

/// Linux reports what it could not write to each file that was open, once, and to none that is opened after a sync has
/// reported it.
static int synchronize(int file, int kind, int event) {
  before(kind, 0);
  int error = failure(kind);
  bool is_sync = event == EVENT_SYNC;
  bool is_lost = is_sync && error > 0 && error != EINTR;
  if (is_lost) record(-EVENT_SYNC, file, NULL, 0, 0, NULL, NULL);
  if (error <= 0 && !(is_sync && planted == SYSTEM_FORGETS_SYNCS)) record(event, file, NULL, 0, 0, NULL, NULL);
  unsigned failures = failed_syncs(file, is_lost);
  if (is_sync && error != EINTR && *seen_of(file) < failures) {
    *seen_of(file) = failures;
    if (error <= 0) error = EIO;
  }
  errno = error;
  return (int)after(kind, error > 0 ? -1 : 0);
}

int fdatasync(int file) {
  return own ? synchronize(file, STEP_SYNC, EVENT_SYNC) : (int)system_call(SYS_fdatasync, file, 0, 0, 0, 0, 0);
}

int fsync(int file) {
  struct stat status;
  if (!own) return (int)system_call(SYS_fsync, file, 0, 0, 0, 0, 0);
  bool is_folder = system_call(SYS_fstat, file, (long)&status, 0, 0, 0, 0) == 0 && S_ISDIR(status.st_mode);
  return is_folder ? synchronize(file, STEP_SYNC_FOLDER, EVENT_SYNC_FOLDER) : synchronize(file, STEP_SYNC, EVENT_SYNC);
}

int openat(int folder, const char *name, int flags, ...) {
  va_list values;
  va_start(values, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(values, mode_t) : 0;
  va_end(values);
  if (!own) return (int)system_call(SYS_openat, folder, (long)name, flags, mode, 0, 0);
  int kind = flags & O_CREAT ? STEP_MAKE : STEP_OPEN;
  before(kind, flags);
  FAIL(kind);
  bool is_new = kind == STEP_MAKE && faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
  int file = (int)system_call(SYS_openat, folder, (long)name, flags, mode, 0, 0);
  // What is left of the pulse is decided elsewhere: it is not written by calls.
  if (file >= 0) *seen_of(file) = failed_syncs(file, false);
  if (is_new && file >= 0) note_change(file);
  if (is_new && file >= 0 && strcmp(name, "pulse") != 0) record(EVENT_MAKE, file, NULL, 0, 0, name, NULL);
  return (int)after(kind, file);
}

int open(const char *path, int flags, ...) {
  va_list values;
  va_start(values, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(values, mode_t) : 0;
  va_end(values);
  return openat(AT_FDCWD, path, flags, mode);
}

int close(int file) {
  if (own) before(STEP_CLOSE, file);
  int result = (int)system_call(SYS_close, file, 0, 0, 0, 0, 0);
  // The file is closed all the same.
  if (own) FAIL(STEP_CLOSE);
  return result;
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
  if (!own) return (int)system_call(SYS_renameat2, from_folder, (long)from, to_folder, (long)to, flags, 0);
  before(STEP_RENAME, 0);
  FAIL(STEP_RENAME);
  int result = (int)system_call(SYS_renameat2, from_folder, (long)from, to_folder, (long)to, flags, 0);
  if (result == 0 && from_folder == to_folder) record(EVENT_RENAME, -1, NULL, 0, 0, from, to);
  else if (result == 0) record(EVENT_REMOVE, -1, NULL, 0, 0, from, NULL);
  return (int)after(STEP_RENAME, result);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  return renameat2(from_folder, from, to_folder, to, 0);
}

int unlinkat(int folder, const char *name, int flags) {
  if (!own) return (int)system_call(SYS_unlinkat, folder, (long)name, flags, 0, 0, 0);
  before(STEP_REMOVE, 0);
  FAIL(STEP_REMOVE);
  int result = (int)system_call(SYS_unlinkat, folder, (long)name, flags, 0, 0, 0);
  if (result == 0) record(EVENT_REMOVE, -1, NULL, 0, 0, name, NULL);
  return (int)after(STEP_REMOVE, result);
}

/// The disk that a loss of power leaves may have more than the file had.
int ftruncate(int file, off_t length) {
  if (!own) return (int)system_call(SYS_ftruncate, file, length, 0, 0, 0, 0);
  before(STEP_TRUNCATE, length);
  FAIL(STEP_TRUNCATE);
  int result = (int)system_call(SYS_ftruncate, file, length, 0, 0, 0, 0);
  if (result == 0) note_change(file);
  return (int)after(STEP_TRUNCATE, result);
}

int posix_fallocate(int file, off_t offset, off_t length) {
  if (own) before(STEP_TRUNCATE, length);
  int error = own ? failure(STEP_TRUNCATE) : 0;
  if (error > 0) return error;
  if (system_call(SYS_fallocate, file, 0, offset, length, 0, 0) != 0) return errno;
  if (own) note_change(file);
  return 0;
}

int flock(int file, int kind) {
  if (!own) return (int)system_call(SYS_flock, file, kind, 0, 0, 0, 0);
  before(STEP_LOCK_FOLDER, kind);
  FAIL(STEP_LOCK_FOLDER);
  if (planted == SYSTEM_SHARES_FOLDERS && (kind & LOCK_EX)) kind ^= LOCK_EX | LOCK_SH;
  int result = (int)system_call(SYS_flock, file, kind, 0, 0, 0, 0);
  if (result == 0) note(EVENT_LOCK_FOLDER, kind & ~LOCK_NB, 0);
  return (int)after(STEP_LOCK_FOLDER, result);
}

int fcntl(int file, int command, ...) {
  va_list values;
  va_start(values, command);
  long argument = va_arg(values, long);
  va_end(values);
  bool locks = command == F_OFD_SETLK || command == F_OFD_GETLK;
  if (own && locks) {
    before(STEP_LOCK_BYTE, command);
    FAIL(STEP_LOCK_BYTE);
  }
  int result = (int)system_call(SYS_fcntl, file, command, argument, 0, 0, 0);
  const struct flock *lock = (const struct flock *)argument;
  if (own && command == F_OFD_SETLK && result == 0) note(EVENT_LOCK, lock->l_type, lock->l_start);
  return own && locks ? (int)after(STEP_LOCK_BYTE, result) : result;
}

/* The status of files */

uint64_t inode_of(int file) {
  struct stat status;
  return file >= 0 && system_call(SYS_fstat, file, (long)&status, 0, 0, 0, 0) == 0 ? status.st_ino : 0;
}

/// The clocks of file systems move in steps.
void note_change(int file) {
  int64_t now = 1700000000000000000 + shared->now / 4000000 * 4000000;
  struct timespec time = { now / 1000000000, now % 1000000000 }, times[2] = { time, time };
  system_call(SYS_utimensat, file, 0, (long)times, 0, 0, 0);
}

/// The time of a change of the status cannot be set.
static int status_of(int folder, const char *path, struct stat *status, int flags) {
  if (own) before(STEP_STATUS, flags);
  int result = (int)system_call(SYS_newfstatat, folder, (long)path, (long)status, flags, 0, 0);
  if (own) status->st_ctim = status->st_mtim;
  return own ? (int)after(STEP_STATUS, result) : result;
}

int fstatat(int folder, const char *path, struct stat *status, int flags) {
  return status_of(folder, path, status, flags);
}

int fstat(int file, struct stat *status) { return status_of(file, "", status, AT_EMPTY_PATH); }
int stat(const char *path, struct stat *status) { return status_of(AT_FDCWD, path, status, 0); }
int lstat(const char *path, struct stat *status) { return status_of(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW); }
