/* Reads the locks on the journal and on SQLite's shared memory. */
#include "outside.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* See "WAL-Index Format" in SQLite's documentation: the lock bytes in the file `-shm`. */
#define WRITE_LOCK 120
#define CHECKPOINT_LOCK 121
#define FIRST_READ_MARK_LOCK 124
#define LAST_READ_MARK_LOCK 127
#define HEADER_BYTES 48
/* See PulsePage.swift. */
#define OWNER_OFFSET 832

static int open_in(const char *folder, const char *name) {
  const char *path = file_of(folder, name);
  return open(path, O_RDWR | O_CLOEXEC);
}

static bool is_committing(const char *folder) {
  uint64_t owner = 0;
  int file = open_in(folder, "pulse");
  if (file < 0) return false;
  bool is_read = pread(file, &owner, sizeof owner, OWNER_OFFSET) == sizeof owner;
  close(file);
  return is_read && owner != 0;
}

static bool is_locked(const char *folder, off_t byte) {
  struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
  int file = open_in(folder, "values.sqlite-shm");
  if (file < 0) return false;
  bool locked = fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close(file);
  return locked;
}

static bool is_header_halved(const char *folder) {
  char copies[2][HEADER_BYTES];
  int file = open_in(folder, "values.sqlite-shm");
  if (file < 0) return false;
  bool is_halved =
    pread(file, copies, sizeof copies, 0) == sizeof copies && memcmp(copies[0], copies[1], HEADER_BYTES) != 0;
  close(file);
  return is_halved;
}

static bool is_log_restarted(const char *folder) {
  for (off_t lock = FIRST_READ_MARK_LOCK; lock <= LAST_READ_MARK_LOCK; lock++) {
    if (!is_locked(folder, lock)) return false;
  }
  return true;
}

bool is_in_state(writer_state wanted, const char *folder) {
  switch (wanted) {
    case COMMITTING: return is_committing(folder);
    case WRITING: return is_locked(folder, WRITE_LOCK);
    case CHECKPOINTING: return is_locked(folder, CHECKPOINT_LOCK);
    case HALF_A_HEADER: return is_header_halved(folder);
    case RESTARTING_LOG: return is_log_restarted(folder);
  }
  return false;
}

bool stop_at(pid_t process, writer_state wanted, const char *folder, uint64_t *random) {
  for (int tries = 0; tries < 400; tries++) {
    int status = 0;
    let_pass(random_below(random, 300));
    kill(process, SIGSTOP);
    waitpid(process, &status, WUNTRACED);
    if (!WIFSTOPPED(status)) fail("process %d ended where it should have been stopped", (int)process);
    if (is_in_state(wanted, folder)) return true;
    kill(process, SIGCONT);
  }
  return false;
}
