/* on-gsettings VERB FOLDER KEYS: what program.h lists. The last two arguments are those of alone.h, and are ignored:
 * the environment says where the settings are. */
#include "program.h"

#include "notifying.h"

#include "../backend.h"
#include "../clock.h"
#include "../fatal.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct program {
  GSettings *settings;
  char names[PROGRAM_KEYS][32];
  size_t at; /* the next key */
  int stamp; /* the last value written */
  listener *listener;
} program;

/* ------------------------------------------------------------------------------------------------------------------
 * Keys: booleans, integers and texts in turn
 * --------------------------------------------------------------------------------------------------------------- */

enum { BOOLEAN, INTEGER, TEXT, TYPES };

/* The next key of a type. */
static const char *next_name(program *program, int type) {
  program->at += TYPES;
  if (program->at >= PROGRAM_KEYS) program->at = 0;
  size_t number = program->at - program->at % TYPES + (size_t)type;
  return program->names[number < PROGRAM_KEYS ? number : (size_t)type];
}

static void get_boolean(program *program) {
  const char *name = next_name(program, BOOLEAN);
  if (!g_settings_get_boolean(program->settings, name)) die("GSettings lacks %s", name);
}

static void get_integer(program *program) {
  const char *name = next_name(program, INTEGER);
  if (g_settings_get_int(program->settings, name) == 0) die("GSettings lacks %s", name);
}

static void get_text(program *program) {
  const char *name = next_name(program, TEXT);
  char *text = g_settings_get_string(program->settings, name);
  if (strlen(text) != TEXT_LENGTH) die("GSettings has \"%s\" for %s", text, name);
  g_free(text);
}

static void expect_set(gboolean done, const char *name) {
  if (!done) die("GSettings cannot set %s", name);
}

static void write_integer(program *program, const char *name) {
  expect_set(g_settings_set_int(program->settings, name, ++program->stamp), name);
}

static void write_text(program *program, const char *name) {
  char text[TEXT_LENGTH + 1];
  snprintf(text, sizeof text, "%08x............", (unsigned)++program->stamp);
  expect_set(g_settings_set_string(program->settings, name, text), name);
}

static void set_integer(program *program) { write_integer(program, next_name(program, INTEGER)); }

static void set_text(program *program) { write_text(program, next_name(program, TEXT)); }

static void set_durable(program *program) {
  set_integer(program);
  g_settings_sync();
}

/* All keys, each with a new value, in an object that delays. */
static void apply_with(program *program, gboolean boolean) {
  for (size_t at = 0; at < PROGRAM_KEYS; at++) {
    const char *name = program->names[at];
    if (at % TYPES == BOOLEAN) expect_set(g_settings_set_boolean(program->settings, name, boolean), name);
    else if (at % TYPES == INTEGER) write_integer(program, name);
    else write_text(program, name);
  }
  g_settings_apply(program->settings);
}

static void apply(program *program) { apply_with(program, ++program->stamp & 1); }

static void apply_durable(program *program) {
  apply(program);
  g_settings_sync();
}

/* ------------------------------------------------------------------------------------------------------------------
 * Turns
 * --------------------------------------------------------------------------------------------------------------- */

static void rest(void) {
  g_settings_sync();
  while (g_main_context_iteration(NULL, FALSE)) {}
}

static figures repeat(program *program, void (*operation)(struct program *), size_t operations) {
  uint64_t began = clock_ns();
  for (size_t step = 0; step < operations; step++) operation(program);
  return (figures){ .first = (double)(clock_ns() - began) };
}

static const struct {
  const char *name;
  void (*operation)(program *);
} repeated[] = {
  { GET_BOOLEAN, get_boolean },
  { GET_INTEGER, get_integer },
  { GET_TEXT, get_text },
  { SET_INTEGER, set_integer },
  { SET_TEXT, set_text },
  { SET_DURABLE, set_durable },
  { APPLY, apply },
  { APPLY_DURABLE, apply_durable },
};

static figures turn(program *program, const char *verb, size_t operations) {
  for (size_t at = 0; at < sizeof repeated / sizeof *repeated; at++) {
    if (strcmp(verb, repeated[at].name) == 0) return repeat(program, repeated[at].operation, operations);
  }
  if (strcmp(verb, SET_OCCASIONALLY) != 0 && strcmp(verb, NOTIFY) != 0) die("there is no verb %s", verb);
  return set_occasionally(program->settings, program->names[INTEGER], operations, program->listener);
}

