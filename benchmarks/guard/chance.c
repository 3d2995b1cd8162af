/* Deterministic random numbers: Kept's index seeds its hash with them, and the number of probes of a get depends on the
 * seed. Preloaded only for counting. Swift's runtime requests them with syscall(). */
#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

long syscall(long number, ...) {
  static long (*next)(long, ...);
  long given[6];
  va_list list;
  va_start(list, number);
  for (int at = 0; at < 6; at++) given[at] = va_arg(list, long);
  va_end(list);
  if (number == SYS_getrandom) {
    memset((void *)given[0], 0x5a, (size_t)given[1]);
    return given[1];
  }
  if (!next) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  return next(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
