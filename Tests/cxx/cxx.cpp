// What kept.hpp adds to kept.h: exceptions, optionals, ownership, typed keys and lambdas.
#include <kept.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

extern "C" {
#include "suite.h"
}

// Of Swift's runtime.
extern "C" const char *__lsan_default_suppressions() { return "leak:libkept.so"; }

namespace {

// The status of the error that a call throws, whose sentence is then in `thrown`; KEPT_OK if it throws none.
std::string thrown;
template <typename Call> kept_status status_of(Call call) {
  try {
    call();
    return KEPT_OK;
  } catch (const kept::error &error) {
    thrown = error.what();
    return error.status();
  }
}

const std::string with_nul("a\0b", 3);

enum class theme { dark, light };

inline const kept::key<int> volume{ "audio.volume", 50 };
inline const kept::key<double> speed{ "speed", 1.5 };
inline const kept::key<bool> muted{ "muted" };
inline const kept::key<std::string> title{ "title", "none" };
inline const kept::key<theme> shown{ "theme", theme::light };
inline const kept::key<std::optional<int>> limit{ "limit" };
inline const kept::key<std::optional<std::string>> owner{ "owner" };

// A store whose callbacks are made by dispatch().
kept::options by_host() {
  kept::options how;
  how.delivery = KEPT_BY_HOST;
  return how;
}

} // namespace

template <> struct kept::codec<theme> {
  using stored = std::string;
  static stored encode(theme value) { return value == theme::dark ? "dark" : "light"; }
  static std::optional<theme> decode(const stored &value) {
    if (value == "dark") return theme::dark;
    if (value == "light") return theme::light;
    return std::nullopt;
  }
};

TEST(a_value_of_each_kind_reads_back) {
  kept::store store(fresh_location());
  const kept::bytes bytes{ std::byte{ 0 }, std::byte{ 255 } };
  store.set("bool", true);
  store.set("int", -7);
  store.set("long long", 1LL << 40);
  store.set("unsigned", UINT64_MAX);
  store.set("double", 0.1);
  store.set("literal", "dark");
  store.set("string", with_nul);
  store.set("view", std::string_view("dark blue", 4));
  store.set("date", kept::date{ -1, 999999999 });
  store.set("bytes", bytes);
  store.set("json", kept::json{ "[1, 2]" });
  CHECK(store.get<bool>("bool") == true);
  CHECK(store.get<int>("int") == -7);
  CHECK(store.get<long long>("long long") == 1LL << 40);
  CHECK(store.get<std::uint64_t>("unsigned") == UINT64_MAX);
  CHECK(store.get<double>("double") == 0.1);
  CHECK(store.get<std::string>("literal") == "dark");
  CHECK(store.get<std::string>("string") == with_nul);
  CHECK(store.get<std::string>("view") == "dark");
  CHECK(store.get<kept::date>("date")->seconds == -1 && store.get<kept::date>("date")->nanoseconds == 999999999);
  CHECK(store.get<kept::bytes>("bytes") == bytes);
  CHECK(store.get<kept::json>("json")->text == "[1,2]");
}

TEST(empty_and_long_values_read_back) {
  kept::store store(fresh_location());
  for (std::size_t length : { 0u, 1u, 15u, 16u, 1000u, 100000u }) {
    const std::string text(length, 'x');
    const kept::bytes bytes(length, std::byte{ 7 });
    store.set("text", text);
    store.set("bytes", bytes);
    CHECK(store.get<std::string>("text") == text);
    CHECK(store.get<kept::bytes>("bytes") == bytes);
  }
}

TEST(an_integer_that_the_type_cannot_hold_is_a_wrong_type) {
  kept::store store(fresh_location());
  store.set("a", 300);
  CHECK_INT(KEPT_WRONG_TYPE, status_of([&] { store.get<std::int8_t>("a"); }));
  CHECK(store.get<std::int16_t>("a") == 300);
  store.set("a", -1);
  CHECK_INT(KEPT_WRONG_TYPE, status_of([&] { store.get<unsigned>("a"); }));
  store.set("a", 3.0);
  CHECK(store.get<int>("a") == 3);
}

