#include "gate.h"

#include "clock.h"

enum { MOST_SECONDS = 60 };

void make_gate(gate *gate) {
  pthread_mutex_init(&gate->lock, NULL);
  pthread_cond_init(&gate->changed, NULL);
}

void enter_gate(gate *gate) { pthread_mutex_lock(&gate->lock); }

void leave_gate(gate *gate) {
  pthread_cond_broadcast(&gate->changed);
  pthread_mutex_unlock(&gate->lock);
}

bool wait_in_gate(gate *gate, int64_t begun) {
  int64_t end = begun + MOST_SECONDS * NS_PER_SECOND;
  struct timespec time = { (time_t)(end / NS_PER_SECOND), (long)(end % NS_PER_SECOND) };
  return pthread_cond_clockwait(&gate->changed, &gate->lock, CLOCK_MONOTONIC, &time) == 0;
}

void count_up(gate *gate, int *count) {
  enter_gate(gate);
  ++*count;
  leave_gate(gate);
}

int await_count(gate *gate, const int *count, int least) {
  int64_t begun = now_ns();
  enter_gate(gate);
  while (*count < least && wait_in_gate(gate, begun)) {}
  int found = *count;
  leave_gate(gate);
  return found;
}
