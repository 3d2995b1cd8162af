// Runs the threads of several processes one at a time, as a seed says: see docs/internals/simulation.md.
#ifndef SCHEDULER_H
#define SCHEDULER_H

#include <recorder.h>
#include <stdbool.h>
#include <stdint.h>

enum { MOST_THREADS = 96, MOST_PROCESSES = 16, MOST_OPERATIONS = 1024, MOST_NOTICES = 1024, MOST_FAULTS = 12 };
enum { MOST_STEPS = 1 << 20, MOST_EVENTS = 1 << 17, MOST_BYTES = 1 << 26 };
enum { SIMULATED_KEYS = 6 };

/// What a thread is about to do.
#define STEP_KINDS(KIND) \
  KIND(ACCESS, access) /* of a word that only this process has */ \
  KIND(MUTEX, mutex) \
  KIND(UNLOCK, unlock) \
  KIND(CONDITION, condition) \
  KIND(NOTIFY, notify) \
  KIND(THREAD, thread) \
  KIND(CLOCK, clock) \
  KIND(RANDOM, random) \
  KIND(YIELD, yield) \
  KIND(SLEEP, sleep) \
  KIND(OPERATION, operation) \
  KIND(ANSWER, answer) \
  KIND(PULSE, pulse) /* the first of those that processes see: an access of a word that they share */ \
  KIND(FUTEX, futex) \
  KIND(WAKE, wake) \
  KIND(READ, read) \
  KIND(WRITE, write) \
  KIND(SYNC, sync) \
  KIND(SYNC_FOLDER, sync_folder) \
  KIND(OPEN, open) \
  KIND(MAKE, make) \
  KIND(RENAME, rename) \
  KIND(REMOVE, remove) \
  KIND(TRUNCATE, truncate) \
  KIND(CLOSE, close) \
  KIND(STATUS, status) \
  KIND(LOCK_FOLDER, lock_folder) \
  KIND(LOCK_BYTE, lock_byte) \
  KIND(MAP, map) \
  KIND(SIGNAL, signal) \
  KIND(POLL, poll) \
  KIND(START, start) \
  KIND(FORK, fork) \
  KIND(END, end) \
  KIND(KILL, kill) \
  KIND(STOP, stop) \
  KIND(FAIL, fail) \
  KIND(POWER, power) \
  KIND(TIME, time)

#define STEP_KIND(name, text) STEP_##name,
enum { STEP_KINDS(STEP_KIND) STEP_KIND_COUNT };
#undef STEP_KIND

/// What a seed does to a run: at the `left`-th step of a kind.
typedef struct fault {
  int what; // STEP_KILL, STEP_STOP, STEP_FAIL, STEP_POWER; 0: none
  int kind;
  unsigned left;
  int error;     // of STEP_FAIL; 0: half of the bytes are written, and then the disk is full
  int64_t pause; // of STEP_STOP, in nanoseconds
} fault;

/// When the turn goes to another thread: after about `gap` steps that other processes see, or of all steps, and at half
/// of the steps of a kind; 0: never. At most `most` times, unless a thread waits.
typedef struct turns {
  unsigned gap;
  bool counts_all;
  int hot;
  unsigned most;
} turns;

/// What the simulated system does wrong on purpose, to try the finding and shrinking.
enum { SYSTEM_SOUND, SYSTEM_FORGETS_SYNCS, SYSTEM_SHARES_FOLDERS };

/// What is known of an operation.
enum { OUTCOME_UNKNOWN, OUTCOME_DONE, OUTCOME_REFUSED };

/// An operation on the store, as its caller saw it. What it has read and written is of one instant, between its
/// begin and its end.
typedef struct operation {
  int process, kind, status, outcome;
  bool is_durable;
  unsigned reads, writes; // sets of keys
  uint64_t begin, end;    // steps
  int64_t read[SIMULATED_KEYS], written[SIMULATED_KEYS];
  uint64_t revision; // of what was committed, or read; 0: unknown
} operation;

typedef struct observed_change {
  int process, subscription, key;
  bool is_initial;
  uint64_t first, last;
  int64_t before, after;
} observed_change;

typedef struct traced_step {
  uint16_t thread, kind;
  uint32_t is_result;
  int64_t value;
} traced_step;

/// Begins this program again without randomized addresses and hashes, if it has them; then maps the memory.
void simulation_prepare(char *const *arguments);
/// Empties it.
void simulation_reset(uint64_t seed, turns turns);
void simulation_plant(int fault);
void simulation_add_fault(fault fault);
void simulation_clear_faults(void);
/// Makes the calling thread, of the controller's process, a simulated one, alone, until `simulation_leave`.
void simulation_enter(void);
void simulation_leave(void);

// The controller.

/// Forks from a process with no other thread that matters, without the handlers of a fork.
pid_t simulation_fork(void);
/// Waits for the end of a child. Returns whether it has succeeded.
bool simulation_wait(pid_t child);
/// Starts a process, which waits for its turn. Returns whether this is it.
bool simulation_start(void);
enum { REQUEST_NONE, REQUEST_IDLE, REQUEST_EXIT, REQUEST_KILL, REQUEST_POWER, REQUEST_FINDING };
/// Gives the turn to a thread, and waits for a request of the threads.
int simulation_continue(void);
/// The process of the thread that requests something.
int simulation_requester(void);
/// Kills a process, and waits for its end.
void simulation_kill(int process);
void simulation_kill_all(void);
/// No more time passes than this.
void simulation_limit_time(int64_t nanoseconds);
/// How many processes live.
int simulation_alive(void);
/// Wakes those that await the end.
void simulation_wake_ended(void);
const char *simulation_found(void);
uint64_t simulation_steps(void);
/// How often the turn has gone to another thread although its thread did not wait.
unsigned simulation_switches(void);
const traced_step *simulation_step(uint64_t number);
const char *simulation_step_name(int kind);
uint64_t simulation_hash(void);
unsigned simulation_operation_count(void);
operation *simulation_operation(unsigned number);
unsigned simulation_notice_count(void);
observed_change *simulation_notice(unsigned number);
size_t simulation_event_count(void);
const recorded_event *simulation_event(size_t number);
/// Notes that the power was lost.
void simulation_lose_power(void);

// The simulated threads.

void simulation_exit(void) __attribute__((noreturn));
/// Forks this process. Returns the number of the new one in the child, 0 in the parent, and -1 if there are too many.
int simulation_split(void);
operation *simulation_begin(int kind);
void simulation_end(operation *operation);
observed_change *simulation_observe(void);
/// Runs a function in another thread of this process.
void simulation_thread(void (*run)(int), int argument);
/// Waits until all such threads have ended.
void simulation_join(void);
/// Waits until the controller wakes it.
void simulation_await_end(void);
void simulation_sleep(int64_t nanoseconds);
/// Ends the run with a finding.
void simulation_finding(const char *text);

#endif
