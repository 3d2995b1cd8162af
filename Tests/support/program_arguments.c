#include "program_arguments.h"

#include "check.h"

static const char *const argv_of_player[] = { "player", "-a", "2", "-b", "2", "-list", "[1,2]", "-name", "5", "-depth",
  "-7", "-half", "0.5", "-raw", "<0aff>" };

kept_options with_arguments(void) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.argv = argv_of_player;
  options.argc = COUNT(argv_of_player);
  return options;
}
