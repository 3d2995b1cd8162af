/* Starts the programs that each have one engine alone (program.c), and waits for what they print. */
#ifndef BENCH_ALONE_H
#define BENCH_ALONE_H

#include <stddef.h>
#include <sys/types.h>

typedef struct contender {
  const char *name;      /* its column in the table */
  const char *program;   /* beside the program that measures */
  const char *role;
  const char *disk;      /* where it keeps its values, beside the folder that it is given; NULL: in that folder */
} contender;

#define CONTENDERS 5
extern const contender contenders[CONTENDERS];   /* the last one is the base: it has no store */

typedef struct alone {
  pid_t process;
  int input, output;
} alone;

/* Runs this program again in a session for GSettings, and returns only there. */
void alone_enter_session(const char *folder, char **arguments);

/* The program begins to do what program.c says of the verb. */
alone alone_start(const contender *contender, const char *verb, const char *folder, size_t keys);
/* Until it has printed something. */
void alone_await(alone *started);
/* Closes its standard input, and waits until it has exited. */
void alone_end(alone *started);

/* From start to end. */
void alone_run(const contender *contender, const char *verb, const char *folder, size_t keys);

#endif
