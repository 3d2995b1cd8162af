// Hashing the bytes of a key: fast for the short keys that settings have, and seeded, so that nobody can choose keys
// that meet in one place.
#ifndef KEPT_HASH_H
#define KEPT_HASH_H

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

#endif
