// SPDX-License-Identifier: MIT
//
// kept.hpp — kept.h for C++17 and later, header only. docs/guide/cxx.md is its guide, and kept.h its reference: a
// function here does what the function of the same name there does.
//
// Conventions:
//
// - An error is an exception, kept::error, with the status, the message and the offset of kept_error. A missing value
//   is not an error: it is an empty std::optional, or KEPT_ABSENT where a function returns a kept_status. Such a
//   function returns KEPT_OK, or the warning of kept.h.
// - Handles own what they refer to and can be moved, not copied. Every use of a handle that was moved from, or made
//   without arguments, throws KEPT_INVALID, and every use of one that was closed or ended KEPT_CLOSED.
// - Text is UTF-8. Keys, prefixes, paths and JSON may be any of `const char *`, std::string and std::string_view. One
//   with a NUL in it throws KEPT_INVALID, and never reaches Kept as a part of itself. Values may contain NULs.
// - Handles may be used by several threads at once. Moving, assigning and destroying one is not thread-safe.
// - An exception never passes through Kept. One that leaves a body that Kept runs during your call (transact, migrate)
//   is thrown from that call. One that leaves an observer is reported to options::on_report; without on_report it
//   calls std::terminate, like one that leaves a std::thread.
#ifndef KEPT_HPP
#define KEPT_HPP

#include "kept.h"

