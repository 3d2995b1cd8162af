/* Runs scripts of random bytes, the same ones each time:
 *
 *   replay HEADER [count [seed]]   runs `count` scripts from this seed on; then every function must have been called,
 *                                  with success and with an error, unless `count` is below the default
 *   replay --file PATH...          the scripts in files, such as what libFuzzer has found
 */
#define _XOPEN_SOURCE 700
#include "script.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { all_scripts = 3000, longest = 600 };

/* The script that is running, for use in a debugger. */
static char running[64];

static void say_what_ran(int signal_number) {
  if (write(STDERR_FILENO, running, strlen(running)) < 0) _exit(2);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

/** xorshift64*: produces the same numbers on every machine. */
static uint64_t next_random(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(2685821657736338717);
}

static void run_seeded(unsigned long seed) {
  static uint8_t bytes[longest];
  uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) | 1;
  size_t count = 1 + next_random(&state) % longest;
  for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)(next_random(&state) >> 56);
  snprintf(running, sizeof running, "the script of seed %lu was running\n", seed);
  run_script(bytes, count);
}

static int run_files(char **paths) {
  static uint8_t bytes[1 << 20];
  for (; *paths != NULL; paths++) {
    FILE *file = fopen(*paths, "r");
    if (file == NULL) return perror(*paths), 2;
    size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    snprintf(running, sizeof running, "a script in a file was running\n");
    begin_scripts();
    run_script(bytes, count);
    end_scripts();
  }
  return 0;
}

static int run_all(const char *header, unsigned long count, unsigned long seed) {
  int unknown = print_unknown_calls(header);
  if (unknown < 0) fprintf(stderr, "%s has other functions than the scripts\n", header);
  begin_scripts();
  for (unsigned long i = 0; i < count; i++) run_seeded(seed + i);
  end_scripts();
  int missed = count < all_scripts ? 0 : print_missed_calls();
  printf("%lu scripts from seed %lu, %d calls missed\n", count, seed, missed);
  return unknown != 0 || missed > 0;
}

int main(int argc, char **argv) {
  for (const int *deadly = (const int[]){ SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP, 0 }; *deadly; deadly++) {
    signal(*deadly, say_what_ran);
  }
  if (argc > 2 && strcmp(argv[1], "--file") == 0) return run_files(argv + 2);
  if (argc < 2) return fprintf(stderr, "usage: %s HEADER [count [seed]] | --file PATH...\n", argv[0]), 2;
  unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : all_scripts;
  return run_all(argv[1], count, argc > 3 ? strtoul(argv[3], NULL, 10) : 1);
}
