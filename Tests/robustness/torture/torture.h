/* What every torture program needs: rounds and a seed, folders, memory that processes share, and processes that must
 * end within a time limit.
 *
 *   kills                    the number of rounds of scripts/test, with a random seed, which is printed
 *   kills 10000              this number of rounds
 *   kills 10000 0x5eed       with this seed
 *
 * With KEPT_TORTURE_STAY in the environment, a process that finds a failure waits for a debugger.
 *
 * The first process of a program never calls Kept, so it may fork freely. A process that finds a failure calls fail(),
 * and the program exits with status 1. */
#ifndef TORTURE_H
#define TORTURE_H

#include <stdbool.h>
#include <sys/types.h>

#include "check.h"
#include "clock.h"
#include "files.h"
#include "random.h"
#include "stores.h"

/** How long any operation may take before it is reported as hanging. */
#define PATIENCE_SECONDS 120

extern unsigned rounds;
extern unsigned round_now;
extern uint64_t seed;
/** The current attempt, if a program says it. */
extern char what[200];

/** Reads the command line, ROUNDS [SEED], and prints the seed. If the default is 0, the rounds must be given. */
void begin_torture(int argc, char **argv, unsigned default_rounds);
/** Plays all rounds, with numbers at random from the seed. */
void play_rounds(void (*play_round)(uint64_t *random));
/** Prints a summary and the duration. @return the exit status */
int end_torture(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Prints a failure with the attempt, the seed and the round, and ends the process. The folder is kept for
 *  inspection. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/** Zeroed memory, shared with the processes that are started from now on. */
void *share(size_t size);
int64_t load(const int64_t *word);
void store_word(int64_t *word, int64_t value);
int64_t add(int64_t *word, int64_t value);

/** A path at which no file exists; the previous one is removed with all its contents. */
const char *fresh_folder(void);
/** The path of the file `name`.N with the highest number N in a folder; `name`.0 if there is none. */
const char *last_of(const char *folder, const char *name);
/** Opens a store, or fails. */
kept_store *open_store(const char *folder, uint32_t durability, uint32_t busy_timeout_ms);
/** Fails unless the call, which reports into `why`, returned KEPT_OK. */
void expect_ok(kept_status status, const char *what);

/** Starts a process that calls `play`; it dies with its parent. */
pid_t start(void (*play)(void *), void *context);
/** Waits for a process, which must exit with status 0 within the time limit. */
void finish(pid_t process);
/** Waits for a process, which must die of this signal. */
void expect_signal(pid_t process, int signal);
/** kill -9, and waits for the process to end. */
void kill_now(pid_t process);
/** Waits until a shared word is at least `least`; otherwise fails with `what`. */
void await_word(const int64_t *word, int64_t least, const char *what);

#endif
