/* Creates the keys: typical names, the same in every run. */
#include "keys.h"

#include "fatal.h"

#include <stdio.h>
#include <stdlib.h>

/* xorshift64: the same "random" order in every run and for every engine. */
static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static void shuffle(key *ring, size_t count) {
  uint64_t state = 0x9E3779B97F4A7C15u;
  for (size_t left = count; left > 1; left--) {
    size_t other = next_random(&state) % left;
    key last = ring[left - 1];
    ring[left - 1] = ring[other];
    ring[other] = last;
  }
}

key key_of(size_t index) {
  key made;
  made.length = (uint32_t)snprintf(made.text, sizeof made.text, "section-%03zu.setting-%06zu", index / 1000, index);
  return made;
}

static keys make(size_t count, size_t some) {
  keys made = { some, calloc(some, sizeof(key)), calloc(some, sizeof(key)) };
  if (!made.sorted || !made.shuffled) die("no memory for %zu keys", some);
  for (size_t at = 0; at < some; at++) made.sorted[at] = made.shuffled[at] = key_of(at * (count / some));
  shuffle(made.shuffled, some);
  return made;
}

const keys *some_keys_of(size_t count, size_t some) {
  static struct {
    size_t count;
    keys keys;
  } made[8];
  for (size_t at = 0; at < sizeof made / sizeof *made; at++) {
    if (made[at].count == 0) {
      made[at].count = count;
      made[at].keys = make(count, some);
    }
    if (made[at].count == count && made[at].keys.count == some) return &made[at].keys;
  }
  die("rows with more than %zu sets of keys", sizeof made / sizeof *made);
}

const keys *keys_of(size_t count) { return some_keys_of(count, count); }
