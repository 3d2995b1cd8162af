/* Checks whether a result is one that kept.h documents, and counts how often each function has returned which. */
#include "calls.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL_NAME(name) #name,
static const char *const names[] = { EACH_ANSWER(CALL_NAME) EACH_OTHER(CALL_NAME) };

static long done[all_calls], failed[all_calls];

static const char poison = 0x5A;

void must(bool holds, const char *promise) {
  if (holds) return;
  fprintf(stderr, "broken: %s\n", promise);
  abort();
}

static void must_of(bool holds, int call, const char *promise) {
  if (holds) return;
  fprintf(stderr, "%s: ", names[call]);
  must(false, promise);
}

/** The number of bytes of the character at the beginning; 0 if there is none. */
static size_t character(const unsigned char *bytes, size_t count) {
  unsigned char first = bytes[0];
  size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (length == 0 || length > count) return 0;
  for (size_t i = 1; i < length; i++) {
    if ((bytes[i] & 0xC0) != 0x80) return 0;
  }
  bool is_long = (first == 0xE0 && bytes[1] < 0xA0) || (first == 0xF0 && bytes[1] < 0x90);
  bool is_none = (first == 0xED && bytes[1] > 0x9F) || (first == 0xF4 && bytes[1] > 0x8F);
  return is_long || is_none ? 0 : length;
}

bool is_text(const char *bytes, size_t count) {
  for (size_t place = 0; place < count;) {
    size_t length = character((const unsigned char *)bytes + place, count - place);
    if (length == 0) return false;
    place += length;
  }
  return true;
}

void take_text(char *text) {
  must(text != NULL && is_text(text, strlen(text)), "text that is returned is UTF-8");
  NOTE(kept_free), kept_free(text);
}

kept_error *prepared(kept_error *error) {
  if (error != NULL) memset(error, poison, sizeof *error);
  return error;
}

static bool is_untouched(const kept_error *error) {
  const char *bytes = (const char *)error;
  for (size_t i = 0; i < sizeof *error; i++) {
    if (bytes[i] != poison) return false;
  }
  return true;
}

kept_status judge(int call, kept_status status, const kept_error *error) {
  must_of(status >= KEPT_FAILED && status <= KEPT_MISFIT, call, "the status is one that kept.h lists");
  __atomic_add_fetch(status < 0 ? &failed[call] : &done[call], 1, __ATOMIC_RELAXED);
  if (error == NULL) return status;
  if (status == KEPT_OK) {
    must_of(is_untouched(error), call, "the error is left alone by a call that succeeds");
    return status;
  }
  must_of(error->status == status && error->reserved == 0, call, "the error has the status of the call");
  must_of(error->offset >= -1, call, "the offset is one, or -1");
  const char *end = memchr(error->message, 0, sizeof error->message);
  must_of(end != NULL && end > error->message, call, "the error has a sentence that ends");
  must_of(is_text(error->message, (size_t)(end - error->message)), call, "the sentence is UTF-8");
  return status;
}

void note_call(int call) { __atomic_add_fetch(&done[call], 1, __ATOMIC_RELAXED); }

int print_missed_calls(void) {
  int missed = 0;
  for (int call = 0; call < all_calls; call++) {
    if (done[call] == 0) missed++, fprintf(stderr, "%s has never succeeded\n", names[call]);
    if (call < answers && failed[call] == 0) missed++, fprintf(stderr, "%s has never failed\n", names[call]);
  }
  return missed;
}

static bool is_known(const char *name, size_t length) {
  for (int call = 0; call < all_calls; call++) {
    if (strlen(names[call]) == length && memcmp(names[call], name, length) == 0) return true;
  }
  return false;
}

int print_unknown_calls(const char *header) {
  char line[512];
  int unknown = 0, found = 0;
  FILE *file = fopen(header, "r");
  if (file == NULL) return -1;
  while (fgets(line, sizeof line, file) != NULL) {
    /* A declaration begins its line, and its name precedes the first parenthesis. */
    char *end = strchr(line, '(');
    if (strncmp(line, "KEPT_API ", 9) != 0 || end == NULL) continue;
    char *name = end;
    while (name > line && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) name--;
    found++;
    if (is_known(name, (size_t)(end - name))) continue;
    unknown++;
    fprintf(stderr, "no script knows %.*s\n", (int)(end - name), name);
  }
  fclose(file);
  return found == all_calls ? unknown : -1;
}
