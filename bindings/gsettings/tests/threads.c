/* Objects in threads: each gets its signals in the main context that made it, and nowhere else. */
#include "settings_test.h"

#include <string.h>

/* A thread with a main context and an object in it. */
typedef struct {
  GThread *thread;
  GMainLoop *loop;
  gint changes, elsewhere;
  gint is_ready;
} Listener;

static void count_change(GSettings *settings, const char *key, gpointer listener_) {
  Listener *listener = listener_;
  g_atomic_int_inc(&listener->changes);
  if (g_thread_self() != listener->thread) g_atomic_int_inc(&listener->elsewhere);
}

static gboolean set_ready(gpointer listener) {
  g_atomic_int_set(&((Listener *)listener)->is_ready, TRUE);
  g_main_context_wakeup(NULL);
  return G_SOURCE_REMOVE;
}

static gpointer listen(gpointer listener_) {
  Listener *listener = listener_;
  GMainContext *context = g_main_context_new();
  g_main_context_push_thread_default(context);
  listener->thread = g_thread_self();
  GSettings *settings = g_settings_new("org.example.kept.player");
  g_signal_connect(settings, "changed::volume", G_CALLBACK(count_change), listener);
  listener->loop = g_main_loop_new(context, FALSE);
  GSource *source = g_idle_source_new();
  g_source_set_callback(source, set_ready, listener, NULL);
  g_source_attach(source, context);
  g_source_unref(source);
  g_main_loop_run(listener->loop);
  g_object_unref(settings);
  g_main_context_pop_thread_default(context);
  g_main_context_unref(context);
  return NULL;
}

static void start(Listener *listener) {
  GThread *thread = g_thread_new("listener", listen, listener);
  WAIT_UNTIL(g_atomic_int_get(&listener->is_ready));
  g_assert_true(thread == listener->thread);
}

static void finish(Listener *listener) {
  g_main_loop_quit(listener->loop);
  g_thread_join(listener->thread);
  g_main_loop_unref(listener->loop);
}

static void objects_get_signals_on_their_own_thread(void) {
  Listener listeners[4] = { 0 };
  GSettings *settings = g_settings_new("org.example.kept.player");
  GString *changes = record(settings, "changed");
  for (gsize i = 0; i < G_N_ELEMENTS(listeners); i++) start(&listeners[i]);
  set_elsewhere("org.example.kept.player.volume", "1");
  g_settings_set_int(settings, "volume", 2);
  for (gsize i = 0; i < G_N_ELEMENTS(listeners); i++) WAIT_UNTIL(g_atomic_int_get(&listeners[i].changes) == 2);
  WAIT_UNTIL(changes->len == 2 * strlen("changed::volume "));
  for (gsize i = 0; i < G_N_ELEMENTS(listeners); i++) {
    finish(&listeners[i]);
    g_assert_cmpint(listeners[i].changes, ==, 2);
    g_assert_cmpint(listeners[i].elsewhere, ==, 0);
  }
  g_object_unref(settings);
}

static gpointer set_in_thread(gpointer unused) {
  GSettings *settings = g_settings_new("org.example.kept.player");
  g_settings_set_int(settings, "volume", 123);
  g_object_unref(settings);
  return NULL;
}

static void a_thread_without_a_context_can_set_a_setting(void) {
  Listener listener = { 0 };
  start(&listener);
  g_thread_join(g_thread_new("setter", set_in_thread, NULL));
  WAIT_UNTIL(g_atomic_int_get(&listener.changes) == 1);
  finish(&listener);
  g_assert_cmpint(listener.elsewhere, ==, 0);
}

/* A program whose main thread is busy. */
static void signals_wait_until_the_default_context_is_run(void) {
  Listener witness = { 0 };
  GSettings *settings = g_settings_new("org.example.kept.player");
  Listener main_thread = { .thread = g_thread_self() };
  g_signal_connect(settings, "changed::volume", G_CALLBACK(count_change), &main_thread);
  start(&witness);
  for (int i = 1; i <= 10; i++) {
    set_elsewhere("org.example.kept.player.volume", i % 2 ? "5" : "6");
    while (g_atomic_int_get(&witness.changes) < i) g_thread_yield();
    g_assert_cmpint(main_thread.changes, ==, 0);
    assert_int_setting(settings, "volume", i % 2 ? 5 : 6);
  }
  finish(&witness);
  WAIT_UNTIL(main_thread.changes == 10);
  g_assert_cmpint(main_thread.elsewhere, ==, 0);
  g_object_unref(settings);
}

enum { writers = 4, rounds = 200 };

static gpointer write_often(gpointer number) {
  GMainContext *context = g_main_context_new();
  g_main_context_push_thread_default(context);
  for (int i = 0; i < rounds; i++) {
    GSettings *settings = g_settings_new("org.example.kept.player");
    record(settings, "changed");
    g_settings_set_int(settings, "volume", GPOINTER_TO_INT(number) * rounds + i);
    if (i % 2) g_settings_delay(settings);
    g_settings_set_int(settings, "loudness", i % 11);
    if (i % 2) g_settings_apply(settings);
    g_settings_reset(settings, "count");
    while (g_main_context_iteration(context, FALSE));
    g_object_unref(settings);
  }
  while (g_main_context_iteration(context, FALSE));
  g_main_context_pop_thread_default(context);
  g_main_context_unref(context);
  return NULL;
}

static void threads_make_change_and_end_objects_at_once(void) {
  GThread *threads[writers];
  for (int i = 0; i < writers; i++) threads[i] = g_thread_new("writer", write_often, GINT_TO_POINTER(i));
  for (int i = 0; i < rounds; i++) set_elsewhere("org.example.kept.player.volume", i % 2 ? "1" : "2");
  for (int i = 0; i < writers; i++) g_thread_join(threads[i]);
  wait_for_earlier_changes();
}

int main(int argc, char **argv) {
  set_up(&argc, &argv);
  g_test_add_func("/threads/objects get signals on their own thread", objects_get_signals_on_their_own_thread);
  g_test_add_func(
    "/threads/a thread without a context can set a setting", a_thread_without_a_context_can_set_a_setting);
  g_test_add_func(
    "/threads/signals wait until the default context is run", signals_wait_until_the_default_context_is_run);
  g_test_add_func("/threads/threads make, change and end objects at once", threads_make_change_and_end_objects_at_once);
  return run_tests();
}
