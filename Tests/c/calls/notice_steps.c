/* Steps that subscribe, dispatch and take notices, and the functions that read a notice. */
#include "calls.h"

#include <string.h>

static void read_value(const kept_value *value) {
  kept_error why, *error = &why;
  bool flag;
  int64_t integer;
  uint64_t natural;
  double number;
  int32_t nanoseconds;
  const char *text = NULL;
  const void *bytes = NULL;
  size_t length = 0;
  TRY(error, kept_value_bool, value, &flag);
  TRY(error, kept_value_int64, value, &integer);
  TRY(error, kept_value_uint64, value, &natural);
  TRY(error, kept_value_double, value, &number);
  TRY(error, kept_value_date, value, &integer, &nanoseconds);
  if (TRY(error, kept_value_string, value, &text, &length) >= 0) {
    must(text[length] == 0 && is_text(text, length), "the text of a value is UTF-8 and ends with a NUL");
  }
  TRY(error, kept_value_bytes, value, &bytes, &length);
  TRY(error, kept_value_string, value, &text, NULL);
  TRY(error, kept_value_bool, value, NULL);
  TRY(error, kept_value_int64, value, NULL);
  TRY(error, kept_value_uint64, value, NULL);
  TRY(error, kept_value_double, value, NULL);
  TRY(error, kept_value_date, value, NULL, NULL);
  TRY(error, kept_value_string, value, NULL, NULL);
  TRY(error, kept_value_bytes, value, NULL, NULL);
}

static void read_change(const kept_notice *notice, size_t index, size_t count) {
  const char *key = (NOTE(kept_notice_key), kept_notice_key(notice, index));
  const char *old = (NOTE(kept_notice_old_json), kept_notice_old_json(notice, index));
  const char *new = (NOTE(kept_notice_new_json), kept_notice_new_json(notice, index));
  must((key != NULL) == (index < count), "a change within the count has a key, and one beyond has none");
  must(old == NULL || is_text(old, strlen(old)), "the old value is UTF-8");
  must(new == NULL || is_text(new, strlen(new)), "the new value is UTF-8");
  must((NOTE(kept_notice_layer), kept_notice_layer(notice, index)) <= KEPT_LAYER_MANAGED, "a layer is one of kept.h's");
  NOTE(kept_notice_secret), (void)kept_notice_secret(notice, index);
  read_value((NOTE(kept_notice_old), kept_notice_old(notice, index)));
  read_value((NOTE(kept_notice_new), kept_notice_new(notice, index)));
}

void read_notice(const kept_notice *notice) {
  static const size_t beyond[] = { SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, SIZE_MAX / 2 + 1, UINT32_MAX };
  size_t count = (NOTE(kept_notice_count), kept_notice_count(notice));
  uint64_t first = (NOTE(kept_notice_first_revision), kept_notice_first_revision(notice));
  must(first <= (NOTE(kept_notice_revision), kept_notice_revision(notice)), "revisions rise");
  must((NOTE(kept_notice_origin), kept_notice_origin(notice)) <= KEPT_ORIGIN_LAYER, "an origin is one of kept.h's");
  const char *tag = (NOTE(kept_notice_tag), kept_notice_tag(notice));
  must(tag == NULL || is_text(tag, strlen(tag)), "a tag is UTF-8");
  int64_t time = (NOTE(kept_notice_time), kept_notice_time(notice));
  must((time > 0) == (notice != NULL), "every notice has a time");
  NOTE(kept_notice_may_have_missed), (void)kept_notice_may_have_missed(notice);
  for (size_t index = 0; index <= count; index++) read_change(notice, index, count);
  for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) read_change(notice, beyond[i], count);
}

static void receive(void *context, const kept_notice *notice) {
  (void)context;
  read_notice(notice);
}

static void release(void *context) {
  script *script = context;
  __atomic_add_fetch(&script->released, 1, __ATOMIC_RELAXED);
}

static void observe(script *script) {
  kept_error *error = next_error(script);
  kept_store *store = next_handle(script);
  kept_subscription *subscription = NULL;
  uint32_t flags = next_flags(script, KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL | KEPT_OBSERVE_POLLED);
  const char *key = flags & KEPT_OBSERVE_PREFIX ? next_prefix(script) : next_key(script);
  kept_notice_callback callback = rarely(script, 3) ? NULL : receive;
  bool is_released = !rarely(script, 4), has_place = !rarely(script, 16);
  kept_status status = TRY(error, kept_observe, store, key, flags, callback, script, is_released ? release : NULL,
    has_place ? &subscription : NULL);
  if (status < 0) return;
  script->begun += is_released;
  kept_subscription **place = &script->subscriptions[script->next_subscription++ % most_subscriptions];
  NOTE(kept_unobserve), kept_unobserve(*place);
  *place = subscription;
}

static void unobserve(script *script) { NOTE(kept_unobserve), kept_unobserve(next_subscription(script)); }

static void descriptors(script *script) {
  kept_error *error = next_error(script);
  int fd = -1, *to = rarely(script, 16) ? NULL : &fd;
  kept_status status = rarely(script, 2) ? TRY(error, kept_store_fd, next_handle(script), to)
                                         : TRY(error, kept_subscription_fd, next_subscription(script), to);
  must(status < 0 || fd >= 0, "a descriptor is not below 0");
}

static void dispatch(script *script) {
  kept_error *error = next_error(script);
  size_t delivered = 0, *to = rarely(script, 8) ? NULL : &delivered, most = next_size(script);
  if (rarely(script, 2)) TRY(error, kept_store_dispatch, next_handle(script), most, to);
  else TRY(error, kept_subscription_dispatch, next_subscription(script), most, to);
  must(most == 0 || delivered <= most, "no more are delivered than were asked for");
}

static void take(script *script) {
  kept_error *error = next_error(script);
  kept_notice *notice = NULL;
  bool has_place = !rarely(script, 16);
  kept_status status = TRY(error, kept_subscription_take, next_subscription(script), has_place ? &notice : NULL);
  if (status < 0 || notice == NULL) return;
  kept_notice **place = &script->notices[next_byte(script) % most_notices];
  NOTE(kept_notice_free), kept_notice_free(*place);
  *place = notice;
  read_notice(notice);
}

static void read_taken(script *script) { read_notice(script->notices[next_byte(script) % most_notices]); }

static void free_taken(script *script) {
  kept_notice **place = &script->notices[next_byte(script) % most_notices];
  NOTE(kept_notice_free), kept_notice_free(*place);
  *place = NULL;
}

const step notice_steps[] = { observe, observe, unobserve, descriptors, dispatch, take, take, read_taken, free_taken };
const size_t notice_count = sizeof notice_steps / sizeof *notice_steps;
