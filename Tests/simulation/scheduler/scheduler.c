// The turns: one thread of all processes runs at a time, and decides at each step who goes on.
#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

simulation *shared;
int planted;
__thread int own;

extern pid_t _Fork(void);

/// `owner` is the last word of the pulse that others rely on.
enum { LONGEST_TURN = 4000, STEP_NANOSECONDS = 100, LAST_WORD = 384 };

long system_call(long number, long a, long b, long c, long d, long e, long f) {
  long result;
#if defined(__x86_64__)
  register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
    : "=a"(result)
    : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
    : "rcx", "r11", "memory");
#else
  register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  result = x0;
#endif
  if (result < 0 && result > -4096) {
    errno = (int)-result;
    return -1;
  }
  return result;
}

/* Forks by a simulated process */

static int child_process, child_thread;

static void prepare_child(void) {
  if (!own) return;
  child_process = (int)shared->process_count++;
  child_thread = add_thread(child_process);
  shared->processes[child_process] = (simulated_process){ .is_alive = true };
}

/// The controller must know which process it is.
static void await_child(void) {
  if (!own) return;
  while (__atomic_load_n(&shared->processes[child_process].pid, __ATOMIC_ACQUIRE) == 0) {
    system_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
  }
}

static void begin_child(void) {
  if (!own) return;
  pid_t pid = (pid_t)system_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
  __atomic_store_n(&shared->processes[child_process].pid, pid, __ATOMIC_RELEASE);
  begin_thread(child_thread);
}

int simulation_split(void) {
  before(STEP_FORK, 0);
  // Some numbers stay for those that start later.
  if (shared->process_count >= MOST_PROCESSES - 6) return -1;
  pid_t child = fork();
  if (child < 0) abort();
  return child == 0 ? child_process : 0;
}

/* The memory */

void simulation_prepare(char *const *arguments) {
  int persona = personality(0xFFFFFFFF);
  if (!(persona & ADDR_NO_RANDOMIZE) || getenv("SWIFT_DETERMINISTIC_HASHING") == NULL) {
    personality((unsigned long)persona | ADDR_NO_RANDOMIZE);
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1);
    execv("/proc/self/exe", arguments);
    perror("schedules");
    exit(2);
  }
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (shared == MAP_FAILED) {
    perror("schedules");
    exit(2);
  }
  // Registered before those of the library: in a child this one comes first, and in a parent the last is before.
  pthread_atfork(prepare_child, await_child, begin_child);
}

/// Splitmix64.
uint64_t simulated_random(uint64_t bound) {
  uint64_t z = shared->random += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return bound ? z % bound : z;
}

static unsigned next_gap(void) {
  return shared->turns.gap == 0 ? UINT_MAX : 1 + (unsigned)simulated_random(2 * (uint64_t)shared->turns.gap);
}

void simulation_reset(uint64_t seed, turns turns) {
  memset(shared, 0, offsetof(simulation, events));
  shared->controller = getpid();
  // The child of a process that was killed becomes the controller's.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  shared->random = seed;
  shared->now = 1000000000000;
  shared->end = INT64_MAX;
  shared->thread_count = 1;
  shared->turns = turns;
  shared->until_switch = next_gap();
}

void simulation_add_fault(fault added) {
  for (fault *fault = shared->faults; fault < shared->faults + MOST_FAULTS; fault++) {
    if (fault->what != 0) continue;
    *fault = added;
    return;
  }
}

void simulation_plant(int fault) { planted = fault; }

void simulation_clear_faults(void) { memset(shared->faults, 0, sizeof shared->faults); }

void simulation_enter(void) {
  own = add_thread(0);
  shared->process_count = 1;
  shared->processes[0].is_alive = true;
}

void simulation_leave(void) { own = 0; }

static void trace(int kind, bool is_result, int64_t value) {
  if (shared->steps >= MOST_STEPS) return;
  shared->trace[shared->steps].thread = (uint16_t)own;
  shared->trace[shared->steps].kind = (uint16_t)kind;
  shared->trace[shared->steps].is_result = is_result;
  shared->trace[shared->steps].value = value;
  shared->steps++;
}

uint64_t simulation_hash(void) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (uint64_t at = 0; at < shared->steps; at++) {
    hash = (hash ^ (uint64_t)shared->trace[at].thread << 32 ^ (uint64_t)shared->trace[at].kind << 48) * 0x100000001B3u;
    hash = (hash ^ (uint64_t)shared->trace[at].value ^ shared->trace[at].is_result) * 0x100000001B3u;
  }
  return hash;
}

/* Turns */

