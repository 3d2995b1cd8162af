/* backends FOLDER [--quick] [--only TEXT]: a program of GSettings (program.c) on Kept and on dconf. A process for each
 * backend takes turns; both have the same session. Prints a line of JSON for each row. */
#include "program.h"

#include "../alone/alone.h"
#include "../clock.h"
#include "../fatal.h"
#include "../options.h"
#include "../report.h"
#include "../rounds.h"
#include "../session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTION "GSettings on Kept and on dconf, C"
#define MILLISECOND 1000000
#define OCCASIONAL_SETS 40 /* in a turn */

/* ------------------------------------------------------------------------------------------------------------------
 * The backends
 * --------------------------------------------------------------------------------------------------------------- */

/* Every program loads all modules that GIO has for GSettings: the last one is what installing Kept's costs others. */
#define BACKENDS 3
#define RIVALS 2 /* without the last */
static const struct {
  contender contender;
  const char *backend;
  bool has_module; /* GIO finds Kept's module */
} backends[BACKENDS] = {
  { { "Kept", "on-gsettings", "candidate", NULL }, "kept", true },
  { { "dconf", "on-gsettings", "candidate", NULL }, "dconf", false },
  { { "dconf, Kept installed", "on-gsettings", "base", NULL }, "dconf", true },
};

static alone start(int at, const char *verb, const char *folder) {
  const char *modules = getenv("KEPT_GIO_MODULES");
  if (!modules) die("KEPT_GIO_MODULES must be the folder of Kept's module; scripts/bench sets it");
  setenv("GSETTINGS_BACKEND", backends[at].backend, 1);
  if (backends[at].has_module) setenv("GIO_EXTRA_MODULES", modules, 1);
  else unsetenv("GIO_EXTRA_MODULES");
  return alone_start(&backends[at].contender, verb, folder, PROGRAM_KEYS);
}

static figures answer_of(const alone *program) {
  figures figures;
  if (read(program->output, &figures, sizeof figures) != sizeof figures) die("a program of GSettings has ended");
  return figures;
}

static alone start_turns(int at, const char *verb, const char *folder) {
  alone started = start(at, verb, folder);
  answer_of(&started);
  return started;
}

static figures take_turn(const alone *program, size_t operations) {
  if (write(program->input, &operations, sizeof operations) != sizeof operations) die("a program has ended");
  return answer_of(program);
}

