/* Begins and ends walks. */
#include "walk.h"

#include "fatal.h"

#include <stdlib.h>
#include <string.h>

walk walk_begin(const key *ring, size_t count, size_t length) {
  walk begun = { .ring = ring, .count = count, .length = length, .text = malloc(length + 1) };
  if (!begun.text) die("no memory for a text of %zu bytes", length);
  memset(begun.text, '.', length);
  begun.text[length] = 0;
  return begun;
}

void walk_end(walk *walk) { free(walk->text); }
