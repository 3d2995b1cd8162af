/* The scripts as libFuzzer calls them. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int calls_fuzz(const uint8_t *bytes, size_t count);

#endif
