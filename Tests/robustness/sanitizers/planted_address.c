/* A read of memory that was given back: Address Sanitizer must find it (scripts/sanitize). */
#include <stdlib.h>

int main(int argc, char **argv) {
  volatile char *memory = malloc(16);
  (void)argv;
  free((void *)memory);
  return memory[argc];
}
