// The note of a salvage: every open reports that something may be missing, until this is acknowledged.

import KeptSchema
public import KeptValues

/// Where the files of a damaged store were set aside.
///
/// In C and Python this is the text in ``quarantine``.
public struct SalvageNote: Sendable, Hashable {
  /// The folder with the damaged files.
  public let quarantine: String
  /// The keys whose values were lost, or are older than the last commit, as far as their names are known, in order.
  ///
  /// At most 1,000: damaged blocks and commits, and the history of the damaged store, still name them. Values of other
  /// keys may be lost, too. C and Python have no counterpart: `kept doctor --json` names them.
  public let lostKeys: [KeyName]

  /// What every open reports, in one sentence.
  public var message: String {
    let losses =
      lostKeys.isEmpty
      ? "values and declarations may be missing or older than the last commit"
      : "the values of \(lostKeys.shown) are missing or older than the last commit, and others may be"
    return "the store was damaged and salvaged: \(losses); the damaged files are in \(quarantine); check the values, "
      + "then acknowledge the salvage"
  }

  var warning: StoreError { StoreError(.salvaged, message) }
}

extension [KeyName] {
  /// The first keys, and how many others there are.
  var shown: String {
    var text = ""
    for key in prefix(5) { text += (text.isEmpty ? "\"" : ", \"") + Excerpt.of(key.text) + "\"" }
    return count > 5 ? "\(text) and \(count - 5) other keys" : text
  }
}
