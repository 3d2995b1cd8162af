/* Finds an engine by its name, for programs whose command line selects it. */
#ifndef BENCH_ENGINES_H
#define BENCH_ENGINES_H

#include "engine.h"

const engine *engine_named(const char *name);

#endif
