/* The scripts as a target of libFuzzer: scripts/fuzz. */
#include "include/fuzz.h"

#include "script.h"

#include <stdlib.h>

int calls_fuzz(const uint8_t *bytes, size_t count) {
  static int has_begun;
  if (!has_begun) {
    begin_scripts();
    atexit(end_scripts);
  }
  has_begun = 1;
  run_script(bytes, count);
  return 0;
}
