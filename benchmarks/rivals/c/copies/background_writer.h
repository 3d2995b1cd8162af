/* Another process, which writes a key of its own every millisecond and records its longest waiting time. */
#ifndef BENCH_BACKGROUND_WRITER_H
#define BENCH_BACKGROUND_WRITER_H

#include "../engine.h"

typedef struct background_writer background_writer;

/* Starts the process, which has not opened the store yet and is idle. No store may be open in this process.
 * @param durable whether each write survives power loss */
background_writer *background_writer_start(const engine *engine, const char *folder, bool durable);
/* Starts writing. Returns after the process has been writing for a while. */
void background_writer_go(background_writer *started);
/* Stops writing. Returns after the last write, which may have been waiting.
 * @return the longest wait since background_writer_go(), in nanoseconds */
double background_writer_rest(background_writer *started);
void background_writer_end(background_writer *started);

#endif
