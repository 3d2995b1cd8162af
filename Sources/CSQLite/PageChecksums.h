// The checksum of a database page, in the bytes that SQLite reserves at its end: the salt of the database
// (DatabaseSalt.h), then CRC-32C over the number of the page and all its other bytes. A page that was changed, or is in
// another page's place, does not verify.
//
// A page is sealed when it is written to the database or to the log, so that any program may copy the log into the
// database. SQLite has computed the checksum of a frame of the log before; the frame gets another one, which follows
// from that of the frame before it in the file. Nothing but recovery and the writer of the next frame reads it.
#ifndef KEPT_PAGE_CHECKSUMS_H
#define KEPT_PAGE_CHECKSUMS_H

#include <stdint.h>
#include <string.h>

#include "../CPlatform/CPlatform.h"

enum { KEPT_RESERVED_BYTES = 8 };

// "The Database Header" and "WAL File Format" in SQLite's documentation.
enum { KEPT_HEADER_BYTES = 100, KEPT_LOG_HEADER_BYTES = 32, KEPT_FRAME_HEADER_BYTES = 24 };

static inline uint32_t kept_big_endian(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static inline void kept_put_big_endian(unsigned char *bytes, uint32_t number) {
  for (int i = 0; i < 4; i++) bytes[i] = (unsigned char)(number >> (24 - 8 * i));
}

/// The page size from its two-byte form, where 1 means 64 KiB; 0 if it is invalid.
static inline uint32_t kept_page_size(uint32_t stored) {
  if (stored == 1) return 65536;
  return stored >= 512 && (stored & (stored - 1)) == 0 ? stored : 0;
}

/// The page size of a database whose pages have checksums, from its header; 0 if they have none.
static inline uint32_t kept_checked_page_size(const unsigned char *header) {
  if (memcmp(header, "SQLite format 3", 16) != 0 || header[20] != KEPT_RESERVED_BYTES) return 0;
  return kept_page_size((uint32_t)(header[16] << 8 | header[17]));
}

static inline uint32_t kept_page_checksum(const unsigned char *page, uint32_t size, uint32_t number) {
  unsigned char place[4];
  kept_put_big_endian(place, number);
  return kept_checksum(kept_checksum(0, place, 4), page, size - 4);
}

static inline uint32_t kept_page_salt(const void *page, uint32_t size) {
  return kept_big_endian((const unsigned char *)page + size - KEPT_RESERVED_BYTES);
}

static inline void kept_seal_page(void *page, uint32_t size, uint32_t number, uint32_t salt) {
  unsigned char *bytes = (unsigned char *)page;
  kept_put_big_endian(bytes + size - KEPT_RESERVED_BYTES, salt);
  kept_put_big_endian(bytes + size - 4, kept_page_checksum(bytes, size, number));
}

static inline int kept_page_verifies(const void *page, uint32_t size, uint32_t number) {
  const unsigned char *bytes = (const unsigned char *)page;
  return kept_big_endian(bytes + size - 4) == kept_page_checksum(bytes, size, number);
}

/// Continues the checksum of a log over a multiple of 8 bytes, in the byte order that the log's header names.
static inline void kept_sum_log(uint32_t sum[2], const unsigned char *bytes, uint32_t count, int is_big_endian) {
  for (uint32_t i = 0; i < count; i += 8) {
    uint32_t words[2];
    memcpy(words, bytes + i, 8);
    int swaps = is_big_endian == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    if (swaps) words[0] = __builtin_bswap32(words[0]);
    if (swaps) words[1] = __builtin_bswap32(words[1]);
    sum[0] += words[0] + sum[1];
    sum[1] += words[1] + sum[0];
  }
}

/// Whether this is the header of a log.
static inline int kept_log_header_verifies(const unsigned char *header) {
  uint32_t sum[2] = { 0, 0 };
  kept_sum_log(sum, header, 24, header[3] & 1);
  return (kept_big_endian(header) | 1) == 0x377F0683 && kept_big_endian(header + 24) == sum[0] &&
    kept_big_endian(header + 28) == sum[1];
}

#endif
