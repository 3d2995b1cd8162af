/* copies FOLDER [--quick] [--only TEXT]: the time to copy, export, import, migrate and restore a store with many keys,
 * and how long a concurrent writer has to wait. In each round the store of each engine is filled, goes through all
 * operations, and is restored. */
#include "copier.h"
#include "background_writer.h"

#include "../options.h"
#include "../clock.h"
#include "../fatal.h"
#include "../filling.h"
#include "../folders.h"
#include "../report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECTION "Copies, C"
#define KEYS 100000
#define COPIERS 3
#define FULL_ROUNDS 3
#define QUICK_ROUNDS 1

static const contents filled = { .keys = KEYS, .length = 20 };
static const copier *const copiers[COPIERS] = { &kept_copier, &sqlite_copier, &lmdb_copier };

static const char *const alone[ACTS] = {
  "snapshot of 100,000 keys",
  "export of 100,000 keys",
  "import of 100,000 keys",
  "backup of 100,000 keys",
  "migration that sets 100,000 keys",
  "restore of 100,000 keys, each differs",
};
/* Each of these has to change every key, which a migration has changed before. */
static const bool changes_all[ACTS] = { [IMPORT] = true, [REPLACING_IMPORT] = true, [RESTORE] = true };
static const char *const beside_writer[ACTS] = {
  [SNAPSHOT] = "longest wait of a writer during a snapshot",
  [EXPORT] = "longest wait of a writer during an export",
  [BACKUP] = "longest wait of a writer during a backup",
  [MIGRATION] = "longest wait of a writer during a migration",
  [IMPORT] = "longest wait of a writer during an import",
  [REPLACING_IMPORT] = "longest wait of a writer during an import that replaces",
  [RESTORE] = "longest wait of a writer during a restore",
};
static const char *const beside_durable_writer[ACTS] = {
  [MIGRATION] = "longest wait of a durable writer during a migration",
  [IMPORT] = "longest wait of a durable writer during an import",
  [REPLACING_IMPORT] = "longest wait of a durable writer during an import that replaces",
  [RESTORE] = "longest wait of a durable writer during a restore",
};

/* Of each kind of writer, the second one durable. */
#define WRITERS 2
static const char *const *const rows[WRITERS] = { beside_writer, beside_durable_writer };

static double took[ACTS][COPIERS][FULL_ROUNDS], waited[WRITERS][ACTS][COPIERS][FULL_ROUNDS];
static double waited_anyway[WRITERS][FULL_ROUNDS]; /* the waiting time of Kept's writer without another operation */

void sync_file(const char *path) {
  int file = open(path, O_RDONLY);
  if (file < 0 || fsync(file) != 0) die("cannot sync %s: %s", path, strerror(errno));
  close(file);
}

/* ------------------------------------------------------------------------------------------------------------------
 * A life
 * --------------------------------------------------------------------------------------------------------------- */

static life begin(const engine *engine, const char *folder) {
  life life = { .folder = folder, .walk = walk_begin(keys_of(KEYS)->sorted, KEYS, 0) };
  life.walk.steps = KEYS;
  life.store = engine->open(folder, false);
  life.session = engine->join(life.store);
  return life;
}

static void end(const engine *engine, life *life) {
  engine->leave(life->session);
  engine->close(life->store);
  walk_end(&life->walk);
}

static double act_once(const copier *copier, act act, life *life, const char *path) {
  if (act == EXPORT || act == BACKUP || act == MIGRATION) folder_remove(path);
  uint64_t began = clock_ns();
  copier->acts[act](life, path);
  return (double)(clock_ns() - began);
}

/* Checks that the keys have their texts. */
static void prove(const engine *engine, life *life) {
  walk walk = walk_begin(keys_of(KEYS)->shuffled, KEYS, filled.length);
  walk.steps = KEYS;
  engine->get(life->session, &walk);
  walk_end(&walk);
}

static double import(const copier *copier, const char *parent, const char *path) {
  char *folder = folder_make(parent, "imported");
  copier->engine->create(folder);
  life life = begin(copier->engine, folder);
  double ns = act_once(copier, IMPORT, &life, path);
  prove(copier->engine, &life);
  end(copier->engine, &life);
  folder_remove(folder);
  free(folder);
  return ns;
}

