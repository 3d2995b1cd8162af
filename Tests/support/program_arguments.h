/* The arguments of a program with layers, which several tests open a store with. */
#ifndef PROGRAM_ARGUMENTS_H
#define PROGRAM_ARGUMENTS_H

#include <kept.h>

/** Options with the arguments -a 2 -b 2 -list [1,2] -name 5 -depth -7 -half 0.5 -raw <0aff>. */
kept_options with_arguments(void);

#endif
