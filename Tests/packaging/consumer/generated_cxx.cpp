// The same in C++: keys that the build has generated, under two names.
#include <iostream>

#include "other.hpp"
#include "player.hpp"

int main() {
  kept::store store("memory:");
  player_keys::declare(store);
  store.set(player_keys::audio_volume, player_keys::audio_volume.otherwise() + 20);
  if (store.get(other_keys::loudness) != 70) return 1;
  std::cout << "generated keys work\n";
}
