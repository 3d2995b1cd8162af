// Runs another program and reads what it prints, in a process that may collect its children itself.
#ifndef KEPT_PROGRAM_H
#define KEPT_PROGRAM_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "Files.h"

/// What has become of a program.
struct kept_program {
  bool is_refused;  // it was not started, because this process may have other rights than its caller
  int error;        // why it was not started: an errno
  int signal;       // what ended it: 0 for none
  int status;       // what it ended with: 0 also if the host has collected it, so that nothing is known
  bool is_late;     // it was killed, because its time was over
  bool is_too_long; // it was killed, because its output had no room
  size_t output;    // the bytes that it has written to its standard output
  size_t message;   // the bytes that were kept of its standard error: the last ones
};

/// Writes to the pipe before there is a reader, so the bytes must have room in it.
enum { KEPT_PROGRAM_INPUT = 4096 };
/// The most reads that a full pipe of 64 KiB takes, in parts of 512 bytes.
enum { KEPT_PROGRAM_READS = 128 };

static inline int64_t kept_program_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline bool kept_program_pipe(int ends[2]) {
#if defined(__linux__)
  int status = (int)syscall(SYS_pipe2, ends, O_CLOEXEC);
#else
  int status = pipe(ends);
#endif
  if (status != 0) {
    ends[0] = ends[1] = -1;
    return false;
  }
  for (int i = 0; i < 2; i++) {
    ends[i] = kept_not_standard(ends[i]);
    if (ends[i] >= 0) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
  }
  return ends[0] >= 0 && ends[1] >= 0;
}

static inline void kept_program_close(int *file) {
  if (*file >= 0) close(*file);
  *file = -1;
}

/// Reads what is in a pipe, and closes it at its end. Returns whether there was anything. What has no room is dropped,
/// and `is_full` set.
static inline bool kept_program_read(int *file, void *memory, size_t capacity, size_t *count, bool *is_full) {
  unsigned char rest[512];
  bool has_room = *count < capacity;
  ssize_t done =
    has_room ? read(*file, (unsigned char *)memory + *count, capacity - *count) : read(*file, rest, sizeof rest);
  if (done > 0 && has_room) *count += (size_t)done;
  if (done > 0 && !has_room) *is_full = true;
  if (!has_room) memset(rest, 0, sizeof rest);
  if (done == 0 || (done < 0 && errno != EINTR && errno != EAGAIN)) kept_program_close(file);
  return done > 0;
}

/// Whether this process is in the foreground of its terminal, where a program in another group could not ask.
static inline bool kept_program_has_terminal(void) {
  int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) return false;
  bool is_foreground = tcgetpgrp(terminal) == getpgrp();
  close(terminal);
  return is_foreground;
}

/// Reads what is in a pipe, as `kept_program_read`, and keeps the last bytes.
static inline bool kept_program_read_last(int *file, char *memory, size_t capacity, size_t *count) {
  char part[512];
  size_t length = 0;
  bool ignored = false, any = kept_program_read(file, part, sizeof part, &length, &ignored);
  size_t added = length < capacity ? length : capacity;
  size_t kept = *count < capacity - added ? *count : capacity - added;
  memmove(memory, memory + *count - kept, kept);
  memcpy(memory + kept, part + length - added, added);
  *count = kept + added;
  return any;
}

/// Starts a program with these three files as its standard ones, and no other open ones. It gets the environment, no
/// blocked or ignored signals, and the terminal of this process, or a process group of its own. Returns its process, or
/// -1 with errno set.
static inline pid_t kept_program_start(char *const *arguments, int input, int output, int message, bool has_own_group) {
  extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int) __attribute__((weak));
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  pid_t process = -1;
  sigemptyset(&none);
  sigfillset(&all);
  int error = posix_spawn_file_actions_init(&actions);
  if (error != 0) {
    errno = error;
    return -1;
  }
  error = posix_spawnattr_init(&attributes);
  if (error == 0) {
    if (input >= 0) error = posix_spawn_file_actions_adddup2(&actions, input, 0);
    else error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, message, 2);
    if (error == 0 && posix_spawn_file_actions_addclosefrom_np)
      error = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (has_own_group) flags |= POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, flags);
    if (error == 0) error = posix_spawnp(&process, arguments[0], &actions, &attributes, arguments, kept_environment());
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  errno = error;
  return error == 0 ? process : -1;
}

