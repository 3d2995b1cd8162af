/* Deterministic random numbers: Kept's index seeds its hash with them, and the number of probes of a get depends on the
 * seed. Each differs from the last, as the ids of journals must. Preloaded only for counting. Swift's runtime requests
 * them with syscall(). */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <sys/syscall.h>

/* A linear congruential generator. */
static unsigned char next_byte(void) {
  static atomic_ullong state = 1;
  unsigned long long last = atomic_load(&state), next;
  do next = last * 6364136223846793005 + 1442695040888963407;
  while (!atomic_compare_exchange_weak(&state, &last, next));
  return (unsigned char)(next >> 56);
}

long syscall(long number, ...) {
  static long (*next)(long, ...);
  long given[6];
  va_list list;
  va_start(list, number);
  for (int at = 0; at < 6; at++) given[at] = va_arg(list, long);
  va_end(list);
  if (number == SYS_getrandom) {
    for (long at = 0; at < given[1]; at++) ((unsigned char *)given[0])[at] = next_byte();
    return given[1];
  }
  if (!next) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  return next(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
