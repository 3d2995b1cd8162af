/* Reports that run while their store is closed: after kept_close() has returned in any thread, `report_context` may be
 * freed. */
#include "gate.h"
#include "suite.h"

enum { closers = 3 };

static struct {
  gate gate;
  int is_open, begun, closing, closed;
  kept_store *store;
} play = { .gate = GATE };

static void report_at_leisure(void *context, const kept_error *error) {
  count_up(&play.gate, &play.begun);
  await_count(&play.gate, &play.is_open, 1);
  ++*(int *)context;
}

static void *set_what_is_deprecated(void *unused) {
  kept_set_int64(play.store, "old", 1, NULL);
  return unused;
}

static void *close_it(void *unused) {
  count_up(&play.gate, &play.closing);
  kept_close(play.store);
  count_up(&play.gate, &play.closed);
  return unused;
}

static void open_with_report(const char *location, kept_report_callback report, void *context) {
  kept_options options = KEPT_OPTIONS_INIT;
  options.report = report;
  options.report_context = context;
  play.is_open = play.begun = play.closing = play.closed = 0;
  EXPECT(KEPT_OK, kept_open(location, &options, &play.store, &why));
  EXPECT(KEPT_OK, kept_declare_json(play.store, "old", "{\"type\":\"integer\",\"deprecated\":true}", &why));
}

TEST(all_threads_that_close_a_store_wait_for_its_report) {
  int reports = 0;
  pthread_t setter, enders[closers];
  kept_store *other = fresh_store();
  open_with_report(fresh_location(), report_at_leisure, &reports);
  CHECK_INT(0, pthread_create(&setter, NULL, set_what_is_deprecated, NULL));
  await_count(&play.gate, &play.begun, 1);
  for (int i = 0; i < closers; i++) CHECK_INT(0, pthread_create(&enders[i], NULL, close_it, NULL));
  await_count(&play.gate, &play.closing, closers);
  /* Write for a while, so that a close that does not wait is detected. */
  for (int i = 0; i < 100; i++) EXPECT(KEPT_OK, kept_set_int64(other, "elsewhere", i, &why));
  CHECK_INT(0, play.closed);
  count_up(&play.gate, &play.is_open);
  for (int i = 0; i < closers; i++) CHECK_INT(0, pthread_join(enders[i], NULL));
  CHECK_INT(1, reports);
  CHECK_INT(0, pthread_join(setter, NULL));
}

static void close_within(void *context, const kept_error *error) {
  kept_close(play.store);
  ++*(int *)context;
}

TEST(a_report_may_close_its_store) {
  int reports = 0;
  open_with_report(fresh_location(), close_within, &reports);
  EXPECT(KEPT_OK, kept_set_int64(play.store, "old", 1, &why));
  CHECK_INT(1, reports);
  kept_close(play.store);
}
