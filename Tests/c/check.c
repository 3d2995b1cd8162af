/* How checks report, and how the stores and processes of a test are created and removed. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __has_include
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef VALGRIND_COUNT_ERRORS
#define VALGRIND_COUNT_ERRORS 0
#endif

kept_error why;

static int failures;
static int in_memory;
static char program[4096];
static char root[4096];

/* Memory that is freed when a test ends. */
static void *borrowed[256];
static size_t borrowed_count;
static kept_store *opened[64];
static size_t opened_count;

/* Reporting */

static void fail(const char *file, int line, const char *what) {
  const char *name = strrchr(file, '/');
  failures++;
  fprintf(stderr, "%s:%d: %s\n", name ? name + 1 : file, line, what);
}

void check_true(const char *file, int line, const char *what, int condition) {
  if (condition) return;
  fail(file, line, what);
  fprintf(stderr, "  expected: true\n  found:    false\n");
}

void check_int(const char *file, int line, const char *what, int64_t expected, int64_t found) {
  if (expected == found) return;
  fail(file, line, what);
  fprintf(stderr, "  expected: %" PRId64 "\n  found:    %" PRId64 "\n", expected, found);
}

void check_uint(const char *file, int line, const char *what, uint64_t expected, uint64_t found) {
  if (expected == found) return;
  fail(file, line, what);
  fprintf(stderr, "  expected: %" PRIu64 "\n  found:    %" PRIu64 "\n", expected, found);
}

void check_text(const char *file, int line, const char *what, const char *expected, const char *found) {
  if (expected == found || (expected && found && strcmp(expected, found) == 0)) return;
  fail(file, line, what);
  fprintf(stderr, "  expected: %s\n  found:    %s\n", expected ? expected : "NULL", found ? found : "NULL");
}

static const char poison = 0x5A;

void poison_why(void) { memset(&why, poison, sizeof why); }

static int untouched(const kept_error *error) {
  const char *bytes = (const char *)error;
  for (size_t i = 0; i < sizeof *error; i++) {
    if (bytes[i] != poison) return 0;
  }
  return 1;
}

static const char *fault_of(const kept_error *error, kept_status status) {
  if (status == KEPT_OK) return untouched(error) ? NULL : "the error is touched by a call that succeeds";
  if (error->status != status) return "the error has another status than the call";
  if (error->reserved != 0) return "error.reserved is not 0";
  if (error->offset < -1) return "error.offset is neither an offset nor -1";
  if (memchr(error->message, 0, sizeof error->message) == NULL) return "the message does not end";
  if (strlen(error->message) < 8) return "the message is not a sentence";
  return NULL;
}

void check_call(const char *file, int line, const char *what, kept_status expected, kept_status found) {
  const char *fault = fault_of(&why, found);
  if (expected != found) {
    fail(file, line, what);
    fprintf(stderr, "  expected: %s\n  found:    %s\n", kept_status_text(expected), kept_status_text(found));
    if (fault == NULL && found != KEPT_OK) fprintf(stderr, "  because:  %s\n", why.message);
  }
  if (fault != NULL) {
    fail(file, line, what);
    fprintf(stderr, "  %s\n", fault);
  }
}

/* Stores */

static void *borrow(void *memory) {
  if (memory == NULL || borrowed_count == sizeof borrowed / sizeof *borrowed) {
    fprintf(stderr, "a test borrows too much\n");
    exit(2);
  }
  return borrowed[borrowed_count++] = memory;
}

static char *borrow_text(const char *first, const char *second, unsigned number) {
  size_t size = strlen(first) + strlen(second) + 16;
  char *text = borrow(malloc(size));
  snprintf(text, size, "%s%s%u", first, second, number);
  return text;
}

static unsigned locations;

const char *fresh_folder(void) { return borrow_text(root, "/store-", ++locations); }

const char *fresh_location(void) { return in_memory ? borrow_text("memory:", "store-", ++locations) : fresh_folder(); }

const char *file_of(const char *location, const char *name) {
  size_t size = strlen(location) + strlen(name) + 2;
  char *path = borrow(malloc(size));
  snprintf(path, size, "%s/%s", location, name);
  return path;
}

kept_store *open_at(const char *location) { return open_with(location, NULL); }

kept_store *open_with(const char *location, const kept_options *options) {
  kept_store *store = NULL;
  EXPECT(KEPT_OK, kept_open(location, options, &store, &why));
  if (store != NULL && opened_count < sizeof opened / sizeof *opened) opened[opened_count++] = store;
  return store;
}

kept_store *fresh_store(void) { return open_at(fresh_location()); }

const char *json_of(kept_store *store, const char *key) {
  char *json = NULL;
  kept_status status = kept_get_json(store, key, &json, NULL);
  if (status != KEPT_OK) return kept_status_text(status);
  char *copy = borrow(strdup(json));
  kept_free(json);
  return copy;
}

void put_file(const char *path, const char *text) {
  char beside[4200];
  snprintf(beside, sizeof beside, "%s.new", path);
  FILE *file = fopen(beside, "w");
  CHECK(file != NULL);
  if (file == NULL) return;
  CHECK(fputs(text, file) >= 0 && fchmod(fileno(file), 0644) == 0);
  CHECK_INT(0, fclose(file));
  CHECK_INT(0, rename(beside, path));
}

