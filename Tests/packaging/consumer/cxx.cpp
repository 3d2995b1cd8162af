// The same in C++: a value is written and read with kept.hpp.
#include <iostream>
#include <kept.hpp>

int main() try {
  kept::store store("memory:");
  store.set("audio.volume", 70);
  const int volume = store.get<int>("audio.volume").value_or(0);
  std::cout << "Kept " << kept_version() << ": audio.volume is " << volume << "\n";
  return volume == 70 ? 0 : 1;
} catch (const kept::error &error) {
  std::cout << error.what() << "\n";
  return 1;
}
