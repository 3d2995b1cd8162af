/* Observes a writer from another process, and stops it in a chosen state, without a hook in Kept. */
#ifndef OUTSIDE_H
#define OUTSIDE_H

#include "torture.h"

typedef enum writer_state {
  COMMITTING,    /* it holds the write lock */
  CHECKPOINTING, /* it makes a checkpoint, and others may write */
} writer_state;

/** SIGSTOPs a process at random until it is in such a state. No other process may use the store. Returns false, with
 *  the process running, if many attempts fail. */
bool stop_at(pid_t process, writer_state wanted, const char *folder, uint64_t *random);

#endif
