/* Callgrind collects only what happens in here: runner/instructions.py names it. */
__attribute__((noipa)) void profiled(void (*loop)(void)) {
  loop();
  __asm__ volatile("");   /* no tail call: callgrind would not see it end */
}
