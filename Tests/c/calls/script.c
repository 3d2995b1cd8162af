/* The interpreter: the initial state of a script, the step that each byte selects, and the invariants at its end. */
#define _XOPEN_SOURCE 700
#include "calls.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every relative path of a script leads into this folder, and no script has a path out of it. */
static char folder[4096];

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk) {
  (void)status, (void)type;
  return walk->level == 0 ? 0 : remove(path);
}

static void remove_files(void) { nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

void begin_scripts(void) {
  const char *base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/kept-calls-XXXXXX", base && *base ? base : "/tmp");
  if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
    perror(folder);
    exit(2);
  }
  setenv("XDG_CONFIG_HOME", folder, 1);
  setenv("CALLS_A", "7", 1);
  setenv("CALLS_P_A", "99999999999999999999", 1);
  setenv("CALLS_TOKEN", "\xFF", 1);
}

void end_scripts(void) {
  remove_files();
  if (chdir("/") == 0) rmdir(folder);
}

static void write_file(const char *name, const char *text) {
  FILE *file = fopen(name, "w");
  must(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "the test can write its files");
}

static void step_once(script *script) {
  uint8_t byte = next_byte(script);
  if (byte < 120) value_steps[byte % value_count](script);
  else if (byte < 200) store_steps[byte % store_count](script);
  else notice_steps[byte % notice_count](script);
}

/** Ends all handles, in an order that depends on the length of the script. */
static void end(script *script) {
  for (int i = 0; i < most_subscriptions; i++) NOTE(kept_unobserve), kept_unobserve(script->subscriptions[i]);
  for (int i = 0; i < most_stores; i++) {
    size_t place = script->count % 2 == 0 ? (size_t)i : (size_t)(most_stores - 1 - i);
    NOTE(kept_close), kept_close(script->stores[place]);
  }
  for (int i = 0; i < most_notices; i++) NOTE(kept_notice_free), kept_notice_free(script->notices[i]);
  long released = __atomic_load_n(&script->released, __ATOMIC_RELAXED);
  must(released == script->begun, "every subscription that ended is released");
}

void run_script(const uint8_t *bytes, size_t count) {
  /* Threads of the library use it while subscriptions exist. */
  static script script;
  memset(&script, 0, sizeof script);
  script.bytes = bytes;
  script.count = count;
  write_file("file", "{\"a\":5,\"b\":{\"$numberDouble\":\"NaN\"}}");
  write_file("schema", "{\"type\":\"object\",\"properties\":{\"p.b\":{\"type\":\"integer\",\"default\":1}}}");
  write_file("managed.json", "{\"values\":{\"a\":1},\"locked\":[\"b\"],\"lockedPrefixes\":[\"locked.\"]}");
  chmod("managed.json", 0644);
  /* A store that works, so that every call can succeed. */
  static const char values[] =
    "{\"kept\":1,\"prefix\":\"\",\"values\":{\"a\":1,\"p.a\":2.5,\"flag\":true,\"text\":\"text\","
    "\"bytes\":{\"$binary\":{\"base64\":\"AAEC\",\"subType\":\"00\"}},\"date\":{\"$date\":\"2026-11-22T00:00:00Z\"}}}";
  kept_store *store = NULL;
  if (count > 0 && kept_open(bytes[0] % 4 == 0 ? "./store" : "memory:", NULL, &store, NULL) >= 0) {
    must(kept_import(store, values, sizeof values - 1, NULL, NULL, NULL) == KEPT_OK, "a store can be filled");
    script.stores[script.next_store++] = store;
  }
  while (script.place < script.count) step_once(&script);
  end(&script);
  remove_files();
}
