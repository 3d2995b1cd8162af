// Where the pulses of open stores are mapped: at addresses that stay mapped for as long as the process lives, because
// readers and caches may look there late. Each serves one store after the other, so there are no more of them than
// stores were ever open at once.

import CPlatform

enum PulsePages {
  // Each holds a page of this process alone, whose generation is odd.
  private static let spare = Monitor<[PulsePage]>([])

  /// Moves a page that was just mapped to an address that no store uses any more, if there is one.
  static func settle(_ page: PulsePage) -> PulsePage {
    guard let place = spare.updateQuietly({ $0.popLast() }) else { return page }
    if place.replace(by: page) == 0 { return place }
    retire(place)
    return page
  }

  /// Takes back the page of a store that nobody has open any more: it is the file's no longer.
  ///
  /// Nothing moves it from outside then, and a file that is cut off is no danger to whoever reads here late.
  static func retire(_ page: PulsePage) {
    if let memory = kept_map_own(PulsePage.size) {
      let own = PulsePage(memory)
      own.moveToNewOdd()
      // Where it fails the page stays the file's.
      if page.replace(by: own) != 0 { munmap(memory, PulsePage.size) }
    }
    spare.updateQuietly { $0.append(page) }
  }
}
