/* Finds an engine by its name, for programs that are told on their command line which one to run. */
#ifndef BENCH_ENGINES_H
#define BENCH_ENGINES_H

#include "engine.h"

const engine *engine_named(const char *name);

#endif
