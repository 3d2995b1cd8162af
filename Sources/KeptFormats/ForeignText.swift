// The common result of all readers of other programs' texts: the settings, and what could not be read as a setting.
//
// A value is imported completely or not at all. What Kept cannot hold is no error of the text and is reported. No
// message quotes a value, because it may be a secret.

package import KeptCore

/// The settings in a text that another program has written.
package struct ForeignText: Sendable {
  /// The settings, sorted by their unique keys.
  package private(set) var entries: [Incoming.Setting] = []
  /// Content of the text that is not imported, or is changed by the import.
  package private(set) var notCarried: [NotCarried] = []
  let naming: KeyNaming
  /// The number of bytes of the text.
  private let size: Int
  /// The number of bytes of all keys so far, including duplicates.
  private var keyBytes = 0
  // The memory of entries and notes.
  private var allowance = Allowance()
  // The memory of texts while they are read.
  private var reading = Allowance(each: 0)
  // The reason why the text is not imported; anything read after it is ignored.
  private var refusal: StoreError?

  /// The limit on the total size of a text's keys: the name of a section or of an object occurs once in the text, and
  /// in front of each of its keys.
  static func mostKeyBytes(ofTextWith size: Int) -> Int { 8 * size + 1 << 20 }
  /// The limit on notes: with more the text is in another format, and the report would be larger than the text.
  static let mostNotes = 100_000

  /// Reads a text of any format except ``ImportFormat/kept``.
  ///
  /// Throws `invalid` or `tooLarge`, with an offset, for a text that is not in the format.
  package init(
    _ bytes: UnsafeBufferPointer<UInt8>, as format: ImportFormat, _ naming: KeyNaming = KeyNaming()
  ) throws(StoreError) {
    self.naming = naming
    size = bytes.count
    // Editors on Windows write a byte order mark first.
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    switch format {
    case .json: try readJSON(bytes, from: start, isNested: false)
    case .nestedJSON: try readJSON(bytes, from: start, isNested: true)
    case .propertyList: try readPropertyList(bytes, from: start)
    case .env: try readEnvironmentFile(bytes, from: start)
    case .ini: try readINI(bytes, from: start)
    case .dconf: try readDconf(bytes, from: start)
    case .kept: throw StoreError(.unsupported, "Kept's own export is not a text of another program")
    }
    try checkAccepted()
    settleRepeats()
    try checkAccepted()
  }

  /// Throws the reason for which the text is refused, if there is one already.
  func checkAccepted() throws(StoreError) {
    if let refusal { throw refusal }
  }

  private mutating func hasRoom(forKey name: String) -> Bool {
    keyBytes += naming.prefix.utf8.count + name.utf8.count
    let most = Self.mostKeyBytes(ofTextWith: size)
    guard refusal == nil, keyBytes > most else { return refusal == nil }
    refusal = StoreError(
      .tooLarge, offset: 0,
      "the keys that the text stands for have more than \(most) bytes together; split it, or shorten the names of its "
        + "sections and the prefix")
    return false
  }

  /// Requests the memory for reading a number of bytes: a text grows while it is read.
  mutating func ask(forReading bytes: Int) throws(StoreError) {
    try reading.take(4 * bytes, to: "import the settings")
  }

  /// Whether there is memory for one more setting; without it the text cannot be read to its end.
  private mutating func hasMemory(for texts: Int) -> Bool {
    guard refusal == nil else { return false }
    do throws(StoreError) {
      try allowance.take(texts, to: "import the settings")
      try Memory.makeRoom(in: &entries, to: "import the settings")
      try Memory.makeRoom(in: &notCarried, to: "import the settings")
    } catch {
      refusal = error
    }
    return refusal == nil
  }
}

// MARK: - Interface for the readers

extension ForeignText {
  /// Imports a value under a name, or reports why this is impossible.
  mutating func carry(_ name: String, _ value: Value, at place: String? = nil) {
    take(name, value, isText: false, at: place ?? name)
  }

  /// Imports a text whose type a declaration may determine.
  mutating func carry(_ name: String, text: String, at place: String) {
    take(name, .string(text), isText: true, at: place)
  }

  private mutating func take(_ name: String, _ value: Value, isText: Bool, at place: String) {
    guard hasRoom(forKey: name), hasMemory(for: 2 * name.utf8.count + value.bytes) else {
      return
    }
    do throws(StoreError) {
      if case .null = value {
        throw StoreError(.invalid, "it has no value, which is how Kept says that there is no setting")
      }
      let key = try naming.key(of: name)
      let stored = try value.checkedForStore()
      let content = isText ? Incoming.Content.text(TextValue(stored.asString ?? "")) : .value(stored)
      entries.append(Incoming.Setting(key: key, content: content, place: Self.shortened(place)))
    } catch {
      leaveOut(place, error.message)
    }
  }

  /// Imports what a reader has found, and reports what Kept cannot hold.
  mutating func carry(_ name: String, _ found: ForeignValue, at place: String? = nil) {
    if let obstacle = found.obstacle { return leaveOut(place ?? name, obstacle) }
    carry(name, found.value, at: place)
    if found.losses.tuple { leaveOut(place ?? name, "a tuple is carried as an array") }
    if found.losses.set { leaveOut(place ?? name, "a set is carried as an array") }
    if found.losses.repeatedKey { leaveOut(place ?? name, ForeignValue.Losses.repeatedKeySentence) }
  }

  mutating func leaveOut(_ place: String, _ reason: String) {
    guard hasMemory(for: reason.utf8.count) else { return }
    guard notCarried.count < Self.mostNotes else {
      refusal = StoreError(
        .tooLarge, offset: 0,
        "more than \(Self.mostNotes) parts of the text cannot be carried; say which other format it has, or split it")
      return
    }
    // An empty name is shown as it is written in most formats.
    notCarried.append(NotCarried(place: place.isEmpty ? #""""# : Self.shortened(place), reason: reason))
  }

  /// Keeps the later one of two settings with the same key.
  private mutating func settleRepeats() {
    do throws(StoreError) { try Allowance.ask(forEntries: entries.count, to: "import the settings") } catch {
      return refusal = error
    }
    // The sort is stable: settings with the same key stay in the order of the text.
    entries = Incoming.inOrder(entries)
    var count = 0
    for index in entries.indices {
      let entry = entries[index]
      if count > 0, entries[count - 1].key == entry.key {
        count -= 1
        leaveOut(
          entries[count].place,
          "the key \(Self.shortened(entry.key.text)) is there again at \(entry.place), which counts")
      }
      entries[count] = entry
      count += 1
    }
    entries.removeLast(entries.count - count)
  }

  /// Truncates a long name, because a report may contain many.
  static func shortened(_ name: String) -> String {
    name.utf8.count <= 160 ? name : String(name.unicodeScalars.prefix(150)) + "…"
  }
}
