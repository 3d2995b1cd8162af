// Memory from C's allocator, where an allocation can fail. Swift's own allocations end the process instead.
#ifndef KEPT_MEMORY_H
#define KEPT_MEMORY_H

#include <stdlib.h>
#include <sys/mman.h>

/// Reallocates memory, which is freed with free(); NULL on failure, with the old memory unchanged. For an old pointer
/// of NULL it allocates. Kept allocates C memory only through this function: the tests make it fail, and distinguish it
/// from Swift's allocations by the function that it calls.
static inline void *kept_resized_memory(void *old, size_t size) {
#if defined(__linux__)
  return reallocarray(old, 1, size);
#else
  return realloc(old, size);
#endif
}

/// Whether a number of bytes can be allocated now in addition; they are not kept. It bypasses the allocator, whose
/// heuristics would adapt to the large block and so affect the program's own allocations.
static inline int kept_has_memory(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  munmap(memory, size);
  return 1;
}

#endif