#if __cplusplus < 201703L
#error "kept.hpp needs C++17 (-std=c++17); kept.h needs only C++98"
#endif
#if !defined(__cpp_exceptions)
#error "kept.hpp reports errors as exceptions; without them (-fno-exceptions) use kept.h, which returns a kept_status"
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace kept {

// ---------------------------------------------------------------------------------------------------------------------
// Errors, and calling the functions of kept.h that have no counterpart here
// ---------------------------------------------------------------------------------------------------------------------

/// The reason for a failure; what() is one sentence. In C: `kept_error`.
class error : public std::runtime_error {
 public:
  explicit error(const kept_error &reason) : error(reason.status, reason.message, reason.offset) {}
  error(kept_status status, const std::string &message, std::int64_t offset = -1)
      : std::runtime_error(message), status_(status), offset_(offset) {}

  /// One of the negative KEPT_… statuses; in a report also a warning.
  kept_status status() const noexcept { return status_; }
  /// The byte, from 0, at which a JSON text is wrong; -1 if not applicable.
  std::int64_t offset() const noexcept { return offset_; }

 private:
  kept_status status_;
  std::int64_t offset_;
};

/// Calls a function of kept.h that ends with an error, without passing it: `kept::call(kept_flush, store.handle())`.
/// Throws the error. Returns KEPT_OK or a warning.
template <typename Function, typename... Arguments>
kept_status call(Function *function, const Arguments &...arguments) {
  kept_error reason;
  const kept_status status = function(arguments..., &reason);
  if (status < 0) throw error(reason);
  return status;
}

/// The same, with KEPT_ABSENT as a result instead of an error.
template <typename Function, typename... Arguments>
kept_status lookup(Function *function, const Arguments &...arguments) {
  kept_error reason;
  const kept_status status = function(arguments..., &reason);
  if (status < 0 && status != KEPT_ABSENT) throw error(reason);
  return status;
}

/// The same, for a function whose last argument before the error receives a value, which is returned.
template <typename Value, typename Function, typename... Arguments>
Value value_of(Function *function, const Arguments &...arguments) {
  Value value{};
  call(function, arguments..., &value);
  return value;
}

/// Text that Kept has returned, which is freed. Empty for NULL.
inline std::optional<std::string> taken_text(char *text) {
  const std::unique_ptr<char, void (*)(void *)> owner(text, kept_free);
  return text != nullptr ? std::make_optional<std::string>(text) : std::nullopt;
}

/// The same, for a function whose last argument before the error receives text: `kept::text_of(kept_history_json,
/// store.handle(), "volume", 0u)`. Frees the text. Empty for KEPT_ABSENT, and if there is no text.
template <typename Function, typename... Arguments>
std::optional<std::string> text_of(Function *function, const Arguments &...arguments) {
  char *text = nullptr;
  lookup(function, arguments..., &text);
  return taken_text(text);
}

/// Text that ends with a NUL and contains no other, for the duration of a call.
class c_text {
 public:
  c_text(const char *text) : text_(text) {}
  c_text(const std::string &text) : text_(checked(text).data()) {}
  c_text(std::string_view text) : copy_(checked(text)), text_(copy_.c_str()) {}
  c_text(const c_text &) = delete;
  c_text &operator=(const c_text &) = delete;
  operator const char *() const noexcept { return text_; }

 private:
  static std::string_view checked(std::string_view text) {
    const std::size_t nul = text.find('\0');
    if (nul == text.npos) return text;
    throw error(KEPT_INVALID, "the text has a NUL; remove it, or write \\u0000 in a JSON string",
                static_cast<std::int64_t>(nul));
  }
  std::string copy_;
  const char *text_;
};

// ---------------------------------------------------------------------------------------------------------------------
// Values: bool, every integer type, double, std::string, date, bytes, json, and types with a codec
// ---------------------------------------------------------------------------------------------------------------------

/// A date: seconds since 1970-01-01T00:00:00Z, plus nanoseconds from 0 to 999,999,999.
struct date {
  std::int64_t seconds = 0;
  std::int32_t nanoseconds = 0;
};

/// Any value as JSON: arrays, objects, and values whose kind is not known.
struct json {
  std::string text;
};

using bytes = std::vector<std::byte>;

/// How a type of yours is stored. Specialise it with
///   using stored = …;                                      one of the types above
///   static stored encode(const T &value);
///   static std::optional<T> decode(const stored &value);   empty for a value that T does not have: KEPT_WRONG_TYPE
template <typename T>
struct codec;

/// A key with its type and default, to be declared once: `inline const kept::key<int> volume{"audio.volume", 50};`. It
/// is prepared when it is first used: see kept_key_prepare(). A key of a std::optional has no default.
template <typename T>
class key {
 public:
  constexpr explicit key(const char *name, T otherwise = T()) : name_(name), otherwise_(std::move(otherwise)) {}
  const char *name() const noexcept { return name_; }
  /// What get() returns if no layer has a value, and no declaration a default.
  const T &otherwise() const noexcept { return otherwise_; }
  const kept_key *prepared() const {
    const kept_key *found = prepared_.load(std::memory_order_acquire);
    if (found == nullptr) {
      call(kept_key_prepare, name_, &found);
      prepared_.store(found, std::memory_order_release);
    }
    return found;
  }

 private:
  const char *name_;
  T otherwise_;
  mutable std::atomic<const kept_key *> prepared_{nullptr};
};

namespace detail {

// Where a value is read: under a key, under a prepared key, or on one side of a change.
struct at_key {
  kept_store *store;
  const char *name;
};
struct at_prepared {
  kept_store *store;
  const kept_key *key;
  const char *name;
};
struct in_change {
  const kept_notice *notice;
  std::size_t index;
  bool after;
  const kept_value *value() const { return (after ? kept_notice_new : kept_notice_old)(notice, index); }
};

// A read, without the sentence for KEPT_ABSENT, which costs more than the read. Any other error is asked for again.
template <typename Function, typename... Arguments>
kept_status find(Function *function, const Arguments &...arguments) {
  const kept_status status = function(arguments..., nullptr);
  return status < 0 && status != KEPT_ABSENT ? lookup(function, arguments...) : status;
}

inline kept_status read(at_key k, bool &out) { return find(kept_get_bool, k.store, k.name, &out); }
inline kept_status read(at_key k, std::int64_t &out) { return find(kept_get_int64, k.store, k.name, &out); }
inline kept_status read(at_key k, std::uint64_t &out) { return find(kept_get_uint64, k.store, k.name, &out); }
inline kept_status read(at_key k, double &out) { return find(kept_get_double, k.store, k.name, &out); }
inline kept_status read(at_key k, date &out) {
  return find(kept_get_date, k.store, k.name, &out.seconds, &out.nanoseconds);
}
inline kept_status read(at_prepared k, bool &out) { return find(kept_key_get_bool, k.store, k.key, &out); }
inline kept_status read(at_prepared k, std::int64_t &out) { return find(kept_key_get_int64, k.store, k.key, &out); }
inline kept_status read(at_prepared k, double &out) { return find(kept_key_get_double, k.store, k.key, &out); }
inline kept_status read(in_change c, bool &out) { return find(kept_value_bool, c.value(), &out); }
inline kept_status read(in_change c, std::int64_t &out) { return find(kept_value_int64, c.value(), &out); }
inline kept_status read(in_change c, std::uint64_t &out) { return find(kept_value_uint64, c.value(), &out); }
inline kept_status read(in_change c, double &out) { return find(kept_value_double, c.value(), &out); }
inline kept_status read(in_change c, date &out) {
  return find(kept_value_date, c.value(), &out.seconds, &out.nanoseconds);
}

// Reads what may be longer than expected: another program may write a longer value in between. `end` is the room for
// the NUL, which std::string has behind its text.
template <typename Function, typename Key, typename Container>
kept_status read_buffer(Function *function, kept_store *store, Key key, Container &out, std::size_t end) {
  typename Container::value_type room[256];
  std::size_t length = 0;
  kept_status status = function(store, key, room, sizeof room, &length, nullptr);
  if (status == KEPT_OK) out.assign(room, room + length);
  while (status < 0 && status != KEPT_ABSENT) {
    kept_error reason;
    out.resize(length);
    status = function(store, key, out.data(), length + end, &length, &reason);
    if (status < 0 && status != KEPT_ABSENT && status != KEPT_TOO_LARGE) throw error(reason);
    if (status == KEPT_OK) out.resize(length);
  }
  return status;
}
inline kept_status read(at_key k, std::string &out) { return read_buffer(kept_get_string, k.store, k.name, out, 1); }
inline kept_status read(at_prepared k, std::string &out) {
  return read_buffer(kept_key_get_string, k.store, k.key, out, 1);
}
inline kept_status read(at_key k, bytes &out) { return read_buffer(kept_get_bytes, k.store, k.name, out, 0); }
inline kept_status read(in_change c, std::string &out) {
  const char *text = nullptr;
  std::size_t length = 0;
  const kept_status status = find(kept_value_string, c.value(), &text, &length);
  if (status == KEPT_OK) out.assign(text, length);
  return status;
}
inline kept_status read(in_change c, bytes &out) {
  const void *first = nullptr;
  std::size_t length = 0;
  const kept_status status = find(kept_value_bytes, c.value(), &first, &length);
  const std::byte *begin = static_cast<const std::byte *>(first);
  if (status == KEPT_OK) out.assign(begin, begin + length);
  return status;
}
inline kept_status read(at_key k, json &out) {
  std::optional<std::string> text = text_of(kept_get_json, k.store, k.name);
  if (text) out.text = std::move(*text);
  return text ? KEPT_OK : KEPT_ABSENT;
}
inline kept_status read(in_change c, json &out) {
  const char *text = (c.after ? kept_notice_new_json : kept_notice_old_json)(c.notice, c.index);
  if (text != nullptr) out.text = text;
  else if (c.value() != nullptr) throw std::bad_alloc();
  return text != nullptr ? KEPT_OK : KEPT_ABSENT;
}
// Kinds for which kept.h has no prepared keys.
template <typename T>
kept_status read(at_prepared k, T &out) { return read(at_key{k.store, k.name}, out); }

template <typename T, typename... Types>
constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);
template <typename T>
constexpr bool is_kind = is_one_of<T, bool, std::int64_t, std::uint64_t, double, std::string, date, bytes, json>;
template <typename T>
constexpr bool is_integer = std::is_integral_v<T> && !is_one_of<T, bool, char, wchar_t, char16_t, char32_t>;

template <typename T>
constexpr bool is_optional = false;
template <typename T>
constexpr bool is_optional<std::optional<T>> = true;
// What a key stores.
template <typename T>
using payload = typename std::conditional_t<is_optional<T>, T, std::optional<T>>::value_type;

inline error misfit() {
  return error(KEPT_WRONG_TYPE, "the stored value is not one that the program's type can hold");
}

template <typename T, typename Source>
std::optional<T> get(Source source) {
  if constexpr (is_kind<T>) {
    T value{};
    return read(source, value) == KEPT_ABSENT ? std::nullopt : std::optional<T>(std::move(value));
  } else if constexpr (is_integer<T>) {
    using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    const std::optional<wide> value = get<wide>(source);
    if (!value) return std::nullopt;
    const T narrowed = static_cast<T>(*value);
    if (static_cast<wide>(narrowed) != *value) throw misfit();
    return narrowed;
  } else {
    const auto value = get<typename codec<T>::stored>(source);
    if (!value) return std::nullopt;
    std::optional<T> decoded = codec<T>::decode(*value);
    if (!decoded) throw misfit();
    return decoded;
  }
}

template <typename T>
kept_status set(kept_store *store, const char *name, const T &value) {
  if constexpr (std::is_same_v<T, bool>) return call(kept_set_bool, store, name, value);
  else if constexpr (is_integer<T> && std::is_signed_v<T>) return call(kept_set_int64, store, name, value);
  else if constexpr (is_integer<T>) return call(kept_set_uint64, store, name, value);
  else if constexpr (std::is_same_v<T, double>) return call(kept_set_double, store, name, value);
  else if constexpr (std::is_same_v<T, date>) return call(kept_set_date, store, name, value.seconds, value.nanoseconds);
  else if constexpr (std::is_same_v<T, json>) return call(kept_set_json, store, name, c_text(value.text));
  else if constexpr (std::is_same_v<T, bytes>)
    return call(kept_set_bytes, store, name, static_cast<const void *>(value.data()), value.size());
  else if constexpr (std::is_convertible_v<const T &, const char *>) {
    const char *text = value;
    return call(kept_set_string, store, name, text, text == nullptr ? 1 : std::strlen(text));
  } else if constexpr (std::is_convertible_v<const T &, std::string_view>) {
    const std::string_view text = value;
    return call(kept_set_string, store, name, text.empty() ? "" : text.data(), text.size());
  } else return set(store, name, codec<T>::encode(value));
}

using report_function = std::function<void(const error &)>;

}  // namespace detail

