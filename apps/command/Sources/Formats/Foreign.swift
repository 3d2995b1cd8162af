// Values of formats that have tables: which of them become keys of their own, and what Kept has in their place.

import Kept

/// A value of another format.
package protocol Foreign {
  /// The members of a table; nil for anything else.
  func members(_ losses: inout Losses) throws -> [(name: String, value: Self)]?
  /// Whether a table is written as a section, which is not one value.
  var isSection: Bool { get }
  /// The value in Kept, inside of a number of lists and tables.
  ///
  /// Throws an `Obstacle` if Kept has no such value, and a `StoreError` if the file is refused.
  func value(_ losses: inout Losses, depth: Int) throws -> Value
}

extension Foreign {
  package var isSection: Bool { false }

  /// The depth inside of a list or table at a depth.
  package func deeper(_ depth: Int) throws(Obstacle) -> Int {
    guard depth < Limits.nesting else { throw .tooDeep }
    return depth + 1
  }
}

/// Why a value cannot be imported, while the others are.
package struct Obstacle: Error {
  package let reason: String

  package init(_ reason: String) { self.reason = reason }

  package static let tooDeep = Obstacle("is nested more than \(Limits.nesting) levels deep")
  package static let tooLarge = Obstacle("is a number that does not fit into 64 bits")
}

/// How an imported value differs from the one in the file, each sentence once.
package struct Losses {
  private var notes: [(sentence: String, line: Int?, isLoss: Bool)] = []

  package static let set = "a set is imported as an array"
  package static let fraction = "a fraction of a second has more than nine digits; the rest is cut off"
  static let repeated = "a dictionary has a key twice; the last value is used"

  package init() {}

  /// Adds that something is changed.
  package mutating func add(_ sentence: String, line: Int? = nil) {
    if !notes.contains(where: { $0.sentence == sentence }) { notes.append((sentence, line, false)) }
  }

  /// Adds that something is left out, once for each line.
  package mutating func leaveOut(_ sentence: String, line: Int? = nil) {
    if let last = notes.last, last.sentence == sentence, last.line == line { return }
    notes.append((sentence, line, true))
  }

  package mutating func add(_ other: Losses) {
    for note in other.notes {
      if note.isLoss { leaveOut(note.sentence, line: note.line) } else { add(note.sentence, line: note.line) }
    }
  }

  /// Reports all, at their lines or else at a place.
  package func report(to found: inout FoundSettings, at place: String) throws(StoreError) {
    for note in notes {
      let place = note.line.map { "line \($0)" } ?? place
      if note.isLoss { try found.leaveOut(place, note.sentence) } else { try found.note(place, note.sentence) }
    }
  }

  /// A dictionary of members; the last one of a name is used.
  package mutating func dictionary(_ members: [(ExactString, Value)]) -> Value {
    var last: [ExactString: Value] = [:]
    for (name, value) in members { last[name] = value }
    if last.count < members.count { leaveOut(Self.repeated) }
    return .dictionary(ValueDictionary(last.map { ($0.key, $0.value) }))
  }
}

extension FoundSettings {
  /// Adds the members of a table as keys.
  /// - Parameters:
  ///   - splitting: whether tables in it are parts of keys.
  ///   - whole: keys that are not split, because they are declared as objects or as secret.
  package mutating func add<Table: Foreign>(
    _ members: [(name: String, value: Table)], below outer: String? = nil, splitting whole: Set<ExactString>?,
    isNoted: Bool = false
  ) throws {
    for (member, value) in members {
      let name = Self.join(outer, member)
      var losses = Losses()
      do {
        // A name that is too long for a key has no use inside of others.
        if let whole, !whole.contains(ExactString(name)), name.utf8.count <= Limits.keyBytes,
          let inner = try value.members(&losses), !inner.isEmpty
        {
          if !isNoted, !value.isSection { try note(name, Self.isSplit) }
          try add(inner, below: name, splitting: whole, isNoted: isNoted || !value.isSection)
        } else {
          try add(name, .value(try value.value(&losses, depth: 0)), at: name)
        }
      } catch let obstacle as Obstacle {
        // How a value would have been changed that is not imported.
        losses = Losses()
        try leaveOut(name, obstacle.reason)
      }
      try losses.report(to: &self, at: name)
    }
  }
}
