// The functions of kept.h that the C runner of the scenarios calls, implemented with kept.hpp: the same scenarios then
// test kept.hpp. CMakeLists.txt compiles the runner so that its calls of kept_get_bool() reach through_get_bool().
#include <kept.hpp>
#include <list>

// Of Swift's runtime.
extern "C" const char *__lsan_default_suppressions() { return "leak:libkept.so"; }

namespace {

// A call in C++, as C sees it. kept.hpp returns a warning, or that something is absent, without a sentence.
template <typename Body> kept_status through(kept_error *error, Body body) {
  kept_error found{ KEPT_OK, 0, -1, "kept.hpp returns it without a message" };
  try {
    found.status = body();
  } catch (const kept::error &thrown) {
    found = { thrown.status(), 0, thrown.offset(), "" };
    std::strncpy(found.message, thrown.what(), sizeof found.message - 1);
  }
  if (found.status != KEPT_OK && error) *error = found;
  return found.status;
}

// A handle of the runner as an object of C++, which does not end it.
template <typename Object> struct lent : Object {
  template <typename Handle> explicit lent(Handle *handle) : Object(handle) {}
  ~lent() { this->release(); }
};

template <typename Value, typename Out> kept_status give(std::optional<Value> value, Out *out) {
  if (value && out) *out = *std::move(value);
  return value ? KEPT_OK : KEPT_ABSENT;
}

kept_status give_text(const std::optional<std::string> &text, char **out) {
  if (text) *out = strdup(text->c_str());
  return text ? KEPT_OK : KEPT_ABSENT;
}

template <typename Value> kept_status get(kept_store *store, const char *key, Value *out, kept_error *error) {
  return through(error, [&] { return give(lent<kept::snapshot>(store).get<Value>(key), out); });
}

template <typename Value> kept_status set(kept_store *store, const char *key, const Value &value, kept_error *error) {
  return through(error, [&] { return lent<kept::transaction>(store).set(key, value); });
}

// A value that is copied into a buffer.
template <typename Value>
kept_status copy(kept_store *store, const char *key, void *buffer, std::size_t capacity, std::size_t *length,
  std::size_t end, kept_error *error) {
  return through(error, [&]() -> kept_status {
    const auto value = lent<kept::snapshot>(store).get<Value>(key);
    if (!value) return KEPT_ABSENT;
    *length = value->size();
    if (value->size() + end > capacity) return KEPT_TOO_LARGE;
    if (capacity > 0) std::memcpy(buffer, value->data(), value->size() + end);
    return KEPT_OK;
  });
}

// The stores, by their handles. They report errors, so they exist until the program ends.
std::list<kept::store> stores;

kept::store &store_of(kept_store *handle) {
  static kept::store none;
  for (kept::store &store : stores)
    if (store.handle() == handle) return store;
  return none;
}

} // namespace

