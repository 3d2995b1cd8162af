/* The engines that are counted, without rivals. */
#include "../rivals/c/engines.h"

#include "../rivals/c/fatal.h"
#include "../rivals/c/variants.h"

#include <string.h>

const engine *engine_named(const char *name) {
  const engine *const engines[] = { &kept, &kept_json, &kept_integers, &kept_words, &kept_pattern };
  for (size_t at = 0; at < sizeof engines / sizeof *engines; at++) {
    if (strcmp(engines[at]->name, name) == 0) return engines[at];
  }
  die("there is no engine %s", name);
}
