/* Reads the command line of a measuring program. */
#include "options.h"

#include "fatal.h"

#include <stdio.h>
#include <string.h>

options parse_options(int count, char **arguments) {
  if (count < 2) die("usage: %s FOLDER [--quick] [--only TEXT]", arguments[0]);
  options options = { .folder = arguments[1], .only = "" };
  for (int at = 2; at < count; at++) {
    if (strcmp(arguments[at], "--quick") == 0) options.quick = true;
    else if (strcmp(arguments[at], "--only") == 0 && at + 1 < count) options.only = arguments[++at];
    else die("there is no option %s", arguments[at]);
  }
  return options;
}

bool wants_row(options options, const char *row) {
  if (!strstr(row, options.only)) return false;
  fprintf(stderr, "bench: %s\n", row);
  return true;
}
