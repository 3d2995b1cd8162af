// Reading the image of a checkpoint (docs/internals/file-format.md describes its bytes) without a lock.
// Every number that is loaded may be torn, or belong to another checkpoint: it is loaded once, and checked against what
// is constant. Callers check the sequence number of the index before they use a result.
#ifndef KEPT_IMAGE_H
#define KEPT_IMAGE_H

#include "Seqlock.h"

enum { KEPT_BLOCK_BYTES = 4096, KEPT_RECORD_BYTES = 32, KEPT_KEY_BYTES = 1024 };

/// Text of more bytes is copied inside the gate.
enum { KEPT_RECORDS_TEXT = 64 };

/// Of the kinds of values, those that are read here.
enum { KEPT_STORED_BOOL = 1, KEPT_STORED_INT = 2, KEPT_STORED_DOUBLE = 4, KEPT_STORED_STRING = 5 };

/// The flags of a record.
enum { KEPT_RECORD_DECLARED = 1, KEPT_RECORD_MISFIT = 2, KEPT_RECORD_REMOVAL = 4 };

/// Memory for the blocks of a checkpoint, which are read when they are first needed, and for the places of the records
/// that were read before.
///
/// Invariants: the addresses and the capacity are constant, and neither the memory nor this is ever freed. A block has
/// the bytes of the checkpoint, verified, while its mark is `use`. A place is of a record in such a block. `use` and
/// what follows are changed only while no reader is sent here; the value of `use` is never that of another checkpoint.
typedef struct kept_image {
  unsigned char *memory; // blocks, and eight bytes more
  uint32_t *places;      // KEPT_PLACES for each block, and KEPT_PLACE_PROBES more; 0 where there is none
  uint64_t capacity;     // in blocks: a power of two
  uint64_t *marks;       // one for each block
  uint64_t place_mask;   // the bits of a place that are the offset of a record divided by 8; the others are a hash's
  uint64_t place_count;  // the places that are used
  uint64_t use;
  uint64_t seed;
  uint64_t table; // the first block of the hash table
  uint64_t slots; // 0 if there are no records
} kept_image;

enum { KEPT_PLACES = 128, KEPT_PLACE_PROBES = 16 };

static inline bool kept_image_has(const kept_image *image, uint64_t block, uint64_t use) {
  return block < image->capacity && __atomic_load_n(&image->marks[block], __ATOMIC_ACQUIRE) == use;
}

/// Whether some memory of an image begins with a record of a key, up to the end of the key.
KEPT_SEQLOCK_READ bool kept_image_is_record(
  const unsigned char *memory, uint64_t offset, const void *key, size_t length) {
  const unsigned char *record = memory + offset;
  // The key of a record lies in its first block.
  return offset % KEPT_BLOCK_BYTES + KEPT_RECORD_BYTES + length <= KEPT_BLOCK_BYTES &&
    (kept_hash_half(record + 4) & 0xFFFF) == length && kept_same_bytes(record + KEPT_RECORD_BYTES, key, length);
}

/// Where the search for the place of a hash begins. Readers have a hash of their own, other than the one in the file.
static inline uint32_t *kept_image_places(const kept_image *image, uint64_t hash) {
  return image->places + (uint64_t)((__uint128_t)hash * KEPT_RELAXED(image->place_count) >> 64);
}

/// Remembers the place of a record, so that readers without a lock find it there.
///
/// Only for readers inside the gate. If two threads choose the same place, one of them does it again later.
static inline void kept_image_remember(kept_image *image, uint64_t hash, const unsigned char *record) {
  if (!image->place_count) return;
  uint64_t offset = (uint64_t)(record - image->memory);
  uint32_t place = (uint32_t)((hash & ~image->place_mask) | offset / 8);
  uint32_t *places = kept_image_places(image, hash);
  for (int looked = 0; looked < KEPT_PLACE_PROBES; looked++) {
    uint32_t found = KEPT_RELAXED(places[looked]);
    // After the bytes of its block.
    if (found == 0) __atomic_store_n(&places[looked], place, __ATOMIC_RELEASE);
    if (found == 0 || found == place) return;
  }
}

