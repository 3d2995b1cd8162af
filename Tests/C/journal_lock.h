/* The write lock of a store, held from outside the library. */
#ifndef KEPT_TEST_JOURNAL_LOCK_H
#define KEPT_TEST_JOURNAL_LOCK_H

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

/** Takes the write lock of the store in a folder; returns the descriptor whose closing releases it, or -1. */
static inline int take_write_lock(const char *journal) {
  /* F_OFD_SETLK, which glibc declares only with _GNU_SOURCE: the lock belongs to the descriptor. */
  enum { SET_LOCK = 37 };
  struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = ((off_t)1 << 40) + 1, .l_len = 1 };
  int file = open(journal, O_RDWR | O_CLOEXEC);
  if (file < 0 || fcntl(file, SET_LOCK, &lock) == 0) return file;
  close(file);
  return -1;
}

#endif
