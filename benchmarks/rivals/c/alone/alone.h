/* Starts the programs with one engine each (program.c), and waits for their output. */
#ifndef BENCH_ALONE_H
#define BENCH_ALONE_H

#include <stddef.h>
#include <sys/types.h>

typedef struct contender {
  const char *name;    /* its column in the table */
  const char *program; /* next to the program that measures */
  const char *role;
  const char *disk; /* where its values are, next to the folder passed to it; NULL: in that folder */
} contender;

#define CONTENDERS 5
extern const contender contenders[CONTENDERS]; /* the last one is the base: it has no store */

typedef struct alone {
  pid_t process;
  int input, output;
} alone;

/* Runs this program again in a session for GSettings. Returns only inside it. */
void alone_enter_session(const char *folder, char **arguments);

/* Starts the program with a verb of program.c. */
alone alone_start(const contender *contender, const char *verb, const char *folder, size_t keys);
/* Waits until it has printed something. */
void alone_await(alone *started);
/* Closes its standard input, and waits until it has exited. */
void alone_end(alone *started);

/* Starts it and waits for its end. */
void alone_run(const contender *contender, const char *verb, const char *folder, size_t keys);

#endif
