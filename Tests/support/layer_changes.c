#include "layer_changes.h"

#include "check.h"
#include "clock.h"
#include "files.h"

kept_options with(const char *managed, const char *system) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.managed = managed;
  options.system = system;
  return options;
}

uint64_t look(const uint64_t *word) { return word != NULL ? __atomic_load_n(word, __ATOMIC_ACQUIRE) : 0; }

void await_move(const uint64_t *word, uint64_t from) {
  for (int i = 0; i < 10000 && look(word) == from; i++) let_pass(1000);
  CHECK(look(word) != from);
}

void put_and_await(kept_store *store, const char *path, const char *text) {
  const uint64_t *word = kept_store_layers(store);
  uint64_t before = look(word);
  put_file(path, text);
  await_move(word, before);
}
