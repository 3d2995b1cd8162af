// The seqlock of the index. Readers access its slots without a lock and without writing: they read a sequence
// number before and after, and the data in between is valid only if the number is unchanged and even.
#ifndef KEPT_SEQLOCK_H
#define KEPT_SEQLOCK_H

#include "Atomics.h"
#include "Slots.h"

/// The index header, which readers access first: one cache line, written only by changes of the index.
typedef struct kept_index_header {
  uint64_t open;       // the generation for which the index is current; odd: for none
  uint64_t sequence;   // incremented before and after each change, so it is odd during one; never repeats
  kept_slots *table;   // the array of slots in use
  void *index;         // the Swift object that this header belongs to; constant
  const void *records; // where keys are that have no slot; NULL if the storage must be asked for them
  uint64_t filter;     // has the filter bits of the slots that hide a record
} kept_index_header;

/// The read context: the start of reads through one handle on a store, and the target of a `kept_store *` of kept.h.
/// The latter is never freed: a reader that uses it after the store was closed finds a generation that is always odd.
/// The memory that `generation` and `header` point to is never freed either, but serves another store later. So the
/// data is valid only if the handle still points to the same generation afterwards.
typedef struct kept_read_context {
  const uint64_t *generation;
  const kept_index_header *header;
  void *owner;     // the Swift object of an open `kept_store *`
  uint64_t layers; // incremented by each change of the handle's layers
} kept_read_context;

/// The address of an open store's generation; after the end of the handle, of a word that is always odd.
static inline const uint64_t *kept_read_context_generation(const kept_read_context *handle) {
  return __atomic_load_n(&handle->generation, __ATOMIC_ACQUIRE);
}

static inline const kept_index_header *kept_read_context_header(const kept_read_context *handle) {
  return __atomic_load_n(&handle->header, __ATOMIC_ACQUIRE);
}

static inline void kept_read_context_set_generation(kept_read_context *handle, const uint64_t *generation) {
  __atomic_store_n(&handle->generation, generation, __ATOMIC_SEQ_CST);
}

static inline void kept_read_context_set_header(kept_read_context *handle, const kept_index_header *header) {
  __atomic_store_n(&handle->header, header, __ATOMIC_SEQ_CST);
}

static inline uint64_t *kept_read_context_layers(kept_read_context *handle) { return &handle->layers; }

static inline void *kept_read_context_owner(const kept_read_context *handle) {
  return __atomic_load_n(&handle->owner, __ATOMIC_SEQ_CST);
}

/// Sets the owner of the handle and returns the previous one.
static inline void *kept_read_context_set_owner(kept_read_context *handle, void *owner) {
  return __atomic_exchange_n(&handle->owner, owner, __ATOMIC_SEQ_CST);
}

// Readers are inlined into one function: a call would take as long as the read itself.
#define KEPT_SEQLOCK_READ KEPT_RACES static inline __attribute__((always_inline))

/// The state of a read, to be validated afterwards.
typedef struct kept_seqlock_section {
  const kept_read_context *handle;
  const uint64_t *generation;
  const kept_index_header *header;
  uint64_t sequence;
} kept_seqlock_section;

/// Begins a read; returns whether the index is current. What is read is valid only if `kept_seqlock_is_valid` returns
/// true afterwards.
KEPT_SEQLOCK_READ bool kept_seqlock_begin(const kept_read_context *handle, kept_seqlock_section *section) {
  section->handle = handle;
  section->generation = kept_read_context_generation(handle);
  uint64_t generation = kept_load64(section->generation);
  if (generation & 1) return false;
  section->header = kept_read_context_header(handle);
  kept_access(&section->header->sequence);
  section->sequence = __atomic_load_n(&section->header->sequence, __ATOMIC_ACQUIRE);
  return !(section->sequence & 1) && __atomic_load_n(&section->header->open, __ATOMIC_ACQUIRE) == generation;
}

/// The slot of a key; NULL if it has none.
KEPT_SEQLOCK_READ const kept_slot *kept_seqlock_find(
  const kept_seqlock_section *section, const void *key, size_t key_length, uint64_t hash) {
  return kept_find(__atomic_load_n(&section->header->table, __ATOMIC_ACQUIRE), key, key_length, hash);
}

/// Whether everything that was read since `kept_seqlock_begin` is consistent, and the handle was open.
KEPT_SEQLOCK_READ bool kept_seqlock_is_valid(const kept_seqlock_section *section) {
  kept_access(&section->header->sequence);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return KEPT_RELAXED(section->header->sequence) == section->sequence &&
    KEPT_RELAXED(section->handle->generation) == section->generation;
}

static inline uint64_t *kept_index_header_open(kept_index_header *header) { return &header->open; }

static inline uint64_t *kept_index_header_sequence(kept_index_header *header) { return &header->sequence; }

/// Sets the records of an index during a change of it.
static inline void kept_publish_records(kept_index_header *header, const void *records) {
  __atomic_store_n(&header->records, records, __ATOMIC_RELAXED);
}

static inline uint64_t kept_filter_bit(uint64_t hash) { return UINT64_C(1) << (hash >> 58); }

/// Notes during a change that the slot of a key has another value than its record.
static inline void kept_hide_record(kept_index_header *header, uint64_t hash) {
  __atomic_store_n(&header->filter, header->filter | kept_filter_bit(hash), __ATOMIC_RELAXED);
}

static inline void kept_hide_no_record(kept_index_header *header) {
  __atomic_store_n(&header->filter, 0, __ATOMIC_RELAXED);
}

/// Publishes another array of slots.
static inline void kept_publish_slots(kept_index_header *header, kept_slots *slots) {
  __atomic_store_n(&header->table, slots, __ATOMIC_RELEASE);
}

#endif
