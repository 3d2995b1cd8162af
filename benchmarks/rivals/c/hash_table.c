/* The floor of reading: one atomic load, which detects changes, then a lookup in a plain hash table (open addressing in
 * a power of two, at most half full). It stores and shares nothing. */
#include "fatal.h"
#include "engine.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NEAR 20

typedef struct slot {
  key key; /* length 0: free */
  union {
    int64_t integer;
    char near[NEAR + 1];
  };
  char *far; /* for longer texts; may be NULL */
} slot;

typedef struct table {
  _Atomic uint64_t generation;
  size_t mask, used;
  slot *slots;
} table;

static uint64_t word_at(const char *text) {
  uint64_t word;
  memcpy(&word, text, sizeof word);
  return word;
}

/* Uses both halves of the product: the last digits of a name are in the upper bytes of a word, and must affect the
 * masked bits. */
static uint64_t mix(uint64_t sum, uint64_t word) {
  unsigned __int128 product = (unsigned __int128)(sum ^ word) * 0x9FB21C651E98DF25u;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Eight bytes at a time; the last eight overlap the ones before. Keys are never shorter. */
static uint64_t hash(const char *text, size_t length) {
  uint64_t sum = length;
  for (size_t at = 0; at + 8 < length; at += 8) sum = mix(sum, word_at(text + at));
  return mix(sum, word_at(text + length - 8));
}

/* The slot of a key, or the free slot for it. */
static slot *find(const table *table, const char *text, size_t length) {
  for (size_t at = hash(text, length) & table->mask;; at = (at + 1) & table->mask) {
    slot *slot = &table->slots[at];
    if (slot->key.length == 0) return slot;
    if (slot->key.length == length && memcmp(slot->key.text, text, length) == 0) return slot;
  }
}

static void resize(table *table, size_t slots) {
  struct table larger = { .mask = slots - 1, .used = table->used, .slots = calloc(slots, sizeof(slot)) };
  if (!larger.slots) die("no memory for a table of %zu slots", slots);
  for (size_t at = 0; table->slots && at <= table->mask; at++) {
    const key *key = &table->slots[at].key;
    if (key->length) *find(&larger, key->text, key->length) = table->slots[at];
  }
  free(table->slots);
  table->mask = larger.mask;
  table->slots = larger.slots;
}

static void *open_table(const char *folder, bool durable) {
  (void)folder, (void)durable;
  table *table = calloc(1, sizeof *table);
  if (!table) die("no memory");
  resize(table, 1024);
  return table;
}

static void close_table(void *table_) {
  table *table = table_;
  for (size_t at = 0; at <= table->mask; at++) free(table->slots[at].far);
  free(table->slots);
  free(table);
}

static void *join(void *store) { return store; }

static void leave(void *session) { (void)session; }

/* Finds the value of a key as a C library must: with strlen, and only if nothing changed. */
static const slot *lookup(table *table, const char *name) {
  if (atomic_load_explicit(&table->generation, memory_order_acquire) & 1) die("the table is being written");
  const slot *slot = find(table, name, strlen(name));
  if (slot->key.length == 0) die("the table lacks %s", name);
  return slot;
}

static void get_integers(void *session, walk *walk) {
  for (size_t step = 0; step < walk->steps; step++) {
    walk->sum += (uint64_t)lookup(session, walk_next(walk)->text)->integer;
  }
}

static void get_texts(void *session, walk *walk) {
  for (size_t step = 0; step < walk->steps; step++) {
    const slot *slot = lookup(session, walk_next(walk)->text);
    memcpy(walk->text, walk->length > NEAR ? slot->far : slot->near, walk->length + 1);
    __asm__ volatile("" : : "r"(walk->text) : "memory"); /* the copy counts as used */
    walk->sum += (unsigned char)walk->text[0];
  }
}

static void get(void *session, walk *walk) {
  if (walk->length) get_texts(session, walk);
  else get_integers(session, walk);
}

static void put_text(slot *slot, walk *walk) {
  const char *text = walk_text(walk);
  if (walk->length > NEAR && !slot->far) slot->far = malloc(walk->length + 1);
  memcpy(walk->length > NEAR ? slot->far : slot->near, text, walk->length + 1);
}

static void fill_table(void *session, walk *walk) {
  table *table = session;
  for (size_t step = 0; step < walk->steps; step++) {
    if (table->used * 2 > table->mask) resize(table, (table->mask + 1) * 2);
    const key *key = walk_next(walk);
    slot *slot = find(table, key->text, key->length);
    table->used += slot->key.length == 0;
    slot->key = *key;
    if (walk->length) put_text(slot, walk);
    else slot->integer = ++walk->stamp;
  }
}

const engine hash_table = {
  .name = "atomic load and hash table",
  .open = open_table,
  .join = join,
  .leave = leave,
  .close = close_table,
  .get = get,
  .set_together = fill_table,
};
