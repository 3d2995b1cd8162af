/* A race between two threads: Thread Sanitizer must find it (scripts/sanitize). */
#include <pthread.h>

static int shared;

static void *count(void *unused) {
  for (int i = 0; i < 100000; i++) shared++;
  return unused;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, count, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
