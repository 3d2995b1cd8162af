// What a file of another program has: settings, and notes about everything that is not in them as it was in the file.

import Kept

/// The settings of a file.
public struct FoundSettings: Sendable {
  /// In the order of the file, each name once.
  public private(set) var settings: [Setting] = []
  /// The values that were changed, dropped or split.
  public private(set) var notes: [Note] = []
  private var places: [ExactString: Int] = [:]
  private var nameBytes = 0
  private let mostNameBytes: Int

  public struct Setting: Sendable {
    /// The key, without a prefix.
    public let name: String
    public let content: Content
    /// Where it is in the file: "line 3", or its name there.
    public fileprivate(set) var place: String
  }

  public enum Content: Sendable {
    case value(Value)
    /// Text that becomes a value of the key's declared type.
    case text(String)
  }

  public struct Note: Sendable, Hashable {
    public let place: String
    public let reason: String
    /// Whether a value of the file is not imported.
    public let isLoss: Bool
  }

  /// More notes mean that the file has another format; the report would be larger than the file.
  private static let mostNotes = 100_000

  static let isSplit = "is split into keys, one for each member"

  /// - Parameter size: the bytes of the file.
  public init(size: Int) {
    // The name of a section is once in the file, and in front of each of its keys.
    mostNameBytes = 8 * size + 1 << 20
  }

  /// Adds a setting; the last one of a name counts.
  public mutating func add(_ name: String, _ content: Content, at place: String) throws(StoreError) {
    nameBytes += name.utf8.count
    guard nameBytes <= mostNameBytes else {
      throw StoreError(
        .tooLarge,
        "the keys take more than \(mostNameBytes) bytes in total; shorten the names of sections, or split the file")
    }
    if case .value(.null) = content {
      return try leaveOut(place, "has no value, and Kept cannot store a key without one")
    }
    do throws(StoreError) { _ = try KeyName(name) } catch { return try leaveOut(place, error.message) }
    let setting = Setting(name: name, content: content, place: place)
    if let index = places[ExactString(name)] {
      // Tables of libraries have no order.
      let there =
        place == settings[index].place
        ? ", and one of the values is used" : " at \(Self.shortened(place)), and the last value is used"
      try leaveOut(settings[index].place, "the key \(Self.shortened(name)) appears again\(there)")
      settings[index] = setting
    } else {
      places[ExactString(name)] = settings.count
      settings.append(setting)
    }
  }

  /// Reports that a value is changed or split.
  public mutating func note(_ place: String, _ reason: String) throws(StoreError) {
    try append(Note(place: place, reason: reason, isLoss: false))
  }

  /// Reports that a value is not imported.
  public mutating func leaveOut(_ place: String, _ reason: String) throws(StoreError) {
    try append(Note(place: place, reason: reason, isLoss: true))
  }

  private mutating func append(_ note: Note) throws(StoreError) {
    guard notes.count < Self.mostNotes else {
      throw StoreError(
        .invalid,
        "more than \(Self.mostNotes) parts of the file cannot be imported as they are; choose another format, or split "
          + "the file")
    }
    let place = note.place.isEmpty ? #""""# : Self.shortened(note.place)
    notes.append(Note(place: place, reason: note.reason, isLoss: note.isLoss))
  }

  /// Throws if a file of lines has none that is a setting.
  func checkFormat(_ format: Format) throws(StoreError) {
    guard settings.isEmpty, let first = notes.first(where: { $0.reason.utf8.starts(with: "is skipped".utf8) }) else {
      return
    }
    let finding = Substring(first.reason.utf8.drop { $0 != UInt8(ascii: ":") })
    throw StoreError(.invalid, "is not \(format.description): \(first.place)\(finding); use another format")
  }

  /// A name inside another one; one that is too long for a key is not made longer.
  static func join(_ outer: String?, _ name: String) -> String {
    guard let outer else { return name }
    return outer.utf8.count > Limits.keyBytes ? outer : "\(outer).\(name)"
  }

  package static func shortened(_ name: String) -> String {
    name.utf8.count <= 160 ? name : String(String.UnicodeScalarView(name.unicodeScalars.prefix(150))) + "…"
  }
}
