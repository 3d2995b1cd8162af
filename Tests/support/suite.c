#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 100 };

static struct test {
  const char *name;
  void (*run)(void);
  bool needs_folder;
} tests[MOST];
static struct role {
  const char *name;
  void (*play)(const char *location);
} roles[MOST];
static size_t test_count, role_count;

void add_test(const char *name, void (*run)(void), bool needs_folder) {
  if (test_count == MOST) abort();
  tests[test_count++] = (struct test){ name, run, needs_folder };
}

void add_role(const char *name, void (*play)(const char *location)) {
  if (role_count == MOST) abort();
  roles[role_count++] = (struct role){ name, play };
}

static int play(const char *name, const char *location) {
  /* Below the folder of the test, which removes everything. */
  const char *home = getenv("XDG_CONFIG_HOME");
  begin_fixtures(home != NULL ? home : "/tmp", 0);
  for (size_t i = 0; i < role_count; i++) {
    if (strcmp(roles[i].name, name) != 0) continue;
    roles[i].play(location);
    end_fixture();
    return failed_checks != 0;
  }
  fprintf(stderr, "no role is called %s\n", name);
  return 2;
}

static int run_all(bool in_memory, const char *only) {
  int count = 0, failed = 0;
  for (const struct test *test = tests; test < tests + test_count; test++) {
    if ((in_memory && test->needs_folder) || (only != NULL && strcmp(only, test->name) != 0)) continue;
    failed_checks = 0;
    count++;
    test->run();
    end_fixture();
    failed += failed_checks != 0;
    printf("%s %s\n", failed_checks ? "FAILED" : "ok    ", test->name);
    fflush(stdout);
  }
  printf("%d tests, %d failed\n", count, failed);
  return count == 0 || failed != 0;
}

int main(int argc, char **argv) {
  if (argc == 4 && strcmp(argv[1], "--child") == 0) return play(argv[2], argv[3]);
  if (argc < 2 || (strcmp(argv[1], "folder") != 0 && strcmp(argv[1], "memory") != 0)) {
    fprintf(stderr, "usage: %s folder|memory [test]\n", argv[0]);
    return 2;
  }
  bool in_memory = strcmp(argv[1], "memory") == 0;
  begin_fixtures(NULL, in_memory);
  int result = run_all(in_memory, argc > 2 ? argv[2] : NULL);
  end_fixtures();
  return result;
}
