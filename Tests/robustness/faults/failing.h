/* A system that fails on request: the calls by which libkept accesses the files of a store are counted, and fail
 * from the one that the test chooses. Only files below `failing_folder` are
 * affected, and, for plans, only calls of the thread that made them. */
#ifndef FAILING_H
#define FAILING_H

#include <stdbool.h>
#include <stdint.h>

/** What a call does. An error applies only to calls that can really fail with it. */
enum {
  CALL_OPEN = 1,   /* opens an existing file */
  CALL_CREATE = 2, /* creates a file, a folder or a name */
  CALL_REMOVE = 4,
  CALL_WRITE = 8, /* writes bytes, or changes the length of a file */
  CALL_SYNC = 16,
  CALL_READ = 32,
  CALL_MAP = 64,
};

/** The folder whose files fail. Initially there is none, and nothing fails. */
void failing_folder(const char *folder);

/** Makes the calls of this thread fail with `error`, from call number `first` (1, 2, ...) of these kinds: one or
 * all. */
void plan_failure(int error, unsigned kinds, long first, bool for_ever);
/** Ends the planned failure. @return how many calls have failed */
long end_failure(void);

/** Simulates a full disk: `room` is the number of bytes that still fit, for every process that shares the word; a
 *  negative number means no limit. Removing or truncating a file frees its room. */
void limit_room(int64_t *room);

#endif
