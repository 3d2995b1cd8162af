/* The write lock of a store, held from outside the library. */
#ifndef KEPT_TEST_WRITE_LOCK_H
#define KEPT_TEST_WRITE_LOCK_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* See Pulse.swift: a process with this number holds its byte of the file `pulse`, and is the writer if the word `owner`
 * is its number. */
enum { TEST_HOLDER = 1, OWNER_OFFSET = 384 };

/** Takes the write lock of the store in a folder, which no process holds; returns the descriptor whose closing
 *  releases it, as if its process had ended, or -1. */
static inline int take_write_lock(const char *folder) {
  /* F_OFD_SETLK, which glibc declares only with _GNU_SOURCE: the lock belongs to the descriptor. */
  enum { SET_LOCK = 37 };
  struct flock lock = {
    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = ((off_t)1 << 40) + 1 + TEST_HOLDER, .l_len = 1
  };
  char path[4300];
  uint64_t owner = TEST_HOLDER;
  snprintf(path, sizeof path, "%s/pulse", folder);
  int file = open(path, O_RDWR | O_CLOEXEC);
  int is_held =
    file >= 0 && fcntl(file, SET_LOCK, &lock) == 0 && pwrite(file, &owner, sizeof owner, OWNER_OFFSET) == sizeof owner;
  if (is_held) return file;
  if (file >= 0) close(file);
  return -1;
}

#endif