static void await_turn(int number, const struct timespec *limit) {
  const struct timespec minute = { 60, 0 };
  uint32_t *turn = &shared->threads[number].turn;
  while (__atomic_load_n(turn, __ATOMIC_ACQUIRE) == 0) {
    system_call(SYS_futex, (long)turn, FUTEX_WAIT, 0, (long)(limit ? limit : &minute), 0, 0);
    if (limit) break;
    if (kill(shared->controller, 0) != 0) _exit(1);
  }
}

static bool take_turn(int number) {
  return __atomic_exchange_n(&shared->threads[number].turn, 0, __ATOMIC_ACQUIRE) != 0;
}

static void give_turn(int number) {
  shared->since_switch = 0;
  __atomic_store_n(&shared->threads[number].turn, 1, __ATOMIC_RELEASE);
  system_call(SYS_futex, (long)&shared->threads[number].turn, FUTEX_WAKE, 1, 0, 0, 0);
}

static bool is_ready(const simulated_thread *thread) {
  if (shared->processes[thread->process].stopped_until > shared->now) return false;
  return thread->state == THREAD_READY || (thread->state == THREAD_BLOCKED && thread->deadline <= shared->now);
}

/// A thread that can go on; 0, the controller, if there is none. Time passes if all wait for it.
static int choose(void) {
  while (true) {
    int ready[MOST_THREADS], count = 0;
    int64_t next = INT64_MAX;
    for (unsigned number = 1; number < shared->thread_count; number++) {
      const simulated_thread *thread = &shared->threads[number];
      if (thread->state != THREAD_READY && thread->state != THREAD_BLOCKED) continue;
      if (is_ready(thread)) {
        ready[count++] = (int)number;
        continue;
      }
      int64_t stop = shared->processes[thread->process].stopped_until;
      int64_t time = thread->state == THREAD_READY ? stop : thread->deadline;
      if (time < stop) time = stop;
      if (time < next) next = time;
    }
    if (count > 0) return ready[simulated_random((uint64_t)count)];
    if (next > shared->end || next == INT64_MAX) {
      shared->request = REQUEST_IDLE;
      return 0;
    }
    shared->now = next;
    trace(STEP_TIME, false, next);
  }
}

/// Gives the turn to a thread, and waits for it.
static void pass(int number) {
  int me = own;
  if (number == me) return;
  give_turn(number);
  do await_turn(me, NULL);
  while (!take_turn(me));
}

static void ask(int request) {
  shared->request = request;
  shared->requester = shared->threads[own].process;
  pass(0);
}

void simulation_finding(const char *text) {
  if (!shared->finding[0]) snprintf(shared->finding, sizeof shared->finding, "%s", text);
  if (own) ask(REQUEST_FINDING);
}

static void strike(int kind) {
  for (fault *fault = shared->faults; fault < shared->faults + MOST_FAULTS; fault++) {
    if (fault->what == 0 || fault->what == STEP_FAIL || fault->kind != kind || --fault->left > 0) continue;
    int what = fault->what;
    fault->what = 0;
    trace(what, false, shared->threads[own].process);
    if (what == STEP_STOP) {
      shared->processes[shared->threads[own].process].stopped_until = shared->now + fault->pause;
      pass(choose());
    } else {
      ask(what == STEP_KILL ? REQUEST_KILL : REQUEST_POWER);
    }
  }
}

/// The word of the pulse that this thread may have changed since its last step.
static __thread const volatile uint64_t *watched __attribute__((tls_model("initial-exec")));
static __thread uint64_t seen __attribute__((tls_model("initial-exec")));
static __thread unsigned watched_offset __attribute__((tls_model("initial-exec")));

void watch(const void *word, unsigned offset) {
  watched = NULL;
  if (!word || offset % 64 != 0 || offset > LAST_WORD) return;
  watched = word, seen = *watched, watched_offset = offset;
}

static void look_at_word(void) {
  const volatile uint64_t *word = watched;
  watched = NULL;
  if (word && *word != seen) note(EVENT_WORD, (int64_t)*word, watched_offset);
}

void before(int kind, int64_t value) {
  look_at_word();
  trace(kind, false, value);
  if (shared->steps >= MOST_STEPS) simulation_finding("the run does not end");
  shared->now += STEP_NANOSECONDS;
  strike(kind);
  bool switches = false;
  if (shared->turns.counts_all || kind >= STEP_PULSE) switches = --shared->until_switch == 0;
  if (kind == shared->turns.hot && simulated_random(2)) switches = true;
  if (++shared->since_switch > LONGEST_TURN || (kind == STEP_YIELD && simulated_random(2))) switches = true;
  if (!switches || shared->switches >= shared->turns.most) return;
  shared->switches++;
  shared->until_switch = next_gap();
  pass(choose());
}

int64_t after(int kind, int64_t result) {
  int error = errno;
  trace(kind, true, result < 0 && kind >= STEP_READ ? -error : result);
  errno = error;
  return result;
}

