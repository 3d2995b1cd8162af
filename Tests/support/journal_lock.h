/* The write lock of a store, held from outside the library. */
#ifndef KEPT_TEST_JOURNAL_LOCK_H
#define KEPT_TEST_JOURNAL_LOCK_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* See JournalLock.swift: who has this number holds its byte of the file `journal`, and `owner` in the pulse is its
 * number. */
enum { TEST_HOLDER = 1, OWNER_OFFSET = 832 };

/** Takes the write lock of the store in a folder, which nothing else holds; returns the descriptor whose closing
 *  releases it, as if its process had ended, or -1. */
static inline int take_write_lock(const char *folder) {
  /* F_OFD_SETLK, which glibc declares only with _GNU_SOURCE: the lock belongs to the descriptor. */
  enum { SET_LOCK = 37 };
  struct flock lock = {
    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = ((off_t)1 << 40) + TEST_HOLDER, .l_len = 1
  };
  char path[4300];
  uint64_t owner = TEST_HOLDER;
  snprintf(path, sizeof path, "%s/journal", folder);
  int file = open(path, O_RDWR | O_CLOEXEC);
  snprintf(path, sizeof path, "%s/pulse", folder);
  int pulse = open(path, O_RDWR | O_CLOEXEC);
  int is_held = file >= 0 && pulse >= 0 && fcntl(file, SET_LOCK, &lock) == 0 &&
    pwrite(pulse, &owner, sizeof owner, OWNER_OFFSET) == sizeof owner;
  if (pulse >= 0) close(pulse);
  if (is_held) return file;
  if (file >= 0) close(file);
  return -1;
}

#endif
