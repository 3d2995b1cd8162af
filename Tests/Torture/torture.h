/* What every torture program needs: rounds and a seed, folders, memory that processes share, and processes whose end is
 * awaited for so long and no longer.
 *
 *   kills                    so many rounds as scripts/test runs, with a seed of its own choice, which it prints
 *   kills 10000              so many rounds
 *   kills 10000 0x5eed       with this seed
 *
 * With KEPT_TORTURE_STAY in the environment, whoever finds something wrong stays there for a debugger.
 *
 * The first process of a program never calls Kept, so it may fork as it likes. Whoever finds something wrong says it
 * with fail(), and the program ends with status 1. */
#ifndef TORTURE_H
#define TORTURE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <kept.h>
#include <stdbool.h>
#include <sys/types.h>

/** How long anything may take before it is said to hang. */
#define PATIENCE_SECONDS 120

extern unsigned rounds;
extern unsigned round_now;
extern uint64_t seed;

/** Reads the command line and prints the seed. */
void begin_torture(int argc, char **argv, unsigned default_rounds);
/** Prints what was done, and how long it took. @return the exit status */
int end_torture(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Says what is wrong, with the seed and the round, and ends the process. The folder is left for whoever looks. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/** A number below `end`, never the same sequence for two seeds. */
uint64_t random_below(uint64_t *state, uint64_t end);

/** Zeroed memory that the processes started from now on share. */
void *share(size_t size);
int64_t load(const int64_t *word);
void store_word(int64_t *word, int64_t value);
int64_t add(int64_t *word, int64_t value);

/** A path where nothing is yet; the one before is removed with all that is in it. */
const char *fresh_folder(void);
/** Opens a store, or fails. */
kept_store *open_store(const char *folder, uint32_t durability, uint32_t busy_timeout_ms);
/** Fails unless the status is KEPT_OK. */
void expect_ok(kept_status status, const char *what, const kept_error *error);

/** Starts a process that does `play`; it dies with its parent. */
pid_t start(void (*play)(void *), void *context);
/** Waits for the end of a process that must end well, and soon. */
void finish(pid_t process);
/** kill -9, and waits for the end. */
void kill_now(pid_t process);
/** Waits until a shared word is at least `least`, or fails saying what did not happen. */
void await_word(const int64_t *word, int64_t least, const char *what);
/** Lets a random time pass: torture has no event to wait for. */
void let_pass(uint64_t microseconds);
int64_t now_ns(void);

#endif
