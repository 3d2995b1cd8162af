// The members of another program's JSON object that are settings: all of them, or the leaves of nested objects.
//
// Values are read as in Kept's own JSON: an array is one value, and so is an object if objects are not split. A form of
// Extended JSON such as {"$date":…} is the value that it encodes. A value is imported completely or not at all; what
// Kept cannot hold is not an error of the text, and is reported. No message quotes a value, because it may be a secret.

import KeptValues

/// The settings in a JSON object that another program has written.
struct ForeignJSON {
  /// The settings, sorted by their unique keys.
  private(set) var settings: [Incoming.Setting] = []
  /// Content of the text that is not imported.
  private(set) var notCarried: [NotCarried] = []
  private let prefix: String
  private let separator: String
  private let isNested: Bool
  private var members: JSONMembers
  /// The limit on the total size of the text's keys: the name of an object is once in the text, and in front of each of
  /// its keys.
  private let mostKeyBytes: Int
  // The number of bytes of all keys so far, including duplicates.
  private var keyBytes = 0
  // The memory of settings and notes, and of values while they are read.
  private var allowance = Allowance()
  private var reading = Allowance(each: 0)
  private static let purpose = "import the settings"

  /// The limit on notes: with more, the report would be larger than the text.
  static let mostNotes = 100_000

  /// Reads a text.
  ///
  /// Throws `invalid` or `tooLarge`, with an offset, for a text that is not an object of JSON.
  /// - Parameters:
  ///   - prefix: the text before every key.
  ///   - separator: joins the names of nested objects; nil if they are not split.
  init(
    _ bytes: UnsafeBufferPointer<UInt8>, prefix: String = "", separator: String? = nil
  ) throws(StoreError) {
    self.prefix = prefix
    self.separator = separator ?? ""
    isNested = separator != nil
    mostKeyBytes = 8 * bytes.count + 1 << 20
    // Editors on Windows write a byte order mark first.
    members = try JSONMembers(bytes, from: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0, isForeign: true)
    try read()
    try settleRepeats()
  }

  private mutating func read() throws(StoreError) {
    // The names of the open objects, from the outermost; the text as a whole has none.
    var open: [String?] = [nil]
    while let outer = open.last {
      guard let key = try members.nextKey() else {
        open.removeLast()
        continue
      }
      let name = join(outer, key)
      if let obstacle = members.obstacle {
        _ = try members.part()
        try leaveOut(name, obstacle.message)
        continue
      }
      // A name that is too long is not extended further: names inside it would be longer still.
      if isNested, name.utf8.count <= Limits.keyBytes, try members.ahead() == .object, try members.open() {
        open.append(name)
      } else {
        try carry(name, try members.part(), isForm: outer != nil && key.utf8.first == UInt8(ascii: "$"))
      }
    }
  }

  private mutating func carry(_ name: String, _ part: JSONPart, isForm: Bool) throws(StoreError) {
    keyBytes += prefix.utf8.count + name.utf8.count
    guard keyBytes <= mostKeyBytes else {
      throw StoreError(
        .tooLarge, offset: 0,
        "the keys of the text are longer than \(mostKeyBytes) bytes in total; split the text, or shorten the names of "
          + "its objects and the prefix")
    }
    // A name that begins with a dollar sign next to other members of a nested object is not part of a known form.
    if isForm { return try leaveOut(name, #"names that begin with $ are only for known forms, such as {"$date":…}"#) }
    do throws(StoreError) {
      try reading.take(part.memory, to: Self.purpose)
      let value = try part.value()
      if case .null = value {
        throw StoreError(.invalid, "null means that the key has no value; leave it out")
      }
      // A name that is too long by itself is not copied first: there may be many.
      let key = try KeyName(name.utf8.count > Limits.keyBytes ? name : joined([prefix, name]))
      try allowance.take(2 * name.utf8.count + value.bytes, to: Self.purpose)
      try Memory.makeRoom(in: &settings, to: Self.purpose)
      settings.append(Incoming.Setting(key: key, value: try value.checkedForStore()))
    } catch {
      // Without memory the text cannot be read to its end.
      guard error.code != .failed else { throw error }
      try leaveOut(name, error.message)
    }
  }

  private mutating func leaveOut(_ name: String, _ reason: String) throws(StoreError) {
    guard notCarried.count < Self.mostNotes else {
      throw StoreError(
        .tooLarge, offset: 0,
        "the text has more than \(Self.mostNotes) members that cannot be imported; split the text")
    }
    try allowance.take(reason.utf8.count, to: Self.purpose)
    try Memory.makeRoom(in: &notCarried, to: Self.purpose)
    // An empty name is shown as it is written.
    notCarried.append(NotCarried(place: name.isEmpty ? #""""# : Self.shortened(name), reason: reason))
  }

  /// Keeps the later one of two settings with the same key, such as `{"a.b": 1, "a": {"b": 2}}`.
  private mutating func settleRepeats() throws(StoreError) {
    try Allowance.ask(forEntries: settings.count, to: Self.purpose)
    // The sort is stable: settings with the same key stay in the order of the text.
    settings = settings.inOrder(of: \.key.exact)
    var count = 0
    for index in settings.indices {
      let setting = settings[index]
      if count > 0, settings[count - 1].key == setting.key {
        count -= 1
        try leaveOut(setting.key.text, "the key appears again, and the last value is used")
      }
      settings[count] = setting
      count += 1
    }
    settings.removeLast(settings.count - count)
  }

  /// The name of a nested element; the outer name is nil at the top.
  private func join(_ outer: String?, _ name: String) -> String {
    guard let outer else { return name }
    // A name that is already too long is not copied for each name in it.
    return outer.utf8.count > Limits.keyBytes ? outer : joined([outer, separator, name])
  }

  /// Concatenates texts in exactly the memory they need: a growing text takes up to twice as much.
  private func joined(_ parts: [String]) -> String {
    let count = parts.reduce(0) { $0 + $1.utf8.count }
    return String(unsafeUninitializedCapacity: count) { bytes in
      var end = 0
      for part in parts {
        ExactString(part).withBytes { part in
          guard let from = part.baseAddress, let to = bytes.baseAddress else { return }
          (to + end).initialize(from: from, count: part.count)
          end += part.count
        }
      }
      return end
    }
  }

  /// Truncates a long name, because a report may contain many.
  private static func shortened(_ name: String) -> String {
    name.utf8.count <= 160 ? name : String(name.unicodeScalars.prefix(150)) + "…"
  }
}
