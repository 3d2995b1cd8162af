/* What can be seen of a writer from outside, and stopping one just there: no hook in Kept is needed. */
#ifndef OUTSIDE_H
#define OUTSIDE_H

#include "torture.h"

typedef enum moment {
  ODD_GENERATION,   /* its commit is becoming visible */
  WRITING,          /* it holds SQLite's write lock */
  CHECKPOINTING,    /* it moves the log into the database */
  HALF_A_HEADER,    /* of the two copies of the header of SQLite's shared memory it has written one: nobody can begin
                       to read */
  RESTARTING_LOG,   /* it keeps readers out, all but those that need no log, to begin the log anew */
} moment;

/** The generation that stands on a store's pulse; 0 where there is none. */
uint64_t generation_of(const char *folder);

/** Whether a writer that is stopped, and alone, stands there. */
bool stands_at(moment wanted, const char *folder);

/** SIGSTOPs a process at random until it stands at such a moment; nobody else may use the store. False, and the process
 *  is running, when it did not come to that in many tries. */
bool stop_at(pid_t process, moment wanted, const char *folder, uint64_t *random);

#endif
