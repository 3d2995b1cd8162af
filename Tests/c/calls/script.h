/* A script of bytes that calls the functions of kept.h with arguments that no reasonable program would pass, in any
 * order. No script may crash the process, each status must be one that kept.h lists, and each error must have a
 * message.
 *
 * A violation is printed, and abort() is called: libFuzzer and the test then save the script that caused it. */
#ifndef SCRIPT_H
#define SCRIPT_H

#include <stddef.h>
#include <stdint.h>

/** Creates the folder of all scripts, and makes it the working directory. Call once, before the first
 * script. */
void begin_scripts(void);
/** Runs one script. Closes every store that it opens, and removes every file that it creates. */
void run_script(const uint8_t *bytes, size_t count);
/** Removes the folder. */
void end_scripts(void);

/** Prints the functions that no script has called, or called with success, or with an error. @return their number */
int print_missed_calls(void);
/** Prints the functions of a header that the scripts do not know. @return their number, or -1 if it cannot be read */
int print_unknown_calls(const char *header);

#endif
