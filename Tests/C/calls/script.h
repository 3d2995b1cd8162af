/* A script of bytes that calls the functions of kept.h with arguments that no reasonable program would give, in any
 * order. Whatever it says, the process lives, each status is one that kept.h lists, and each error has a sentence.
 *
 * What breaks that is printed, and abort() is called: libFuzzer and the test keep what led there. */
#ifndef SCRIPT_H
#define SCRIPT_H

#include <stddef.h>
#include <stdint.h>

/** Makes the folder in which all scripts work, and makes it the current one. Once, before the first script. */
void begin_scripts(void);
/** Runs one script. Everything that it opens is closed, and every file that it makes is removed. */
void run_script(const uint8_t *bytes, size_t count);
/** Removes the folder. */
void end_scripts(void);

/** Prints which functions no script has called, none with success, or none with an error. @return how many */
int print_missed_calls(void);
/** Prints which functions of a header the scripts do not know. @return how many, or -1 if it cannot be read */
int print_unknown_calls(const char *header);

#endif
