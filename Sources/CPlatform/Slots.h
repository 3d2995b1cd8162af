// The slots of the index, and how a reader looks into them without a lock and without writing a word: it looks at a
// sequence number before and after, and what it has seen in between counts only if the number is the same and even.
#ifndef KEPT_SLOTS_H
#define KEPT_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "Hash.h"

/// What a slot tells at a glance. Anything else stands in its entry.
enum { KEPT_NO_GLANCE, KEPT_GLANCE_ABSENT, KEPT_GLANCE_BOOL, KEPT_GLANCE_INT, KEPT_GLANCE_DOUBLE, KEPT_GLANCE_TEXT };

enum { KEPT_GLANCE_BYTES = 32 };

/// One cache line: a glance at a key that is found takes this line and its bytes.
typedef struct kept_slot {
  uint64_t hash;           // 0: empty
  const uint8_t *bytes;    // the key
  void *entry;
  uint32_t length;         // of the key
  uint16_t kind;           // KEPT_GLANCE_…
  uint16_t count;          // bytes of text
  uint64_t payload[KEPT_GLANCE_BYTES / 8];
} kept_slot;

/// An array of slots with its size; both never change.
typedef struct kept_slots {
  uint64_t mask;
  kept_slot *slots;
} kept_slots;

typedef struct kept_glance {
  uint16_t kind, count;
  uint64_t payload[KEPT_GLANCE_BYTES / 8];
} kept_glance;

#define KEPT_RELAXED(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)

// What is changed meanwhile is read too and thrown away: the sanitizer of threads need not see it. Slots and the bytes
// of keys stay readable for as long as the index lives.
#if defined(__clang__)
#define KEPT_RACES __attribute__((no_sanitize("thread")))
#else
#define KEPT_RACES
#endif

/// Where the search for a hash begins. Not at its lowest bits: the last one is always 1.
static inline uint64_t kept_home(uint64_t hash, uint64_t mask) { return hash >> 16 & mask; }

/// Finds a key and copies what its slot tells.
KEPT_RACES static inline bool kept_look(
  const kept_slots *table, const void *key, size_t length, uint64_t hash, kept_glance *out) {
  uint64_t mask = table->mask, place = kept_home(hash, mask);
  // In a table that is being changed there may be no empty slot.
  for (uint64_t looked = 0; looked <= mask; looked++, place = (place + 1) & mask) {
    const kept_slot *slot = table->slots + place;
    uint64_t found = KEPT_RELAXED(slot->hash);
    if (found == 0) return false;
    if (found != hash || KEPT_RELAXED(slot->length) != length) continue;
    const uint8_t *bytes = KEPT_RELAXED(slot->bytes);
    if (!bytes || !kept_same_bytes(bytes, key, length)) continue;
    out->kind = KEPT_RELAXED(slot->kind);
    out->count = KEPT_RELAXED(slot->count);
    for (size_t word = 0; word < KEPT_GLANCE_BYTES / 8; word++) out->payload[word] = KEPT_RELAXED(slot->payload[word]);
    return true;
  }
  return false;
}

/// Takes a glance at a key while `open` holds `generation`; false: nothing was seen, or not all at one moment.
KEPT_RACES static inline bool kept_take_glance(
  kept_slots *const *table, const uint64_t *sequence, const uint64_t *open, uint64_t generation, const void *key,
  size_t length, uint64_t hash, kept_glance *out) {
  uint64_t before = __atomic_load_n(sequence, __ATOMIC_ACQUIRE);
  if (before & 1 || __atomic_load_n(open, __ATOMIC_ACQUIRE) != generation) return false;
  if (!kept_look(__atomic_load_n(table, __ATOMIC_ACQUIRE), key, length, hash, out)) return false;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return __atomic_load_n(sequence, __ATOMIC_RELAXED) == before;
}

/// Lets the slots of another array be found.
static inline void kept_publish_slots(kept_slots **table, kept_slots *slots) {
  __atomic_store_n(table, slots, __ATOMIC_RELEASE);
}

#endif
