// Hashing and comparing the bytes of keys: fast for the short keys that settings have. The hash is seeded, so that
// nobody can choose keys that meet in one place.
#ifndef KEPT_HASH_H
#define KEPT_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t kept_hash_word(const unsigned char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, 8);
  return word;
}

/// Multiplies to 128 bits and folds the halves together.
static inline uint64_t kept_hash_fold(uint64_t a, uint64_t b) {
  __uint128_t product = (__uint128_t)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/// The hash of some bytes; never 0, which marks an empty place.
static inline uint64_t kept_hash(const void *start, size_t length, uint64_t seed) {
  const unsigned char *bytes = (const unsigned char *)start;
  const uint64_t factor = 0x9E3779B97F4A7C15u;
  uint64_t hash = seed ^ length * factor;
  size_t left = length;
  for (; left > 8; left -= 8, bytes += 8) hash = kept_hash_fold(hash ^ kept_hash_word(bytes), factor);
  // The last 1 to 8 bytes; where there were more before, some of them are read again.
  uint64_t last = 0;
  if (length >= 8) {
    last = kept_hash_word(bytes + left - 8);
  } else {
    for (size_t index = 0; index < left; index++) last = last << 8 | bytes[index];
  }
  return kept_hash_fold(hash ^ last, factor ^ seed) | 1;
}

/// Whether two texts of one length have the same bytes. Inline, since a key is compared in less time than memcmp is
/// called.
static inline bool kept_same_bytes(const void *one, const void *other, size_t length) {
  const unsigned char *a = (const unsigned char *)one, *b = (const unsigned char *)other;
  if (length < 8) {
    for (size_t index = 0; index < length; index++) {
      if (a[index] != b[index]) return false;
    }
    return true;
  }
  // The last eight bytes may have been compared in part: better twice than one by one.
  uint64_t difference = kept_hash_word(a + length - 8) ^ kept_hash_word(b + length - 8);
  for (size_t index = 0; index + 8 < length; index += 8) {
    difference |= kept_hash_word(a + index) ^ kept_hash_word(b + index);
  }
  return difference == 0;
}

#endif
