/* Which backend GSettings uses. */
#ifndef BENCH_BACKEND_H
#define BENCH_BACKEND_H

/* Ends the program if GSettings does not use the backend that GSETTINGS_BACKEND names: if that is not installed, it
 * silently stores in memory. */
void expect_backend(void);

#endif