// ---------------------------------------------------------------------------------------------------------------------
// Handles
// ---------------------------------------------------------------------------------------------------------------------

/// Owns a handle of kept.h.
template <typename Handle, void (*end_handle)(Handle *)>
class owner {
 public:
  explicit owner(Handle *handle = nullptr) noexcept : handle_(handle) {}
  owner(owner &&other) noexcept : handle_(other.release()) {}
  owner &operator=(owner &&other) noexcept {
    if (this != &other) end_handle(std::exchange(handle_, other.release()));
    return *this;
  }
  /// The handle, for kept::call(); it stays this object's.
  Handle *handle() const noexcept { return handle_; }
  /// Gives the handle away.
  Handle *release() noexcept { return std::exchange(handle_, nullptr); }

 protected:
  ~owner() { end_handle(handle_); }
  Handle *handle_;
};

/// What a store, a transaction and a snapshot have in common.
class reader : public owner<kept_store, kept_close> {
 public:
  /// Reads a value: `store.get<int>("audio.volume").value_or(50)`. Empty if no layer has one.
  template <typename T>
  std::optional<T> get(const c_text &name) const { return detail::get<T>(detail::at_key{handle_, name}); }
  /// Reads a value, or the default of its key. With a key of a std::optional it is empty if no layer has a value.
  template <typename T>
  T get(const key<T> &k) const {
    auto value = detail::get<detail::payload<T>>(detail::at_prepared{handle_, k.prepared(), k.name()});
    if constexpr (detail::is_optional<T>) return value ? value : k.otherwise();
    else return value ? *std::move(value) : k.otherwise();
  }

