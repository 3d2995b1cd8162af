/* The search: take one operation after another, such that no untaken operation must precede it; backtrack if none
 * fits. */
#include "history.h"

#include <stdlib.h>
#include <string.h>

/* Which operations are taken, and the value of the register then. The rest of the search depends only on these. */
typedef struct position {
  uint64_t taken[MOST_OPERATIONS / 64];
  int64_t value;
} position;

/* The positions from which the search has failed: open addressing, at most half full. */
typedef struct memory {
  position *places;
  size_t used, size;
} memory;

static size_t place_of(const position *position, size_t size) {
  uint64_t hash = (uint64_t)position->value;
  for (int i = 0; i < MOST_OPERATIONS / 64; i++) {
    hash = (hash ^ hash >> 29 ^ position->taken[i]) * UINT64_C(0x9e3779b97f4a7c15);
  }
  return (size_t)(hash ^ hash >> 32) & (size - 1);
}

static bool is_used(const position *place) {
  static const uint64_t nothing[MOST_OPERATIONS / 64];
  return memcmp(place->taken, nothing, sizeof nothing) != 0;
}

/* False if it was present already. A position with nothing taken is never looked up. */
static bool remember(memory *memory, const position *position);

static void grow(memory *memory) {
  struct memory larger = { calloc(memory->size * 2, sizeof(position)), 0, memory->size * 2 };
  if (larger.places == NULL) abort();
  for (size_t i = 0; i < memory->size; i++) {
    if (is_used(&memory->places[i])) remember(&larger, &memory->places[i]);
  }
  free(memory->places);
  *memory = larger;
}

static bool remember(memory *memory, const position *position) {
  size_t place = place_of(position, memory->size);
  for (; is_used(&memory->places[place]); place = (place + 1) & (memory->size - 1)) {
    if (memcmp(&memory->places[place], position, sizeof *position) == 0) return false;
  }
  memory->places[place] = *position;
  if (++memory->used * 2 > memory->size) grow(memory);
  return true;
}

static bool is_taken(const position *position, int i) { return position->taken[i / 64] >> (i % 64) & 1; }

/* Whether the register, holding `value`, could have given this answer; if so, it holds `next` afterwards. */
static bool fits(const operation *operation, int64_t value, int64_t *next) {
  bool changes = operation->kind != READ && operation->kind != NO_SWAP;
  *next = changes ? operation->put : value;
  switch (operation->kind) {
    case READ:
    case SWAP: return operation->found == value;
    case NO_SWAP: return operation->found != value;
    case REMOVE: return value != 0;
    case WRITE: return true;
  }
  return false;
}

/* Operations are sorted by invocation: those invoked after the first answer of an untaken operation must wait. */
static bool search(const operation *operations, int count, position now, int left, memory *memory) {
  int64_t first_answer = INT64_MAX;
  if (left == 0) return true;
  for (int i = 0; i < count; i++) {
    if (!is_taken(&now, i) && operations[i].answered < first_answer) first_answer = operations[i].answered;
  }
  for (int i = 0; i < count && operations[i].invoked <= first_answer; i++) {
    position next = now;
    if (is_taken(&now, i) || !fits(&operations[i], now.value, &next.value)) continue;
    next.taken[i / 64] |= UINT64_C(1) << (i % 64);
    if (remember(memory, &next) && search(operations, count, next, left - 1, memory)) return true;
  }
  return false;
}

static int by_invocation(const void *left, const void *right) {
  int64_t a = ((const operation *)left)->invoked, b = ((const operation *)right)->invoked;
  return (a > b) - (a < b);
}

bool is_linearizable(const operation *operations, int count) {
  operation ordered[MOST_OPERATIONS];
  memory memory = { calloc(1024, sizeof(position)), 0, 1024 };
  if (memory.places == NULL) abort();
  memcpy(ordered, operations, (size_t)count * sizeof *operations);
  qsort(ordered, (size_t)count, sizeof *ordered, by_invocation);
  bool found = search(ordered, count, (position){ .value = 0 }, count, &memory);
  free(memory.places);
  return found;
}
