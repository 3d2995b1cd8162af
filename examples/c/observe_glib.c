/* Prints every change of a store in GLib's main loop: observe_glib LOCATION
 *
 *   cc observe_glib.c $(pkg-config --cflags --libs kept glib-2.0) -o observe_glib
 *
 * A GTK program does the same, since its main loop is GLib's. The program ends when the key "quit" is set. */
#include <glib-unix.h>
#include <kept.h>

static const char *shown(const char *json) { return json ? json : "nothing"; }

/* Called in the main loop, so it may use what belongs to the loop's thread, such as widgets. */
static void print_changes(void *context, const kept_notice *notice) {
  for (size_t i = 0; i < kept_notice_count(notice); i++) {
    g_print("%s: %s -> %s\n", kept_notice_key(notice, i), shown(kept_notice_old_json(notice, i)),
      shown(kept_notice_new_json(notice, i)));
    if (g_str_equal(kept_notice_key(notice, i), "quit")) g_main_loop_quit(context);
  }
}

static gboolean dispatch(int fd, GIOCondition condition, void *store) {
  (void)fd, (void)condition;
  return kept_store_dispatch(store, 0, NULL, NULL) == KEPT_OK ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

int main(int count, char **arguments) {
  if (count != 2) {
    g_printerr("usage: observe_glib LOCATION\n");
    return 2;
  }
  kept_options options = KEPT_OPTIONS_INIT;
  options.delivery = KEPT_BY_HOST;
  GMainLoop *loop = g_main_loop_new(NULL, FALSE);
  kept_store *store = NULL;
  kept_subscription *subscription = NULL;
  kept_error error;
  int fd;

  kept_status status = kept_open(arguments[1], &options, &store, &error);
  if (status >= 0) status = kept_store_fd(store, &fd, &error);
  if (status == KEPT_OK)
    status = kept_observe(store, "", KEPT_OBSERVE_PREFIX, print_changes, loop, NULL, &subscription, &error);
  if (status == KEPT_OK) {
    guint source = g_unix_fd_add(fd, G_IO_IN, dispatch, store);
    g_print("observing\n");
    g_main_loop_run(loop);
    g_source_remove(source);
  } else {
    g_printerr("%s\n", error.message);
  }
  kept_close(store);
  g_main_loop_unref(loop);
  return status == KEPT_OK ? 0 : 1;
}
