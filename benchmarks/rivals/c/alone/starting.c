/* starting FOLDER [--quick] [--only TEXT]: the wall time of a small program, from before its exec until its first value
 * arrives through a pipe, and until it has exited. */
#include "alone.h"

#include "../options.h"
#include "../clock.h"
#include "../folders.h"
#include "../report.h"

#include <stdbool.h>
#include <stdlib.h>

#define KEYS 1000
#define MAX_ROUNDS 201

static double printed[CONTENDERS][MAX_ROUNDS], exited[CONTENDERS][MAX_ROUNDS];

static void play(int at, const char *folder, size_t round) {
  uint64_t began = clock_ns();
  alone started = alone_start(&contenders[at], "first", folder, KEYS);
  alone_await(&started);
  printed[at][round] = (double)(clock_ns() - began);
  alone_end(&started);
  exited[at][round] = (double)(clock_ns() - began);
}

static void measure(const char *folder, size_t rounds) {
  char *folders[CONTENDERS];
  for (int at = 0; at < CONTENDERS; at++) {
    folders[at] = folder_make(folder, contenders[at].program);
    alone_run(&contenders[at], "fill", folders[at], KEYS);
    play(at, folders[at], 0); /* once before measuring: loads the libraries into the page cache */
  }
  for (size_t round = 0; round < rounds; round++) {
    for (int at = 0; at < CONTENDERS; at++) play(at, folders[at], round);
  }
  for (int at = 0; at < CONTENDERS; at++) {
    folder_remove(folders[at]);
    free(folders[at]);
  }
}

static void report(const char *row, double (*figures)[MAX_ROUNDS], size_t rounds) {
  report_begin("Starting a program", row, "ns", (const char *[]){ NULL });
  for (int at = 0; at < CONTENDERS; at++) {
    report_measured(contenders[at].name, contenders[at].role, figures[at], rounds);
  }
  report_end();
}

int main(int count, char **arguments) {
  static const char *const until_printed = "a C program, from exec to its first value, printed";
  static const char *const until_exited = "a C program, from exec to its exit, one value read";
  options options = parse_options(count, arguments);
  bool first = wants_row(options, until_printed), whole = wants_row(options, until_exited);
  if (!first && !whole) return 0;
  alone_enter_session(options.folder, arguments);
  size_t rounds = options.quick ? 41 : MAX_ROUNDS;
  measure(options.folder, rounds);
  if (first) report(until_printed, printed, rounds);
  if (whole) report(until_exited, exited, rounds);
  return 0;
}