  bool contains(const c_text &name) const { return value_of<bool>(kept_contains, handle_, name); }
  /// In C: `kept_list`.
  std::vector<std::string> keys(const c_text &prefix = "") const {
    struct listing {
      std::vector<std::string> keys;
      std::exception_ptr thrown;
    } list;
    const auto add = [](void *context, const char *name) noexcept -> int {
      listing &into = *static_cast<listing *>(context);
      try { into.keys.emplace_back(name); } catch (...) { into.thrown = std::current_exception(); }
      return into.thrown != nullptr;
    };
    call(kept_list, handle_, prefix, +add, &list);
    if (list.thrown) std::rethrow_exception(list.thrown);
    return std::move(list.keys);
  }
  std::optional<std::uint64_t> revision_of(const c_text &name) const {
    std::uint64_t revision = 0;
    if (lookup(kept_revision_of, handle_, name, &revision) == KEPT_ABSENT) return std::nullopt;
    return revision;
  }
  /// The declaration of a key as JSON.
  std::optional<std::string> declaration(const c_text &name) const {
    return text_of(kept_declaration_json, handle_, name);
  }
  /// What each layer has for a key, and which wins, as JSON.
  std::string explain(const c_text &name) const { return *text_of(kept_explain_json, handle_, name); }
  /// One of KEPT_LAYER_….
  std::uint32_t layer_of(const c_text &name) const { return value_of<std::uint32_t>(kept_layer_of, handle_, name); }
  /// The revision of a store, now, or of a snapshot.
  std::uint64_t revision() const { return value_of<std::uint64_t>(kept_store_revision, handle_); }

