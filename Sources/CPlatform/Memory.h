// Memory that C gives, and that may be refused. Swift's own allocations end the process instead.
#ifndef KEPT_MEMORY_H
#define KEPT_MEMORY_H

#include <stdlib.h>
#include <sys/mman.h>

/// Memory of another size with the same content, to be given back with free(); NULL where there is none, and then the
/// old memory is as it was. New memory for an old one of NULL. This is the only way by which Kept takes memory of C:
/// the tests let it fail, and tell it from Swift's by the function that it calls.
static inline void *kept_resized_memory(void *old, size_t size) {
#if defined(__linux__)
  return reallocarray(old, 1, size);
#else
  return realloc(old, size);
#endif
}

/// Whether so much memory can be had now, beside what there is; it is not kept. The allocator is not asked: it would
/// learn from a large block how to treat the program's own.
static inline int kept_has_memory(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  munmap(memory, size);
  return 1;
}

#endif
