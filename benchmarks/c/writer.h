/* Another process that sets keys of the same store, 1,000 a second, while this one reads. */
#ifndef BENCH_WRITER_H
#define BENCH_WRITER_H

#include "engine.h"

typedef struct writer writer;

/* Starts the process; it rests until it is told to go. */
writer *writer_start(const engine *engine, const char *folder, size_t keys);
void writer_go(writer *writer);
void writer_rest(writer *writer);
void writer_end(writer *writer);

/* The other process: what main() runs when its first argument is WRITER_ARGUMENT. */
#define WRITER_ARGUMENT "--write"
int writer_main(const char *engine, const char *folder, size_t keys);

#endif
