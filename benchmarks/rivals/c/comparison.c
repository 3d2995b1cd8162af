/* Prepares the candidates of a row, runs their turns, and reports the result. */
#include "comparison.h"

#include "folders.h"
#include "report.h"

#include <stdlib.h>

/* An engine that defers work does so once at the beginning of a turn, so that many sets share its cost. */
static size_t step_of(const row *row, const candidate *candidate) {
  if (row->task != &operating) return 1;
  bool puts_off = candidate->engine->settle && row->operation == SET && !row->durable;
  return row->operation == SET_TOGETHER || puts_off ? SETS_TOGETHER : (size_t)workers_in(row, candidate);
}

static void print_row(const row *row, const player *players, size_t count, size_t rounds) {
  static const char *const roles[] = { [CANDIDATE] = "candidate", [FLOOR] = "floor", [BASE] = "base" };
  report_begin(row->section, row->name, "ns", row->goals);
  for (size_t at = 0; at < count; at++) {
    const candidate *candidate = &row->candidates[at];
    report_measured(label_of(candidate), roles[candidate->role], players[at].ns, rounds);
  }
  report_end();
}

void comparison_run(const row *row, plan plan, const char *folder) {
  player players[MAX_CANDIDATES] = { 0 };
  char *folders[MAX_CANDIDATES];
  size_t count = 0;
  for (; count < MAX_CANDIDATES && row->candidates[count].engine; count++) {
    const candidate *candidate = &row->candidates[count];
    char name[] = { 'A' + (char)count, 0 };
    folders[count] = folder_make(folder, name);
    void *state = row->task->prepare(row, candidate, folders[count]);
    players[count] = (player){ .turn = row->task->turn, .state = state, .step = step_of(row, candidate) };
  }
  rounds_play(players, count, plan);
  print_row(row, players, count, plan.rounds);
  for (size_t at = 0; at < count; at++) {
    row->task->finish(players[at].state);
    folder_remove(folders[at]);
    free(folders[at]);
  }
}
