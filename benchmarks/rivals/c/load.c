/* Loads the library given as its argument and prints the time in nanoseconds. */
#include "clock.h"
#include "fatal.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>

int main(int count, char **arguments) {
  if (count != 2) die("usage: load LIBRARY");
  uint64_t began = clock_ns();
  void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  uint64_t took = clock_ns() - began;
  if (!library) die("cannot load %s: %s", arguments[1], dlerror());
  printf("%" PRIu64 "\n", took);
  return 0;
}