const char *fresh_file(const char *text) {
  const char *path = fresh_folder();
  put_file(path, text);
  return path;
}

const char *bad_text(size_t index) {
  static const char *const texts[] = {
    "\xff",             /* never a byte of UTF-8 */
    "caf\xe9",          /* Latin-1 */
    "cut \xe2\x82",     /* ends inside a character */
    "\x80",             /* begins inside one */
    "\xc0\x80",         /* a NUL in two bytes */
    "\xe0\x80\xaf",     /* a slash in three bytes */
    "\xed\xa0\x80",     /* half of a surrogate pair */
    "\xf4\x90\x80\x80", /* beyond U+10FFFF */
    NULL,
  };
  return texts[index];
}

const char *bad_key(size_t index) {
  if (index == 0) return "";
  if (index == 1) return repeated('k', 1025);
  return bad_text(index - 2);
}

char *repeated(char byte, size_t count) {
  char *text = borrow(malloc(count + 1));
  memset(text, byte, count);
  text[count] = 0;
  return text;
}

static void return_everything(void) {
  while (opened_count > 0) kept_close(opened[--opened_count]);
  while (borrowed_count > 0) free(borrowed[--borrowed_count]);
}

/* Processes */

void leave_fork(int status) {
  char text[16];
  snprintf(text, sizeof text, "%d", VALGRIND_COUNT_ERRORS > 0 ? 99 : status & 255);
  /* valgrind looks for leaks when a program exits, and not when it executes another program. */
  execl("/bin/sh", "sh", "-c", "exit $0", text, (char *)NULL);
  _exit(127);
}

child start_child(const char *role, const char *location) {
  int to[2], from[2];
  child child = { -1, -1, -1 };
  if (pipe(to) != 0 || pipe(from) != 0 || (child.pid = fork()) < 0) {
    perror("start_child");
    exit(2);
  }
  if (child.pid == 0) {
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    close(to[0]), close(to[1]), close(from[0]), close(from[1]);
    execl(program, program, "--child", role, location, (char *)NULL);
    _exit(127);
  }
  close(to[0]), close(from[1]);
  /* The next child must not inherit these ends, or this child would never see its input closed. */
  fcntl(child.to = to[1], F_SETFD, FD_CLOEXEC);
  fcntl(child.from = from[0], F_SETFD, FD_CLOEXEC);
  return child;
}

void await_child(child *child) {
  char byte;
  CHECK_INT(1, read(child->from, &byte, 1));
}

void release_child(child *child) {
  if (child->to >= 0) close(child->to);
  child->to = -1;
}

int finish_child(child *child) {
  int status = 0;
  release_child(child);
  waitpid(child->pid, &status, 0);
  close(child->from);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void kill_child(child *child) {
  kill(child->pid, SIGKILL);
  CHECK_INT(-SIGKILL, finish_child(child));
}

void signal_parent(void) {
  if (write(STDOUT_FILENO, ".", 1) != 1) exit(2);
}

void await_parent(void) {
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {}
}

/* Running */

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk) {
  (void)status, (void)type, (void)walk;
  return remove(path);
}

static void make_root(void) {
  const char *base = getenv("TMPDIR");
  snprintf(root, sizeof root, "%s/kept-test-XXXXXX", base && *base ? base : "/tmp");
  if (mkdtemp(root) == NULL) {
    perror(root);
    exit(2);
  }
  setenv("XDG_CONFIG_HOME", root, 1);
}

static int play(const role *roles, const char *name, const char *location) {
  /* Below the folder of the test, which removes everything. */
  const char *home = getenv("XDG_CONFIG_HOME");
  snprintf(root, sizeof root, "%s/child-%ld", home != NULL ? home : "/tmp", (long)getpid());
  for (; roles->name != NULL; roles++) {
    if (strcmp(roles->name, name) != 0) continue;
    roles->play(location);
    return_everything();
    return failures != 0;
  }
  fprintf(stderr, "no role is called %s\n", name);
  return 2;
}

static int run_all(const test *tests, const char *only) {
  int count = 0, failed = 0;
  for (; tests->name != NULL; tests++) {
    if ((in_memory && tests->needs_folder) || (only != NULL && strcmp(only, tests->name) != 0)) continue;
    failures = 0;
    count++;
    tests->run();
    return_everything();
    failed += failures != 0;
    printf("%s %s\n", failures ? "FAILED" : "ok    ", tests->name);
    fflush(stdout);
  }
  printf("%d tests, %d failed\n", count, failed);
  return count == 0 || failed != 0;
}

int run_tests(int argc, char **argv, const test *tests, const role *roles) {
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) return 2;
  if (argc == 4 && strcmp(argv[1], "--child") == 0) return play(roles, argv[2], argv[3]);
  if (argc < 2 || (strcmp(argv[1], "folder") != 0 && strcmp(argv[1], "memory") != 0)) {
    fprintf(stderr, "usage: %s folder|memory [test]\n", argv[0]);
    return 2;
  }
  in_memory = strcmp(argv[1], "memory") == 0;
  make_root();
  int result = run_all(tests, argc > 2 ? argv[2] : NULL);
  nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  return result;
}
