// What the scheduler gives to the calls that it replaces.
#ifndef INTERNAL_H
#define INTERNAL_H

#include "scheduler.h"

typedef struct simulated_thread {
  uint32_t turn; // a futex
  int process;
  enum { THREAD_NONE, THREAD_READY, THREAD_BLOCKED, THREAD_ENDED } state;
  uint64_t key;     // of what it waits for
  int64_t deadline; // INT64_MAX: none
  bool is_woken;
} simulated_thread;

typedef struct simulated_process {
  pid_t pid;
  bool is_alive;
  int64_t stopped_until;
} simulated_process;

typedef struct failed_file {
  uint64_t inode;
  unsigned count;
} failed_file;

/// In memory that all processes of a run share. Only the thread that has the turn uses it.
typedef struct simulation {
  pid_t controller;
  uint64_t random;
  int64_t now, end; // in nanoseconds; no time passes beyond the end
  uint64_t steps;
  unsigned thread_count, process_count, operation_count, notice_count;
  size_t event_count, byte_count;
  simulated_thread threads[MOST_THREADS]; // the first is the controller
  simulated_process processes[MOST_PROCESSES];
  turns turns;
  unsigned until_switch, since_switch, switches;
  fault faults[MOST_FAULTS];
  failed_file failed_files[MOST_FAULTS + 1]; // each fault makes one sync fail at most, and the last stays empty
  int request, requester;
  char finding[700];
  operation operations[MOST_OPERATIONS];
  observed_change notices[MOST_NOTICES];
  recorded_event events[MOST_EVENTS];
  traced_step trace[MOST_STEPS];
  unsigned char bytes[MOST_BYTES];
} simulation;

extern simulation *shared;
/// What the simulated system does wrong.
extern int planted;
/// The number of this thread; 0: it is not simulated, and all calls are the system's.
extern __thread int own __attribute__((tls_model("initial-exec")));

/// Before a call: lets others run. The turn is back when it returns.
void before(int kind, int64_t value);
/// After a call. Returns the result.
int64_t after(int kind, int64_t result);
/// Waits for a wake of a key. Returns false after the deadline.
bool block(uint64_t key, int64_t deadline);
/// Wakes the threads that wait for a key. Returns their number.
int wake(uint64_t key, bool all);
/// The failure that the seed has for a call: 0 for none, -1 for half of a write.
int failure(int kind);
/// A number below a bound.
uint64_t simulated_random(uint64_t bound);
void record(int call, int file, const void *bytes, size_t count, int64_t offset, const char *name, const char *other);
/// Of a word or a lock.
void note(int event, int64_t value, int64_t offset);
/// The thread is about to use a word of the pulse.
void watch(const void *word, unsigned offset);
/// Of a thread that was made by pthread_create.
int add_thread(int process);
void begin_thread(int number);
void end_thread(void) __attribute__((noreturn));
/// Of what only this process has.
/// A file that a call has changed has the time of the simulation.
void note_change(int file);
/// The number of an open file's inode; 0 if it has none.
uint64_t inode_of(int file);
uint64_t own_key(const void *address);
uint64_t shared_key(const void *address);
enum { POLL_KEY = 1, END_KEY = 2, JOIN_KEY = 16 };

long system_call(long number, long a, long b, long c, long d, long e, long f);

#endif
