/* A program of GSettings, as others write them: the environment decides which backend it uses. Its settings are one
 * object with 250 keys, a third each of them booleans, integers and texts, as of a desktop. */
#ifndef BENCH_BACKENDS_PROGRAM_H
#define BENCH_BACKENDS_PROGRAM_H

#include <stddef.h>

/* The result of a turn; its verb determines the meaning. */
typedef struct figures {
  double first, second;
} figures;

#define PROGRAM_SCHEMA "org.example.bench.program"
#define PROGRAM_PATH "/org/example/bench/program/"
#define PROGRAM_KEYS 250
#define PROGRAM_KEY "setting-%03zu"
#define TEXT_LENGTH 20

/* The verbs of program.c that take turns: a number of operations (size_t) on standard input, then figures on standard
 * output. Each starts with all keys set. */
#define GET_BOOLEAN "get-boolean"           /* total ns */
#define GET_INTEGER "get-integer"           /* total ns */
#define GET_TEXT "get-text"                 /* total ns */
#define SET_INTEGER "set-integer"           /* total ns, until the last call returns */
#define SET_TEXT "set-text"                 /* total ns, until the last call returns */
#define SET_DURABLE "set-durable"           /* total ns, with a sync after each */
#define APPLY "apply"                       /* total ns, of 250 keys each */
#define APPLY_DURABLE "apply-durable"       /* total ns, of 250 keys each, with a sync after each */
#define SET_OCCASIONALLY "set-occasionally" /* ns of one set, p50 and p99 */
#define NOTIFY "notify"                     /* ns from a set to the handler in another process, p50 and p99 */
/* Those that do not. */
#define FILL "fill"     /* sets all keys */
#define FIRST "first"   /* prints the first value */
#define MEMORY "memory" /* prints figures: by how much its memory grew with all keys read and observed, Pss and USS */

#endif
