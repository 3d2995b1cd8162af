// The result of every reader of another program's text: its settings, and the parts that are not settings.
//
// A value is carried over completely or not at all. A value that Kept cannot represent is not an error: it is reported.
// No message quotes a value, because it may be a secret.

/// The settings in a text that another program has written.
package struct ForeignText: Sendable {
  /// The settings, ordered by key, each key once.
  package private(set) var entries: [Entry] = []
  /// The parts of the text that Kept does not carry over, or not unchanged.
  package private(set) var notCarried: [NotCarried] = []
  let naming: KeyNaming
  /// The size of the text in bytes.
  private let size: Int
  /// The bytes of all keys so far, including repeated ones.
  private var keyBytes = 0
  private var reading = Allowance(each: 0)
  // The memory for the entries and notes, beside values that have requested theirs.
  private var allowance = Allowance()
  // Why the text is not imported; whatever is read afterwards is discarded.
  private var refusal: StoreError?

  /// The most memory that a setting uses in an import, with comparison and report, beside its texts and its value.
  /// The limit on the total bytes of a text's keys: the name of a section or of an object occurs once in the text, and
  /// in each of its keys.
  static func mostKeyBytes(ofTextWith size: Int) -> Int { 8 * size + 1 << 20 }
  /// The limit on notes: beyond it the text has another format, and the report is larger than the text.
  static let mostNotes = 100_000

  package struct Entry: Sendable {
    package let key: KeyName
    package let content: Content
    /// The place in the text: "line 3", or the name in the text.
    package let place: String
  }

  package enum Content: Sendable {
    /// In stored form.
    case value(Value)
    /// Text whose type a declaration may determine, as in a text layer; otherwise it is a string.
    case text(TextValue)
  }

  /// Reads a text of any format except ``ImportFormat/kept``.
  ///
  /// Throws `invalid` or `tooLarge`, with an offset, for a text that is not in the format.
  package init(
    _ bytes: UnsafeBufferPointer<UInt8>, as format: ImportFormat, _ naming: KeyNaming = KeyNaming()
  ) throws(StoreError) {
    self.naming = naming
    size = bytes.count
    // Editors on Windows write a byte order mark at the beginning.
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

  /// Throws the reason for refusing the text, if there is one already.
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

  mutating func ask(forReading bytes: Int) throws(StoreError) {
    try reading.take(4 * bytes, to: "import the settings")
  }
  /// Whether there is memory for one more entry; without it the text cannot be read to its end.
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

/// A part of an imported text that was not carried over, or not unchanged.
public struct NotCarried: Hashable, Sendable {
  /// The place: "line 3", or the name in the text.
  public let place: String
  public let reason: String

  package init(place: String, reason: String) {
    self.place = place
    self.reason = reason
  }
}

// MARK: - For the readers

extension ForeignText {
  /// Carries a value over under a name, or reports why it cannot.
  mutating func carry(_ name: String, _ value: Value, at place: String? = nil) {
    take(name, value, isText: false, at: place ?? name)
  }

  /// Carries over a text whose type a declaration may determine.
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
      let content = isText ? Content.text(TextValue(stored.asString ?? "")) : .value(stored)
      entries.append(Entry(key: key, content: content, place: Self.shortened(place)))
    } catch {
      leaveOut(place, error.message)
    }
  }

  /// Carries over a value that a reader has found, and reports its losses.
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
    notCarried.append(NotCarried(place: Self.shortened(place), reason: reason))
  }

  /// Keeps the last entry of each repeated key.
  private mutating func settleRepeats() {
    do throws(StoreError) { try Allowance.ask(forEntries: entries.count, to: "import the settings") } catch {
      return refusal = error
    }
    // The sort is stable, so entries with the same key stay in the order of the text.
    entries = entries.inOrder(of: \.key.exact)
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

  /// Truncates a long name, because there may be many.
  static func shortened(_ name: String) -> String {
    name.utf8.count <= 160 ? name : String(name.unicodeScalars.prefix(150)) + "…"
  }
}
