// generated FOLDER READING COUNT: performs one reading COUNT times, with generated code or with code by hand, for
// callgrind to count instructions.
#include "settings.h"
#include "settings.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <kept.hpp>
#include <map>
#include <string>
#include <valgrind/callgrind.h>

namespace {

using reading = std::int64_t (*)(const kept::store &);

const kept_key *prepared(const char *name) {
  const kept_key *key = nullptr;
  if (kept_key_prepare(name, &key, nullptr) != KEPT_OK) std::abort();
  return key;
}

std::int64_t size_in_c_by_hand(const kept::store &store) {
  static const kept_key *const key = prepared("size");
  std::int64_t value = 1;
  kept_key_get_int64(store.handle(), key, &value, nullptr);
  return value;
}

std::int64_t size_in_c(const kept::store &store) {
  std::int64_t value = 0;
  settings_get_size(store.handle(), &value, nullptr);
  return value;
}

std::int64_t mode_in_c_by_hand(const kept::store &store) {
  static const kept_key *const key = prepared("mode");
  char text[6];
  std::size_t length = 0;
  if (kept_key_get_string(store.handle(), key, text, sizeof text, &length, nullptr) != KEPT_OK) return 0;
  return std::strcmp(text, "fine") == 0 ? 1 : std::strcmp(text, "plain") == 0 ? 0 : -1;
}

std::int64_t mode_in_c(const kept::store &store) {
  settings_mode mode = SETTINGS_MODE_PLAIN;
  settings_get_mode(store.handle(), &mode, nullptr);
  return mode;
}

const kept::key<std::int64_t> size_key{ "size", 1 };
const kept::key<std::string> mode_key{ "mode", "plain" };

std::int64_t size_in_cxx_by_hand(const kept::store &store) { return store.get(size_key); }

std::int64_t size_in_cxx(const kept::store &store) { return store.get(settings_keys::size); }

std::int64_t mode_in_cxx_by_hand(const kept::store &store) {
  const std::string mode = store.get(mode_key);
  return mode == "fine" ? 1 : mode == "plain" ? 0 : -1;
}

std::int64_t mode_in_cxx(const kept::store &store) { return static_cast<std::int64_t>(store.get(settings_keys::mode)); }

const std::map<std::string, reading> readings = {
  { "integer in C by hand", size_in_c_by_hand },
  { "integer in C", size_in_c },
  { "choice in C by hand", mode_in_c_by_hand },
  { "choice in C", mode_in_c },
  { "integer in C++ by hand", size_in_cxx_by_hand },
  { "integer in C++", size_in_cxx },
  { "choice in C++ by hand", mode_in_cxx_by_hand },
  { "choice in C++", mode_in_cxx },
};

} // namespace

int main(int count_of_arguments, char **arguments) {
  if (count_of_arguments != 4) return 2;
  const auto folder = std::filesystem::path(arguments[1]) / "generated";
  const reading read = readings.at(arguments[2]);
  const long count = std::atol(arguments[3]);
  kept::store store(folder.string());
  settings_keys::declare(store);
  store.set(settings_keys::size, 5000);
  store.set(settings_keys::mode, settings_keys::mode_choice::fine);
  std::int64_t sum = read(store);
  CALLGRIND_TOGGLE_COLLECT;
  for (long each = 0; each < count; each++) sum += read(store);
  CALLGRIND_TOGGLE_COLLECT;
  const bool is_size = std::strncmp(arguments[2], "integer", 7) == 0;
  return sum == (count + 1) * (is_size ? 5000 : 1) ? 0 : 1;
}
