/* How torture programs get their seeds, folders and processes, and how they report failures. */
#include "torture.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "processes.h"

unsigned rounds;
unsigned round_now;
uint64_t seed;
char what[200];

static const char *name;
static int64_t begun_at;
static char root[4096];
static char folder[4200];
static unsigned folders;
static int64_t *failures; /* of all processes: no process waits for one that has failed */

/* Beginning and ending */

void begin_torture(int argc, char **argv, unsigned default_rounds) {
  const char *slash = strrchr(argv[0], '/');
  name = slash ? slash + 1 : argv[0];
  rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : default_rounds;
  if (rounds == 0) {
    fprintf(stderr, "usage: %s ROUNDS [SEED]\n", name);
    exit(2);
  }
  begun_at = now_ns();
  failures = share(sizeof *failures);
  seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)begun_at ^ (uint64_t)getpid() << 40;
  make_folder(root, sizeof root, "kept-torture");
  printf("%s: %u rounds, seed 0x%" PRIx64 "\n", name, rounds, seed);
  fflush(stdout);
}

void play_rounds(void (*play_round)(uint64_t *random)) {
  uint64_t random = seed;
  for (round_now = 0; round_now < rounds; round_now++) play_round(&random);
}

int end_torture(const char *format, ...) {
  va_list values;
  remove_tree(root);
  printf("%s: ", name);
  va_start(values, format);
  vprintf(format, values);
  va_end(values);
  printf(", %.1f s\n", (double)(now_ns() - begun_at) / 1e9);
  return 0;
}

void fail(const char *format, ...) {
  va_list values;
  char text[1024];
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  fprintf(stderr, "%s: %s%s%s\n  seed 0x%" PRIx64 ", round %u, folder %s\n", name, what, *what ? ": " : "", text, seed,
    round_now, folder);
  if (failures) add(failures, 1);
  while (getenv("KEPT_TORTURE_STAY") != NULL) pause();
  _exit(1);
}

/* Shared memory */

void *share(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("no shared memory: %s", strerror(errno));
  return memory;
}

int64_t load(const int64_t *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }
void store_word(int64_t *word, int64_t value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }
int64_t add(int64_t *word, int64_t value) { return __atomic_add_fetch(word, value, __ATOMIC_SEQ_CST); }

/* Stores */

const char *fresh_folder(void) {
  if (folders > 0) remove_tree(folder);
  snprintf(folder, sizeof folder, "%s/store-%u", root, ++folders);
  return folder;
}

const char *last_of(const char *folder, const char *name) {
  size_t length = strlen(name);
  unsigned long last = 0;
  char path[64];
  DIR *names = opendir(folder);
  for (struct dirent *entry; names && (entry = readdir(names));) {
    if (strncmp(entry->d_name, name, length) != 0 || entry->d_name[length] != '.') continue;
    unsigned long number = strtoul(entry->d_name + length + 1, NULL, 10);
    if (number > last) last = number;
  }
  if (names) closedir(names);
  snprintf(path, sizeof path, "%s.%lu", name, last);
  return file_of(folder, path);
}

kept_store *open_store(const char *path, uint32_t durability, uint32_t busy_timeout_ms) {
  kept_options options = KEPT_OPTIONS_INIT;
  kept_store *store = NULL;
  options.durability = durability;
  options.busy_timeout_ms = busy_timeout_ms;
  expect_ok(kept_open(path, &options, &store, &why), "open");
  return store;
}

void expect_ok(kept_status status, const char *what) {
  if (status != KEPT_OK) fail("could not %s: %s: %s", what, kept_status_text(status), why.message);
}

/* Processes */

pid_t start(void (*play)(void *), void *context) {
  pid_t parent = getpid(), process = fork();
  if (process < 0) fail("no process: %s", strerror(errno));
  if (process > 0) return process;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  /* The first process of a container has no parent to see. */
  if (getppid() != parent && getppid() != 0) _exit(0);
  play(context);
  _exit(0);
}

void finish(pid_t process) {
  struct pollfd end = { (int)syscall(SYS_pidfd_open, process, 0), POLLIN, 0 };
  if (end.fd < 0) fail("process %d cannot be awaited: %s", (int)process, strerror(errno));
  int ended = poll(&end, 1, PATIENCE_SECONDS * 1000);
  close(end.fd);
  if (ended != 1) fail("process %d hangs", (int)process);
  int status = end_of(process);
  if (status < 0) fail("process %d died of signal %d", (int)process, -status);
  if (status != 0) fail("process %d found something wrong", (int)process);
}

void expect_signal(pid_t process, int signal) {
  if (end_of(process) != -signal) fail("process %d found something wrong", (int)process);
}

void kill_now(pid_t process) {
  kill(process, SIGKILL);
  if (end_of(process) != -SIGKILL) fail("process %d ended before it was killed", (int)process);
}

void await_word(const int64_t *word, int64_t least, const char *what) {
  int64_t deadline = now_ns() + PATIENCE_SECONDS * NS_PER_SECOND;
  while (load(word) < least) {
    if (now_ns() > deadline) fail("in %d seconds %s", PATIENCE_SECONDS, what);
    if (load(failures) > 0) _exit(1);
    let_pass(50);
  }
}
