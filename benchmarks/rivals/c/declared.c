/* Kept with declared keys. */
#include "fatal.h"
#include "variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *declaration_list(size_t count, const char *declaration) {
  char *text;
  size_t length;
  FILE *list = open_memstream(&text, &length);
  if (!list) die("no memory for a list");
  fputs("{\"type\":\"object\",\"properties\":{", list);
  for (size_t at = 0; at < count; at++) {
    fprintf(list, "%s\"%s\":%s", at ? "," : "", keys_of(count)->sorted[at].text, declaration);
  }
  fputs("}}", list);
  fclose(list);
  return text;
}

void create_declared(const char *folder, size_t count, const char *declaration) {
  kept_error error;
  kept_store *store = open_kept(folder, NULL);
  char *list = declaration_list(count, declaration);
  expect_done(kept_declare_list(store, list, &error), &error, "declare");
  free(list);
  kept_close(store);
}

static void create_integers(const char *folder) { create_declared(folder, 1000, BOUNDED_INTEGER); }

static void create_10000(const char *folder) { create_declared(folder, 10000, BOUNDED_INTEGER); }

static void create_words(const char *folder) {
  create_declared(folder, 1000,
    "{\"type\":\"string\",\"enum\":[\"word-0\",\"word-1\",\"word-2\",\"word-3\",\"word-4\",\"word-5\",\"word-6\"]}");
}

static void create_pattern(const char *folder) {
  create_declared(folder, 1000, "{\"type\":\"string\",\"pattern\":\"^[a-z]+-[0-9]$\"}");
}

const engine kept_integers = {
  .name = "Kept, declared integers",
  KEPT_USUAL,
  .create = create_integers,
  .set_together = usual_set_together,
};
const engine kept_words = { .name = "Kept, declared words", KEPT_USUAL, .create = create_words };
const engine kept_pattern = { .name = "Kept, declared pattern", KEPT_USUAL, .create = create_pattern };
const engine kept_1000_declarations = {
  .name = "Kept, 1,000 declarations",
  KEPT_USUAL,
  .create = create_integers,
  .set_together = usual_set_together,
};
const engine kept_10000_declarations = {
  .name = "Kept, 10,000 declarations",
  KEPT_USUAL,
  .create = create_10000,
  .set_together = usual_set_together,
};