/// A record. If it is NULL, `kind` is KEPT_SLOT_ABSENT, or KEPT_SLOT_NONE if a block must be read.
typedef struct kept_found {
  const unsigned char *record;
  intptr_t kind;
} kept_found;

/// What is known of a key without a record. Only the ordinary path can say of some bytes that they are not a key, such
/// as those of an empty text, of a long one, of one with a NUL, or of malformed UTF-8.
static inline kept_found kept_image_without(const void *key, size_t length) {
  const unsigned char *bytes = (const unsigned char *)key;
  bool is_plain = length > 0 && length <= KEPT_KEY_BYTES;
  for (size_t index = 0; is_plain && index < length; index++) is_plain = bytes[index] > 0 && bytes[index] < 0x80;
  return (kept_found){ NULL, is_plain ? KEPT_SLOT_ABSENT : KEPT_SLOT_NONE };
}

/// Finds the record of a key in the hash table of the checkpoint.
KEPT_RACES static inline __attribute__((noinline)) kept_found kept_image_search(
  const kept_image *image, const void *key, size_t length) {
  const uint64_t low = (UINT64_C(1) << 40) - 1;
  const kept_found unread = { NULL, KEPT_SLOT_NONE };
  uint64_t use = KEPT_RELAXED(image->use), table = KEPT_RELAXED(image->table), slots = KEPT_RELAXED(image->slots);
  if (!slots) return kept_image_without(key, length);
  uint64_t hash = kept_hash(key, length, KEPT_RELAXED(image->seed));
  uint64_t slot = (uint64_t)((__uint128_t)(hash & low) * slots >> 40);
  for (uint64_t looked = 0; looked < slots; looked++) {
    uint64_t block = table + slot / (KEPT_BLOCK_BYTES / 8);
    if (!kept_image_has(image, block, use)) return unread;
    uint64_t word = kept_hash_word(image->memory + block * KEPT_BLOCK_BYTES + slot % (KEPT_BLOCK_BYTES / 8) * 8);
    if (word == 0) return kept_image_without(key, length);
    if (((word ^ hash) & ~low) == 0) {
      uint64_t offset = (word & low) * 8;
      if (!kept_image_has(image, offset / KEPT_BLOCK_BYTES, use)) return unread;
      if (kept_image_is_record(image->memory, offset, key, length)) {
        return (kept_found){ image->memory + offset, KEPT_SLOT_NONE };
      }
    }
    slot = slot + 1 < slots ? slot + 1 : 0;
  }
  return unread;
}

/// The record of a key that has a place; else NULL, and `place` is 0 if there is room for one.
KEPT_SEQLOCK_READ const unsigned char *kept_image_record(
  const kept_image *image, const void *key, size_t length, uint64_t hash, uint32_t *place) {
  const unsigned char *memory = image->memory;
  const uint32_t *places = kept_image_places(image, hash);
  uint32_t mask = (uint32_t)image->place_mask;
  *place = 1;
  for (int looked = 0; looked < KEPT_PLACE_PROBES && *place; looked++) {
    *place = __atomic_load_n(&places[looked], __ATOMIC_ACQUIRE);
    uint64_t offset = (uint64_t)(*place & mask) * 8;
    if (((*place ^ (uint32_t)hash) & ~mask) == 0 && kept_image_is_record(memory, offset, key, length)) {
      return memory + offset;
    }
  }
  return NULL;
}

/// Finds the record of a key at its place, or as `kept_image_search` does. A record that has no place is read inside
/// the gate, where its place is remembered, if there is room for it.
KEPT_SEQLOCK_READ kept_found kept_image_find(const kept_image *image, const void *key, size_t length, uint64_t hash) {
  uint32_t place;
  kept_found found = { kept_image_record(image, key, length, hash, &place), KEPT_SLOT_NONE };
  if (found.record) return found;
  found = kept_image_search(image, key, length);
  if (!place) found.record = NULL;
  return found;
}