bool block(uint64_t key, int64_t deadline) {
  look_at_word();
  simulated_thread *thread = &shared->threads[own];
  thread->key = key;
  thread->deadline = deadline;
  thread->is_woken = false;
  thread->state = THREAD_BLOCKED;
  pass(choose());
  thread->state = THREAD_READY;
  thread->key = 0;
  return thread->is_woken;
}

int wake(uint64_t key, bool all) {
  int count = 0;
  for (unsigned number = 1; number < shared->thread_count && (all || count == 0); number++) {
    simulated_thread *thread = &shared->threads[number];
    if (thread->state != THREAD_BLOCKED || thread->key != key) continue;
    thread->state = THREAD_READY;
    thread->is_woken = true;
    count++;
  }
  return count;
}

int failure(int kind) {
  for (fault *fault = shared->faults; fault < shared->faults + MOST_FAULTS; fault++) {
    if (fault->what != STEP_FAIL || fault->kind != kind || --fault->left > 0) continue;
    fault->what = 0;
    trace(STEP_FAIL, false, fault->error);
    return fault->error ? fault->error : -1;
  }
  return 0;
}

uint64_t own_key(const void *address) {
  return (uint64_t)address << 8 | (uint64_t)shared->threads[own].process << 1 | 1;
}

uint64_t shared_key(const void *address) { return ((uint64_t)address & 4095) << 8; }

/* What reaches the disk */

static recorded_event *add_event(int call, size_t count) {
  if (shared->event_count >= MOST_EVENTS - 1 || shared->byte_count + count > MOST_BYTES) {
    if (own) simulation_finding("the run writes too much");
    shared->event_count--;
  }
  recorded_event *event = &shared->events[shared->event_count++];
  memset(event, 0, sizeof *event);
  event->call = call;
  event->process = shared->threads[own].process;
  event->step = shared->steps;
  return event;
}

void note(int call, int64_t value, int64_t offset) {
  recorded_event *event = add_event(call, 0);
  event->file = (uint64_t)value;
  event->offset = offset;
}

void record(int call, int file, const void *bytes, size_t count, int64_t offset, const char *name, const char *other) {
  recorded_event *event = add_event(call, count);
  event->file = inode_of(file);
  event->offset = offset;
  event->count = count;
  event->bytes = memcpy(shared->bytes + shared->byte_count, bytes ? bytes : "", count);
  shared->byte_count += count;
  if (name) strncpy(event->name, name, sizeof event->name - 1);
  if (other) strncpy(event->other, other, sizeof event->other - 1);
}

/* Threads and processes */

int add_thread(int process) {
  if (shared->thread_count == MOST_THREADS) {
    simulation_finding("too many threads");
    return MOST_THREADS - 1;
  }
  int number = (int)shared->thread_count++;
  memset(&shared->threads[number], 0, sizeof *shared->threads);
  shared->threads[number].process = process;
  shared->threads[number].state = THREAD_READY;
  return number;
}

void begin_thread(int number) {
  own = number;
  do await_turn(number, NULL);
  while (!take_turn(number));
}

/// The thread stays, so that its memory is not used again at a time that the system chooses.
void end_thread(void) {
  before(STEP_END, 0);
  shared->threads[own].state = THREAD_ENDED;
  give_turn(choose());
  uint32_t word = 0;
  while (true) system_call(SYS_futex, (long)&word, FUTEX_WAIT, 0, 0, 0, 0);
}

pid_t simulation_fork(void) {
  pid_t child = _Fork();
  if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
  return child;
}

bool simulation_wait(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return status == 0;
}

bool simulation_start(void) {
  if (shared->process_count == MOST_PROCESSES) return simulation_finding("too many processes"), false;
  int process = (int)shared->process_count++, number = add_thread(process);
  trace(STEP_START, false, process);
  pid_t child = _Fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    begin_thread(number);
    return true;
  }
  shared->processes[process] = (simulated_process){ .pid = child, .is_alive = child > 0 };
  return false;
}

/// The controller reaps it, as it does one that it has killed.
void simulation_exit(void) {
  trace(STEP_END, false, 1);
  ask(REQUEST_EXIT);
  abort();
}

/// Whether a process has ended, which may be the child of one that lives, and then its status is not known.
static bool has_ended(pid_t pid, int *status, bool waits) {
  *status = 0;
  pid_t found;
  while ((found = waitpid(pid, status, waits ? 0 : WNOHANG)) < 0 && errno == EINTR) {}
  if (found >= 0) return found == pid;
  struct pollfd process = { .fd = (int)system_call(SYS_pidfd_open, pid, 0, 0, 0, 0, 0), .events = POLLIN };
  if (process.fd < 0) return true;
  bool result = system_call(SYS_ppoll, (long)&process, 1, (long)(waits ? NULL : &(struct timespec){ 0 }), 0, 0, 0) > 0;
  close(process.fd);
  return result;
}

