// Maps keys to environment variables: one name for each key, and one key for each name.

public import KeptValues

/// The names of environment variables for keys, after a prefix that is used as it is.
///
/// With `PLAYER_`, the key `audio.volume` is `PLAYER_AUDIO_VOLUME`.
///
/// - Lower-case letters become upper case; digits stay; a dot is `_`; an underscore is `__`.
/// - Every other byte of the UTF-8 is `_x` and two lower-case hexadecimal digits: `maxVolume` is `MAX_x56OLUME`.
/// - So is a dot that is next to another dot or an underscore, or before a byte written in this form: two underscores
///   always encode one underscore of the key.
public enum EnvironmentName: Sendable {
  public static func name(of key: KeyName, prefix: String) -> String { prefix + encoded(Array(key.text.utf8)) }

  /// The key that a variable sets; nil unless the name is exactly the result of ``name(of:prefix:)`` for that
  /// key.
  public static func key(of name: String, prefix: String) -> KeyName? {
    guard let key = intendedKey(of: name, prefix: prefix),
      ExactString(Self.name(of: key, prefix: prefix)) == ExactString(name)
    else { return nil }
    return key
  }

  /// The key that an invalid name was probably meant for: letters match in either case, and other characters are taken
  /// literally.
  package static func intendedKey(of name: String, prefix: String) -> KeyName? {
    guard ExactString(name).hasPrefix(ExactString(prefix)) else { return nil }
    let bytes = decoded(Array(name.utf8.dropFirst(prefix.utf8.count)))
    return bytes.withUnsafeBufferPointer { String(exactly: $0) }.flatMap { try? KeyName($0) }
  }

  private static func encoded(_ key: [UInt8]) -> String {
    var name: [UInt8] = []
    for (place, byte) in key.enumerated() {
      switch byte {
      case letters: name.append(byte & ~0x20)
      case digits: name.append(byte)
      case dot where isPlainDot(at: place, in: key): name.append(underscore)
      default:
        name.append(underscore)
        if byte == underscore {
          name.append(underscore)
        } else {
          name.append(escape)
          name.append(hexadecimal(byte >> 4))
          name.append(hexadecimal(byte & 0xF))
        }
      }
    }
    return String(decoding: name, as: UTF8.self)
  }

  /// Whether a dot can be written as one underscore: its neighbours must not make it ambiguous.
  private static func isPlainDot(at place: Int, in key: [UInt8]) -> Bool {
    if place > 0, key[place - 1] == dot || key[place - 1] == underscore { return false }
    return place + 1 == key.count || letters ~= key[place + 1] || digits ~= key[place + 1]
  }

  private static func decoded(_ name: [UInt8]) -> [UInt8] {
    var key: [UInt8] = []
    var place = 0
    while place < name.count {
      let (byte, length) = decodedByte(name[place...])
      key.append(byte)
      place += length
    }
    return key
  }

  /// The first byte of a key, and how many bytes of its name encode it.
  private static func decodedByte(_ name: ArraySlice<UInt8>) -> (byte: UInt8, length: Int) {
    let (first, second) = (name[name.startIndex], name.dropFirst().first)
    guard first == underscore else { return (0x41...0x5A ~= first ? first | 0x20 : first, 1) }
    if second == underscore { return (underscore, 2) }
    if second == escape, let high = name.dropFirst(2).first?.hexadecimalDigit,
      let low = name.dropFirst(3).first?.hexadecimalDigit
    {
      return (high << 4 | low, 4)
    }
    return (dot, 1)
  }

  private static func hexadecimal(_ digit: UInt8) -> UInt8 {
    digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
  }

  private static var letters: ClosedRange<UInt8> { UInt8(ascii: "a")...UInt8(ascii: "z") }
  private static var digits: ClosedRange<UInt8> { UInt8(ascii: "0")...UInt8(ascii: "9") }
  private static var underscore: UInt8 { UInt8(ascii: "_") }
  private static var dot: UInt8 { UInt8(ascii: ".") }
  private static var escape: UInt8 { UInt8(ascii: "x") }
}
