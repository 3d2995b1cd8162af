/* The engines that a command line can name: Kept and its rivals. */
#include "engines.h"

#include "fatal.h"
#include "variants.h"

#include <string.h>

const engine *engine_named(const char *name) {
  const engine *const engines[] = {
    &kept,
    &sqlite,
    &lmdb,
    &kept_json,
    &kept_integers,
    &kept_words,
    &kept_pattern,
    &kept_managed,
    &kept_arguments,
    &kept_environment,
    &kept_user,
    &kept_system,
    &kept_registered,
    &kept_declared,
  };
  for (size_t at = 0; at < sizeof engines / sizeof *engines; at++) {
    if (strcmp(engines[at]->name, name) == 0) return engines[at];
  }
  die("there is no engine %s", name);
}
