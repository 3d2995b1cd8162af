/* Marks what callgrind counts, for Python, which cannot call callgrind itself. */
#include <valgrind/callgrind.h>

void profiled(void (*loop)(void));

void profiled(void (*loop)(void)) {
  CALLGRIND_TOGGLE_COLLECT;
  loop();
  CALLGRIND_TOGGLE_COLLECT;
}
