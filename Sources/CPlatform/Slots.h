// The slots of the index, and the lookup of keys in them. Lock-free reading is in Seqlock.h.
//
// Slots are in groups of eight. The tags of a group, a byte for each slot, are one word. Comparing it once finds the
// slots that may have the key, usually just one, so the branches of the search are predictable.
#ifndef KEPT_SLOTS_H
#define KEPT_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "Atomics.h"
#include "Hash.h"

/// The kinds of a slot. NONE means that the value is in the entry, and UNKNOWN, to readers, that there is no slot.
enum {
  KEPT_SLOT_NONE,
  KEPT_SLOT_ABSENT,
  KEPT_SLOT_BOOL,
  KEPT_SLOT_INT,
  KEPT_SLOT_DOUBLE,
  KEPT_SLOT_TEXT,
  KEPT_SLOT_UNKNOWN
};

enum { KEPT_SLOT_BYTES = 32 };

/// One cache line: reading a key that is found takes this line and the bytes of the key.
typedef struct kept_slot {
  uint64_t hash;        // 0: empty
  const uint8_t *bytes; // the key
  void *entry;
  uint32_t length; // of the key
  uint16_t kind;   // KEPT_SLOT_…
  uint16_t count;  // bytes of text
  uint64_t payload[KEPT_SLOT_BYTES / 8];
} kept_slot;

enum { KEPT_GROUP = 8 };

/// An array of slots. Its address and size are constant.
typedef struct kept_slots {
  uint64_t mask; // one less than the number of groups, which is a power of two
  kept_slot *slots;
  uint64_t *tags; // a word for each group; a byte of it is 0 if the slot is empty, else the key's tag
} kept_slots;

#define KEPT_RELAXED(word) (kept_access(&(word)), __atomic_load_n(&(word), __ATOMIC_RELAXED))

// Readers also read data that is being changed, and discard it: the thread sanitizer need not report it. Slots and the
// bytes of keys stay readable while the index exists.
#if defined(__clang__)
#define KEPT_RACES __attribute__((no_sanitize("thread")))
#else
#define KEPT_RACES
#endif

#define KEPT_EACH_BYTE 0x0101010101010101u
#define KEPT_HIGH_BITS 0x8080808080808080u

/// The group where the search for a hash begins. The lowest bits of a hash are not used, because the last one is
/// always 1.
static inline uint64_t kept_first_group(uint64_t hash, uint64_t mask) { return hash >> 16 & mask; }

/// The tag of a hash; never 0.
static inline uint64_t kept_tag(uint64_t hash) { return hash >> 57 | 0x80; }

/// The high bits of the bytes that are 0, and occasionally of a byte above such a byte.
static inline uint64_t kept_zero_bytes(uint64_t word) { return (word - KEPT_EACH_BYTE) & ~word & KEPT_HIGH_BITS; }

/// The index of the lowest of these bytes in a word.
static inline uint64_t kept_lowest(uint64_t high_bits) { return (uint64_t)__builtin_ctzll(high_bits) / 8; }

/// The slot of a key; NULL if it has none.
KEPT_RACES static inline __attribute__((always_inline)) kept_slot *kept_find(
  const kept_slots *table, const void *key, size_t length, uint64_t hash) {
  uint64_t mask = table->mask, group = kept_first_group(hash, mask), tag = kept_tag(hash) * KEPT_EACH_BYTE;
  // A table that is being changed may have no empty slot.
  for (uint64_t looked = 0; looked <= mask; looked++, group = (group + 1) & mask) {
    uint64_t tags = KEPT_RELAXED(table->tags[group]);
    for (uint64_t alike = kept_zero_bytes(tags ^ tag); alike; alike &= alike - 1) {
      kept_slot *slot = table->slots + group * KEPT_GROUP + kept_lowest(alike);
      if (KEPT_RELAXED(slot->hash) != hash || KEPT_RELAXED(slot->length) != length) continue;
      const uint8_t *bytes = KEPT_RELAXED(slot->bytes);
      if (bytes && kept_same_bytes(bytes, key, length)) return slot;
    }
    if (~tags & KEPT_HIGH_BITS) return NULL;
  }
  return NULL;
}

/// Takes an empty slot for a key that has none. There must be one.
static inline kept_slot *kept_take_slot(kept_slots *table, uint64_t hash) {
  uint64_t group = kept_first_group(hash, table->mask), empty;
  while (!(empty = ~table->tags[group] & KEPT_HIGH_BITS)) group = (group + 1) & table->mask;
  uint64_t place = kept_lowest(empty);
  __atomic_store_n(&table->tags[group], table->tags[group] | kept_tag(hash) << place * 8, __ATOMIC_RELAXED);
  return table->slots + group * KEPT_GROUP + place;
}

#endif
