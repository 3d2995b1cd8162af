/* Interposes the allocator: a symbol of the program is found before one of a library. The return address of a call
 * shows which library allocates. */
#include "starving.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* The C library's own functions, under the names that it exports for interposers. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

enum { MOST_RANGES = 32 };

static struct range {
  uintptr_t start, end;
  bool is_kept;
} ranges[MOST_RANGES];
static unsigned range_count;

static __thread struct {
  long first, met, failed;
  bool is_planned, for_ever;
} plan;

static const char *const libraries[] = {
  "libpcre2-",
  "libjson-c.",
  "libc.",
  "libkept_json.",
  "libkept.",
};

static int learn(struct dl_phdr_info *library, size_t size, void *unused) {
  const char *slash = strrchr(library->dlpi_name, '/');
  const char *name = slash ? slash + 1 : library->dlpi_name;
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
    if (strncmp(name, libraries[i], strlen(libraries[i])) != 0) continue;
    for (int s = 0; s < library->dlpi_phnum && range_count < MOST_RANGES; s++) {
      const ElfW(Phdr) *segment = &library->dlpi_phdr[s];
      if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
      uintptr_t start = library->dlpi_addr + segment->p_vaddr;
      bool is_kept = strcmp(libraries[i], "libkept.") == 0;
      ranges[range_count++] = (struct range){ start, start + segment->p_memsz, is_kept };
    }
  }
  return 0;
}

void begin_starving(void) { dl_iterate_phdr(learn, NULL); }

void plan_shortage(long first, bool for_ever) {
  plan.first = first;
  plan.for_ever = for_ever;
  plan.met = plan.failed = 0;
  plan.is_planned = true;
}

long end_shortage(void) {
  plan.is_planned = false;
  return plan.failed;
}

static const struct range *caller(const void *address) {
  for (unsigned i = 0; i < range_count; i++) {
    if ((uintptr_t)address >= ranges[i].start && (uintptr_t)address < ranges[i].end) return &ranges[i];
  }
  return NULL;
}

/* Whether this allocation must fail. `by_kept`: count Kept's own allocations, not only those of C libraries. */
static bool fails(const void *address, bool by_kept) {
  if (!plan.is_planned) return false;
  const struct range *range = caller(address);
  if (range == NULL || range->is_kept != by_kept) return false;
  plan.met++;
  if (plan.met < plan.first || (plan.met > plan.first && !plan.for_ever)) return false;
  plan.failed++;
  errno = ENOMEM;
  return true;
}

#define HERE __builtin_return_address(0)

/* In libkept, calls of malloc() are Swift's, which must not fail. */
void *malloc(size_t size) { return fails(HERE, false) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails(HERE, false) ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return fails(HERE, false) ? NULL : __libc_realloc(old, size); }

/* Kept allocates C memory only with reallocarray() (Memory.h), and Swift never calls it. */
void *reallocarray(void *old, size_t count, size_t size) {
  size_t all;
  if (__builtin_mul_overflow(count, size, &all)) return NULL;
  return fails(HERE, true) ? NULL : __libc_realloc(old, all);
}

/* Kept calls mmap() to test whether memory is available that Swift is about to allocate. */
#define MAP(name, offset_type) \
  void *name(void *address, size_t length, int protection, int flags, int file, offset_type offset) { \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name); \
    if ((flags & MAP_ANONYMOUS) && fails(HERE, true)) return MAP_FAILED; \
    return real(address, length, protection, flags, file, offset); \
  }
MAP(mmap, off_t)
MAP(mmap64, off64_t)
