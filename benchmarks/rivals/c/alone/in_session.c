/* in-session FOLDER PROGRAM ARGUMENTS…: runs a program in a session for GSettings on dconf.
 *
 * This is a separate program, so that programs which measure memory are not linked with GLib: pages of GLib would be
 * shared with the process that they measure. */
#include "../fatal.h"
#include "../gsettings.h"

#include <unistd.h>

int main(int count, char **arguments) {
  if (count < 3) die("usage: in-session FOLDER PROGRAM ARGUMENTS…");
  enter_gsettings_session(arguments[1], arguments + 2);
  execvp(arguments[2], arguments + 2); /* this process is in such a session already */
  die("cannot run %s", arguments[2]);
}
