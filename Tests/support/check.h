/* Checks. One that fails prints its place, the expected and the actual value, and the test continues. */
#ifndef CHECK_H
#define CHECK_H

#include <kept.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The expected value comes first. */
#define CHECK(condition) check_true(__FILE__, __LINE__, #condition, (condition))
#define CHECK_INT(expected, found) check_int(__FILE__, __LINE__, #found, (expected), (found))
#define CHECK_UINT(expected, found) check_uint(__FILE__, __LINE__, #found, (expected), (found))
#define CHECK_TEXT(expected, found) check_text(__FILE__, __LINE__, #found, (expected), (found))

/** Calls a function of Kept that reports into `why`, and checks the status and `why`: it must be untouched on KEPT_OK,
 *  and otherwise hold the status and a complete sentence. */
#define EXPECT(status, call) (poison_why(), check_call(__FILE__, __LINE__, #call, (status), (call)))

void check_true(const char *file, int line, const char *what, int condition);
void check_int(const char *file, int line, const char *what, int64_t expected, int64_t found);
void check_uint(const char *file, int line, const char *what, uint64_t expected, uint64_t found);
void check_text(const char *file, int line, const char *what, const char *expected, const char *found);
void poison_why(void);
void check_call(const char *file, int line, const char *what, kept_status expected, kept_status found);

/** The error of this thread's last call. */
extern __thread kept_error why;

/** Whether it contains these words. */
bool says(const char *words);

/** The checks that have failed in this process since the test began. */
extern int failed_checks;

#endif
