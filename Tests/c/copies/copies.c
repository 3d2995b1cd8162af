/* Two copies of the library in one process, as when a plug-in brings its own: both write, each sees the other's writes,
 * and each sleeps while it waits for a writer.
 *
 *   copies PATH-OF-LIBKEPT */
#include <kept.h>

#include <dlfcn.h>
#include <pthread.h>
#include "write_lock.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { COPIES = 2, TIMEOUT_MS = 1000 };

static struct copy {
  kept_status (*open)(const char *, const kept_options *, kept_store **, kept_error *);
  void (*close)(kept_store *);
  kept_status (*set)(kept_store *, const char *, int64_t, kept_error *);
  kept_status (*get)(kept_store *, const char *, int64_t *, kept_error *);
  kept_store *store;
  kept_status answer;
} copies[COPIES];

static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) fail(name, "is not in the library");
  return found;
}

static void load(struct copy *copy, const char *path) {
  kept_options options = KEPT_OPTIONS_INIT;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail("could not load a copy", dlerror());
  *(void **)&copy->open = symbol(library, "kept_open");
  *(void **)&copy->close = symbol(library, "kept_close");
  *(void **)&copy->set = symbol(library, "kept_set_int64");
  *(void **)&copy->get = symbol(library, "kept_get_int64");
  kept_error error;
  options.busy_timeout_ms = TIMEOUT_MS;
  if (copy->open("./store", &options, &copy->store, &error) != KEPT_OK) fail("open", error.message);
}

static void set(struct copy *copy, int64_t number) {
  kept_error error;
  if (copy->set(copy->store, "number", number, &error) != KEPT_OK) fail("set", error.message);
  for (int i = 0; i < COPIES; i++) {
    int64_t found = 0;
    if (copies[i].get(copies[i].store, "number", &found, &error) != KEPT_OK) fail("get", error.message);
    if (found != number) fail("a copy", "does not see what the other one has written");
  }
}

static void copy_file(const char *from, const char *to) {
  static char bytes[1 << 16];
  FILE *source = fopen(from, "rb"), *target = fopen(to, "wb");
  if (!source || !target) fail(from, "could not be copied");
  for (size_t count; (count = fread(bytes, 1, sizeof bytes, source)) > 0;)
    if (fwrite(bytes, 1, count, target) != count) fail(to, "could not be written");
  fclose(source);
  if (fclose(target) != 0) fail(to, "could not be written");
}

static int64_t now_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void *write_in_vain(void *context) {
  struct copy *copy = context;
  copy->answer = copy->set(copy->store, "number", 2, NULL);
  return NULL;
}

static void check_waiting(void) {
  pthread_t threads[COPIES];
  int other = take_write_lock("store");
  if (other < 0) fail("the store", "cannot be locked");
  int64_t begin = now_ns(CLOCK_MONOTONIC), begin_cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < COPIES; i++) pthread_create(&threads[i], NULL, write_in_vain, &copies[i]);
  for (int i = 0; i < COPIES; i++) pthread_join(threads[i], NULL);
  int64_t waited = now_ns(CLOCK_MONOTONIC) - begin, worked = now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu;
  close(other);
  for (int i = 0; i < COPIES; i++)
    if (copies[i].answer != KEPT_BUSY) fail("a copy", "did not wait, or did not say that it was busy");
  printf("waited %lld ms, with %lld ms of the processor\n", (long long)waited / 1000000, (long long)worked / 1000000);
  if (worked > waited / 8) fail("a copy", "spins while it waits");
}

int main(int argc, char **argv) {
  char folder[] = "/tmp/kept-copies-XXXXXX";
  if (argc != 2) fail("usage", "copies PATH-OF-LIBKEPT");
  char *library = realpath(argv[1], NULL);
  if (!library || !mkdtemp(folder) || chdir(folder) != 0) fail("could not begin", argv[1]);
  copy_file(library, "libcopy.so");
  load(&copies[0], library);
  load(&copies[1], "./libcopy.so");
  for (int i = 0; i < COPIES; i++) set(&copies[i], 1 + i);
  check_waiting();
  for (int i = 0; i < COPIES; i++) set(&copies[i], 3 + i);
  for (int i = 0; i < COPIES; i++) copies[i].close(copies[i].store);
  free(library);
  const char *const files[] = { "store/values", "store/journal.0", "store/pulse", "store", "libcopy.so", folder };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) remove(files[i]);
  return 0;
}
