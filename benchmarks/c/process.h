/* Another process of a row: one that takes its share of each turn, or one that sets keys of the same store, 1,000 a
 * second, while others read. */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include "worker.h"

typedef struct process process;

#define WRITING_LANE (-1)   /* no share of the turns: it sets at an even pace */

/* Starts the process. It has opened the store in the folder, and rests until it is told to go. */
process *process_start(const row *row, const candidate *candidate, const char *folder, int worker);
/* Lets it do so many operations: await it then. One that sets at an even pace goes on until it is told to rest. */
void process_go(process *process, size_t operations);
span process_await(process *process);
void process_rest(process *process);
void process_end(process *process);

/* The other process: what main() runs when its first argument is PROCESS_ARGUMENT, with those that follow. */
#define PROCESS_ARGUMENT "--process"
int process_main(int count, char **arguments);

#endif