/// The value of a record, if it reads as it is stored and lies in one block. Otherwise NULL, and `kind` is absent,
/// unknown if the storage must be asked, or none if the value must be read inside the gate.
KEPT_SEQLOCK_READ const unsigned char *kept_image_value(
  const kept_image *image, const void *key, size_t length, uint64_t hash, intptr_t *kind, uint64_t *count) {
  const unsigned char *memory = image->memory;
  kept_found found = kept_image_find(image, key, length, hash);
  *kind = found.kind;
  if (!found.record) return NULL;
  uint32_t head = (uint32_t)kept_hash_half(found.record + 4), stored = head >> 16 & 0xFF, flags = head >> 24;
  if (flags & KEPT_RECORD_REMOVAL || stored == 0 || flags & KEPT_RECORD_MISFIT) {
    // A declaration may have a default.
    *kind = !(flags & KEPT_RECORD_REMOVAL) && flags & KEPT_RECORD_DECLARED ? KEPT_SLOT_UNKNOWN : KEPT_SLOT_ABSENT;
    return NULL;
  }
  uint64_t begin = (uint64_t)(found.record - memory) % KEPT_BLOCK_BYTES + KEPT_RECORD_BYTES + length;
  *count = kept_hash_half(found.record + 24);
  if (*count > KEPT_RECORDS_TEXT || begin + *count > KEPT_BLOCK_BYTES) return NULL;
  *kind = stored;
  return found.record + KEPT_RECORD_BYTES + length;
}

/// The record of a key at the first or second place of its hash, with a value of at most `longest` bytes, if the image
/// has it there and no slot hides it; else NULL.
// Most reads end here: it calls nothing, so that it saves no registers.
KEPT_SEQLOCK_READ const unsigned char *kept_image_first(
  const kept_seqlock_section *section, const void *key, size_t length, uint64_t hash, uint64_t longest) {
  const kept_image *image = (const kept_image *)KEPT_RELAXED(section->header->records);
  if (!image || KEPT_RELAXED(section->header->filter) & kept_filter_bit(hash)) return NULL;
  const uint32_t *places = kept_image_places(image, hash);
  uint32_t place = __atomic_load_n(places, __ATOMIC_ACQUIRE), mask = (uint32_t)image->place_mask;
  if ((place ^ (uint32_t)hash) & ~mask) place = __atomic_load_n(places + 1, __ATOMIC_ACQUIRE);
  uint64_t offset = (uint64_t)(place & mask) * 8;
  if ((place ^ (uint32_t)hash) & ~mask || length < 4 ||
    offset % KEPT_BLOCK_BYTES + KEPT_RECORD_BYTES + length + longest > KEPT_BLOCK_BYTES) {
    return NULL;
  }
  const unsigned char *record = image->memory + offset, *own = record + KEPT_RECORD_BYTES;
  const unsigned char *other = (const unsigned char *)key;
  uint64_t difference = (kept_hash_half(record + 4) & 0xFFFF) ^ length;
  if (length < 8) {
    difference |= kept_hash_half(own) ^ kept_hash_half(other);
    difference |= kept_hash_half(own + length - 4) ^ kept_hash_half(other + length - 4);
  } else {
    difference |= kept_hash_word(own + length - 8) ^ kept_hash_word(other + length - 8);
    // As in kept_same_bytes.
#if defined(__clang__)
#pragma clang loop vectorize(disable) unroll(disable)
#endif
    for (size_t index = 0; index + 8 < length; index += 8) {
      difference |= kept_hash_word(own + index) ^ kept_hash_word(other + index);
    }
  }
  return difference ? NULL : record;
}

/// The kind of a record's value, and the number of its bytes, as one number; no such number for a record that reads
/// otherwise than it is stored.
static inline uint64_t kept_image_form(uint64_t kind, uint64_t count) { return kind << 32 | count; }

KEPT_SEQLOCK_READ uint64_t kept_image_form_of(const unsigned char *record) {
  return kept_image_form(
    kept_hash_half(record + 4) >> 16 & ~(uint64_t)(KEPT_RECORD_DECLARED << 8), kept_hash_half(record + 24));
}

/// A value that was found, and may be torn.
typedef struct kept_located {
  intptr_t kind; // KEPT_SLOT_…
  const unsigned char *bytes;
  uint64_t count;
  uint64_t high; // the bits that no byte of a text may have: only ASCII is read from a record without checking it
} kept_located;