void simulation_kill(int process) {
  simulated_process *killed = &shared->processes[process];
  int status;
  if (!killed->is_alive) return;
  kill(killed->pid, SIGKILL);
  has_ended(killed->pid, &status, true);
  killed->is_alive = false;
  note(EVENT_GONE, process, 0);
  for (unsigned number = 1; number < shared->thread_count; number++) {
    if (shared->threads[number].process == process) shared->threads[number].state = THREAD_ENDED;
  }
}

/// Whether a process has ended by itself.
static bool has_crashed(void) {
  for (unsigned process = 0; process < shared->process_count; process++) {
    simulated_process *one = &shared->processes[process];
    int status;
    if (!one->is_alive || one->pid == 0 || !has_ended(one->pid, &status, false)) continue;
    char text[100];
    snprintf(text, sizeof text, "process %u has ended with status %d, signal %d", process, WEXITSTATUS(status),
      WTERMSIG(status));
    one->is_alive = false;
    simulation_finding(text);
    return true;
  }
  return false;
}

int simulation_continue(void) {
  const struct timespec limit = { 0, 100000000 };
  shared->request = REQUEST_NONE;
  int next = choose();
  if (next == 0) return shared->request;
  give_turn(next);
  uint64_t steps = shared->steps;
  for (int looks = 0; !take_turn(0); looks++) {
    await_turn(0, &limit);
    if (shared->threads[0].turn) continue;
    if (has_crashed()) return REQUEST_FINDING;
    if (steps != shared->steps) looks = 0;
    steps = shared->steps;
    if (looks > 600) {
      simulation_finding("a thread waits outside of the simulation");
      return REQUEST_FINDING;
    }
  }
  return shared->request;
}

int simulation_requester(void) { return shared->requester; }

void simulation_kill_all(void) {
  for (unsigned process = 0; process < shared->process_count; process++) simulation_kill((int)process);
  // What the killed have forked, and not awaited.
  while (waitpid(-1, NULL, WNOHANG) > 0) {}
}

int simulation_alive(void) {
  int count = 0;
  for (unsigned process = 0; process < shared->process_count; process++) count += shared->processes[process].is_alive;
  return count;
}

void simulation_limit_time(int64_t nanoseconds) {
  shared->end = nanoseconds == INT64_MAX ? INT64_MAX : shared->now + nanoseconds;
}

void simulation_await_end(void) {
  before(STEP_SLEEP, 0);
  block(END_KEY, INT64_MAX);
}

void simulation_wake_ended(void) { wake(END_KEY, true); }

void simulation_sleep(int64_t nanoseconds) {
  before(STEP_SLEEP, 0);
  block(0, shared->now + nanoseconds);
}

/* What is found */

operation *simulation_begin(int kind) {
  if (shared->operation_count == MOST_OPERATIONS) simulation_finding("too many operations");
  operation *operation = &shared->operations[shared->operation_count++];
  operation->process = shared->threads[own].process;
  operation->kind = kind;
  operation->begin = shared->steps;
  operation->end = UINT64_MAX;
  before(STEP_OPERATION, kind);
  operation->begin = shared->steps;
  return operation;
}

void simulation_end(operation *operation) {
  before(STEP_ANSWER, operation->status);
  operation->end = shared->steps;
}

observed_change *simulation_observe(void) {
  if (shared->notice_count == MOST_NOTICES) simulation_finding("too many notices");
  observed_change *notice = &shared->notices[shared->notice_count++];
  notice->process = shared->threads[own].process;
  return notice;
}

const char *simulation_found(void) { return shared->finding; }
unsigned simulation_switches(void) { return shared->switches; }
uint64_t simulation_steps(void) { return shared->steps; }
const traced_step *simulation_step(uint64_t number) { return &shared->trace[number]; }
unsigned simulation_operation_count(void) { return shared->operation_count; }
operation *simulation_operation(unsigned number) { return &shared->operations[number]; }
unsigned simulation_notice_count(void) { return shared->notice_count; }
observed_change *simulation_notice(unsigned number) { return &shared->notices[number]; }
size_t simulation_event_count(void) { return shared->event_count; }
const recorded_event *simulation_event(size_t number) { return &shared->events[number]; }
void simulation_lose_power(void) { note(EVENT_POWER, 0, 0); }

const char *simulation_step_name(int kind) {
#define STEP_KIND(name, text) #text,
  static const char *const names[] = { STEP_KINDS(STEP_KIND) };
#undef STEP_KIND
  return kind >= 0 && kind < STEP_KIND_COUNT ? names[kind] : "?";
}
