// The keys that seal secrets in etcd. docs/internals/fleet-secrets.md has the format.

internal import Crypto
internal import FoundationEssentials
internal import Glibc
package import Kept

/// The keys of `--secrets-key`: the first one seals, and all of them open.
package struct SecretsKeys: Sendable {
  private let keys: [(id: String, key: SymmetricKey)]

  package init(_ paths: [String]) throws(StoreError) {
    keys = try paths.map { path throws(StoreError) in
      let secret = try Self.read(path)
      func derive(_ use: String, _ count: Int) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: secret, info: Data(use.utf8), outputByteCount: count)
      }
      let id = derive("kept-fleet 1 id", 8).withUnsafeBytes { bytes in
        bytes.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
      }
      return (id, derive("kept-fleet 1 seal", 32))
    }
  }

  var isEmpty: Bool { keys.isEmpty }
  package var ids: [String] { keys.map(\.id) }

  /// The text in etcd for a secret.
  ///
  /// - Parameter place: the key in etcd, to which the text is bound.
  func seal(_ value: Value, at place: String) throws(StoreError) -> Data {
    guard let (id, key) = keys.first,
      let box = try? ChaChaPoly.seal(Data(value.json.utf8), using: key, authenticating: Data(place.utf8))
    else { throw StoreError(.failed, "a secret could not be sealed; give a key with --secrets-key") }
    return Data("\(SealedValue.prefix)1:\(id):\(box.combined.base64EncodedString())".utf8)
  }

  func open(_ sealed: SealedValue, at place: String) throws(StoreError) -> Value {
    guard let bytes = Data(base64Encoded: sealed.base64), let box = try? ChaChaPoly.SealedBox(combined: bytes),
      let key = keys.first(where: { $0.id == sealed.keyID })?.key,
      let json = try? ChaChaPoly.open(box, using: key, authenticating: Data(place.utf8)),
      let value = try? Value(json: String(decoding: json, as: UTF8.self))
    else {
      throw StoreError(
        .invalid, "the sealed value in etcd was sealed for another key or prefix, or is damaged; set the secret again")
    }
    return value
  }

  /// Reads a key by the rules of the key files of stores.
  private static func read(_ path: String) throws(StoreError) -> SymmetricKey {
    try Store.checkLinks(on: path)
    let file = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    if file < 0, errno == ENOENT { throw StoreError(.unavailable, "\(path) does not exist; mount or restore it") }
    var status = stat()
    guard file >= 0 || errno == ELOOP else { throw .system("open \(path)", errno) }
    defer { close(file) }
    guard file >= 0, fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw StoreError(.denied, "\(path) is not a regular file; use the path of the key file itself")
    }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw StoreError(
        .denied,
        "\(path) belongs to user \(status.st_uid), but this process runs as user \(geteuid()); run chown on it")
    }
    // systemd gives a service its credential by an access control list, which shows as the permission of the group.
    let permitted: mode_t = status.st_uid == 0 && status.st_gid == 0 ? 0o740 : 0o700
    guard status.st_mode & 0o777 & ~permitted == 0 else {
      throw StoreError(.denied, "other users can read or write \(path); run chmod 600 on it, and replace the key")
    }
    var bytes = [UInt8](repeating: 0, count: 64)
    bytes.removeLast(bytes.count - max(0, Glibc.read(file, &bytes, bytes.count)))
    if bytes.count == 32 { return SymmetricKey(data: bytes) }
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard let key = Data(base64Encoded: Data(bytes)), key.count == 32 else {
      throw StoreError(
        .invalid,
        "\(path) has no key: a key is 32 bytes, or their base64 in one line, as openssl rand -base64 32 prints it")
    }
    return SymmetricKey(data: key)
  }
}

/// A sealed value in etcd, which no JSON begins like.
struct SealedValue: Sendable, Hashable {
  static let prefix = "kept-sealed:"
  /// Nil if a later version has sealed it.
  let keyID: String?
  fileprivate let base64: String

  /// Nil for another text.
  init?(_ text: String) {
    guard text.utf8.starts(with: Self.prefix.utf8) else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
    let isKnown =
      parts.count == 4 && parts[1] == "1" && parts[2].utf8.count == 16
      && parts[2].utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
    (keyID, base64) = isKnown ? (parts[2], parts[3]) : (nil, "")
  }
}
