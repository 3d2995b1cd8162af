// A disk that records the order of its writes and syncs, and can lose its power at any event.
#ifndef DISK_H
#define DISK_H

#include <stddef.h>

/// Sets the folder of the store whose files are recorded: the database, its log, and the journal.
void disk_watch(const char *folder);

/// Begins to record changes of the files, from their present contents.
void disk_record(void);
void disk_stop(void);

/// Makes every so many syncs of the journal fail of the thread that records, and every second one
/// of other threads; the system then drops what it could not write. 0: none fails.
void disk_fail(unsigned every);

/// The number of writes, truncations, removals and syncs recorded so far.
size_t disk_events(void);

/// Writes the files as they may be after a power loss at an event: everything that was synced, and of the rest nothing
/// (0), everything (1), or sectors of 512 bytes chosen by the seed (2 and above).
int disk_cut(size_t event, unsigned seed, const char *folder);

#endif