/// Finds a key in a slot, or anywhere in the image.
KEPT_SEQLOCK_READ kept_located kept_image_search_key(
  const kept_seqlock_section *section, const void *key, size_t length, uint64_t hash) {
  const kept_image *image = (const kept_image *)KEPT_RELAXED(section->header->records);
  const kept_slot *slot = kept_seqlock_find(section, key, length, hash);
  if (slot) {
    return (
      kept_located){ KEPT_RELAXED(slot->kind), (const unsigned char *)slot->payload, KEPT_RELAXED(slot->count), 0 };
  }
  kept_located found = { KEPT_SLOT_UNKNOWN, NULL, 0, KEPT_HIGH_BITS };
  if (image) found.bytes = kept_image_value(image, key, length, hash, &found.kind, &found.count);
  if (!found.bytes) return found;
  intptr_t stored = found.kind;
  found.kind = stored == KEPT_STORED_STRING                                 ? KEPT_SLOT_TEXT
    : stored == KEPT_STORED_INT && found.count == 8                         ? KEPT_SLOT_INT
    : stored == KEPT_STORED_DOUBLE && found.count == 8                      ? KEPT_SLOT_DOUBLE
    : stored == KEPT_STORED_BOOL && found.count == 1 && found.bytes[0] <= 1 ? KEPT_SLOT_BOOL
                                                                            : KEPT_SLOT_NONE;
  return found;
}

/// The value of a key whose record has a place: its kind is that of the record, and 0 if there is none.
///
/// Only for readers inside the gate. The value was decoded before, so all of it is in memory.
static inline kept_located kept_image_placed(
  const kept_index_header *header, const void *key, size_t length, uint64_t hash) {
  const kept_image *image = (const kept_image *)header->records;
  uint32_t place;
  const unsigned char *record = image ? kept_image_record(image, key, length, hash, &place) : NULL;
  if (!record) return (kept_located){ 0, NULL, 0, 0 };
  return (kept_located){ record[6], record + KEPT_RECORD_BYTES + length, kept_hash_half(record + 24), 0 };
}

KEPT_SEQLOCK_READ intptr_t kept_image_search_word(
  const kept_seqlock_section *section, const void *key, size_t length, uint64_t hash, uint64_t *out) {
  kept_located found = kept_image_search_key(section, key, length, hash);
  uint64_t word = found.kind == KEPT_SLOT_BOOL ? found.bytes[0] : found.bytes ? kept_hash_word(found.bytes) : 0;
  if (!kept_seqlock_is_valid(section)) return KEPT_SLOT_NONE;
  *out = word;
  return found.kind;
}

KEPT_RACES static inline __attribute__((noinline)) intptr_t kept_image_begin_word(
  const kept_read_context *handle, const void *key, size_t length, uint64_t hash, uint64_t *out) {
  kept_seqlock_section section;
  return kept_seqlock_begin(handle, &section) ? kept_image_search_word(&section, key, length, hash, out)
                                              : KEPT_SLOT_NONE;
}

KEPT_SEQLOCK_READ intptr_t kept_image_finish_word(
  const kept_seqlock_section *section, const void *key, size_t length, uint64_t hash, uint64_t *out) {
  const unsigned char *record = kept_image_first(section, key, length, hash, 8);
  uint64_t form = record ? kept_image_form_of(record) : 0;
  bool is_int = form == kept_image_form(KEPT_STORED_INT, 8);
  if (is_int || form == kept_image_form(KEPT_STORED_DOUBLE, 8)) {
    uint64_t word = kept_hash_word(record + KEPT_RECORD_BYTES + length);
    if (!kept_seqlock_is_valid(section)) return KEPT_SLOT_NONE;
    *out = word;
    return is_int ? KEPT_SLOT_INT : KEPT_SLOT_DOUBLE;
  }
  return kept_image_begin_word(section->handle, key, length, hash, out);
}

/// Reads a key: the kind of its value, and a bool, an integer or the bits of a double.
KEPT_SEQLOCK_READ intptr_t kept_read_word(
  const kept_read_context *handle, const void *key, size_t length, uint64_t hash, uint64_t *out) {
  kept_seqlock_section section;
  return kept_seqlock_begin(handle, &section) ? kept_image_finish_word(&section, key, length, hash, out)
                                              : KEPT_SLOT_NONE;
}

