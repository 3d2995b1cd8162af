// The addresses at which the pulses of open stores are mapped. They stay mapped until the process ends, because readers
// and caches may read there late. Each serves one store after another, so there are never more of them than stores that
// were open at once.

import CPlatform
import KeptSystem

enum PulsePages {
  // Each holds a private page of this process, whose position is odd.
  private static let spare = Monitor<[PulsePage]>([])

  /// Moves a page that was just mapped to a spare address, if there is one.
  static func settle(_ page: PulsePage) -> PulsePage {
    guard let place = spare.updateQuietly({ $0.popLast() }) else { return page }
    if place.replace(by: page) == 0 { return place }
    retire(place)
    return page
  }

  /// Takes back the page of a closed store, and replaces it by a private one.
  ///
  /// Other processes no longer move it, and truncation of the file does not crash late readers.
  static func retire(_ page: PulsePage) {
    if let memory = kept_map_own(PulsePage.size) {
      let own = PulsePage(memory)
      kept_store64(own.words.publishedWord, 1)
      // If this fails the page remains that of the file.
      if page.replace(by: own) != 0 { munmap(memory, PulsePage.size) }
    }
    spare.updateQuietly { $0.append(page) }
  }
}
