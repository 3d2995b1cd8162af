#include "tracing.h"
#include "settings_test.h"
#include "variants.h"

#include <string.h>

char *text_of(GVariant *value) {
  if (value == NULL) return g_strdup("none");
  GVariant *normal = normal_value(value);
  char *text = g_variant_print(normal, TRUE);
  g_variant_unref(normal);
  if (strlen(text) > 200) {
    char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1), *all = text;
    text = g_strdup_printf("%zu bytes, %s", strlen(all), sum);
    g_free(all), g_free(sum);
  }
  return text;
}

static void print_changed(GSettings *settings, const char *key, gpointer name) {
  GVariant *value = g_settings_get_value(settings, key);
  char *text = text_of(value);
  g_print("  %s: changed::%s, now %s\n", (char *)name, key, text);
  g_free(text);
  g_variant_unref(value);
}

static gboolean print_event(GSettings *settings, const GQuark *keys, int count, gpointer name) {
  g_print("  %s: change-event", (char *)name);
  for (int i = 0; i < count; i++) g_print(" %s", g_quark_to_string(keys[i]));
  g_print("\n");
  return FALSE;
}

static void print_writable(GSettings *settings, const char *key, gpointer name) {
  g_print("  %s: writable-changed::%s, now %d\n", (char *)name, key, g_settings_is_writable(settings, key));
}

static void print_unapplied(GSettings *settings, GParamSpec *property, gpointer name) {
  g_print("  %s: has-unapplied %d\n", (char *)name, g_settings_get_has_unapplied(settings));
}

void settle(void) {
  static int count;
  GSettings *marker = g_settings_new("org.example.kept.marker");
  GString *changes = record(marker, "changed");
  char *number = g_strdup_printf("%d", ++count);
  g_settings_sync();
  g_free(gsettings_command("set", "org.example.kept.marker", "number", number, NULL));
  WAIT_UNTIL(changes->len > 0 && g_settings_get_int(marker, "number") == count);
  g_free(number);
  g_object_unref(marker);
  while (g_main_context_iteration(NULL, FALSE));
}

GSettings *watched(GSettings *settings, const char *name) {
  g_signal_connect(settings, "changed", G_CALLBACK(print_changed), (gpointer)name);
  g_signal_connect(settings, "change-event", G_CALLBACK(print_event), (gpointer)name);
  g_signal_connect(settings, "writable-changed", G_CALLBACK(print_writable), (gpointer)name);
  g_signal_connect(settings, "notify::has-unapplied", G_CALLBACK(print_unapplied), (gpointer)name);
  return settings;
}
