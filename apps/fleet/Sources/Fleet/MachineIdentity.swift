// An identity that distinguishes machines with the same name.

internal import FoundationEssentials
internal import Kept
internal import Logging

/// A random text that a machine keeps next to its state.
struct MachineIdentity: Sendable {
  private(set) var text: String
  private let path: String

  init(_ path: String) {
    self.path = path
    let lines = FileManager.default.contents(atPath: path)?.split(separator: UInt8(ascii: "\n"))
    text = lines?.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
    if !Self.isIdentity(text) { renew() }
  }

  /// Takes another identity, because another machine uses this one: it was made from a copy of the disk.
  mutating func becomeAnother(_ log: Logger) {
    renew()
    log.notice("another machine, such as a copy of this one, has the same identity; this machine takes a new one")
  }

  private mutating func renew() {
    text = (0..<2).map { _ in Self.half }.joined()
    // If it cannot be saved, as on a full disk, the next start takes another one.
    try? AtomicFile.write(Data("\(text)\n".utf8), to: path, durable: true)
  }

  private static var half: String {
    let digits = String(UInt32.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  private static func isIdentity(_ text: String) -> Bool {
    text.utf8.count == 16 && text.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
  }
}