 protected:
  using owner::owner;
};

/// What a store and a transaction have in common.
class writer : public reader {
 public:
  /// Writes a value. Returns KEPT_OK or KEPT_SHADOWED.
  template <typename T>
  kept_status set(const c_text &name, const T &value) { return detail::set(handle_, name, value); }
  /// Writes a value; with a key of a std::optional, std::nullopt resets the key.
  template <typename T, typename U = T>
  kept_status set(const key<T> &k, const U &value) {
    static_assert(!std::is_arithmetic_v<U> || std::is_same_v<U, bool> == std::is_same_v<detail::payload<T>, bool>,
                  "a bool is not a number, and a number is not a bool");
    const T &converted = value;
    if constexpr (!detail::is_optional<T>) return detail::set(handle_, k.name(), converted);
    else return converted ? detail::set(handle_, k.name(), *converted) : reset(k.name());
  }

  /// Removes a value. Returns KEPT_OK, KEPT_SHADOWED, or KEPT_ABSENT if nothing was stored.
  kept_status remove(const c_text &name) { return lookup(kept_remove, handle_, name); }
  /// Removes a value, if any. Returns KEPT_OK or KEPT_SHADOWED.
  kept_status reset(const c_text &name) { return call(kept_reset, handle_, name); }
  /// Removes the values of all keys with a prefix, and returns their number.
  std::size_t remove_all(const c_text &prefix) { return value_of<std::size_t>(kept_remove_all, handle_, prefix); }
  /// Returns KEPT_OK, KEPT_SHADOWED or KEPT_MISFIT.
  kept_status rename(const c_text &name, const c_text &to) { return call(kept_rename, handle_, name, to); }

  /// Declares a key. Returns KEPT_OK or KEPT_MISFIT.
  kept_status declare(const c_text &name, const c_text &schema) {
    return call(kept_declare_json, handle_, name, schema);
  }
  /// Declares many keys, from one schema of type "object". Returns KEPT_OK or KEPT_MISFIT.
  kept_status declare_list(const c_text &schema) { return call(kept_declare_list, handle_, schema); }
  /// Removes a declaration. Returns KEPT_OK, or KEPT_ABSENT if there was none.
  kept_status undeclare(const c_text &name) { return lookup(kept_undeclare, handle_, name); }

 protected:
  using reader::reader;
};

/// How to commit. In C: `kept_transaction_options`, whose fields it has.
struct transaction_options : kept_transaction_options {
  transaction_options() noexcept : kept_transaction_options KEPT_TRANSACTION_OPTIONS_INIT {}
};

/// A transaction, which is rolled back when it is destroyed before commit(). Store::begin() makes it.
class transaction : public writer {
 public:
  using writer::writer;
  /// Commits, and returns the store's revision. Throws KEPT_CONFLICT if another writer was faster.
  std::uint64_t commit() { return value_of<std::uint64_t>(kept_commit, handle_); }
  void rollback() noexcept { kept_rollback(handle_); }
};

/// An immutable view of one revision. Store::snapshot() makes it.
class snapshot : public reader {
 public:
  using reader::reader;
};

// ---------------------------------------------------------------------------------------------------------------------
// Observation
// ---------------------------------------------------------------------------------------------------------------------

/// One change of a notice, valid as long as the notice.
class change {
 public:
  change(const kept_notice *notice, std::size_t index) noexcept : notice_(notice), index_(index) {}
  std::string_view key() const noexcept { return kept_notice_key(notice_, index_); }
  /// The value before the change, if there was one: `change.before<int>()`.
  template <typename T>
  std::optional<T> before() const { return detail::get<T>(detail::in_change{notice_, index_, false}); }
  /// The value after the change; empty if the key was removed.
  template <typename T>
  std::optional<T> after() const { return detail::get<T>(detail::in_change{notice_, index_, true}); }
  /// The layer of the new value: one of KEPT_LAYER_….
  std::uint32_t layer() const noexcept { return kept_notice_layer(notice_, index_); }
  bool is_secret() const noexcept { return kept_notice_secret(notice_, index_); }