static void answer(figures figures) {
  if (write(STDOUT_FILENO, &figures, sizeof figures) != sizeof figures) die("cannot write the result");
}

/* Sets all keys. Only applying needs an object that delays; a delay cannot be undone. */
static void open_program(program *program, bool delays) {
  expect_backend();
  for (size_t at = 0; at < PROGRAM_KEYS; at++) {
    snprintf(program->names[at], sizeof program->names[at], PROGRAM_KEY, at);
  }
  program->settings = g_settings_new(PROGRAM_SCHEMA);
  program->stamp = (int)(clock_ns() / 1000000 & 0x3fffffff); /* not what an earlier run has stored */
  g_settings_delay(program->settings);
  apply_with(program, TRUE);
  rest();
  if (delays) return;
  g_object_unref(program->settings);
  program->settings = g_settings_new(PROGRAM_SCHEMA);
}

static void take_turns(program *program, const char *verb) {
  size_t operations;
  while (read(STDIN_FILENO, &operations, sizeof operations) == sizeof operations) {
    answer(turn(program, verb, operations));
    rest();
  }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Whole programs
 * --------------------------------------------------------------------------------------------------------------- */

static void print_first(void) {
  GSettings *settings = g_settings_new(PROGRAM_SCHEMA);
  char *text = g_settings_get_string(settings, "setting-002");
  expect_backend();
  if (strlen(text) != TEXT_LENGTH) die("GSettings has \"%s\"", text);
  puts(text);
  fflush(stdout);
  g_free(text);
  g_object_unref(settings);
}

/* The sum of the lines of smaps_rollup that begin with a text, in bytes. Reading it allocates nothing. */
static double memory(const char *rollup, const char *beginning) {
  double sum = 0;
  for (const char *line = rollup; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
    if (strncmp(line, beginning, strlen(beginning)) == 0) sum += strtod(strchr(line, ':') + 1, NULL) * 1024;
  }
  return sum;
}

static figures memory_now(void) {
  static char rollup[4096];
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  size_t length = file ? fread(rollup, 1, sizeof rollup - 1, file) : 0;
  if (length == 0) die("cannot read the memory of this process");
  rollup[length] = 0;
  fclose(file);
  return (figures){ memory(rollup, "Pss:"), memory(rollup, "Private_") };
}

static void ignore(GSettings *settings, const char *key, gpointer context) { (void)settings, (void)key, (void)context; }

static gboolean end(gpointer loop) {
  g_main_loop_quit(loop);
  return G_SOURCE_REMOVE;
}

/* Measures a program while it waits for changes; dconf subscribes on a thread of its own. */
static figures memory_growth(void) {
  memory_now(); /* what the reading itself needs */
  figures before = memory_now();
  GSettings *settings = g_settings_new(PROGRAM_SCHEMA);
  g_signal_connect(settings, "changed", G_CALLBACK(ignore), NULL);
  for (size_t at = 0; at < PROGRAM_KEYS; at++) {
    char name[32];
    snprintf(name, sizeof name, PROGRAM_KEY, at);
    g_variant_unref(g_settings_get_value(settings, name));
  }
  GMainLoop *loop = g_main_loop_new(NULL, FALSE);
  g_timeout_add(200, end, loop);
  g_main_loop_run(loop);
  expect_backend();
  figures after = memory_now();
  return (figures){ after.first - before.first, after.second - before.second };
}

int main(int count, char **arguments) {
  if (count != 4) die("usage: %s VERB FOLDER KEYS", arguments[0]);
  const char *verb = arguments[1];
  if (strcmp(verb, FIRST) == 0) return print_first(), 0;
  if (strcmp(verb, MEMORY) == 0) return answer(memory_growth()), 0;
  static program program;
  if (strcmp(verb, NOTIFY) == 0) program.listener = listener_fork();
  open_program(&program, g_str_has_prefix(verb, APPLY));
  if (program.listener) listener_await(program.listener, program.settings, program.names[INTEGER]);
  answer((figures){ 0 }); /* ready */
  if (strcmp(verb, FILL) != 0) take_turns(&program, verb);
  return 0;
}
