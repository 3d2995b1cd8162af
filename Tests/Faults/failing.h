/* A system that fails on request: the calls by which libkept and SQLite reach the files of a store are counted, and
 * answer with an error from the one that the test chooses. Only files below `failing_folder` are concerned, and, for
 * planned failures, only calls of the thread that planned them. */
#ifndef FAILING_H
#define FAILING_H

#include <stdbool.h>
#include <stdint.h>

/** What a call does. An error hits only the calls that can meet it in life. */
enum {
  CALL_OPEN = 1,    /* opens a file that is there */
  CALL_CREATE = 2,  /* makes a file, a folder or a name */
  CALL_REMOVE = 4,
  CALL_WRITE = 8,   /* writes bytes, or gives a file another length */
  CALL_SYNC = 16,
  CALL_READ = 32,
  CALL_MAP = 64
};

/** The folder whose files fail; none yet: nothing fails. */
void failing_folder(const char *folder);

/** Lets the calls of this thread fail with `error`, from call number `first` (1, 2, ...) of these kinds: one or all. */
void plan_failure(int error, unsigned kinds, long first, bool for_ever);
/** Ends what was planned. @return how many calls have failed */
long end_failure(void);

/** Lets the disk be full: `room` is how many more bytes fit, for every process that shares the word, and negative where
 *  there is no end. A file that is removed or cut gives its room back. */
void limit_room(int64_t *room);

#endif
