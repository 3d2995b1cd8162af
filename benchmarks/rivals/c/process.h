/* Another process of a row: one that does its share of each turn, or one that sets keys of the same store, 1,000 a
 * second, while others read. */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include "worker.h"

typedef struct process process;

#define BACKGROUND_WRITER (-1) /* no share of the turns: it sets at a constant rate */

/* Starts the process. It has opened the store in the folder, and is idle until process_go(). */
process *process_start(const row *row, const candidate *candidate, const char *folder, int worker);
/* Starts `operations` operations; then wait for them. One that sets at a constant rate continues until it is
 * stopped. */
void process_go(process *process, size_t operations);
span process_await(process *process);
void process_rest(process *process);
void process_end(process *process);

/* The main function of the other process: main() calls it when its first argument is PROCESS_ARGUMENT, with the
 * following arguments. */
#define PROCESS_ARGUMENT "--process"
int process_main(int count, char **arguments);

#endif
