/* Observes a writer from another process, and stops it in a chosen state, without a hook in Kept. */
#ifndef OUTSIDE_H
#define OUTSIDE_H

#include "torture.h"

typedef enum writer_state {
  COMMITTING,     /* it holds the write lock of the journal */
  WRITING,        /* it holds SQLite's write lock: it settles, or writes bodies */
  CHECKPOINTING,  /* it copies the log into the database */
  HALF_A_HEADER,  /* it has written one of the two copies of the header in SQLite's shared memory: no process can
                       begin to read */
  RESTARTING_LOG, /* it excludes all readers that need the log, to restart the log */
} writer_state;

/** Whether a writer that is stopped, and is the only one, is in that state. */
bool is_in_state(writer_state wanted, const char *folder);

/** SIGSTOPs a process at random until it is in such a state. No other process may use the store. Returns false, with
 *  the process running, if many attempts fail. */
bool stop_at(pid_t process, writer_state wanted, const char *folder, uint64_t *random);

#endif
