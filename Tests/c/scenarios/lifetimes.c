/* Steps that open and end stores and transactions. */
#include <string.h>

#include "run.h"

static uint32_t take_durability(json_object *step, uint32_t otherwise) {
  const char *word = take_word(step, "durability", "");
  return *word == '\0' ? otherwise : strcmp(word, "durable") == 0 ? KEPT_DURABLE : KEPT_SHARED;
}

static const char *take_tag(json_object *step) {
  const char *word = take_word(step, "tag", "");
  return *word == '\0' ? NULL : word;
}

void step_open(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.durability = take_durability(step, KEPT_SHARED);
  options.tag = take_tag(step);
  options.access = take_flag(step, "read_only", false) ? KEPT_READ_ONLY : KEPT_READ_WRITE;
  struct thing *opened = place_for(run, take_word(step, "as", "store"));
  struct layer_texts texts = { .argv = NULL };
  take_layers(run, opened, step, &options, &texts);
  json_object *location = has(step, "location") ? take_text(run, step, "location") : NULL;
  const char *file = take_path(run, step, "at");
  const char *where = file ? file : location ? json_object_get_string(location) : run->location;
  outcome->status = kept_open(where, &options, &opened->store, &outcome->error);
  json_object_put(location);
  end_layer_texts(&texts);
}

void step_close(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  kept_close(on->store);
}

void step_flush(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  outcome->status = kept_flush(on->store, &outcome->error);
}

void step_begin(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  kept_transaction_options options = KEPT_TRANSACTION_OPTIONS_INIT;
  options.durability = take_durability(step, KEPT_AS_OPENED);
  options.tag = take_tag(step);
  struct thing *begun = place_for(run, take_word(step, "as", "transaction"));
  outcome->status = kept_begin(on->store, &options, &begun->store, &outcome->error);
}

void step_commit(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  uint64_t revision = 0;
  outcome->status = kept_commit(on->store, &revision, &outcome->error);
  outcome->gives = json_object_new_uint64(revision);
}

void step_rollback(struct run *run, struct thing *on, json_object *step, struct outcome *outcome) {
  kept_rollback(on->store);
}
