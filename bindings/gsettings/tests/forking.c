/* A child that was forked and executes no other program goes on with its parent's objects. */
#include "settings_test.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_COUNT_ERRORS 0
#endif

/* valgrind looks for leaks when a program exits, not when it executes another; what only the stacks of the parent's
 * other threads referred to has no owner in a child. */
static void leave(void) {
  execl("/bin/sh", "sh", "-c", VALGRIND_COUNT_ERRORS > 0 ? "exit 99" : "exit 0", (char *)NULL);
  _exit(127);
}

#define MUST(condition) \
  if (!(condition)) g_printerr("the child: %s\n", #condition), _exit(1)

static int status_of(pid_t child) {
  int status = -1;
  g_assert_cmpint(waitpid(child, &status, 0), ==, child);
  return status;
}

static void a_forked_child_reads_and_writes(void) {
  GSettings *settings = g_settings_new("org.example.kept.player");
  GString *changes = record(settings, "changed");
  g_settings_set_int(settings, "volume", 1);
  pid_t child = fork();
  if (child == 0) {
    MUST(g_settings_get_int(settings, "volume") == 1);
    MUST(g_settings_set_int(settings, "volume", 2));
    MUST(g_settings_get_int(settings, "volume") == 2);
    g_settings_delay(settings);
    g_settings_set_int(settings, "loudness", 7);
    g_settings_apply(settings);
    MUST(g_settings_get_int(settings, "loudness") == 7);
    GSettings *other = g_settings_new("org.example.kept.player.equalizer");
    MUST(g_settings_set_int(other, "bass", 3));
    g_object_unref(other);
    leave();
  }
  g_assert_cmpint(status_of(child), ==, 0);
  assert_int_setting(settings, "volume", 2);
  assert_int_setting(settings, "loudness", 7);
  /* Changes of another process may arrive together, and are then in the order of their keys. */
  g_string_truncate(changes, 0);
  wait_for_earlier_changes();
  g_assert_cmpuint(changes->len, ==, strlen("changed::volume changed::loudness "));
  g_assert_nonnull(strstr(changes->str, "changed::volume "));
  g_assert_nonnull(strstr(changes->str, "changed::loudness "));
  g_object_unref(settings);
}

static void a_child_is_told_of_changes_if_it_makes_new_objects(void) {
  GSettings *settings = g_settings_new("org.example.kept.player");
  int ends[2];
  g_assert_cmpint(pipe(ends), ==, 0);
  pid_t child = fork();
  if (child == 0) {
    GMainContext *context = g_main_context_new();
    g_main_context_push_thread_default(context);
    GSettings *own = g_settings_new("org.example.kept.player");
    GString *changes = record(own, "changed");
    MUST(write(ends[1], "r", 1) == 1);
    gint64 end = g_get_monotonic_time() + G_TIME_SPAN_MINUTE;
    while (changes->len == 0 && g_get_monotonic_time() < end)
      g_main_context_iteration(context, FALSE), g_thread_yield();
    MUST(changes->len > 0);
    leave();
  }
  char ready;
  g_assert_cmpint(read(ends[0], &ready, 1), ==, 1);
  set_elsewhere("org.example.kept.player.volume", "88");
  g_assert_cmpint(status_of(child), ==, 0);
  close(ends[0]), close(ends[1]);
  g_object_unref(settings);
}

int main(int argc, char **argv) {
  set_up(&argc, &argv);
  g_test_add_func("/forking/a forked child reads and writes", a_forked_child_reads_and_writes);
  g_test_add_func(
    "/forking/a child is told of changes if it makes new objects", a_child_is_told_of_changes_if_it_makes_new_objects);
  return run_tests();
}