 private:
  const kept_notice *notice_;
  std::size_t index_;
};

/// One or more whole transactions, a range of changes. One that an observer receives is valid during its call; one
/// from subscription::take() for as long as it exists.
class notice {
 public:
  explicit notice(const kept_notice *handle) noexcept : handle_(handle) {}
  const kept_notice *handle() const noexcept { return handle_; }
  std::uint64_t revision() const noexcept { return kept_notice_revision(handle_); }
  std::uint64_t first_revision() const noexcept { return kept_notice_first_revision(handle_); }
  /// One of KEPT_ORIGIN_….
  std::uint32_t origin() const noexcept { return kept_notice_origin(handle_); }
  std::optional<std::string_view> tag() const noexcept {
    const char *tag = kept_notice_tag(handle_);
    return tag != nullptr ? std::optional<std::string_view>(tag) : std::nullopt;
  }
  std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds> time() const noexcept {
    return std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>(
        std::chrono::nanoseconds(kept_notice_time(handle_)));
  }
  bool may_have_missed() const noexcept { return kept_notice_may_have_missed(handle_); }

  std::size_t size() const noexcept { return kept_notice_count(handle_); }
  change operator[](std::size_t index) const noexcept { return change(handle_, index); }
  struct iterator {
    const kept_notice *handle;
    std::size_t index;
    change operator*() const noexcept { return change(handle, index); }
    iterator &operator++() noexcept { return ++index, *this; }
    bool operator!=(const iterator &other) const noexcept { return index != other.index; }
  };
  iterator begin() const noexcept { return {handle_, 0}; }
  iterator end() const noexcept { return {handle_, size()}; }

 protected:
  const kept_notice *handle_;
};

/// A notice from subscription::take(). One that was moved from is empty.
class taken_notice : public notice {
 public:
  explicit taken_notice(kept_notice *handle) noexcept : notice(handle), owner_(handle, kept_notice_free) {}
  taken_notice(taken_notice &&other) noexcept
      : notice(std::exchange(other.handle_, nullptr)), owner_(std::move(other.owner_)) {}
  taken_notice &operator=(taken_notice &&other) noexcept {
    owner_ = std::move(other.owner_);
    handle_ = std::exchange(other.handle_, nullptr);
    return *this;
  }

 private:
  std::unique_ptr<kept_notice, void (*)(kept_notice *)> owner_;
};

/// A subscription, which ends when it is destroyed: no call of its observer begins any more, and a running one is
/// waited for, except in that call itself. Store::observe() and store::poll() make it.
class subscription : public owner<kept_subscription, kept_unobserve> {
 public:
  using owner::owner;
  void end() noexcept { kept_unobserve(handle_); }
  int fd() const { return value_of<int>(kept_subscription_fd, handle_); }
  /// Makes the calls that are due, on this thread, and returns their number. For observe() with KEPT_OBSERVE_POLLED.
  std::size_t dispatch(std::size_t max = 0) {
    return value_of<std::size_t>(kept_subscription_dispatch, handle_, max);
  }
  /// The next notice, if there is one now. For poll().
  std::optional<taken_notice> take() {
    kept_notice *notice = value_of<kept_notice *>(kept_subscription_take, handle_);
    return notice != nullptr ? std::make_optional<taken_notice>(notice) : std::nullopt;
  }

 private:
  friend class store;
};

// ---------------------------------------------------------------------------------------------------------------------
// Store
// ---------------------------------------------------------------------------------------------------------------------

/// How to open a store. In C: `kept_options`, whose fields it has; texts need to exist only until the store is open.
struct options : kept_options {
  options() noexcept : kept_options KEPT_OPTIONS_INIT {}
  /// Receives what `report` does in C, and the exceptions that leave observers. Must not throw: that calls
  /// std::terminate.
  detail::report_function on_report;
};

/// A step to a schema version. In C: `kept_migration`.
struct migration {
  std::uint32_t version;
  std::string name;
  std::function<void(transaction &)> run;
};

