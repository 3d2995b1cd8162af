/* Two threads of a child use the library for the first time at the same time, in a process whose parent has only loaded
 * it. */
#include "suite.h"

#include <pthread.h>

enum { CHILDREN = 300 };

static int ready;

static void *use(void *location) {
  kept_store *store = NULL;
  char *json = NULL;
  __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < 2) {}
  int works = kept_open(location, NULL, &store, NULL) == KEPT_OK &&
    kept_set_json(store, "size", "{\"wide\":[1,2.5,\"x\"]}", NULL) == KEPT_OK &&
    kept_get_json(store, "size", &json, NULL) == KEPT_OK && kept_set_int64(store, "count", 3, NULL) == KEPT_OK;
  kept_free(json);
  kept_close(store);
  return works ? location : NULL;
}

static int use_in_two_threads(void *location) {
  pthread_t other;
  void *others = NULL;
  MUST(pthread_create(&other, NULL, use, location) == 0);
  MUST(use(location) != NULL);
  MUST(pthread_join(other, &others) == 0 && others != NULL);
  return 0;
}

TEST(two_threads_of_a_child_may_meet_at_a_first_use) {
  char location[] = "memory:";
  int end = 0;
  for (int i = 0; i < CHILDREN && end == 0; i++) end = in_child(use_in_two_threads, location);
  CHECK_INT(0, end);
}
