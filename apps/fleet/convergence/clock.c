// Shifts the wall clock of a program by the nanoseconds in the file that FLEET_CLOCK names; loaded by LD_PRELOAD.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t none;
static const volatile int64_t *shift = &none;
static int (*present)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void) {
  present = dlsym(RTLD_NEXT, "clock_gettime");
  const char *path = getenv("FLEET_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) shift = mapped;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec *out) {
  // Another constructor may be earlier.
  if (!present) present = dlsym(RTLD_NEXT, "clock_gettime");
  int status = present(clock, out);
  if (status || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return status;
  int64_t shifted = out->tv_sec * INT64_C(1000000000) + out->tv_nsec + *shift;
  out->tv_sec = shifted / 1000000000;
  out->tv_nsec = shifted % 1000000000;
  return 0;
}

int gettimeofday(struct timeval *out, void *zone) {
  (void)zone;
  struct timespec now;
  int status = clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return status;
}

time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
