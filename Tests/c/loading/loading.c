/* Loading the library changes nothing in its host, and PCRE2 is loaded when a pattern is first used. Each test of that
 * is a child, because what is loaded stays. */
#include "suite.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, FORKS = 100 };

static const char port[] = "{\"type\":\"string\",\"pattern\":\"^[0-9]+$\"}";
static const char size[] = "{\"type\":\"integer\",\"maximum\":9}";

static bool is_missing;
static int ready;

/* The library finds the program's function before the system's. */
void *dlopen(const char *file, int flags) {
  void *(*system_dlopen)(const char *, int);
  *(void **)&system_dlopen = dlsym(RTLD_NEXT, "dlopen");
  bool is_hidden = is_missing && file != NULL && strncmp(file, "libpcre2-8.", 11) == 0;
  return system_dlopen(is_hidden ? "libhidden.so.0" : file, flags);
}

static bool is_loaded(void) { return holds("/proc/self/maps", "/libpcre2-8."); }

static void passes(int (*play)(void *location)) {
  char location[] = "memory:";
  CHECK_INT(0, in_child(play, location));
}

static int do_nothing(void *unused) { return 0; }

static kept_store *opened(const char *location) {
  kept_store *store = NULL;
  return kept_open(location, NULL, &store, NULL) == KEPT_OK ? store : NULL;
}

static int do_without_patterns(void *location) {
  kept_store *store = opened(location);
  int64_t value = 0;
  MUST(kept_declare_json(store, "size", size, &why) == KEPT_OK);
  MUST(kept_set_int64(store, "size", 3, &why) == KEPT_OK && kept_set_json(store, "port", "\"x\"", &why) == KEPT_OK);
  MUST(kept_get_int64(store, "size", &value, &why) == KEPT_OK && value == 3);
  MUST(in_child(do_nothing, NULL) == 0);
  return is_loaded();
}

static int do_with_a_pattern(void *location) {
  kept_store *store = opened(location);
  MUST(kept_declare_json(store, "port", port, &why) == KEPT_OK);
  MUST(kept_set_json(store, "port", "\"x\"", &why) == KEPT_INVALID &&
    kept_set_json(store, "port", "\"8\"", &why) == KEPT_OK);
  return !is_loaded();
}

TEST(only_a_pattern_loads_the_library) {
  passes(do_without_patterns);
  passes(do_with_a_pattern);
}

static void *declare(void *location) {
  kept_store *store = opened(location);
  __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < THREADS) {}
  return kept_declare_json(store, "port", port, NULL) == KEPT_OK ? location : NULL;
}

static int declare_in_threads(void *location) {
  pthread_t threads[THREADS];
  int failures = 0;
  ready = 0;
  for (int i = 0; i < THREADS; i++) MUST(pthread_create(&threads[i], NULL, declare, location) == 0);
  for (int i = 0; i < THREADS; i++) {
    void *done = NULL;
    failures += pthread_join(threads[i], &done) != 0 || done == NULL;
  }
  return failures;
}

TEST(threads_may_meet_at_the_first_pattern) { passes(declare_in_threads); }

static void *declare_at_once(void *store) {
  __atomic_store_n(&ready, 1, __ATOMIC_SEQ_CST);
  return kept_declare_json(store, "port", port, NULL) == KEPT_OK ? store : NULL;
}

static int declare_alone(void *store) { return kept_declare_json(store, "port", port, NULL) != KEPT_OK; }

static int fork_while_loading(void *location) {
  kept_store *store = opened(location);
  pthread_t other;
  void *done = NULL;
  ready = 0;
  MUST(pthread_create(&other, NULL, declare_at_once, store) == 0);
  while (!__atomic_load_n(&ready, __ATOMIC_SEQ_CST)) {}
  MUST(in_child(declare_alone, store) == 0);
  return pthread_join(other, &done) != 0 || done == NULL;
}

TEST(a_fork_may_meet_the_first_pattern) {
  for (int i = 0; i < FORKS; i++) passes(fork_while_loading);
}

static int miss_it(void *location) {
  kept_store *store = opened(location);
  is_missing = true;
  EXPECT(KEPT_UNAVAILABLE, kept_declare_json(store, "port", port, &why));
  CHECK(says("\"port\"") && says("patterns need PCRE2") && says("libhidden.so.0") && says("libpcre2-8-0"));
  EXPECT(KEPT_OK, kept_declare_json(store, "size", size, &why));
  EXPECT(KEPT_OK, kept_set_int64(store, "size", 3, &why));
  EXPECT(KEPT_INVALID, kept_set_int64(store, "size", 10, &why));
  is_missing = false;
  EXPECT(KEPT_OK, kept_declare_json(store, "port", port, &why));
  EXPECT(KEPT_INVALID, kept_set_json(store, "port", "\"x\"", &why));
  EXPECT(KEPT_OK, kept_set_json(store, "port", "\"8\"", &why));
  kept_close(store);
  return failed_checks;
}

TEST(without_the_library_only_patterns_are_unavailable) { passes(miss_it); }

static int declare_and_set(void *location) {
  kept_store *store = opened(location);
  bool is_done =
    kept_declare_json(store, "port", port, &why) == KEPT_OK && kept_set_json(store, "port", "\"8\"", &why) == KEPT_OK;
  kept_close(store);
  return !is_done;
}

static int read_without(void *location) {
  kept_store *store = opened(location);
  is_missing = true;
  CHECK_TEXT("\"8\"", json_of(store, "port"));
  EXPECT(KEPT_UNAVAILABLE, kept_set_json(store, "port", "\"9\"", &why));
  CHECK(says("patterns need PCRE2"));
  is_missing = false;
  EXPECT(KEPT_INVALID, kept_set_json(store, "port", "\"x\"", &why));
  EXPECT(KEPT_OK, kept_set_json(store, "port", "\"9\"", &why));
  kept_close(store);
  return failed_checks;
}

FOLDER_TEST(a_stored_pattern_is_read_once_the_library_can_be_loaded) {
  const char *folder = fresh_folder();
  CHECK_INT(0, in_child(declare_and_set, (void *)folder));
  CHECK_INT(0, in_child(read_without, (void *)folder));
}

ROLE(has_no_handlers, location) {
  static const int fatal[] = { SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGQUIT };
  for (size_t i = 0; i < COUNT(fatal); i++) {
    struct sigaction action;
    if (sigaction(fatal[i], NULL, &action) != 0 || action.sa_handler != SIG_DFL) exit(1);
  }
}

TEST(fatal_signals_stay_the_host_s) {
  setenv("SWIFT_BACKTRACE", "enable=yes,swift-backtrace=/bin/true", 1);
  play_child("has_no_handlers", "");
  unsetenv("SWIFT_BACKTRACE");
}
