// What `kept` and the program `kept-formats` say to each other.
//
// The program gets the format as its argument, and on standard input a line with the keys that stay whole, and the
// file. It prints lines of four fields between tabs, each as JSON: a value, a text, a note, a loss, or an error.

import Kept

extension Reading {
  /// What the program gets to read a file.
  public func request(for bytes: [UInt8]) -> [UInt8] {
    Array("\(Value.array(whole.map { .string($0.text) }).json)\n".utf8) + bytes
  }

  /// A request, as the program gets it.
  public static func requested(
    _ format: Format, _ request: [UInt8]
  ) throws(StoreError) -> (reading: Reading, bytes: [UInt8]) {
    let end = request.firstIndex(of: 0x0A) ?? request.count
    guard case .array(let keys) = try Value(json: request[..<end][...].text) else {
      throw StoreError(.invalid, "the keys that stay whole are not an array")
    }
    let whole = keys.compactMap { key in if case .string(let text) = key { ExactString(text) } else { nil } }
    return (Reading(format, whole: Set(whole)), Array(request.dropFirst(end + 1)))
  }
}

extension FoundSettings {
  /// The lines that the program prints.
  public var lines: String {
    var lines = ""
    for setting in settings {
      switch setting.content {
      case .value(let value): lines += Self.line("value", setting.name, value, setting.place)
      case .text(let text): lines += Self.line("text", setting.name, .string(text), setting.place)
      }
    }
    for note in notes { lines += Self.line(note.isLoss ? "loss" : "note", note.place, .string(note.reason), "") }
    return lines
  }

  /// The line that the program prints if it cannot read the file.
  public static func line(_ error: StoreError) -> String {
    line("error", error.message, .int(Int64(error.code.rawValue)), error.offset.map { String($0) } ?? "")
  }

  /// What the program has printed.
  ///
  /// Throws the error of its line.
  /// - Parameter size: the bytes of the file.
  public init(lines: [UInt8], size: Int) throws(StoreError) {
    self.init(size: size)
    for line in lines.split(separator: 0x0A) {
      let fields = line.split(separator: 0x09).map(\.text)
      guard fields.count == 4 else { continue }
      let (name, place) = (try Self.string(fields[1]), try Self.string(fields[3]))
      let value: Value
      do throws(StoreError) { value = try Value(json: fields[2]) } catch {
        guard fields[0] == "value", error.code != .failed else { throw error }
        // It is too large to be stored.
        try leaveOut(place, error.message)
        continue
      }
      switch (fields[0], value) {
      case ("value", _): try add(name, .value(value), at: place)
      case ("text", .string(let text)): try add(name, .text(text), at: place)
      case ("note", .string(let reason)): try note(name, reason)
      case ("loss", .string(let reason)): try leaveOut(name, reason)
      case ("error", .int(let code)):
        throw StoreError(StoreError.Code(rawValue: Int32(truncatingIfNeeded: code)), offset: Int(place), name)
      default: break
      }
    }
  }

  private static func line(_ kind: String, _ name: String, _ value: Value, _ place: String) -> String {
    "\(kind)\t\(Value.string(name).json)\t\(value.json)\t\(Value.string(place).json)\n"
  }

  private static func string(_ json: String) throws(StoreError) -> String {
    guard case .string(let text) = try Value(json: json) else { return "" }
    return text
  }
}
