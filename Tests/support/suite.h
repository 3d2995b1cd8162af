/* A program of tests. A test is a function that is named after what it tests. Each program runs its tests once for each
 * kind of store:
 *   values folder            every test, in a folder of its own that is removed afterwards
 *   values memory            those that need no folder, on memory stores
 *   values folder some_test  one test
 */
#ifndef SUITE_H
#define SUITE_H

#include "check.h"
#include "child.h"
#include "files.h"
#include "fixture.h"
#include "processes.h"
#include "stores.h"

/** Begins the definition of a test. */
#define TEST(name) DEFINE(name, void, add_test(#name, name, false))
/** The same for a test that needs a folder. */
#define FOLDER_TEST(name) DEFINE(name, void, add_test(#name, name, true))
/** Begins the definition of what a child process does with the store at a location. */
#define ROLE(name, location) DEFINE(name, const char *location, add_role(#name, name))

#define DEFINE(name, parameter, add) \
  static void name(parameter); \
  __attribute__((constructor)) static void add_##name(void) { add; } \
  static void name(parameter)

void add_test(const char *name, void (*run)(void), bool needs_folder);
void add_role(const char *name, void (*play)(const char *location));

#endif
