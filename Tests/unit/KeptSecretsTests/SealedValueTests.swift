// What the encryption of a value guarantees.

import Foundation
import KeptValues
import Testing

@testable import KeptSecrets

@Suite struct `A sealed value` {
  let document: SecretsDocument
  let data: DataKeys
  init() throws { (document, data) = try documentWithPassphrase() }

  @Test(arguments: [0, 1, 31, 64, 65_536])
  func `opens to what was sealed`(count: Int) throws {
    let plain = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let sealed = try data.seal(plain, "token", 7)
    #expect(sealed.count == plain.count + SealedHeader.overhead)
    #expect(try data.open(sealed, "token", 7) == plain)
  }

  @Test func `differs each time, and has nothing of the plain text`() throws {
    let plain = Array("the token of a program".utf8)
    let (first, second) = (try data.seal(plain, "token", 7), try data.seal(plain, "token", 7))
    #expect(first != second)
    #expect(!String(decoding: first, as: Unicode.ASCII.self).contains("token"))
    #expect(first[37...] != second[37...])
  }

  @Test func `is refused with any bit changed, at any length but its own`() throws {
    let sealed = try data.seal(Array("secret".utf8), "token", 7)
    for changed in flipped(sealed) { #expect(throws: StoreError.self) { try data.open(changed, "token", 7) } }
    // As an old value, whose revision is in it.
    for changed in flipped(sealed) { #expect(throws: StoreError.self) { try data.open(changed, "token", nil) } }
    for count in 0..<sealed.count {
      #expect(throws: StoreError.self) { try data.open(Array(sealed[..<count]), "token", 7) }
    }
    #expect(throws: StoreError.self) { try data.open(sealed + [0], "token", 7) }
  }

  @Test func `is refused for another key, revision or store`() throws {
    let sealed = try data.seal(Array("secret".utf8), "token", 7)
    #expect(error { try data.open(sealed, "tokem", 7) }?.code == .corrupt)
    #expect(error { try data.open(sealed, "token\u{301}", 7) }?.code == .corrupt)
    #expect(error { try data.open(sealed, "token", 8) }?.code == .corrupt)
    // The same data keys under another identity, as after an exchange of the wrapped keys.
    let other = DataKeys(store: [UInt8](repeating: 1, count: 16), current: data.current, keys: data.keys)
    #expect(error { try other.open(sealed, "token", 7) }?.code == .corrupt)
    let (_, another) = try documentWithPassphrase()
    #expect(error { try another.open(sealed, "token", 7) }?.code == .corrupt)
  }

  @Test func `of the past opens with the revision that it has`() throws {
    let sealed = try data.seal(Array("old".utf8), "token", 3)
    #expect(try data.open(sealed, "token", nil) == Array("old".utf8))
  }

  @Test func `of a later format, and of a data key that is missing, is not called damaged`() throws {
    var sealed = try data.seal([1], "token", 7)
    sealed[0] = 3
    #expect(error { try data.open(sealed, "token", 7) }?.code == .unavailable)
    sealed[0] = 1
    sealed[1] = 9
    let missing = error { try data.open(sealed, "token", 7) }
    #expect(missing?.code == .unavailable)
    #expect(missing?.message.contains("data key 9") == true)
  }

  // MARK: - Without the data key

  private func sealPublicly(_ plain: [UInt8], _ key: String, _ revision: Revision) throws -> [UInt8] {
    let name = try KeyName(key)
    return try plain.withUnsafeBufferPointer { plain throws(StoreError) in
      try document.seal(plain, for: name, at: revision)
    }
  }

  @Test(arguments: [0, 1, 65_536])
  func `that was sealed with the public key opens with the data key`(count: Int) throws {
    let plain = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let sealed = try sealPublicly(plain, "token", 7)
    #expect(sealed.count == plain.count + SealedHeader.overhead + 32)
    #expect(try data.open(sealed, "token", 7) == plain && data.open(sealed, "token", nil) == plain)
    #expect(try sealPublicly(plain, "token", 7) != sealed)
  }

  @Test func `that was sealed with the public key is refused if it was changed, or for another key, revision or store`()
    throws
  {
    let sealed = try sealPublicly(Array("secret".utf8), "token", 7)
    for changed in flipped(sealed) { #expect(throws: StoreError.self) { try data.open(changed, "token", nil) } }
    for count in 0..<sealed.count {
      #expect(throws: StoreError.self) { try data.open(Array(sealed[..<count]), "token", 7) }
    }
    #expect(error { try data.open(sealed, "tokem", 7) }?.code == .corrupt)
    #expect(error { try data.open(sealed, "token", 8) }?.code == .corrupt)
    let other = DataKeys(store: [UInt8](repeating: 1, count: 16), current: data.current, keys: data.keys)
    #expect(error { try other.open(sealed, "token", 7) }?.code == .corrupt)
    // Its own public key has no shared key: X25519 of a point of low order.
    var low = sealed
    low.replaceSubrange(13..<45, with: repeatElement(0, count: 32))
    #expect(error { try data.open(low, "token", 7) }?.code == .corrupt)
  }

  @Test func `is not opened with a file whose public key was exchanged`() throws {
    let (other, _) = try documentWithPassphrase()
    let text = document.json.replacingOccurrences(
      of: Base64.text(document.keys[0].publicKey), with: Base64.text(other.keys[0].publicKey))
    let changed = try SecretsDocument(text)
    #expect(!data.areKeys(of: changed) && data.areKeys(of: document))
    let refusal = error { try changed.unlock(access("correct horse")) }
    #expect(refusal?.code == .unavailable || refusal?.code == .denied)
    #expect(refusal?.message.contains("the file secrets was changed") == true)
  }
}
