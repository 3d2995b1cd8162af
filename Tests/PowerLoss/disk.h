// A disk that remembers in which order it was written and synced, and can lose its power at any moment.
#ifndef DISK_H
#define DISK_H

#include <stddef.h>

/// Lets every SQLite connection that is opened from now on use the files of a store's folder through the recorder.
int disk_install(const char *folder);

/// Begins to record what happens to the database and the log, as they are now.
void disk_record(void);
void disk_stop(void);

/// How many writes, cuts and syncs were recorded so far.
size_t disk_events(void);

/// Writes the two files as they may be after a power loss at an event: everything that was synced, and of the rest
/// nothing (0), everything (1), or sectors of 512 bytes as the seed chooses (2 and above).
int disk_cut(size_t event, unsigned seed, const char *folder);

#endif
