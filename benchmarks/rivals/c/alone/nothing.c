/* A program that opens nothing. */
#include "../engine.h"

static void *open_nothing(const char *folder, bool durable) {
  (void)folder, (void)durable;
  return NULL;
}

static void *join(void *store) { return store; }

static void let_go(void *store) { (void)store; }

static void get(void *session, walk *walk) {
  (void)session;
  walk->sum += walk->steps;
}

const engine nothing = {
  .name = "nothing",
  .open = open_nothing,
  .join = join,
  .leave = let_go,
  .close = let_go,
  .get = get,
};
