// A disk that records the order of its writes and syncs, and can lose its power at any event.
#ifndef DISK_H
#define DISK_H

#include <stddef.h>

/// Makes every SQLite connection that is opened from now on access the files of a store's folder through the recorder.
int disk_install(const char *folder);

/// Begins to record changes of the database and the log, from their present contents.
void disk_record(void);
void disk_stop(void);

/// The number of writes, truncations and syncs recorded so far.
size_t disk_events(void);

/// Writes the two files as they may be after a power loss at an event: everything that was synced, and of the rest
/// nothing (0), everything (1), or sectors of 512 bytes chosen by the seed (2 and above).
int disk_cut(size_t event, unsigned seed, const char *folder);

#endif
