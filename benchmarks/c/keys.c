/* Makes the keys: names as programs have them, the same in every run. */
#include "keys.h"

#include "complaint.h"

#include <stdio.h>
#include <stdlib.h>

const char text_value[TEXT_LENGTH + 1] = "twenty bytes of text";

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

static keys make(size_t count) {
  keys made = {count, calloc(count, sizeof(key)), calloc(count, sizeof(key))};
  if (!made.sorted || !made.shuffled) complain("no memory for %zu keys", count);
  for (size_t index = 0; index < count; index++) made.sorted[index] = made.shuffled[index] = key_of(index);
  shuffle(made.shuffled, count);
  return made;
}

const keys *keys_of(size_t count) {
  static keys made[8];
  for (size_t at = 0; at < sizeof made / sizeof *made; at++) {
    if (made[at].count == 0) made[at] = make(count);
    if (made[at].count == count) return &made[at];
  }
  complain("rows with more than %zu numbers of keys", sizeof made / sizeof *made);
}
