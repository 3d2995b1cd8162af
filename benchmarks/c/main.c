/* bench FOLDER [--quick] [--only TEXT]: runs the rows of C, all or those whose name has TEXT in it, and prints a line
 * of JSON for each. Stores are made in FOLDER. */
#include "asked.h"
#include "contest.h"
#include "writer.h"

#include <stdlib.h>
#include <string.h>

/* Reading, opening and loading take many short turns. Writing takes long ones, so that each has its share of what
 * SQLite puts off: a checkpoint comes only after hundreds of sets. */
typedef struct pace {
  plan reading, writing;
} pace;

#define MILLISECOND 1000000
static const pace full = {.reading = {151, 2 * MILLISECOND}, .writing = {41, 100 * MILLISECOND}};
static const pace quick = {.reading = {31, 2 * MILLISECOND}, .writing = {9, 100 * MILLISECOND}};

static plan plan_of(const row *row, pace pace) {
  bool writing = row->task == &declaring || (row->task == &operating && row->operation >= SET);
  return writing ? pace.writing : pace.reading;
}

int main(int count, char **arguments) {
  if (count == 5 && strcmp(arguments[1], WRITER_ARGUMENT) == 0) {
    return writer_main(arguments[2], arguments[3], strtoul(arguments[4], NULL, 10));
  }
  asked asked = asked_of(count, arguments);
  for (size_t at = 0; at < row_count; at++) {
    if (!asks_for(asked, rows[at].name)) continue;
    contest_run(&rows[at], plan_of(&rows[at], asked.quick ? quick : full), asked.folder);
  }
  return 0;
}
