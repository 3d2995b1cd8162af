// How a reader looks into the slots of the index without a lock and without writing a word: it looks at a sequence
// number before and after, and what it has seen in between counts only if the number is the same and even.
#ifndef KEPT_GLANCE_H
#define KEPT_GLANCE_H

#include "Atomics.h"
#include "Slots.h"

/// What a reader looks at first: one cache line, moved only by changes of the index.
typedef struct kept_window {
  uint64_t open;           // the generation for which the index is current; odd: for none
  uint64_t sequence;       // moved before and after each change, so it is odd during one; it never returns
  kept_slots *table;       // the array of slots that is in use
  void *index;             // the Swift object that it is the window of; it never changes
} kept_window;

/// What reads through one handle on a store begin with, and what a `kept_store *` of kept.h points to. Such a one is
/// never freed: whoever reads through it after the store was closed finds a generation that is odd for ever. Neither
/// is what `generation` and `window` lead to: it serves another store later. So what was seen counts only if the handle
/// still leads to the same generation afterwards.
typedef struct kept_handle {
  const uint64_t *generation;
  const kept_window *window;
  void *owner;             // the Swift object of a `kept_store *` that is open
  uint64_t layers;         // moved by each change of the handle's layers
} kept_handle;

/// Where the generation of an open store stands; from the end of the handle on, a word that is odd for ever.
static inline const uint64_t *kept_handle_generation(const kept_handle *handle) {
  return __atomic_load_n(&handle->generation, __ATOMIC_ACQUIRE);
}

static inline const kept_window *kept_handle_window(const kept_handle *handle) {
  return __atomic_load_n(&handle->window, __ATOMIC_ACQUIRE);
}

static inline void kept_handle_lead(kept_handle *handle, const uint64_t *generation) {
  __atomic_store_n(&handle->generation, generation, __ATOMIC_SEQ_CST);
}

static inline void kept_handle_show(kept_handle *handle, const kept_window *window) {
  __atomic_store_n(&handle->window, window, __ATOMIC_SEQ_CST);
}

static inline uint64_t *kept_handle_layers(kept_handle *handle) { return &handle->layers; }

static inline void *kept_handle_owner(const kept_handle *handle) {
  return __atomic_load_n(&handle->owner, __ATOMIC_SEQ_CST);
}

/// Gives the handle another owner and returns the one before.
static inline void *kept_handle_own(kept_handle *handle, void *owner) {
  return __atomic_exchange_n(&handle->owner, owner, __ATOMIC_SEQ_CST);
}

// All of it is one function for whoever looks: passing on what was seen takes as long as seeing it.
#define KEPT_GLANCE KEPT_RACES static inline __attribute__((always_inline))

/// What was looked through, to be looked at again afterwards.
typedef struct kept_sight {
  const kept_handle *handle;
  const uint64_t *generation;
  const kept_window *window;
  uint64_t sequence;
} kept_sight;

/// The slot of a key while the index is current; NULL: nothing was seen. What it tells counts only if `kept_unmoved`
/// says so afterwards.
KEPT_GLANCE const kept_slot *kept_look(
  const kept_handle *handle, const void *key, size_t key_length, uint64_t hash, kept_sight *sight) {
  sight->handle = handle;
  sight->generation = kept_handle_generation(handle);
  uint64_t generation = kept_load64(sight->generation);
  if (generation & 1) return NULL;
  const kept_window *window = sight->window = kept_handle_window(handle);
  sight->sequence = __atomic_load_n(&window->sequence, __ATOMIC_ACQUIRE);
  if (sight->sequence & 1 || __atomic_load_n(&window->open, __ATOMIC_ACQUIRE) != generation) return NULL;
  return kept_find(__atomic_load_n(&window->table, __ATOMIC_ACQUIRE), key, key_length, hash);
}

/// Whether all that was read since `kept_look` stood there at one moment, and the handle was open.
KEPT_GLANCE bool kept_unmoved(const kept_sight *sight) {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return KEPT_RELAXED(sight->window->sequence) == sight->sequence
    && KEPT_RELAXED(sight->handle->generation) == sight->generation;
}

/// Takes a glance at a key: what kind of thing it has, and a bool, an integer or the bits of a double.
KEPT_GLANCE intptr_t kept_glance_word(
  const kept_handle *handle, const void *key, size_t key_length, uint64_t hash, uint64_t *out) {
  kept_sight sight;
  const kept_slot *slot = kept_look(handle, key, key_length, hash, &sight);
  if (!slot) return KEPT_NO_GLANCE;
  uint16_t kind = KEPT_RELAXED(slot->kind);
  *out = KEPT_RELAXED(slot->payload[0]);
  return kept_unmoved(&sight) ? kind : KEPT_NO_GLANCE;
}

/// Copies text of one or two times `part` bytes, or of something in between, if it stood there at one moment.
KEPT_GLANCE bool kept_copy_seen(
  const kept_sight *sight, const void *text, size_t length, char *buffer, size_t part) {
  unsigned char head[16], tail[16];
  memcpy(head, text, part);
  memcpy(tail, (const char *)text + length - part, part);
  if (!kept_unmoved(sight)) return false;
  memcpy(buffer, head, part);
  memcpy(buffer + length - part, tail, part);
  buffer[length] = 0;
  return true;
}

/// Takes a glance at a key's text, and copies it with a NUL if there is room; nothing is written otherwise.
KEPT_GLANCE intptr_t kept_glance_text(
  const kept_handle *handle, const void *key, size_t key_length, uint64_t hash, char *buffer, size_t capacity,
  size_t *length) {
  kept_sight sight;
  const kept_slot *slot = kept_look(handle, key, key_length, hash, &sight);
  if (!slot) return KEPT_NO_GLANCE;
  uint16_t kind = KEPT_RELAXED(slot->kind);
  size_t count = KEPT_RELAXED(slot->count);
  if (kind != KEPT_GLANCE_TEXT) return kept_unmoved(&sight) ? kind : KEPT_NO_GLANCE;
  if (count >= capacity || count > KEPT_GLANCE_BYTES) return KEPT_NO_GLANCE;
  bool seen = count >= 16 ? kept_copy_seen(&sight, slot->payload, count, buffer, 16)
    : count >= 8 ? kept_copy_seen(&sight, slot->payload, count, buffer, 8)
    : count >= 4 ? kept_copy_seen(&sight, slot->payload, count, buffer, 4)
    : count >= 2 ? kept_copy_seen(&sight, slot->payload, count, buffer, 2)
    : count == 1 ? kept_copy_seen(&sight, slot->payload, 1, buffer, 1)
    : kept_copy_seen(&sight, slot->payload, 0, buffer, 0);
  if (!seen) return KEPT_NO_GLANCE;
  *length = count;
  return KEPT_GLANCE_TEXT;
}

static inline uint64_t *kept_window_open(kept_window *window) { return &window->open; }

static inline uint64_t *kept_window_sequence(kept_window *window) { return &window->sequence; }

/// Lets the slots of another array be found.
static inline void kept_publish_slots(kept_window *window, kept_slots *slots) {
  __atomic_store_n(&window->table, slots, __ATOMIC_RELEASE);
}

#endif
