/* bench FOLDER [--quick] [--only TEXT]: runs the rows of C, all or those whose name has TEXT in it, and prints a line
 * of JSON for each. Stores are made in FOLDER. */
#include "complaint.h"
#include "contest.h"
#include "gsettings.h"
#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reading, opening and loading take many short turns; those of many processes are longer, for these do not start all
 * at once. Writing takes long ones, so that each has its share of what SQLite puts off: a checkpoint comes only after
 * hundreds of sets. */
typedef struct pace {
  plan reading, reading_apart, writing;
} pace;

#define MILLISECOND 1000000
static const pace full = {{151, 2 * MILLISECOND}, {41, 20 * MILLISECOND}, {31, 60 * MILLISECOND}};
static const pace quick = {{31, 2 * MILLISECOND}, {9, 20 * MILLISECOND}, {7, 60 * MILLISECOND}};

static plan plan_of(const row *row, pace pace) {
  if (row->task == &declaring || (row->task == &operating && row->operation != GET)) return pace.writing;
  return row->processes ? pace.reading_apart : pace.reading;
}

static void run(const row *row, pace pace, const char *only, const char *folder) {
  if (!strstr(row->name, only)) return;
  fprintf(stderr, "bench: %s\n", row->name);
  contest_run(row, plan_of(row, pace), folder);
}

int main(int count, char **arguments) {
  if (count >= 2 && strcmp(arguments[1], PROCESS_ARGUMENT) == 0) return process_main(count - 2, arguments + 2);
  if (count < 2) complain("usage: bench FOLDER [--quick] [--only TEXT]");
  pace pace = full;
  const char *only = "";
  for (int at = 2; at < count; at++) {
    if (strcmp(arguments[at], "--quick") == 0) pace = quick;
    else if (strcmp(arguments[at], "--only") == 0 && at + 1 < count) only = arguments[++at];
    else complain("there is no option %s", arguments[at]);
  }
  enter_gsettings_session(arguments[1], arguments);
  for (const row *const *list = lists; *list; list++) {
    for (const row *row = *list; row->name; row++) run(row, pace, only, arguments[1]);
  }
  return 0;
}