static double wait_during(const copier *copier, act act, life *life, char *const *paths, background_writer *writer) {
  if (changes_all[act]) act_once(copier, MIGRATION, life, paths[MIGRATION]);
  background_writer_go(writer);
  act_once(copier, act, life, paths[act]);
  return background_writer_rest(writer);
}

static double wait_during_nothing(background_writer *writer) {
  background_writer_go(writer);
  nanosleep(&(struct timespec){ 0, 200000000 }, NULL);
  return background_writer_rest(writer);
}

static void play(int at, const char *parent, size_t round) {
  const copier *copier = copiers[at];
  char *folder = folder_make(parent, "store"), *paths[ACTS];
  paths[EXPORT] = paths[IMPORT] = paths[REPLACING_IMPORT] = folder_path(parent, "export.json");
  paths[SNAPSHOT] = paths[BACKUP] = paths[RESTORE] = folder_path(parent, "copy");
  paths[MIGRATION] = folder_path(parent, "copy-before");
  copier->engine->close(open_filled(copier->engine, folder, false, filled));
  background_writer *writers[WRITERS];
  for (int kind = 0; kind < WRITERS; kind++) writers[kind] = background_writer_start(copier->engine, folder, kind);
  life life = begin(copier->engine, folder);
  for (act act = 0; act < ACTS; act++) {
    if (!copier->acts[act]) continue;
    if (act == IMPORT) took[act][at][round] = import(copier, parent, paths[act]);
    else if (alone[act]) took[act][at][round] = act_once(copier, act, &life, paths[act]);
    for (int kind = 0; kind < WRITERS; kind++) {
      if (rows[kind][act]) waited[kind][act][at][round] = wait_during(copier, act, &life, paths, writers[kind]);
    }
    if (act == RESTORE) prove(copier->engine, &life);
  }
  for (int kind = 0; kind < WRITERS; kind++) {
    if (copier == &kept_copier) waited_anyway[kind][round] = wait_during_nothing(writers[kind]);
  }
  end(copier->engine, &life);
  for (int kind = 0; kind < WRITERS; kind++) background_writer_end(writers[kind]);
  free(paths[EXPORT]);
  free(paths[BACKUP]);
  free(paths[MIGRATION]);
  free(folder);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The rows
 * --------------------------------------------------------------------------------------------------------------- */

static void report(const char *row, double (*figures)[FULL_ROUNDS], size_t rounds, const double *base) {
  report_begin(SECTION, row, "ns", (const char *[]){ NULL });
  for (int at = 0; at < COPIERS; at++) {
    if (figures[at][0] > 0) report_measured(copiers[at]->engine->name, "candidate", figures[at], rounds);
  }
  if (base) report_measured("with nothing going on", "base", base, rounds);
  report_end();
}

static bool is_wanted(options options, const char *row) { return row && strstr(row, options.only); }

int main(int count, char **arguments) {
  options options = parse_options(count, arguments);
  size_t rounds = options.quick ? QUICK_ROUNDS : FULL_ROUNDS;
  bool is_any = false;
  for (act act = 0; act < ACTS; act++) {
    is_any |= is_wanted(options, alone[act]);
    for (int kind = 0; kind < WRITERS; kind++) is_any |= is_wanted(options, rows[kind][act]);
  }
  for (size_t round = 0; is_any && round < rounds; round++) {
    for (int at = 0; at < COPIERS; at++) {
      char *parent = folder_make(options.folder, "life");
      play(at, parent, round);
      folder_remove(parent);
      free(parent);
    }
  }
  for (act act = 0; act < ACTS; act++) {
    if (is_wanted(options, alone[act])) report(alone[act], took[act], rounds, NULL);
  }
  for (int kind = 0; kind < WRITERS; kind++) {
    for (act act = 0; act < ACTS; act++) {
      if (is_wanted(options, rows[kind][act])) report(rows[kind][act], waited[kind][act], rounds, waited_anyway[kind]);
    }
  }
  return 0;
}