struct migrated {
  std::uint32_t result;                /* one of KEPT_MIGRATED… */
  std::optional<std::string> backup;   /* the path of the backup, if one was made */
};

/// An open store.
class store : public writer {
 public:
  using writer::writer;
  /// Opens a store. If salvaged() then returns a path, values may have been lost.
  explicit store(const c_text &location, options how = {}) : busy_timeout_(how.busy_timeout_ms) {
    if (how.on_report) {
      report_ = std::make_shared<detail::report_function>(std::move(how.on_report));
      how.report = [](void *context, const kept_error *reason) noexcept {
        (*static_cast<const detail::report_function *>(context))(error(*reason));
      };
      how.report_context = report_.get();
    }
    call(kept_open, location, &how, &handle_);
  }
  ~store() { close(); }   // before report_ is destroyed
  store(store &&) = default;
  store &operator=(store &&other) noexcept {
    // The report must exist until the former handle is closed.
    writer::operator=(std::move(other));
    report_ = std::move(other.report_);
    busy_timeout_ = other.busy_timeout_;
    return *this;
  }

  /// Closes the store and ends its subscriptions, as destroying it does.
  void close() noexcept { kept_close(handle_); }
  void flush() { call(kept_flush, handle_); }
  /// The folder with the damaged files, if the store was salvaged and no program has acknowledged it.
  std::optional<std::string> salvaged() const { return text_of(kept_salvaged, handle_); }
  /// Registers defaults of this program, a JSON object of keys and values.
  void register_defaults(const c_text &json) { call(kept_register_json, handle_, json); }
  kept_status declare_file(const c_text &path) { return call(kept_declare_file, handle_, path); }

  /// Writes a value if the key still has the revision `expected`, 0 for a key that is absent. Returns KEPT_OK,
  /// KEPT_SHADOWED, or KEPT_CONFLICT if it has another. `revision` receives the key's revision after the call.
  kept_status set_if(const c_text &name, const json &value, std::uint64_t expected, std::uint64_t *revision = nullptr) {
    kept_error reason;
    const kept_status status = kept_set_json_if(handle_, name, c_text(value.text), expected, revision, &reason);
    if (status < 0 && status != KEPT_CONFLICT) throw error(reason);
    return status;
  }

  /// Begins a transaction. transact() also commits it, and begins again after a conflict.
  transaction begin(const transaction_options &how = {}) {
    return transaction(value_of<kept_store *>(kept_begin, handle_, &how));
  }
  /// Runs `body(transaction &)`, commits, and returns what `body` returns. If another writer was faster, `body` runs
  /// again, so it must have no effect outside of the transaction. Throws KEPT_CONFLICT if that goes on for the busy
  /// timeout. If `body` throws, nothing is written.
  template <typename Body>
  auto transact(Body &&body, const transaction_options &how = {}) {
    using clock = std::chrono::steady_clock;
    const clock::time_point deadline = clock::now() + std::chrono::milliseconds(busy_timeout_);
    for (unsigned attempt = 0;; attempt = std::min(attempt + 1, 8u)) {
      try {
        transaction t = begin(how);
        if constexpr (std::is_void_v<decltype(body(t))>) {
          body(t);
          t.commit();
          return;
        } else {
          auto result = body(t);
          t.commit();
          return result;
        }
      } catch (const error &conflict) {
        if (conflict.status() != KEPT_CONFLICT || clock::now() >= deadline) throw;
      }
      // A pause of a random length, so that the same writers do not conflict again.
      const auto random = clock::now().time_since_epoch().count() % (20000 << attempt);
      std::this_thread::sleep_for(std::chrono::nanoseconds(random));
    }
  }

  kept::snapshot snapshot(const c_text &prefix = "") const {
    return kept::snapshot(value_of<kept_store *>(kept_snapshot, handle_, prefix));
  }
  kept::snapshot snapshot_at(std::uint64_t revision, const c_text &prefix = "") const {
    return kept::snapshot(value_of<kept_store *>(kept_snapshot_at, handle_, prefix, revision));
  }

