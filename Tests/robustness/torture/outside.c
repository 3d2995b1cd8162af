/* Reads the locks of a store: the words and the locked bytes of its pulse. */
#include "outside.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* See Pulse.swift and PulseWords.swift. */
#define OWNER_OFFSET 384
#define CHECKPOINT_LOCK ((off_t)1 << 40)

static bool has_write_lock(int pulse) {
  uint64_t owner = 0;
  return pread(pulse, &owner, sizeof owner, OWNER_OFFSET) == sizeof owner && owner != 0;
}

static bool is_locked(int pulse, off_t byte) {
  struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
  return fcntl(pulse, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static bool is_in_state(writer_state wanted, const char *folder) {
  int pulse = open(file_of(folder, "pulse"), O_RDWR | O_CLOEXEC);
  if (pulse < 0) return false;
  bool is_committing = has_write_lock(pulse);
  bool is_found = wanted == COMMITTING ? is_committing : !is_committing && is_locked(pulse, CHECKPOINT_LOCK);
  close(pulse);
  return is_found;
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