TEST(an_absent_value_is_empty_and_a_wrong_type_throws) {
  kept::store store(fresh_location());
  CHECK(!store.get<int>("a") && !store.get<std::string>("a") && !store.get<kept::bytes>("a"));
  CHECK(!store.get<kept::json>("a") && !store.revision_of("a") && !store.declaration("a"));
  store.set("a", "text");
  CHECK_INT(KEPT_WRONG_TYPE, status_of([&] { store.get<int>("a"); }));
  CHECK(thrown.find("\"a\"") != thrown.npos);
  try {
    store.set("a", kept::json{ "[1,]" });
    CHECK(false);
  } catch (const std::exception &error) { CHECK_INT(3, dynamic_cast<const kept::error &>(error).offset()); }
}

TEST(text_with_a_NUL_is_refused_where_C_would_see_a_part_of_it) {
  kept::store store(fresh_location());
  CHECK_INT(KEPT_INVALID, status_of([&] { store.set(with_nul, 1); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { store.get<int>(std::string_view(with_nul)); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { store.keys(with_nul); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { store.declare(with_nul, "{\"type\":\"integer\"}"); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { store.set("a", kept::json{ std::string("1\0", 2) }); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { kept::store other(with_nul); }));
  CHECK(store.keys().empty());
}

TEST(a_null_text_is_invalid) {
  kept::store store(fresh_location());
  const char *none = nullptr;
  CHECK_INT(KEPT_INVALID, status_of([&] { store.set("a", none); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { store.set(none, 1); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { store.get<int>(none); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { kept::store other(none); }));
  store.set("a", std::string_view());
  CHECK(store.get<std::string>("a") == "");
}

TEST(a_handle_that_was_moved_from_is_invalid_and_the_other_works) {
  kept::store store(fresh_location());
  kept::transaction transaction = store.begin();
  kept::snapshot snapshot = store.snapshot();
  kept::subscription subscription = store.poll("", KEPT_OBSERVE_PREFIX);
  kept::transaction transaction2 = std::move(transaction);
  kept::snapshot snapshot2 = std::move(snapshot);
  kept::subscription subscription2 = std::move(subscription);
  CHECK_INT(KEPT_INVALID, status_of([&] { transaction.set("a", 1); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { transaction.commit(); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { snapshot.get<int>("a"); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { subscription.take(); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { subscription.fd(); }));
  transaction.rollback();
  subscription.end();
  transaction2.set("a", 1);
  transaction2.commit();
  CHECK(!snapshot2.get<int>("a"));
  CHECK(subscription2.take().has_value());

  kept::store store2 = std::move(store);
  CHECK_INT(KEPT_INVALID, status_of([&] { store.get<int>("a"); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { store.get<std::string>("a"); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { store.get(volume); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { store.set("a", 1); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { store.keys(); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { store.flush(); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { store.begin(); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { store.transact([](kept::transaction &) {}); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { store.snapshot(); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { store.migrate({}); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { (void)store.poll("", 0); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { (void)store.observe("", 0, [](const kept::notice &) {}); }));
  store.close();
  CHECK(store2.get<int>("a") == 1);
  store = std::move(store2);
  CHECK(store.get<int>("a") == 1);
  store.close();
  CHECK_INT(KEPT_CLOSED, status_of([&] { store.get<int>("a"); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { kept::store().get<int>("a"); }));
}

TEST(warnings_and_absence_are_statuses) {
  const char *arguments[] = { "program", "-shadowed", "1" };
  kept::options how;
  how.argv = arguments;
  how.argc = 3;
  kept::store store(fresh_location(), how);
  CHECK_INT(KEPT_SHADOWED, store.set("shadowed", 2));
  CHECK_INT(KEPT_SHADOWED, store.remove("shadowed"));
  CHECK_INT(KEPT_OK, store.set("plain", "text"));
  CHECK_INT(KEPT_MISFIT, store.declare("plain", "{\"type\":\"integer\"}"));
  CHECK_INT(KEPT_OK, store.undeclare("plain"));
  CHECK_INT(KEPT_ABSENT, store.undeclare("plain"));
  CHECK_INT(KEPT_OK, store.remove("plain"));
  CHECK_INT(KEPT_ABSENT, store.remove("plain"));
  CHECK_INT(KEPT_OK, store.reset("plain"));
}

TEST(a_typed_key_has_a_default_and_is_checked) {
  kept::store store(fresh_location());
  CHECK_INT(50, store.get(volume));
  CHECK(store.get(speed) == 1.5 && !store.get(muted) && store.get(title) == "none" && store.get(shown) == theme::light);
  store.declare("audio.volume", "{\"type\":\"integer\",\"default\":40,\"maximum\":100}");
  CHECK_INT(40, store.get(volume));
  store.set(volume, 70);
  store.set(speed, 2);
  store.set(muted, true);
  store.set(title, "Blue");
  store.set(shown, theme::dark);
  CHECK_INT(70, store.get(volume));
  CHECK(store.get(speed) == 2.0 && store.get(muted) && store.get(title) == "Blue" && store.get(shown) == theme::dark);
  CHECK(store.get<std::string>("theme") == "dark");
  CHECK_INT(KEPT_INVALID, status_of([&] { store.set(volume, 101); }));
  store.set("theme", "pink");
  CHECK_INT(KEPT_WRONG_TYPE, status_of([&] { store.get(shown); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { store.get(kept::key<int>("")); }));
}

TEST(a_key_of_an_optional_has_no_default_and_is_reset_by_nullopt) {
  kept::store store(fresh_location());
  CHECK(!store.get(limit) && !store.get(owner));
  store.set(limit, 5);
  store.set(owner, "me");
  CHECK(store.get(limit) == 5 && store.get(owner) == "me");
  store.set(limit, std::nullopt);
  store.set(owner, {});
  CHECK(!store.get(limit) && !store.get(owner) && store.keys().empty());
}

TEST(any_function_of_kept_h_can_be_called) {
  kept::store store(fresh_location());
  store.set("a", 1);
  CHECK_INT(KEPT_OK, kept::call(kept_set_bool, store.handle(), "b", true));
  CHECK(kept::value_of<bool>(kept_contains, store.handle(), "b"));
  CHECK(kept::text_of(kept_list_json, store.handle(), "") == "[\"a\",\"b\"]");
  CHECK(!kept::text_of(kept_declaration_json, store.handle(), "a"));
  CHECK_INT(KEPT_WRONG_TYPE, status_of([&] { kept::value_of<bool>(kept_get_bool, store.handle(), "a"); }));
  CHECK(store.explain("a").find("user") != std::string::npos);
  CHECK_UINT(KEPT_LAYER_USER, store.layer_of("a"));
}

TEST(a_transaction_is_rolled_back_unless_it_is_committed) {
  kept::store store(fresh_location());
  {
    kept::transaction transaction = store.begin();
    transaction.set("a", 1);
    CHECK(transaction.get<int>("a") == 1);
  }
  CHECK(!store.contains("a"));
  kept::transaction transaction = store.begin();
  transaction.set("a", 1);
  CHECK_UINT(1, transaction.commit());
  CHECK_INT(KEPT_CLOSED, status_of([&] { transaction.set("a", 2); }));
  CHECK(store.get<int>("a") == 1);
}

TEST(transact_begins_again_after_a_conflict_and_returns_the_result) {
  kept::store store(fresh_location());
  int runs = 0;
  const int before = store.transact([&](kept::transaction &transaction) {
    const int found = transaction.get<int>("a").value_or(0);
    if (++runs == 1) store.set("a", 10);
    transaction.set("a", found + 1);
    return found;
  });
  CHECK_INT(2, runs);
  CHECK_INT(10, before);
  CHECK(store.get<int>("a") == 11);

  struct stopped {};
  try {
    store.transact([](kept::transaction &transaction) {
      transaction.set("a", 0);
      throw stopped();
    });
    CHECK(false);
  } catch (const stopped &) {}
  CHECK(store.get<int>("a") == 11);
}

TEST(transact_gives_up_after_the_busy_timeout) {
  kept::options how;
  how.busy_timeout_ms = 0;
  kept::store store;
  store = kept::store(fresh_location(), how);
  int runs = 0;
  const auto always_late = [&](kept::transaction &transaction) {
    transaction.get<int>("a");
    store.set("a", ++runs);
    transaction.set("a", 0);
  };
  CHECK_INT(KEPT_CONFLICT, status_of([&] { store.transact(always_late); }));
  CHECK_INT(1, runs);
}

TEST(compare_and_set_returns_a_conflict) {
  kept::store store(fresh_location());
  std::uint64_t revision = 0;
  CHECK_INT(KEPT_OK, store.set_if("a", kept::json{ "1" }, 0, &revision));
  CHECK_INT(KEPT_CONFLICT, store.set_if("a", kept::json{ "2" }, 0));
  CHECK_INT(KEPT_OK, store.set_if("a", kept::json{ "2" }, revision));
  CHECK_INT(KEPT_INVALID, status_of([&] { store.set_if("a", kept::json{ "null" }, 2); }));
}

TEST(a_snapshot_shows_one_revision) {
  kept::store store(fresh_location());
  store.set("a", 1);
  const kept::snapshot snapshot = store.snapshot();
  store.set("a", 2);
  store.set("b", 2);
  CHECK(snapshot.get<int>("a") == 1 && snapshot.keys() == std::vector<std::string>{ "a" });
  CHECK_UINT(1, snapshot.revision());
  CHECK_UINT(3, store.revision());
}

TEST(a_lambda_receives_changes_and_is_destroyed_with_its_subscription) {
  kept::store store(fresh_location(), by_host());
  const auto owned = std::make_shared<int>(0);
  std::vector<std::string> seen;
  kept::subscription subscription = store.observe("", KEPT_OBSERVE_PREFIX, [&seen, owned](const kept::notice &notice) {
    for (const kept::change change : notice) {
      seen.push_back(std::string(change.key()) + " " + std::to_string(change.before<int>().value_or(0)) + " " +
        std::to_string(change.after<int>().value_or(0)));
      CHECK_UINT(change.after<int>() ? KEPT_LAYER_USER : KEPT_LAYER_NONE, change.layer());
      CHECK(!change.is_secret());
    }
    CHECK(notice.origin() == KEPT_ORIGIN_STORE && !notice.tag() && !notice.may_have_missed());
    CHECK(notice.time().time_since_epoch().count() > 0 && notice.revision() == notice.first_revision());
  });
  CHECK_INT(2, owned.use_count());
  store.set("a", 1);
  store.remove("a");
  CHECK(store.fd() >= 0);
  CHECK_UINT(2, store.dispatch());
  CHECK((seen == std::vector<std::string>{ "a 0 1", "a 1 0" }));
  kept::subscription other = std::move(subscription);
  other = kept::subscription();
  CHECK_INT(1, owned.use_count());
  CHECK_INT(KEPT_INVALID, status_of([&] { (void)store.observe(with_nul, 0, [owned](const kept::notice &) {}); }));
  CHECK_INT(KEPT_INVALID, status_of([&] { (void)store.observe("", 0, [owned](const kept::notice &) {}); }));
  CHECK_INT(1, owned.use_count());
}

TEST(values_of_every_kind_are_read_from_a_change) {
  kept::store store(fresh_location());
  kept::subscription changes = store.poll("", KEPT_OBSERVE_PREFIX);
  const auto next = [&] { return changes.take().value(); };
  store.set("a", with_nul);
  CHECK(next()[0].after<std::string>() == with_nul);
  store.set("a", kept::bytes{ std::byte{ 0 } });
  CHECK(next()[0].after<kept::bytes>() == kept::bytes{ std::byte{ 0 } });
  store.set("a", kept::bytes());
  CHECK(next()[0].after<kept::bytes>() == kept::bytes());
  store.set("a", 1.5);
  CHECK(next()[0].after<double>() == 1.5);
  store.set("a", UINT64_MAX);
  CHECK(next()[0].after<std::uint64_t>() == UINT64_MAX);
  store.set("a", kept::date{ 5, 6 });
  CHECK(next()[0].after<kept::date>()->nanoseconds == 6);
  store.set("a", true);
  CHECK(next()[0].after<bool>() == true);
  store.set("a", kept::json{ "{}" });
  CHECK(next()[0].after<kept::json>()->text == "{}");
  store.set("a", "dark");
  CHECK(next()[0].after<theme>() == theme::dark);
  store.set("a", "pink");
  kept::taken_notice last = next();
  CHECK_INT(KEPT_WRONG_TYPE, status_of([&] { last[0].after<theme>(); }));
  CHECK_INT(KEPT_WRONG_TYPE, status_of([&] { last[0].after<int>(); }));
  store.remove("a");
  CHECK(!next()[0].after<kept::json>());
  changes.end();
  kept::taken_notice moved = std::move(last);
  CHECK(moved[0].before<std::string>() == "dark" && last.size() == 0 && last.revision() == 0);
  last = std::move(moved);
  CHECK(last[0].before<std::string>() == "dark" && moved.size() == 0);
  CHECK_INT(KEPT_CLOSED, status_of([&] { changes.take(); }));
}

TEST(an_exception_that_leaves_an_observer_is_reported) {
  std::vector<std::string> reported;
  kept::options how = by_host();
  how.on_report = [&](const kept::error &error) {
    reported.push_back(std::string(kept_status_text(error.status())) + ": " + error.what());
  };
  kept::store opened(fresh_location(), how);
  kept::store store = std::move(opened);
  kept::subscription subscription = store.observe("", KEPT_OBSERVE_PREFIX, [](const kept::notice &notice) {
    if (notice[0].key() == "a") notice[0].after<int>();
    if (notice[0].key() == "b") throw std::out_of_range("too far");
    throw 1;
  });
  store.set("a", "text");
  store.set("b", 1);
  store.set("c", 1);
  CHECK_UINT(3, store.dispatch());
  CHECK_UINT(3, reported.size());
  CHECK(reported.at(0).find("wrong type: ") == 0);
  CHECK(reported.at(1) == "failed: an observer has thrown: too far");
  CHECK(reported.at(2).find("failed: an observer has thrown") == 0);
}

TEST(without_a_report_an_exception_that_leaves_an_observer_terminates) {
  const pid_t forked = fork();
  if (forked == 0) {
    std::set_terminate([] { _exit(42); });
    kept::store store("memory:", by_host());
    kept::subscription subscription = store.observe("a", 0, [](const kept::notice &) { throw 1; });
    store.set("a", 1);
    store.dispatch();
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(forked, &status, 0) == forked && WIFEXITED(status));
  CHECK_INT(42, WEXITSTATUS(status));
}

TEST(an_observer_ends_itself_in_its_first_call) {
  kept::store store(fresh_location(), by_host());
  int calls = 0;
  kept::subscription subscription;
  store.observe(subscription, "a", KEPT_OBSERVE_INITIAL, [&](const kept::notice &) {
    calls++;
    subscription.end();
  });
  store.set("a", 1);
  store.dispatch();
  CHECK_INT(1, calls);
}

#ifdef __SANITIZE_ADDRESS__
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();

TEST(texts_and_notices_that_the_library_allocates_are_freed) {
  kept::store store(fresh_location());
  store.set("a", std::string(1000, 'x'));
  const auto after_reads = [&](int count) {
    for (int i = 0; i < count; i++) {
      CHECK(store.get<kept::json>("a")->text.size() == 1002);
      CHECK(store.poll("a", KEPT_OBSERVE_INITIAL).take().has_value());
    }
    return __sanitizer_get_current_allocated_bytes();
  };
  const std::size_t before = after_reads(100);
  CHECK(after_reads(1000) < before + 100000);
}
#endif

TEST(the_report_exists_as_long_as_its_store) {
  const auto owned = std::make_shared<int>(0);
  std::vector<kept_status> reported;
  const auto opened = [&] {
    kept::options how;
    how.tag = "test";
    how.on_report = [&reported, owned](const kept::error &error) { reported.push_back(error.status()); };
    return kept::store(fresh_location(), std::move(how));
  };
  kept::store store = opened();
  store = opened();
  CHECK_INT(2, owned.use_count());
  store.declare("old", "{\"type\":\"integer\",\"deprecated\":true}");
  store.set("old", 1);
  CHECK(reported == std::vector<kept_status>{ KEPT_DEPRECATED });
  store = kept::store();
  CHECK_INT(1, owned.use_count());
}

FOLDER_TEST(what_a_store_reports_while_it_is_destroyed_arrives) {
  const std::string folder = fresh_folder();
  std::vector<kept_status> reported;
  {
    kept::options how;
    how.on_report = [&](const kept::error &error) { reported.push_back(error.status()); };
    kept::store store(folder, how);
    store.set("a", 1);
    CHECK_INT(0, std::rename(folder.c_str(), (folder + ".moved").c_str()));
  }
  CHECK(reported == std::vector<kept_status>{ KEPT_UNAVAILABLE });
  CHECK_INT(0, std::rename((folder + ".moved").c_str(), folder.c_str()));
}

FOLDER_TEST(migration_steps_are_lambdas_and_their_exceptions_arrive) {
  kept::store store(fresh_location());
  store.set("volume", 1);
  const auto rename = [](kept::transaction &transaction) { transaction.rename("volume", "audio.volume"); };
  const auto misread = [](kept::transaction &transaction) { transaction.get<std::string>("audio.volume"); };
  struct stopped {};
  const auto stop = [](kept::transaction &) { throw stopped(); };
  CHECK_INT(
    KEPT_WRONG_TYPE, status_of([&] { store.migrate({ { 1, "renames", rename }, { 2, "misreads", misread } }); }));
  CHECK(thrown.find("misreads") != thrown.npos);
  try {
    store.migrate({ { 1, "renames", rename }, { 2, "stops", stop } });
    CHECK(false);
  } catch (const stopped &) {}
  const auto miss = [](kept::transaction &transaction) { transaction.rename("nowhere", "audio.volume"); };
  CHECK_INT(KEPT_ABSENT, status_of([&] { store.migrate({ { 1, "misses", miss } }); }));
  const auto succeed = [](kept::transaction &transaction) {
    transaction.set("volume", 2);
    throw kept::error(KEPT_OK, "why");
  };
  CHECK_INT(KEPT_FAILED, status_of([&] { store.migrate({ { 1, "succeeds", succeed } }); }));
  CHECK(store.get<int>("volume") == 1);
  const kept::migrated done = store.migrate({ { 1, "renames", rename } }, KEPT_MIGRATE_CONFIRMED);
  CHECK_UINT(KEPT_MIGRATED, done.result);
  CHECK(done.backup && store.get(volume) == 1 && !store.contains("volume"));
  CHECK_UINT(KEPT_MIGRATED_NOTHING, store.migrate({ { 1, "renames", rename } }).result);
}
