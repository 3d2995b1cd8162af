/* Another process, which writes a key of its own every millisecond and records its longest waiting time. */
#ifndef BENCH_MEANWHILE_H
#define BENCH_MEANWHILE_H

#include "../engine.h"

typedef struct meanwhile meanwhile;

/* Starts the process, which has not opened the store yet and is idle. No store may be open in this process. */
meanwhile *meanwhile_start(const engine *engine, const char *folder);
/* Starts writing. Returns after the process has been writing for a while. */
void meanwhile_go(meanwhile *started);
/* Stops writing. Returns after the last write, which may have been waiting.
 * @return the longest wait since meanwhile_go(), in nanoseconds */
double meanwhile_rest(meanwhile *started);
void meanwhile_end(meanwhile *started);

#endif
