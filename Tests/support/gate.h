/* A lock that protects what threads wait for, and the waiting, with a bound. */
#ifndef GATE_H
#define GATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct gate {
  pthread_mutex_t lock;
  pthread_cond_t changed;
} gate;
#define GATE { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER }

void make_gate(gate *gate);
void enter_gate(gate *gate);
/** Wakes all that wait, and leaves. */
void leave_gate(gate *gate);
/** Lets others in until one has left. @return whether the bound is not yet reached: a minute after `begun`, which is
 *  a number of now_ns() */
bool wait_in_gate(gate *gate, int64_t begun);

/** Adds one, in the gate. */
void count_up(gate *gate, int *count);
/** Waits until a count is at least this, or for a minute. @return the count */
int await_count(gate *gate, const int *count, int least);

#endif