// Defines a function, after a check that it has the signature in kept.h.
#define THROUGH(name, ...) \
  extern "C" decltype(kept_##name) through_##name; \
  kept_status through_##name(__VA_ARGS__, kept_error *error)

THROUGH(open, const char *location, const kept_options *options, kept_store **store) {
  return through(error, [&]() -> kept_status {
    kept::options how;
    static_cast<kept_options &>(how) = *options;
    if (options->report) {
      how.on_report = [report = options->report, context = options->report_context](const kept::error &reported) {
        kept_error reason{ reported.status(), 0, reported.offset(), "" };
        std::strncpy(reason.message, reported.what(), sizeof reason.message - 1);
        report(context, &reason);
      };
    }
    stores.emplace_back(location, how);
    *store = stores.back().handle();
    return stores.back().salvaged() ? KEPT_SALVAGED : KEPT_OK;
  });
}
extern "C" decltype(kept_close) through_close;
void through_close(kept_store *store) { store_of(store).close(); }
THROUGH(flush, kept_store *store) {
  return through(error, [&] { return lent<kept::store>(store).flush(), KEPT_OK; });
}
THROUGH(salvaged, kept_store *store, char **quarantine) {
  return through(error, [&] { return give_text(store_of(store).salvaged(), quarantine); });
}
THROUGH(register_json, kept_store *store, const char *json) {
  return through(error, [&] { return lent<kept::store>(store).register_defaults(json), KEPT_OK; });
}

THROUGH(get_bool, kept_store *store, const char *key, bool *out) { return get(store, key, out, error); }
THROUGH(get_int64, kept_store *store, const char *key, std::int64_t *out) { return get(store, key, out, error); }
THROUGH(get_uint64, kept_store *store, const char *key, std::uint64_t *out) { return get(store, key, out, error); }
THROUGH(get_double, kept_store *store, const char *key, double *out) { return get(store, key, out, error); }
THROUGH(set_bool, kept_store *store, const char *key, bool value) { return set(store, key, value, error); }
THROUGH(set_int64, kept_store *store, const char *key, std::int64_t value) { return set(store, key, value, error); }
THROUGH(set_uint64, kept_store *store, const char *key, std::uint64_t value) { return set(store, key, value, error); }
THROUGH(set_double, kept_store *store, const char *key, double value) { return set(store, key, value, error); }
THROUGH(get_date, kept_store *store, const char *key, std::int64_t *seconds, std::int32_t *nanoseconds) {
  kept::date date;
  const kept_status status = get(store, key, &date, error);
  if (status == KEPT_OK) *seconds = date.seconds, *nanoseconds = date.nanoseconds;
  return status;
}
THROUGH(set_date, kept_store *store, const char *key, std::int64_t seconds, std::int32_t nanoseconds) {
  return set(store, key, kept::date{ seconds, nanoseconds }, error);
}
THROUGH(get_string, kept_store *store, const char *key, char *buffer, std::size_t capacity, std::size_t *length) {
  return copy<std::string>(store, key, buffer, capacity, length, 1, error);
}
THROUGH(set_string, kept_store *store, const char *key, const char *text, std::size_t length) {
  return set(store, key, std::string_view(text, length), error);
}
THROUGH(get_bytes, kept_store *store, const char *key, void *buffer, std::size_t capacity, std::size_t *length) {
  return copy<kept::bytes>(store, key, buffer, capacity, length, 0, error);
}
THROUGH(set_bytes, kept_store *store, const char *key, const void *bytes, std::size_t length) {
  const std::byte *begin = static_cast<const std::byte *>(bytes);
  return set(store, key, kept::bytes(begin, begin + length), error);
}
THROUGH(get_json, kept_store *store, const char *key, char **json) {
  kept::json found;
  const kept_status status = get(store, key, &found, error);
  return status == KEPT_OK ? give_text(found.text, json) : status;
}
THROUGH(set_json, kept_store *store, const char *key, const char *json) {
  return set(store, key, kept::json{ json }, error);
}
THROUGH(
  set_json_if, kept_store *store, const char *key, const char *json, std::uint64_t expected, std::uint64_t *revision) {
  return through(error, [&] { return lent<kept::store>(store).set_if(key, kept::json{ json }, expected, revision); });
}

THROUGH(contains, kept_store *store, const char *key, bool *out) {
  return through(error, [&] { return give(std::optional(lent<kept::snapshot>(store).contains(key)), out); });
}
THROUGH(list, kept_store *store, const char *prefix, kept_list_callback callback, void *context) {
  return through(error, [&] {
    for (const std::string &key : lent<kept::snapshot>(store).keys(prefix)) callback(context, key.c_str());
    return KEPT_OK;
  });
}
THROUGH(revision_of, kept_store *store, const char *key, std::uint64_t *revision) {
  return through(error, [&] { return give(lent<kept::snapshot>(store).revision_of(key), revision); });
}
THROUGH(store_revision, kept_store *store, std::uint64_t *revision) {
  return through(error, [&] { return give(std::optional(lent<kept::snapshot>(store).revision()), revision); });
}
THROUGH(layer_of, kept_store *store, const char *key, std::uint32_t *layer) {
  return through(error, [&] { return give(std::optional(lent<kept::snapshot>(store).layer_of(key)), layer); });
}
THROUGH(explain_json, kept_store *store, const char *key, char **json) {
  return through(error, [&] { return give_text(lent<kept::snapshot>(store).explain(key), json); });
}
THROUGH(remove, kept_store *store, const char *key) {
  return through(error, [&] { return lent<kept::transaction>(store).remove(key); });
}
THROUGH(reset, kept_store *store, const char *key) {
  return through(error, [&] { return lent<kept::transaction>(store).reset(key); });
}
THROUGH(remove_all, kept_store *store, const char *prefix, std::size_t *removed) {
  return through(
    error, [&] { return give(std::optional(lent<kept::transaction>(store).remove_all(prefix)), removed); });
}
THROUGH(rename, kept_store *store, const char *key, const char *to) {
  return through(error, [&] { return lent<kept::transaction>(store).rename(key, to); });
}

THROUGH(declare_json, kept_store *store, const char *key, const char *schema) {
  return through(error, [&] { return lent<kept::transaction>(store).declare(key, schema); });
}
THROUGH(declare_list, kept_store *store, const char *schema) {
  return through(error, [&] { return lent<kept::transaction>(store).declare_list(schema); });
}
THROUGH(declare_file, kept_store *store, const char *path) {
  return through(error, [&] { return lent<kept::store>(store).declare_file(path); });
}
THROUGH(undeclare, kept_store *store, const char *key) {
  return through(error, [&] { return lent<kept::transaction>(store).undeclare(key); });
}
THROUGH(declaration_json, kept_store *store, const char *key, char **schema) {
  return through(error, [&] { return give_text(lent<kept::snapshot>(store).declaration(key), schema); });
}
THROUGH(declarations_json, kept_store *store, const char *prefix, char **schema) {
  return through(error, [&] { return give_text(kept::text_of(kept_declarations_json, store, prefix), schema); });
}

THROUGH(begin, kept_store *store, const kept_transaction_options *options, kept_store **transaction) {
  return through(error, [&] {
    kept::transaction_options how;
    static_cast<kept_transaction_options &>(how) = *options;
    *transaction = lent<kept::store>(store).begin(how).release();
    return KEPT_OK;
  });
}
THROUGH(commit, kept_store *transaction, std::uint64_t *revision) {
  return through(error, [&] { return give(std::optional(lent<kept::transaction>(transaction).commit()), revision); });
}
extern "C" decltype(kept_rollback) through_rollback;
void through_rollback(kept_store *transaction) { lent<kept::transaction>{ transaction }.rollback(); }
THROUGH(snapshot, kept_store *store, const char *prefix, kept_store **snapshot) {
  return through(error, [&] { return *snapshot = lent<kept::store>(store).snapshot(prefix).release(), KEPT_OK; });
}
THROUGH(snapshot_at, kept_store *store, const char *prefix, std::uint64_t revision, kept_store **snapshot) {
  return through(error, [&] {
    *snapshot = lent<kept::store>(store).snapshot_at(revision, prefix).release();
    return KEPT_OK;
  });
}
extern "C" decltype(kept_snapshot_end) through_snapshot_end;
void through_snapshot_end(kept_store *snapshot) { kept::snapshot ended(snapshot); }

THROUGH(migrate, kept_store *store, const kept_migration *steps, std::size_t count, std::uint32_t flags,
  std::uint32_t *result, char **) {
  return through(error, [&] {
    std::vector<kept::migration> migrations;
    for (std::size_t i = 0; i < count; i++)
      migrations.push_back({ steps[i].version, steps[i].name, [step = steps[i]](kept::transaction &transaction) {
                              kept_error reason;
                              reason.status = step.run(step.context, transaction.handle(), &reason);
                              reason.offset = -1;
                              if (reason.status < 0) throw kept::error(reason);
                            } });
    *result = lent<kept::store>(store).migrate(migrations, flags).result;
    return KEPT_OK;
  });
}

THROUGH(observe, kept_store *store, const char *key, std::uint32_t flags, kept_notice_callback callback, void *context,
  void (*release)(void *), kept_subscription **subscription) {
  return through(error, [&] {
    static std::list<kept::subscription> subscriptions;
    kept::subscription &made = subscriptions.emplace_back();
    const std::shared_ptr<void> end(context, release);
    lent<kept::store>(store).observe(
      made, key, flags, [&made, subscription, callback, end](const kept::notice &notice) {
        *subscription = made.handle();
        callback(end.get(), notice.handle());
      });
    *subscription = made.handle();
    return KEPT_OK;
  });
}
extern "C" decltype(kept_unobserve) through_unobserve;
void through_unobserve(kept_subscription *subscription) { lent<kept::subscription>{ subscription }.end(); }

#define THROUGH_NOTICE(result, name, call) \
  extern "C" decltype(kept_notice_##name) through_notice_##name; \
  result through_notice_##name(const kept_notice *notice) { return kept::notice(notice).call; }
#define THROUGH_CHANGE(result, name, call) \
  extern "C" decltype(kept_notice_##name) through_notice_##name; \
  result through_notice_##name(const kept_notice *notice, std::size_t index) { \
    return call(kept::notice(notice)[index]); \
  }

static const char *text(const std::optional<kept::json> &json) {
  static thread_local kept::json last;
  if (json) last = *json;
  return json ? last.text.c_str() : nullptr;
}

THROUGH_NOTICE(std::uint64_t, revision, revision())
THROUGH_NOTICE(std::uint64_t, first_revision, first_revision())
THROUGH_NOTICE(std::uint32_t, origin, origin())
THROUGH_NOTICE(const char *, tag, tag().value_or(std::string_view()).data())
THROUGH_NOTICE(std::int64_t, time, time().time_since_epoch().count())
THROUGH_NOTICE(bool, may_have_missed, may_have_missed())
THROUGH_NOTICE(std::size_t, count, size())
THROUGH_CHANGE(const char *, key, [](kept::change change) { return change.key().data(); })
THROUGH_CHANGE(const char *, old_json, [](kept::change change) { return text(change.before<kept::json>()); })
THROUGH_CHANGE(const char *, new_json, [](kept::change change) { return text(change.after<kept::json>()); })
THROUGH_CHANGE(std::uint32_t, layer, [](kept::change change) { return change.layer(); })
THROUGH_CHANGE(bool, secret, [](kept::change change) { return change.is_secret(); })