/// Copies text of between one and two times `part` bytes; nothing if it is not consistent.
KEPT_SEQLOCK_READ bool kept_copy_parts(const kept_seqlock_section *section, const unsigned char *text, uint64_t count,
  uint64_t high, char *buffer, size_t part) {
  uint64_t head[4] = { 0 }, tail[4] = { 0 };
  memcpy(head, text, part);
  memcpy(tail, text + count - part, part);
  uint64_t all = head[0] | head[1] | head[2] | head[3] | tail[0] | tail[1] | tail[2] | tail[3];
  if (all & high || !kept_seqlock_is_valid(section)) return false;
  memcpy(buffer, head, part);
  memcpy(buffer + count - part, tail, part);
  buffer[count] = 0;
  return true;
}

/// Copies text of at most KEPT_RECORDS_TEXT bytes with a NUL, if there is room; nothing is written otherwise.
KEPT_SEQLOCK_READ intptr_t kept_copy_text(const kept_seqlock_section *section, const unsigned char *text,
  uint64_t count, uint64_t high, char *buffer, size_t capacity, size_t *out) {
  if (count > KEPT_RECORDS_TEXT || count >= capacity) return KEPT_SLOT_NONE;
  bool is_done = count >= 32 ? kept_copy_parts(section, text, count, high, buffer, 32)
    : count >= 16            ? kept_copy_parts(section, text, count, high, buffer, 16)
    : count >= 8             ? kept_copy_parts(section, text, count, high, buffer, 8)
    : count >= 4             ? kept_copy_parts(section, text, count, high, buffer, 4)
    : count >= 2             ? kept_copy_parts(section, text, count, high, buffer, 2)
    : count == 1             ? kept_copy_parts(section, text, count, high, buffer, 1)
                             : kept_copy_parts(section, text, count, high, buffer, 0);
  if (!is_done) return KEPT_SLOT_NONE;
  *out = count;
  return KEPT_SLOT_TEXT;
}

KEPT_SEQLOCK_READ intptr_t kept_image_search_text(const kept_seqlock_section *section, const void *key, size_t length,
  uint64_t hash, char *buffer, size_t capacity, size_t *out) {
  kept_located found = kept_image_search_key(section, key, length, hash);
  if (found.kind != KEPT_SLOT_TEXT) return kept_seqlock_is_valid(section) ? found.kind : KEPT_SLOT_NONE;
  return kept_copy_text(section, found.bytes, found.count, found.high, buffer, capacity, out);
}

KEPT_RACES static inline __attribute__((noinline)) intptr_t kept_image_begin_text(const kept_read_context *handle,
  const void *key, size_t length, uint64_t hash, char *buffer, size_t capacity, size_t *out) {
  kept_seqlock_section section;
  return kept_seqlock_begin(handle, &section)
    ? kept_image_search_text(&section, key, length, hash, buffer, capacity, out)
    : KEPT_SLOT_NONE;
}

KEPT_SEQLOCK_READ intptr_t kept_image_finish_text(const kept_seqlock_section *section, const void *key, size_t length,
  uint64_t hash, char *buffer, size_t capacity, size_t *out) {
  const unsigned char *record = kept_image_first(section, key, length, hash, KEPT_RECORDS_TEXT);
  uint64_t count = record ? kept_hash_half(record + 24) : 0;
  if (record && kept_image_form_of(record) == kept_image_form(KEPT_STORED_STRING, count)) {
    return kept_copy_text(section, record + KEPT_RECORD_BYTES + length, count, KEPT_HIGH_BITS, buffer, capacity, out);
  }
  return kept_image_begin_text(section->handle, key, length, hash, buffer, capacity, out);
}

/// Reads a key: the kind of its value, and its text if it is short and there is room for it and a NUL.
KEPT_SEQLOCK_READ intptr_t kept_read_text(const kept_read_context *handle, const void *key, size_t length,
  uint64_t hash, char *buffer, size_t capacity, size_t *out) {
  kept_seqlock_section section;
  return kept_seqlock_begin(handle, &section)
    ? kept_image_finish_text(&section, key, length, hash, buffer, capacity, out)
    : KEPT_SLOT_NONE;
}

#endif
