// CRC-32C, which finds every damage of up to 32 bits in a row, and any other with a chance of 1 - 2^-32. By the
// instruction of the processor, where it has one.
#ifndef KEPT_CHECKSUM_H
#define KEPT_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Four bits at a time: for processors without an instruction for it, and for the last bytes.
static inline uint32_t kept_checksum_by_table(uint32_t sum, const unsigned char *bytes, size_t count) {
  static const uint32_t table[16] = {
    0x00000000,
    0x105EC76F,
    0x20BD8EDE,
    0x30E349B1,
    0x417B1DBC,
    0x5125DAD3,
    0x61C69362,
    0x7198540D,
    0x82F63B78,
    0x92A8FC17,
    0xA24BB5A6,
    0xB21572C9,
    0xC38D26C4,
    0xD3D3E1AB,
    0xE330A81A,
    0xF36E6F75,
  };
  for (size_t index = 0; index < count; index++) {
    sum ^= bytes[index];
    sum = sum >> 4 ^ table[sum & 15];
    sum = sum >> 4 ^ table[sum & 15];
  }
  return sum;
}

#if defined(__x86_64__)
/// The bytes of one of three parts that are checked at once: each instruction takes three cycles, and one can begin in
/// each cycle. A block of 4 KiB has three.
enum { KEPT_CHECKSUM_PART = 1360 };

/// The sum after as many zeros as a part has bytes: its product with x to the power of 8 * KEPT_CHECKSUM_PART. The
/// last instruction contributes 33 to that power.
__attribute__((target("sse4.2,pclmul"))) static inline uint64_t kept_checksum_shifted(uint64_t sum) {
  typedef long long words __attribute__((vector_size(16)));
  words product = __builtin_ia32_pclmulqdq128((words){ (long long)sum, 0 }, (words){ 0x3F70CC6F, 0 }, 0);
  return __builtin_ia32_crc32di(0, (uint64_t)product[0]);
}

__attribute__((target("sse4.2"))) static inline uint32_t kept_checksum_in_turn(
  uint32_t sum, const unsigned char *bytes, size_t count) {
  uint64_t wide = sum, word;
#if defined(__clang__)
#pragma clang loop unroll_count(4)
#endif
  for (; count >= 8; count -= 8, bytes += 8) {
    memcpy(&word, bytes, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  sum = (uint32_t)wide;
  for (; count >= 4; count -= 4, bytes += 4) {
    uint32_t half;
    memcpy(&half, bytes, 4);
    sum = __builtin_ia32_crc32si(sum, half);
  }
  return kept_checksum_by_table(sum, bytes, count);
}

/// For bytes that have all three parts.
__attribute__((target("sse4.2,pclmul"), noinline)) static uint32_t kept_checksum_by_parts(
  uint32_t sum, const unsigned char *bytes, size_t count) {
  enum { PART = KEPT_CHECKSUM_PART };
  for (; count >= 3 * PART; count -= 3 * PART, bytes += 2 * PART) {
    uint64_t first = sum, second = 0, third = 0, word;
    for (const unsigned char *end = bytes + PART; bytes < end; bytes += 8) {
      memcpy(&word, bytes, 8);
      first = __builtin_ia32_crc32di(first, word);
      memcpy(&word, bytes + PART, 8);
      second = __builtin_ia32_crc32di(second, word);
      memcpy(&word, bytes + 2 * PART, 8);
      third = __builtin_ia32_crc32di(third, word);
    }
    sum = (uint32_t)(kept_checksum_shifted(kept_checksum_shifted(first) ^ second) ^ third);
  }
  return kept_checksum_in_turn(sum, bytes, count);
}

static inline uint32_t kept_checksum_by_instruction(uint32_t sum, const unsigned char *bytes, size_t count) {
  return count < 3 * KEPT_CHECKSUM_PART ? kept_checksum_in_turn(sum, bytes, count)
                                        : kept_checksum_by_parts(sum, bytes, count);
}

static inline bool kept_has_checksum_instruction(void) {
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}
#elif defined(__ARM_FEATURE_CRC32)
static inline uint32_t kept_checksum_by_instruction(uint32_t sum, const unsigned char *bytes, size_t count) {
  uint64_t word;
  for (; count >= 8; count -= 8, bytes += 8) {
    memcpy(&word, bytes, 8);
    sum = __builtin_arm_crc32cd(sum, word);
  }
  return kept_checksum_by_table(sum, bytes, count);
}

static inline bool kept_has_checksum_instruction(void) { return true; }
#else
static inline uint32_t kept_checksum_by_instruction(uint32_t sum, const unsigned char *bytes, size_t count) {
  return kept_checksum_by_table(sum, bytes, count);
}

static inline bool kept_has_checksum_instruction(void) { return false; }
#endif

/// Continues a checksum over more bytes; the first call takes 0.
static inline uint32_t kept_checksum(uint32_t sum, const void *bytes, size_t count) {
  const unsigned char *start = (const unsigned char *)bytes;
  sum = ~sum;
  sum = kept_has_checksum_instruction() ? kept_checksum_by_instruction(sum, start, count)
                                        : kept_checksum_by_table(sum, start, count);
  return ~sum;
}

#endif
