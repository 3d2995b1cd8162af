// Atomic words in mapped memory that several processes share, and in tables of our own that several threads do.
// Swift's `Atomic` owns its storage; these work on a word that lives where the caller says.
#ifndef KEPT_ATOMICS_H
#define KEPT_ATOMICS_H

#include <stdbool.h>
#include <stdint.h>

// Loads are sequentially consistent like stores: the gate of the index and the sleepers of the pulse each write one
// word and then look at another, and of two who do so at once one must see the other. A mere acquire may be moved up.

static inline uint64_t kept_load64(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }

static inline uint32_t kept_load32(const uint32_t *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }

static inline void kept_store64(uint64_t *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }

static inline void kept_store32(uint32_t *word, uint32_t value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }

/// Puts `wanted` in place of `expected`; false, and nothing done, if something else is there.
static inline bool kept_exchange64(uint64_t *word, uint64_t expected, uint64_t wanted) {
  return __atomic_compare_exchange_n(word, &expected, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/// Puts `value` there and returns what was there before.
static inline uint32_t kept_swap32(uint32_t *word, uint32_t value) {
  return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
}

/// Adds and returns the sum.
static inline uint32_t kept_add32(uint32_t *word, uint32_t value) {
  return __atomic_add_fetch(word, value, __ATOMIC_SEQ_CST);
}

static inline void kept_add64(uint64_t *word, uint64_t value) {
  (void)__atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
}

static inline void kept_subtract64(uint64_t *word, uint64_t value) {
  (void)__atomic_fetch_sub(word, value, __ATOMIC_RELEASE);
}

/// What comes before stays before, and what comes after stays after.
static inline void kept_fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

#endif
