// What the tests of secrets share.

import CPlatform
import Foundation
import KeptSystem
import KeptValues
import Testing

@testable import KeptSecrets

/// A folder of a test, removed with it.
final class TestFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "kept-secrets-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ bytes: [UInt8], _ name: String, mode: Int = 0o600) throws -> String {
    let file = path + "/" + name
    try Data(bytes).write(to: URL(filePath: file))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    return file
  }

  /// A program for `sh`.
  ///
  /// Another process writes it: a child that another test starts could have it open for writing, and then it cannot be
  /// run.
  func script(_ lines: String) throws -> String {
    let file = path + "/script-" + UUID().uuidString
    try LockedBytes.text("#!/bin/sh\n\(lines)\n").withBytes { text throws(StoreError) in
      let writer = ["/bin/sh", "-c", #"cat > "$1" && chmod 700 "$1""#, "sh", file]
      try ProgramRun.read(writer, input: text, ProviderAccess()) { _ in }
    }
    return file
  }
}

extension LockedBytes {
  var array: [UInt8] { (try? withBytes { bytes throws(StoreError) in Array(bytes) }) ?? [] }

  static func text(_ text: String) throws -> LockedBytes {
    try Array(text.utf8).withUnsafeBufferPointer { bytes throws(StoreError) in try LockedBytes(copying: bytes) }
  }
}

extension DataKeys {
  func seal(_ plain: [UInt8], _ key: String, _ revision: Revision) throws -> [UInt8] {
    let name = try KeyName(key)
    return try plain.withUnsafeBufferPointer { plain throws(StoreError) in try seal(plain, for: name, at: revision) }
  }

  func open(_ sealed: [UInt8], _ key: String, _ revision: Revision?) throws -> [UInt8] {
    let name = try KeyName(key)
    return try sealed.withUnsafeBufferPointer { sealed throws(StoreError) in
      try open(sealed, for: name, at: revision)
    }.array
  }
}

extension SecretsDocument {
  init(_ json: String) throws {
    self = try Array(json.utf8).withUnsafeBufferPointer { text throws(StoreError) in try SecretsDocument(json: text) }
  }
}

let someTime = Timestamp(nanosecondsSince1970: 1_795_000_000_000_000_000)

/// The cheapest hash that Argon2id has.
func quickHash() throws -> PassphraseHash { try .random(operations: 1, memory: 8 << 10) }

/// A document that a passphrase opens, and its data keys.
func documentWithPassphrase(_ passphrase: String = "correct horse") throws -> (SecretsDocument, DataKeys) {
  var document = SecretsDocument.plain()
  let hash = try quickHash()
  let data = try document.encrypt(with: .passphrase(hash), hash.key(of: .text(passphrase)), at: someTime)
  return (document, data)
}

func access(_ passphrase: String? = nil) throws -> ProviderAccess {
  var access = ProviderAccess()
  access.passphrase = try passphrase.map(LockedBytes.text)
  return access
}

/// The error that something throws.
func error(_ body: () throws -> Any) -> StoreError? {
  do {
    _ = try body()
    return nil
  } catch {
    return error as? StoreError
  }
}

/// Each way to change one bit.
func flipped(_ bytes: [UInt8]) -> [[UInt8]] {
  (0..<bytes.count * 8).map { bit in
    var changed = bytes
    changed[bit / 8] ^= 1 << UInt8(bit % 8)
    return changed
  }
}

/// Whether a program is in one of the usual folders.
func has(_ programs: String...) -> Bool {
  programs.allSatisfy { name in
    ["/usr/bin/", "/bin/"].contains { FileManager.default.isExecutableFile(atPath: $0 + name) }
  }
}
