/* What can be seen of a writer from another process, and stopping a writer at a chosen moment, without a hook in
 * Kept. */
#ifndef OUTSIDE_H
#define OUTSIDE_H

#include "torture.h"

typedef enum moment {
  COMMITTING,     /* it holds the write lock of the journal */
  WRITING,        /* it holds SQLite's write lock: it settles, or writes bodies */
  CHECKPOINTING,  /* it copies the log into the database */
  HALF_A_HEADER,  /* it has written one of the two copies of the header in SQLite's shared memory: no process can
                       begin to read */
  RESTARTING_LOG, /* it excludes all readers that need the log, to restart the log */
} moment;

/** Whether a writer that is stopped, and is the only one, is at that moment. */
bool stands_at(moment wanted, const char *folder);

/** SIGSTOPs a process at random until it is at such a moment. No other process may use the store. Returns false, with
 *  the process running, if many attempts fail. */
bool stop_at(pid_t process, moment wanted, const char *folder, uint64_t *random);

#endif