/// Asks whether a program has ended, or waits for that. The host may have collected it before.
static inline bool kept_program_has_ended(pid_t process, int flags, struct kept_program *result) {
  int status = 0;
  pid_t found = (pid_t)KEPT_UNINTERRUPTED(waitpid(process, &status, flags));
  if (found == 0) return false;
  if (found == process && WIFSIGNALED(status)) result->signal = WTERMSIG(status);
  if (found == process && WIFEXITED(status)) result->status = WEXITSTATUS(status);
  return true;
}

/// Runs a program, never through a shell: `arguments` begin with its name, which is searched in PATH if it has no
/// slash, and end with NULL. It reads `input`, or /dev/null if there is none, and is killed when its time is over, with
/// its children unless it may ask on the terminal. Children that it leaves behind are not waited for. A process with
/// other rights than its caller runs none: its environment is the caller's.
static inline struct kept_program kept_program_run(char *const *arguments, const void *input, size_t input_length,
  void *output, size_t output_capacity, char *message, size_t message_capacity, int64_t milliseconds) {
  struct kept_program result = { 0 };
  int in[2] = { -1, -1 }, out[2] = { -1, -1 }, err[2] = { -1, -1 }, watched = -1;
  int64_t end = kept_program_clock() + milliseconds;
  pid_t process = -1;
  bool is_ready = input_length <= KEPT_PROGRAM_INPUT, has_own_group = !kept_program_has_terminal();
  if (!is_ready) errno = E2BIG;
#if defined(__linux__)
  result.is_refused = getauxval(AT_SECURE);
  if (result.is_refused) return result;
#endif
  is_ready = is_ready && kept_program_pipe(out) && kept_program_pipe(err);
  if (is_ready && input_length > 0)
    is_ready = kept_program_pipe(in) && write(in[1], input, input_length) == (ssize_t)input_length;
  kept_program_close(&in[1]);
  if (is_ready) process = kept_program_start(arguments, in[0], out[1], err[1], has_own_group);
  if (process < 0) result.error = errno;
  kept_program_close(&in[0]);
  kept_program_close(&out[1]);
  kept_program_close(&err[1]);
  if (process < 0) {
    kept_program_close(&out[0]);
    kept_program_close(&err[0]);
    return result;
  }
#if defined(__linux__)
  // Readable when the program ends, and never another process: before Linux 5.3 there is none, and the loop looks.
  watched = kept_not_standard((int)syscall(434 /* pidfd_open */, process, 0));
#endif
  fcntl(out[0], F_SETFL, O_NONBLOCK);
  fcntl(err[0], F_SETFL, O_NONBLOCK);
  bool has_ended = false;
  int reads_after = 0;
  for (;;) {
    int64_t rest = end - kept_program_clock();
    if (!has_ended) has_ended = kept_program_has_ended(process, WNOHANG, &result);
    if (has_ended && out[0] < 0 && err[0] < 0) break;
    result.is_late = !has_ended && rest <= 0;
    if (rest <= 0 || result.is_too_long) break;
    int timeout = has_ended ? 0 : watched < 0 && rest > 20 ? 20 : rest > 1000 ? 1000 : (int)rest;
    struct pollfd files[] = { { out[0], POLLIN, 0 }, { err[0], POLLIN, 0 }, { watched, POLLIN, 0 } };
    (void)poll(files, has_ended ? 2 : 3, timeout);
    bool any = false;
    if (files[0].revents)
      any |= kept_program_read(&out[0], output, output_capacity, &result.output, &result.is_too_long);
    if (files[1].revents) any |= kept_program_read_last(&err[0], message, message_capacity, &result.message);
    // What has its pipes open now is a child that it has left behind, which may also write for ever.
    if (has_ended && (!any || ++reads_after == KEPT_PROGRAM_READS)) break;
  }
  if (!has_ended) {
    int sent = -1;
#if defined(__linux__)
    if (watched >= 0) sent = (int)syscall(424 /* pidfd_send_signal */, watched, SIGKILL, NULL, 0);
#endif
    if (sent != 0 && watched < 0) sent = kill(process, SIGKILL);
    // Before it is collected, its number is that of its group alone.
    if (sent == 0 && has_own_group) (void)kill(-process, SIGKILL);
    (void)kept_program_has_ended(process, 0, &result);
  }
  kept_program_close(&out[0]);
  kept_program_close(&err[0]);
  kept_program_close(&watched);
  return result;
}

#endif
