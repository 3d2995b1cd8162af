#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

__thread kept_error why;
int failed_checks;

bool says(const char *words) { return strstr(why.message, words) != NULL; }

static void fail(const char *file, int line, const char *what) {
  const char *name = strrchr(file, '/');
  failed_checks++;
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
