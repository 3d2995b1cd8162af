// What every reader of another program's text gives: settings, and what of the text is none.
//
// A value is carried whole or not at all. What Kept cannot hold is no error of the text: it is reported. No sentence
// quotes a value: it may be a secret.

/// The settings in a text that another program has written.
package struct ForeignText: Sendable {
  /// The settings, in the order of their keys, each key once.
  package private(set) var entries: [Entry] = []
  /// What the text says and Kept does not take over, or not as it is.
  package private(set) var notCarried: [NotCarried] = []
  let naming: KeyNaming
  /// How many bytes the text has.
  private let size: Int
  /// The bytes of all keys so far, those that are there twice, too.
  private var keyBytes = 0
  // What the entries and the notes take.
  private var allowance = Allowance()
  // What texts take while they are read.
  private var reading = Allowance(each: 0)
  // Why the text is not imported; what is read after it is of no use.
  private var refusal: StoreError?

  /// How many bytes the keys of a text may have together: the name of a section or of an object stands there once, and
  /// in front of each of its keys.
  static func mostKeyBytes(ofTextWith size: Int) -> Int { 8 * size + 1 << 20 }
  /// How much may be reported: with more the text is of another format, and the report larger than the text.
  static let mostNotes = 100_000

  package struct Entry: Sendable {
    package let key: KeyName
    package let content: Content
    /// Where it stands in the text: "line 3", or the name that it has there.
    package let place: String
  }

  package enum Content: Sendable {
    /// In the form that a store keeps.
    case value(Value)
    /// Text whose type a declaration can tell, as in a layer of text; otherwise it is a string.
    case text(TextValue)
  }

  /// Reads a text of any format but ``ImportFormat/kept``.
  ///
  /// Throws `invalid` or `tooLarge`, with an offset, for a text that is not of the format.
  package init(
    _ bytes: UnsafeBufferPointer<UInt8>, as format: ImportFormat, _ naming: KeyNaming = KeyNaming()
  ) throws(StoreError) {
    self.naming = naming
    size = bytes.count
    // Editors on Windows put a byte order mark in front.
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

  /// Throws what the text is refused for, if that is known already.
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

  /// Asks for what the reading of so many bytes takes: a text grows while it is read.
  mutating func ask(forReading bytes: Int) throws(StoreError) {
    try reading.take(4 * bytes, to: "import the settings")
  }

  /// Whether there is memory for one more; without it the text cannot be read to its end.
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

/// Something in an imported text that was not taken over, or not as it was.
public struct NotCarried: Hashable, Sendable {
  /// Where it stands: "line 3", or the name that it has in the text.
  public let place: String
  public let reason: String

  package init(place: String, reason: String) {
    self.place = place
    self.reason = reason
  }
}

// MARK: - Interface for the readers

extension ForeignText {
  /// Takes a value over under a name, or reports why it cannot be.
  mutating func carry(_ name: String, _ value: Value, at place: String? = nil) {
    take(name, value, isText: false, at: place ?? name)
  }

  /// Takes a text over whose type a declaration may tell.
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

  /// Takes over what a reader has found, and reports what of it Kept has not.
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

  /// Of a key that is there twice the later one stays.
  private mutating func settleRepeats() {
    do throws(StoreError) { try Allowance.ask(forEntries: entries.count, to: "import the settings") } catch {
      return refusal = error
    }
    // The sorting leaves those with the same key in the order of the text.
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

  /// A long name is cut: there may be many.
  static func shortened(_ name: String) -> String {
    name.utf8.count <= 160 ? name : String(name.unicodeScalars.prefix(150)) + "…"
  }
}
