// Records what the engine does to files, so that a program can lay out what a loss of power would have left.
#ifndef RECORDER_H
#define RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { EVENT_WRITE = 1, EVENT_SYNC, EVENT_SYNC_FOLDER, EVENT_MAKE, EVENT_RENAME, EVENT_REMOVE };
/// Of the schedules only: a word of the pulse was changed, the lock of a byte or of the folder was taken or released, a
/// process has ended, the power was lost.
enum { EVENT_WORD = EVENT_REMOVE + 1, EVENT_LOCK, EVENT_LOCK_FOLDER, EVENT_GONE, EVENT_POWER };

typedef struct recorded_event {
  int call;
  int process;
  uint64_t step;
  uint64_t file; // the inode, of EVENT_WRITE, EVENT_SYNC and EVENT_MAKE; the new value, of a word or lock
  int64_t offset;
  size_t count;
  const unsigned char *bytes;
  char name[64], other[64];
} recorded_event;

void recorder_start(void);
void recorder_stop(void);
size_t recorder_count(void);
const recorded_event *recorder_event(size_t index);

/// From now on one of `every` syncs of a file fails, and the disk drops what it could not write; 0: none.
void recorder_fail(unsigned every);

/// After a number of calls, no call has an effect, as if the process had been killed, until it revives.
void recorder_die(unsigned calls);
void recorder_revive(void);

/// Forgets all events.
void recorder_reset(void);

enum { STRIKE_KILL_BEFORE, STRIKE_KILL_AFTER, STRIKE_FAIL, STRIKE_SHORT, STRIKE_WHOLE };

/// Kills this process before or after one call, also one that only reads, or makes the call fail, or write half or all
/// of its bytes before it fails: the call with this number from now on.
void recorder_strike(unsigned call, int how, int error);
/// Whether the call was reached.
bool recorder_has_struck(void);
void recorder_spare(void);

/// Forks. Swift has no name for it: the programs have one thread.
pid_t recorder_fork(void);

#endif
