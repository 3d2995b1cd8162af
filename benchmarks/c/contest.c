/* Prepares the contestants of a row, lets them play, and reports what it came to. */
#include "contest.h"

#include "folders.h"
#include "report.h"

#include <stdlib.h>

/* An engine that puts something off begins each turn with what that cost: many sets share it. */
static size_t step_of(const row *row, const contestant *contestant) {
  if (row->task != &operating) return 1;
  bool puts_off = contestant->engine->settle && row->operation == SET && !row->durable;
  return row->operation == SET_TOGETHER || puts_off ? SETS_TOGETHER : (size_t)lanes_in(row, contestant);
}

static void print_row(const row *row, const player *players, size_t count, size_t rounds) {
  static const char *const roles[] = {[CONTESTANT] = "contestant", [FLOOR] = "floor", [BASE] = "base"};
  report_begin(row->section, row->name, "ns", row->goals);
  for (size_t at = 0; at < count; at++) {
    const contestant *contestant = &row->contestants[at];
    report_measured(label_of(contestant), roles[contestant->role], players[at].ns, rounds);
  }
  report_end();
}

void contest_run(const row *row, plan plan, const char *folder) {
  player players[MAX_CONTESTANTS] = {0};
  char *folders[MAX_CONTESTANTS];
  size_t count = 0;
  for (; count < MAX_CONTESTANTS && row->contestants[count].engine; count++) {
    const contestant *contestant = &row->contestants[count];
    char name[] = {'A' + (char)count, 0};
    folders[count] = folder_make(folder, name);
    void *state = row->task->prepare(row, contestant, folders[count]);
    players[count] = (player){.turn = row->task->turn, .state = state, .step = step_of(row, contestant)};
  }
  rounds_play(players, count, plan);
  print_row(row, players, count, plan.rounds);
  for (size_t at = 0; at < count; at++) {
    row->task->finish(players[at].state);
    folder_remove(folders[at]);
    free(folders[at]);
  }
}
