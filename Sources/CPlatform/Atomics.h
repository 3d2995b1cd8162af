// Atomic operations on words in mapped memory that several processes share, and in tables that several threads share.
// Swift's `Atomic` owns its storage; these operate on a word at an address of the caller's choice.
#ifndef KEPT_ATOMICS_H
#define KEPT_ATOMICS_H

#include <stdbool.h>
#include <stdint.h>

#if defined(KEPT_SCHEDULES)
/// Called before each access: a simulation decides which thread goes on (Tests/simulation).
extern void kept_access(const void *word);
#else
static inline void kept_access(const void *word) { (void)word; }
#endif

// Loads are sequentially consistent like stores: the gate of the index and the sleepers of the pulse each write one
// word and then read another, and of two threads that do so concurrently one must see the other's write. An acquire
// load could be reordered before the store.

static inline uint64_t kept_load64(const uint64_t *word) {
  kept_access(word);
  return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static inline uint32_t kept_load32(const uint32_t *word) {
  kept_access(word);
  return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static inline void kept_store64(uint64_t *word, uint64_t value) {
  kept_access(word);
  __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static inline void kept_store32(uint32_t *word, uint32_t value) {
  kept_access(word);
  __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/// Replaces `expected` by `wanted`; returns false, with no effect, if the word has another value.
static inline bool kept_exchange64(uint64_t *word, uint64_t expected, uint64_t wanted) {
  kept_access(word);
  return __atomic_compare_exchange_n(word, &expected, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/// Stores `value` and returns the previous value.
static inline uint32_t kept_swap32(uint32_t *word, uint32_t value) {
  kept_access(word);
  return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
}

/// Adds and returns the sum.
static inline uint32_t kept_add32(uint32_t *word, uint32_t value) {
  kept_access(word);
  return __atomic_add_fetch(word, value, __ATOMIC_SEQ_CST);
}

static inline void kept_add64(uint64_t *word, uint64_t value) {
  kept_access(word);
  (void)__atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
}

static inline void kept_subtract64(uint64_t *word, uint64_t value) {
  kept_access(word);
  (void)__atomic_fetch_sub(word, value, __ATOMIC_RELEASE);
}

/// A full barrier: no access is moved across it.
static inline void kept_fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

#endif
