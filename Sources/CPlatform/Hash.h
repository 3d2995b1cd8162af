// Hashing and comparing the bytes of keys, optimized for the short keys of settings. The hash is seeded, so that an
// attacker cannot choose keys that collide.
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

static inline uint64_t kept_hash_half(const unsigned char *bytes) {
  uint32_t half;
  memcpy(&half, bytes, 4);
  return half;
}

/// Multiplies to 128 bits and combines the halves.
static inline uint64_t kept_hash_fold(uint64_t a, uint64_t b) {
  __uint128_t product = (__uint128_t)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/// The hash of some bytes; never 0, which marks an empty slot.
static inline uint64_t kept_hash(const void *start, size_t length, uint64_t seed) {
  const unsigned char *bytes = (const unsigned char *)start;
  const uint64_t factor = 0x9E3779B97F4A7C15u;
  // No factor of a product is known to an author of keys, so no word of a key can make a product 0.
  uint64_t hash = seed ^ length * factor, other = seed ^ factor, first = 0, last = 0;
  // The last 1 to 16 bytes are read from both ends, and some of them twice.
  if (length > 16) {
    size_t left = length;
    for (; left > 16; left -= 16, bytes += 16) {
      hash = kept_hash_fold(other ^ kept_hash_word(bytes), hash ^ kept_hash_word(bytes + 8));
    }
    // These may overlap the bytes before.
    first = kept_hash_word(bytes + left - 16);
    last = kept_hash_word(bytes + left - 8);
  } else if (length >= 8) {
    first = kept_hash_word(bytes);
    last = kept_hash_word(bytes + length - 8);
  } else if (length >= 4) {
    first = kept_hash_half(bytes);
    last = kept_hash_half(bytes + length - 4);
  } else if (length > 0) {
    first = (uint64_t)bytes[0] << 8 | bytes[length / 2];
    last = bytes[length - 1];
  }
  // A second product: after only one, names with increasing numbers cluster under one seed in fifty.
  return kept_hash_fold(kept_hash_fold(other ^ first, hash ^ last), factor) | 1;
}

/// Whether two texts of the same length have the same bytes. Inline and by words, because a key is compared in less
/// time than a call of memcmp takes.
static inline bool kept_same_bytes(const void *one, const void *other, size_t length) {
  const unsigned char *a = (const unsigned char *)one, *b = (const unsigned char *)other;
  if (length >= 8) {
    // Some of the last eight bytes may be compared again: that is faster than comparing them one by one.
    uint64_t difference = kept_hash_word(a + length - 8) ^ kept_hash_word(b + length - 8);
    // If the compiler vectorized the loop, it would be slower for keys of typical length.
#if defined(__clang__)
#pragma clang loop vectorize(disable) unroll(disable)
#endif
    for (size_t index = 0; index + 8 < length; index += 8) {
      difference |= kept_hash_word(a + index) ^ kept_hash_word(b + index);
    }
    return difference == 0;
  }
  if (length >= 4) {
    return kept_hash_half(a) == kept_hash_half(b) && kept_hash_half(a + length - 4) == kept_hash_half(b + length - 4);
  }
  for (size_t index = 0; index < length; index++) {
    if (a[index] != b[index]) return false;
  }
  return true;
}

#endif
