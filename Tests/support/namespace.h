/* Mounts and containers of a test's own: nothing of them is seen by other programs, and they end with it. */
#ifndef NAMESPACE_H
#define NAMESPACE_H

#include <stdbool.h>

/** CTest marks a test that ends so as skipped. */
enum { SKIPPED = 77 };

/** Gives this process, and those that it starts, mounts of its own; and if wanted, makes the next process that it
 *  starts the first of its own numbers. Needs no rights, if the system allows it at all. */
bool enter_namespace(bool with_processes);

/** Runs a command of the shell, quietly. */
bool runs(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