  /// Calls `observer` for each notice, as kept_observe() does with a callback: on a thread of the library, or in
  /// dispatch(). The observer is destroyed after its last call, possibly on that thread.
  /// @param flags  KEPT_OBSERVE_KEY or KEPT_OBSERVE_PREFIX, optionally with the others
  [[nodiscard]] subscription observe(const c_text &name, std::uint32_t flags,
                                     std::function<void(const notice &)> observer) {
    subscription made;
    observe(made, name, flags, std::move(observer));
    return made;
  }
  /// The same, for an observer that ends its own subscription: `made` is set before the first call begins.
  void observe(subscription &made, const c_text &name, std::uint32_t flags,
               std::function<void(const notice &)> observer) {
    made = subscription();
    auto context = std::make_unique<observing>(observing{std::move(observer), report_});
    const auto release = [](void *ended) noexcept { delete static_cast<observing *>(ended); };
    call(kept_observe, handle_, name, flags, &observing::deliver, context.get(), +release, &made.handle_);
    context.release();
  }
  /// Subscribes without an observer: take the notices with subscription::take().
  [[nodiscard]] subscription poll(const c_text &name, std::uint32_t flags) {
    subscription made;
    call(kept_observe, handle_, name, flags | KEPT_OBSERVE_POLLED, nullptr, nullptr, nullptr, &made.handle_);
    return made;
  }
  /// For a store that was opened with KEPT_BY_HOST.
  int fd() const { return value_of<int>(kept_store_fd, handle_); }
  std::size_t dispatch(std::size_t max = 0) { return value_of<std::size_t>(kept_store_dispatch, handle_, max); }

  /// Runs the steps to versions above the store's own, in one transaction. If a step throws, nothing is changed: a
  /// kept::error is thrown with the step's version and name, any other exception as it is.
  /// @param flags  KEPT_MIGRATE_…
  migrated migrate(const std::vector<migration> &steps, std::uint32_t flags = 0) {
    std::exception_ptr thrown;
    std::vector<stepping> contexts(steps.size(), stepping{nullptr, &thrown});
    std::vector<kept_migration> plain;
    for (std::size_t i = 0; i < steps.size(); i++) {
      contexts[i].step = &steps[i];
      plain.push_back({steps[i].version, 0, c_text(steps[i].name), &stepping::run, &contexts[i]});
    }
    migrated done{KEPT_MIGRATED_NOTHING, {}};
    char *backup = nullptr;
    try {
      call(kept_migrate, handle_, plain.data(), plain.size(), flags, &done.result, &backup);
      done.backup = taken_text(backup);
    } catch (const error &) {
      if (thrown) std::rethrow_exception(thrown);
      throw;
    }
    return done;
  }

 private:
  struct observing {
    std::function<void(const notice &)> observer;
    std::shared_ptr<detail::report_function> report;
    static void deliver(void *context, const kept_notice *received) noexcept {
      const observing &self = *static_cast<const observing *>(context);
      if (!self.report) return self.observer(notice(received));
      try {
        self.observer(notice(received));
      } catch (const error &thrown) {
        (*self.report)(thrown);
      } catch (const std::exception &thrown) {
        (*self.report)(error(KEPT_FAILED, std::string("an observer has thrown: ") + thrown.what()));
      } catch (...) {
        (*self.report)(error(KEPT_FAILED, "an observer has thrown something that is not a std::exception"));
      }
    }
  };
  struct stepping {
    const migration *step;
    std::exception_ptr *thrown;   /* of the last run: a step runs again after a conflict */
    static kept_status run(void *context, kept_store *handle, kept_error *reason) noexcept {
      const stepping &self = *static_cast<const stepping *>(context);
      transaction lent(handle);
      kept_status status = KEPT_OK;
      *self.thrown = nullptr;
      try {
        self.step->run(lent);
      } catch (const error &failed) {
        // A step with another status has succeeded.
        status = failed.status() < 0 ? failed.status() : KEPT_FAILED;
        reason->offset = failed.offset();
        reason->message[std::string(failed.what()).copy(reason->message, sizeof reason->message - 1)] = '\0';
      } catch (...) {
        *self.thrown = std::current_exception();
        status = KEPT_FAILED;
      }
      lent.release();
      return reason->status = status;   // twice, for KEPT_MIGRATE_CONFIRMED
    }
  };

  std::shared_ptr<detail::report_function> report_;
  std::uint32_t busy_timeout_ = options().busy_timeout_ms;
};

}  // namespace kept

#endif
