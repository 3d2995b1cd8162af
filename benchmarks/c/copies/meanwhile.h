/* Another process, which writes a key of its own every millisecond and keeps the longest time that it had to wait. */
#ifndef BENCH_MEANWHILE_H
#define BENCH_MEANWHILE_H

#include "../engine.h"

typedef struct meanwhile meanwhile;

/* Starts the process; it has not opened the store yet, and rests. Nothing may be open here. */
meanwhile *meanwhile_start(const engine *engine, const char *folder);
/* When this returns it has been writing for a while. */
void meanwhile_go(meanwhile *started);
/* When this returns it has done its last write, which may have been waiting.
 * @return the longest wait since meanwhile_go(), in nanoseconds */
double meanwhile_rest(meanwhile *started);
void meanwhile_end(meanwhile *started);

#endif
