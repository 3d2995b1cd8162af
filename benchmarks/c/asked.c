/* Reads the command line of a measuring program. */
#include "asked.h"

#include "complaint.h"

#include <stdio.h>
#include <string.h>

asked asked_of(int count, char **arguments) {
  if (count < 2) complain("usage: %s FOLDER [--quick] [--only TEXT]", arguments[0]);
  asked asked = {.folder = arguments[1], .only = ""};
  for (int at = 2; at < count; at++) {
    if (strcmp(arguments[at], "--quick") == 0) asked.quick = true;
    else if (strcmp(arguments[at], "--only") == 0 && at + 1 < count) asked.only = arguments[++at];
    else complain("there is no option %s", arguments[at]);
  }
  return asked;
}

bool asks_for(asked asked, const char *row) {
  if (!strstr(row, asked.only)) return false;
  fprintf(stderr, "bench: %s\n", row);
  return true;
}
