/* bench FOLDER [--quick] [--only TEXT]: runs the rows of C, all or those whose name contains TEXT, and prints a line of
 * JSON for each. Stores are created in FOLDER. */
#include "options.h"
#include "comparison.h"
#include "gsettings.h"
#include "process.h"

#include <stdlib.h>
#include <string.h>

/* Reading, opening and loading take many short turns. Turns with many processes are longer, since these do not all
 * start at once. Writing takes long turns, so that each has its share of SQLite's deferred work: there is a checkpoint
 * only after hundreds of sets. */
typedef struct pace {
  plan reading, reading_apart, writing;
} pace;

#define MILLISECOND 1000000
static const pace full = { { 151, 2 * MILLISECOND }, { 41, 20 * MILLISECOND }, { 31, 60 * MILLISECOND } };
static const pace quick = { { 31, 2 * MILLISECOND }, { 9, 20 * MILLISECOND }, { 7, 60 * MILLISECOND } };

static plan plan_of(const row *row, pace pace) {
  if (row->seconds) return (plan){ pace.writing.rounds / 10 + 1, (uint64_t)row->seconds * 1000 * MILLISECOND };
  if (row->task == &declaring || (row->task == &operating && row->operation != GET)) return pace.writing;
  return row->processes ? pace.reading_apart : pace.reading;
}

int main(int count, char **arguments) {
  if (count >= 2 && strcmp(arguments[1], PROCESS_ARGUMENT) == 0) return process_main(count - 2, arguments + 2);
  options options = parse_options(count, arguments);
  enter_gsettings_session(options.folder, arguments);
  for (const row *const *list = lists; *list; list++) {
    for (const row *row = *list; row->name; row++) {
      if (wants_row(options, row->name))
        comparison_run(row, plan_of(row, options.quick ? quick : full), options.folder);
    }
  }
  return 0;
}
