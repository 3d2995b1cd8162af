// The changes of a frame (docs/internals/file-format.md has their format), for commits of many keys: each change that
// Swift looks at takes a thousand instructions.
#ifndef KEPT_CHANGES_H
#define KEPT_CHANGES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Whether all bytes are ASCII, and none is 0.
static inline bool kept_is_plain_text(const unsigned char *bytes, size_t count) {
  const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
  for (; count >= 8; bytes += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    // The high bit shows that a byte is not ASCII, or that taking 1 away from it, or from one below, borrows.
    if ((word | (word - ones)) & high) return false;
  }
  for (; count > 0; bytes++, count--) {
    if (*bytes == 0 || *bytes > 127) return false;
  }
  return true;
}

static inline size_t kept_change_key_length(const unsigned char *change) {
  uint16_t length;
  memcpy(&length, change + 2, 2);
  return le16toh(length);
}

/// The length of the change that some bytes begin with; 0 unless a look shows that it is whole and valid. Such a change
/// sets or removes a value, of at most 4 KiB.
static inline size_t kept_plain_change(const unsigned char *bytes, size_t size) {
  if (size < 8) return 0;
  uint32_t stored;
  memcpy(&stored, bytes + 4, 4);
  size_t key = kept_change_key_length(bytes), payload = le32toh(stored);
  if (bytes[0] > 1 || key == 0 || key > 1024 || payload > 4096 || key + payload > size - 8) return 0;
  const unsigned char *value = bytes + 8 + key;
  if (!kept_is_plain_text(bytes + 8, key)) return 0;
  bool is_valid = bytes[0] == 0;
  if (!is_valid) switch (bytes[1]) {
      case 1: is_valid = payload == 1 && value[0] <= 1; break;
      case 2:
      case 4: is_valid = payload == 8; break;
      case 5: is_valid = kept_is_plain_text(value, payload); break;
      case 6: is_valid = true; break;
    }
  return is_valid ? 8 + key + payload : 0;
}

/// Puts the offsets of changes, each with `shift` added, into `offsets`: of those from `*at` on, up to one that takes
/// more than a look. Returns how many, and moves `*at` behind them.
static inline size_t kept_scan_changes(
  const void *bytes, size_t size, size_t *at, int64_t shift, uint32_t *offsets, size_t most) {
  size_t count = 0;
  for (size_t length; count < most; count++, *at += length) {
    length = kept_plain_change((const unsigned char *)bytes + *at, size - *at);
    if (length == 0) break;
    offsets[count] = (uint32_t)((int64_t)*at + shift);
  }
  return count;
}

/// Compares the key of a change with another key, byte by byte.
static inline int kept_compare_change(const unsigned char *change, const void *key, size_t length) {
  size_t own = kept_change_key_length(change);
  int order = memcmp(change + 8, key, own < length ? own : length);
  return order != 0 ? order : (own > length) - (own < length);
}

/// Whether changes are in the order of their keys.
static inline bool kept_are_changes_ordered(const void *bytes, const uint32_t *offsets, size_t count) {
  const unsigned char *start = (const unsigned char *)bytes;
  for (size_t index = 1; index < count; index++) {
    const unsigned char *next = start + offsets[index];
    if (kept_compare_change(start + offsets[index - 1], next + 8, kept_change_key_length(next)) > 0) return false;
  }
  return true;
}

/// The index of the first of ordered changes whose key is not before another one.
static inline size_t kept_find_change(
  const void *bytes, const uint32_t *offsets, size_t count, const void *key, size_t length) {
  size_t low = 0;
  while (count > 0) {
    size_t half = count / 2;
    bool is_before = kept_compare_change((const unsigned char *)bytes + offsets[low + half], key, length) < 0;
    low = is_before ? low + half + 1 : low;
    count = is_before ? count - half - 1 : half;
  }
  return low;
}

#endif
