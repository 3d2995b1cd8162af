/* sizes FOLDER [--quick] [--only TEXT]: the memory of a process that has read every key, and the disk space of its
 * store. The process has one engine and nothing else; its memory is read from /proc while it waits. The memory of the
 * dconf service is not counted, although GSettings cannot write without it. */
#include "alone.h"

#include "../options.h"
#include "../fatal.h"
#include "../folders.h"
#include "../report.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROUNDS 3

enum { SHARE_OF_MEMORY, OWN_MEMORY, DISK_FILLED, DISK_SET, DISK_CLOSED, MEASURES };

static const char *const measures[MEASURES] = {
  [SHARE_OF_MEMORY] = "memory of a process that read each, its share (Pss)",
  [OWN_MEMORY] = "memory of a process that read each, its own alone (USS)",
  [DISK_FILLED] = "disk, filled and closed",
  [DISK_SET] = "disk, 10,000 sets later, still open",
  [DISK_CLOSED] = "disk, 10,000 sets later, closed",
};

static double figures[MEASURES][CONTENDERS][MAX_ROUNDS];

/* ------------------------------------------------------------------------------------------------------------------
 * The measurements
 * --------------------------------------------------------------------------------------------------------------- */

/* The sum of the lines of smaps_rollup that begin with a text, in bytes. */
static double memory_of(pid_t process, const char *beginning) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/%d/smaps_rollup", process);
  FILE *file = fopen(path, "r");
  if (!file) die("cannot read %s", path);
  double sum = 0;
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, beginning, strlen(beginning)) == 0) sum += strtod(strchr(line, ':') + 1, NULL) * 1024;
  }
  fclose(file);
  return sum;
}

static double allocated;

static int add_one(const char *path, const struct stat *status, int flag, struct FTW *place) {
  (void)place;
  if (flag == FTW_NS) die("cannot find the size of %s", path);
  allocated += (double)status->st_blocks * 512;
  return 0;
}

/* The blocks of a folder and all its contents. */
static double disk_of(const char *folder) {
  allocated = 0;
  if (nftw(folder, add_one, 16, FTW_PHYS) != 0) die("cannot walk through %s", folder);
  return allocated;
}

/* ------------------------------------------------------------------------------------------------------------------
 * A round: a store from its filling to its end
 * --------------------------------------------------------------------------------------------------------------- */

static void measure_memory(int at, const char *folder, size_t keys, int round) {
  alone reader = alone_start(&contenders[at], "read", folder, keys);
  alone_await(&reader);
  figures[SHARE_OF_MEMORY][at][round] = memory_of(reader.process, "Pss:");
  figures[OWN_MEMORY][at][round] = memory_of(reader.process, "Private_");
  alone_end(&reader);
}

static void measure_sets(int at, const char *folder, const char *disk, size_t keys, int round) {
  alone writer = alone_start(&contenders[at], "set", folder, keys);
  alone_await(&writer);
  figures[DISK_SET][at][round] = disk_of(disk);
  alone_end(&writer);
  figures[DISK_CLOSED][at][round] = disk_of(disk);
}

static void play(int at, const char *parent, size_t keys, int round) {
  bool has_store = strcmp(contenders[at].role, "base") != 0;
  char *folder = folder_make(parent, contenders[at].program);
  char *disk = folder_path(parent, contenders[at].disk ? contenders[at].disk : contenders[at].program);
  if (has_store) {
    alone_run(&contenders[at], "fill", folder, keys);
    figures[DISK_FILLED][at][round] = disk_of(disk);
  }
  measure_memory(at, folder, keys, round);
  if (has_store) measure_sets(at, folder, disk, keys, round);
  folder_remove(folder);
  free(folder);
  free(disk);
}

static void report(int measure, const char *row, int rounds) {
  report_begin("Memory and disk", row, "bytes", (const char *[]){ NULL });
  for (int at = 0; at < CONTENDERS; at++) {
    if (figures[measure][at][0] == 0) continue; /* an engine that opens nothing uses no disk space */
    report_measured(contenders[at].name, contenders[at].role, figures[measure][at], (size_t)rounds);
  }
  report_end();
}

static void measure_with(size_t keys, const char *keys_in_words, int rounds, options options) {
  char rows[MEASURES][128];
  bool is_asked[MEASURES], is_any = false;
  for (int measure = 0; measure < MEASURES; measure++) {
    snprintf(rows[measure], sizeof rows[measure], "%s keys, %s", keys_in_words, measures[measure]);
    is_any |= is_asked[measure] = wants_row(options, rows[measure]);
  }
  for (int round = 0; is_any && round < rounds; round++) {
    for (int at = 0; at < CONTENDERS; at++) play(at, options.folder, keys, round);
  }
  for (int measure = 0; measure < MEASURES; measure++) {
    if (is_asked[measure]) report(measure, rows[measure], rounds);
  }
}

int main(int count, char **arguments) {
  options options = parse_options(count, arguments);
  alone_enter_session(options.folder, arguments);
  measure_with(1000, "1,000", options.quick ? 1 : MAX_ROUNDS, options);
  measure_with(100000, "100,000", 1, options);
  return 0;
}
