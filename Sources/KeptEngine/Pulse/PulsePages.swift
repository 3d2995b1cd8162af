// The addresses where the pulses of open stores are mapped. They stay mapped until the process ends, because readers
// and caches may read there late. Each serves one store after another, so there are never more of them than stores that
// were open at once.

import CPlatform
import KeptSystem

enum PulsePages {
  // The compiler cannot check that nothing is written through them.
  private struct Spare: @unchecked Sendable {
    // Each leads to a private page of this process, whose position is odd.
    var places: [UnsafeMutableRawPointer] = []
  }
  private static let spare = Monitor(Spare())

  /// Moves a page that was just mapped to a spare address, if there is one.
  static func take(_ page: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    guard let place = spare.updateQuietly({ $0.places.popLast() }) else { return page }
    if kept_replace_mapping(place, page, PulseWords.size) == 0 { return place }
    put(place)
    return page
  }

  /// Takes back the page of a closed store, and replaces it by a private one.
  ///
  /// Other processes no longer move it, and truncation of the file does not crash late readers.
  static func put(_ place: UnsafeMutableRawPointer) {
    cover(place)
    spare.updateQuietly { $0.places.append(place) }
  }

  /// Moves a page that was just mapped to the place of another; returns whether that succeeded.
  static func move(_ page: UnsafeMutableRawPointer, to place: UnsafeMutableRawPointer) -> Bool {
    kept_replace_mapping(place, page, PulseWords.size) == 0
  }

  /// Replaces a page by a private one, with an odd position: no gate has it (a closed one has 1).
  static func cover(_ place: UnsafeMutableRawPointer) {
    if let own = kept_map_own(PulseWords.size) {
      kept_store64(PulseWords(own).publishedWord, 9)
      // If this fails the page remains that of the file.
      if kept_replace_mapping(place, own, PulseWords.size) != 0 { munmap(own, PulseWords.size) }
    }
  }
}
