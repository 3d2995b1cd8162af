/* The harness of the C tests. A test is a function that is named after what it tests. A check that fails prints its
 * place, the expected and the actual value, and the test continues. Each program runs its tests once for each kind of
 * store:
 *   values folder            every test, in a folder of its own that is removed afterwards
 *   values memory            those that need no folder, on memory stores
 *   values folder some_test  one test
 */
#ifndef CHECK_H
#define CHECK_H

#include <kept.h>
#include <sys/types.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Checks. The expected value comes first. */
#define CHECK(condition) check_true(__FILE__, __LINE__, #condition, (condition))
#define CHECK_INT(expected, found) check_int(__FILE__, __LINE__, #found, (expected), (found))
#define CHECK_UINT(expected, found) check_uint(__FILE__, __LINE__, #found, (expected), (found))
#define CHECK_TEXT(expected, found) check_text(__FILE__, __LINE__, #found, (expected), (found))

/** Calls a function of Kept that reports into `why`, and checks the status and `why`: it must be untouched on KEPT_OK,
 *  and otherwise hold the status and a complete sentence. */
#define EXPECT(status, call) (poison_why(), check_call(__FILE__, __LINE__, #call, (status), (call)))
extern kept_error why;

void check_true(const char *file, int line, const char *what, int condition);
void check_int(const char *file, int line, const char *what, int64_t expected, int64_t found);
void check_uint(const char *file, int line, const char *what, uint64_t expected, uint64_t found);
void check_text(const char *file, int line, const char *what, const char *expected, const char *found);
void poison_why(void);
void check_call(const char *file, int line, const char *what, kept_status expected, kept_status found);

/** A location without a store: a folder, or a named memory store. Valid until the test ends. */
const char *fresh_location(void);
/** The same, but always a folder. */
const char *fresh_folder(void);
/** A file of a store's folder, such as `values.sqlite`. Valid until the test ends. */
const char *file_of(const char *location, const char *name);
/** Opens a store that the test need not close. Returns NULL, with a failed check, if it cannot be opened. */
kept_store *open_at(const char *location);
/** The same with options. */
kept_store *open_with(const char *location, const kept_options *options);
kept_store *fresh_store(void);
/** The value of a key as JSON, or the name of the status. Valid until the test ends. */
const char *json_of(kept_store *store, const char *key);
/** Atomically replaces a file with this text, readable by all. */
void put_file(const char *path, const char *text);
/** A file that nothing else uses, with this text. Valid until the tests end. */
const char *fresh_file(const char *text);

/** Keys that no function accepts, from 0; NULL at the end. */
const char *bad_key(size_t index);
/** Texts that are not UTF-8, from 0; NULL at the end. They hold no NUL. */
const char *bad_text(size_t index);
/** `count` times the same byte; freed when the test ends. */
char *repeated(char byte, size_t count);

/** Another process: this program, run in one of its roles. Two pipes let parent and child wait for each other. */
typedef struct child {
  pid_t pid;
  int to;   /* its standard input */
  int from; /* its standard output */
} child;

child start_child(const char *role, const char *location);
/** Waits until the child has called signal_parent(). */
void await_child(child *child);
/** Lets a child that waits in await_parent() continue. */
void release_child(child *child);
/** Waits for it to end. @return the exit status, or minus the signal */
int finish_child(child *child);
/** kill -9. */
void kill_child(child *child);
/** Ends a forked child that did not execute another program, with an exit status. Memory that only the stacks of the
 *  parent's other threads referred to has no owner here, so valgrind does not look for leaks. Its other errors
 *  count. */
void leave_fork(int status);
/** Called in the child. */
void signal_parent(void);
void await_parent(void);

typedef struct test {
  const char *name;
  void (*run)(void);
  int needs_folder;
} test;
#define TEST(function) { #function, function, 0 }
#define FOLDER_TEST(function) { #function, function, 1 }

/** What a child process does with the store at a location. */
typedef struct role {
  const char *name;
  void (*play)(const char *location);
} role;
#define ROLE(function) { #function, function }

/** Runs what the command line selects; both lists end with an empty entry. @return the exit status */
int run_tests(int argc, char **argv, const test *tests, const role *roles);

#endif