static void fill(const char *folder) {
  for (int at = 0; at < RIVALS; at++) {
    alone started = start_turns(at, FILL, folder);
    alone_end(&started);
  }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Operations one after the other
 * --------------------------------------------------------------------------------------------------------------- */

typedef enum pace { READING, WRITING } pace;

static const struct repeated {
  const char *name, *verb;
  pace pace;
  const char *goals[2];
} repeated[] = {
  { "GSettings: get a boolean", GET_BOOLEAN, READING, {} },
  { "GSettings: get an integer", GET_INTEGER, READING, {} },
  { "GSettings: get a 20-byte string", GET_TEXT, READING, {} },
  { "GSettings: set an integer, one after the other", SET_INTEGER, WRITING, { ">= 3 x dconf" } },
  { "GSettings: set a 20-byte string, one after the other", SET_TEXT, WRITING, { ">= 3 x dconf" } },
  { "GSettings: set an integer, durable", SET_DURABLE, WRITING, { ">= 3 x dconf" } },
  { "GSettings: delay, set 250 keys, apply", APPLY, WRITING, {} },
  { "GSettings: delay, set 250 keys, apply, durable", APPLY_DURABLE, WRITING, {} },
};

static uint64_t turn(void *program, size_t operations) { return (uint64_t)take_turn(program, operations).first; }

static void measure_repeated(const struct repeated *row, options options) {
  static const plan full[] = { { 101, 4 * MILLISECOND }, { 41, 60 * MILLISECOND } };
  static const plan quick[] = { { 31, 4 * MILLISECOND }, { 11, 60 * MILLISECOND } };
  plan plan = (options.quick ? quick : full)[row->pace];
  alone programs[RIVALS];
  player players[RIVALS];
  for (int at = 0; at < RIVALS; at++) {
    programs[at] = start_turns(at, row->verb, options.folder);
    players[at] = (player){ .turn = turn, .state = &programs[at], .step = 1 };
  }
  rounds_play(players, RIVALS, plan);
  report_begin(SECTION, row->name, "ns", row->goals);
  for (int at = 0; at < RIVALS; at++) {
    report_measured(backends[at].contender.name, backends[at].contender.role, players[at].ns, plan.rounds);
  }
  report_end();
  for (int at = 0; at < RIVALS; at++) alone_end(&programs[at]);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Pairs of rows: two figures of each turn
 * --------------------------------------------------------------------------------------------------------------- */

/* The common parts of the pairs of a kind. */
typedef struct kind {
  const char *verb, *unit;
  size_t rounds, quick_rounds;
  int backends;
  figures (*play)(int at, const char *verb, const char *folder, alone *program);
  bool is_open; /* the same program for all turns */
} kind;

typedef struct pair {
  const char *names[2];
  const char *goals[2][2];
  const kind *kind;
  bool beside_others; /* a program on each backend waits at the same time, as in a session */
} pair;

static figures play_open(int at, const char *verb, const char *folder, alone *program) {
  (void)at, (void)verb, (void)folder;
  return take_turn(program, OCCASIONAL_SETS);
}

static figures play_whole(int at, const char *verb, const char *folder, alone *program) {
  *program = start(at, verb, folder);
  figures figures = answer_of(program);
  alone_end(program);
  return figures;
}

static figures play_start(int at, const char *verb, const char *folder, alone *program) {
  uint64_t began = clock_ns();
  *program = start(at, verb, folder);
  alone_await(program);
  double printed = (double)(clock_ns() - began);
  alone_end(program);
  return (figures){ printed, (double)(clock_ns() - began) };
}

static const kind setting = { SET_OCCASIONALLY, "ns", 40, 10, RIVALS, play_open, true };
static const kind notifying = { NOTIFY, "ns", 40, 10, RIVALS, play_open, true };
static const kind starting = { FIRST, "ns", 151, 41, BACKENDS, play_start, false };
static const kind remembering = { MEMORY, "bytes", 11, 3, BACKENDS, play_whole, false };

static const pair pairs[] = {
  { { "GSettings: set an integer, one in 3 ms, p50", "GSettings: set an integer, one in 3 ms, p99" },
    { { ">= 3 x dconf" } }, &setting, false },
  { { "GSettings: set to changed:: in another process, one in 3 ms, p50",
      "GSettings: set to changed:: in another process, one in 3 ms, p99" },
    { { ">= 20 x dconf" }, { ">= 20 x dconf" } }, &notifying, false },
  { { "GSettings: a C program, no other runs, from exec to its first value, printed",
      "GSettings: a C program, no other runs, from exec to its exit, one value read" },
    { { "<= 1 x dconf" }, { "<= 1 x dconf" } }, &starting, false },
  { { "GSettings: a C program, another runs, from exec to its first value, printed",
      "GSettings: a C program, another runs, from exec to its exit, one value read" },
    { { "<= 1 x dconf" }, { "<= 1 x dconf" } }, &starting, true },
  { { "GSettings: 250 keys read and observed, no other program runs, memory, its share (Pss)",
      "GSettings: 250 keys read and observed, no other program runs, memory, its own alone (USS)" },
    { { NULL } }, &remembering, false },
  { { "GSettings: 250 keys read and observed, another program runs, memory, its share (Pss)",
      "GSettings: 250 keys read and observed, another program runs, memory, its own alone (USS)" },
    { { NULL } }, &remembering, true },
};

static double measured[2][BACKENDS][MAX_ROUNDS];

static void play(const kind *kind, size_t round, const char *folder, alone *programs) {
  for (int at = 0; at < kind->backends; at++) {
    figures figures = kind->play(at, kind->verb, folder, &programs[at]);
    measured[0][at][round] = figures.first;
    measured[1][at][round] = figures.second;
  }
}

static void measure_pair(const pair *pair, bool is_asked[2], options options) {
  const kind *kind = pair->kind;
  alone programs[BACKENDS], others[RIVALS];
  if (!kind->is_open) fill(options.folder);
  for (int at = 0; pair->beside_others && at < RIVALS; at++) others[at] = start_turns(at, GET_TEXT, options.folder);
  for (int at = 0; kind->is_open && at < kind->backends; at++) {
    programs[at] = start_turns(at, kind->verb, options.folder);
  }
  size_t rounds = options.quick ? kind->quick_rounds : kind->rounds;
  play(kind, 0, options.folder, programs); /* once before measuring */
  for (size_t round = 0; round < rounds; round++) play(kind, round, options.folder, programs);
  for (int at = 0; kind->is_open && at < kind->backends; at++) alone_end(&programs[at]);
  for (int at = 0; pair->beside_others && at < RIVALS; at++) alone_end(&others[at]);
  for (int row = 0; row < 2; row++) {
    if (!is_asked[row]) continue;
    report_begin(SECTION, pair->names[row], kind->unit, pair->goals[row]);
    for (int at = 0; at < kind->backends; at++) {
      report_measured(backends[at].contender.name, backends[at].contender.role, measured[row][at], rounds);
    }
    report_end();
  }
}

/* ------------------------------------------------------------------------------------------------------------------
 * The program
 * --------------------------------------------------------------------------------------------------------------- */

static char *schema(void) {
  static const char *const types[] = { "b", "i", "s" }, *const defaults[] = { "false", "0", "''" };
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) die("no memory");
  fprintf(stream, "<schema id='" PROGRAM_SCHEMA "' path='" PROGRAM_PATH "'>");
  for (size_t at = 0; at < PROGRAM_KEYS; at++) {
    fprintf(
      stream, "<key name='" PROGRAM_KEY "' type='%s'><default>%s</default></key>", at, types[at % 3], defaults[at % 3]);
  }
  fprintf(stream, "</schema>");
  fclose(stream);
  return text;
}

int main(int count, char **arguments) {
  options options = parse_options(count, arguments);
  char *text = schema();
  enter_session(options.folder, arguments, text);
  free(text);
  for (size_t at = 0; at < sizeof repeated / sizeof *repeated; at++) {
    if (wants_row(options, repeated[at].name)) measure_repeated(&repeated[at], options);
  }
  for (size_t at = 0; at < sizeof pairs / sizeof *pairs; at++) {
    bool is_asked[2] = { wants_row(options, pairs[at].names[0]), wants_row(options, pairs[at].names[1]) };
    if (is_asked[0] || is_asked[1]) measure_pair(&pairs[at], is_asked, options);
  }
  return 0;
}
