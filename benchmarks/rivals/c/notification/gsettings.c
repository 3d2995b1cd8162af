/* GSettings on dconf, with its own session bus. */
#include "channel.h"

#include "../backend.h"
#include "../fatal.h"
#include "../session.h"

#include <gio/gio.h>

#define SCHEMA "org.example.notification"

void enter_notification_session(const char *folder, char **arguments) {
  enter_session(folder, arguments,
    "<schema id='" SCHEMA "' path='/org/example/notification/'>"
    "<key name='clock' type='x'><default>0</default></key></schema>");
}

static void *open_settings(const char *folder) {
  (void)folder;
  expect_backend();
  return g_settings_new(SCHEMA);
}

static void note(GSettings *settings, const char *key, gpointer samples) {
  record_delivery(samples, (uint64_t)g_settings_get_int64(settings, key));
}

static void receive(const char *folder, samples *samples) {
  GSettings *settings = open_settings(folder);
  g_signal_connect(settings, "changed::clock", G_CALLBACK(note), samples);
  g_settings_get_int64(settings, "clock");
  atomic_store(&samples->is_ready, 1);
  g_main_loop_run(g_main_loop_new(NULL, FALSE));
}

static void write_value(void *settings, uint64_t value) {
  if (!g_settings_set_int64(settings, "clock", (int64_t)value)) die("GSettings cannot set");
}

const channel gsettings_channel = { "GSettings", "candidate", receive, open_settings, write_value };
