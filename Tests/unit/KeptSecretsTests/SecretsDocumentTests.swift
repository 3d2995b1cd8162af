// The file `secrets`: what it guarantees, and what its changes do.

import Foundation
import KeptSystem
import KeptValues
import Testing

@testable import KeptSecrets

@Suite struct `The file of a store's secrets` {
  let folder: TestFolder
  init() throws { folder = try TestFolder() }

  @Test func `reads as it was written, for its owner alone, and is replaced as a whole`() throws {
    let store = try OpenFolder.own(folder.path)
    #expect(try SecretsFile.read(in: store) == nil)
    let (document, _) = try documentWithPassphrase()
    try SecretsFile.write(.plain(), in: store)
    try SecretsFile.write(document, in: store)
    #expect(try SecretsFile.read(in: store) == document)
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/secrets")
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["secrets"])
  }

  @Test func `says that secrets are plain only if that was chosen`() throws {
    let plain = try SecretsDocument(SecretsDocument.plain().json)
    #expect(plain.isPlain)
    var (document, _) = try documentWithPassphrase()
    #expect(try !SecretsDocument(document.json).isPlain)
    document.keys = []
    #expect(error { try SecretsDocument(document.json) }?.code == .corrupt)
  }

  @Test(
    arguments: [
      "", "[]", "{}", #"{"format":1}"#, #"{"format":1,"id":"AA==","state":"plain","keys":[],"providers":[]}"#,
      #"{"format":1,"id":"AAAAAAAAAAAAAAAAAAAAAA==","state":"Plain","keys":[],"providers":[]}"#,
      #"{"format":1,"id":"AAAAAAAAAAAAAAAAAAAAAA==","state":"encrypted","keys":[],"providers":[]}"#,
      #"{"format":1,"id":"AAAAAAAAAAAAAAAAAAAAAA==","state":"plain","keys":[{}],"providers":[]}"#,
      #"{"format":1,"id":"AAAAAAAAAAAAAAAAAAAAAA==","state":"plain","keys":[],"providers":[{"kind":"file"}]}"#,
      #"{"format":1,"id":"AAAAAAAAAAAAAAAAAAAAAA==","state":"plain","keys":[],"providers":[],"keys":[]}"#,
      #"{"format":1,"id":"AAAAAAAAAAAAAAAAAAAAAA==","state":"plain","keys":"#
        + #"[{"number":1,"created":"2026-11-20T23:44:01Z","state":"old"},"#
        + #"{"number":1,"created":"2026-11-20T23:44:01Z","state":"old"}],"providers":[]}"#,
    ])
  func `is called damaged if it is`(json: String) throws {
    #expect(error { try SecretsDocument(json) }?.code == .corrupt)
  }

  @Test func `of a later format is refused, and a provider of a later version is kept`() throws {
    #expect(error { try SecretsDocument(#"{"format":2}"#) }?.code == .unsupported)
    var (document, data) = try documentWithPassphrase()
    document.providers.insert(.init(parameters: ["kind": "moon", "phase": 3], wrapped: ["1": "AAAA"]), at: 0)
    let read = try SecretsDocument(document.json)
    #expect(read == document)
    #expect(try read.unlock(access("correct horse")).open(data.seal([1], "a", 1), "a", 1) == [1])
    #expect(error { try read.unlock(access()) }?.message.contains("\"moon\"") == true)
  }

  @Test func `gives no key if any bit of a wrapped key is changed`() throws {
    let (document, data) = try documentWithPassphrase()
    let sealed = try data.seal([5], "token", 1)
    let wrapped = try #require(document.providers[0].wrapped["1"]?.asString.flatMap(Base64.decode))
    for changed in flipped(wrapped) {
      var document = document
      document.providers[0].wrapped["1"] = .string(Base64.text(changed))
      #expect(error { try document.unlock(access("correct horse")) }?.code == .denied)
    }
    #expect(try document.unlock(access("correct horse")).open(sealed, "token", 1) == [5])
  }

  @Test func `gives no key if anything that it says of the key was changed`() throws {
    var (document, data) = try documentWithPassphrase()
    let file = try KeyFile.make(folder.path + "/key")
    try document.add(.keyFile(folder.path + "/key"), file, to: data)
    let json = document.json
    _ = try SecretsDocument(json).unlock(access())
    let other = try folder.write(file.array, "other")
    for (old, new) in [
      ("\(folder.path)/key", other), (Base64.text(document.id), Base64.text([UInt8](repeating: 1, count: 16))),
      (#""number":1"#, #""number":2"#), ("\(someTime)", "2026-01-01T00:00:00Z"),
      (#""kind":"file""#, #""kind":"file","note":1"#),
    ] {
      var changed = json.replacingOccurrences(of: old, with: new)
      if old == #""number":1"# { changed = changed.replacingOccurrences(of: #"{"1":"#, with: #"{"2":"#) }
      #expect(changed != json)
      #expect(error { try SecretsDocument(changed).unlock(access()) }?.code == .unavailable, "\(old)")
    }
  }

  @Test func `opens with each provider alone, tried in order, and tells why none does`() throws {
    var (document, data) = try documentWithPassphrase()
    let path = folder.path + "/key"
    try document.add(.keyFile(path), KeyFile.make(path), to: data)
    let sealed = try data.seal([5], "token", 1)
    #expect(try document.unlock(access()).open(sealed, "token", 1) == [5])
    try FileManager.default.removeItem(atPath: path)
    #expect(try document.unlock(access("correct horse")).open(sealed, "token", 1) == [5])
    let refusal = error { try document.unlock(access()) }
    #expect(refusal?.code == .unavailable)
    #expect(refusal?.message.contains("the passphrase: no passphrase was given") == true)
    #expect(refusal?.message.contains("the key file \(path): \(path) does not exist") == true)
    #expect(error { try document.unlock(access("wrong horse")) }?.code == .denied)
  }

  @Test func `does not lose its last provider, and has one that is renewed once`() throws {
    var (document, data) = try documentWithPassphrase()
    let passphrase = document.providers[0]
    #expect(error { try document.remove(passphrase) }?.code == .invalid)
    let path = folder.path + "/key"
    let key = try KeyFile.make(path)
    try document.add(.keyFile(path), key, to: data)
    try document.add(.keyFile(path), key, to: data)
    #expect(document.providers.map(\.name) == ["the passphrase", "the key file \(path)"])
    try document.remove(passphrase)
    #expect(document.providers.map(\.name) == ["the key file \(path)"])
    #expect(error { try document.remove(passphrase) }?.code == .absent)
  }

  @Test func `has a new data key for all providers after a rotation, and reads old values until they are sealed again`()
    throws
  {
    var (document, data) = try documentWithPassphrase()
    let path = folder.path + "/key"
    try document.add(.keyFile(path), KeyFile.make(path), to: data)
    let old = try data.seal([5], "token", 1)
    let rotated = try document.rotate(access("correct horse"), at: someTime)
    let new = try rotated.seal([5], "token", 2)
    #expect(error { try data.open(new, "token", 2) }?.code == .unavailable)
    document = try SecretsDocument(document.json)
    for means in [try access("correct horse"), try access()] {
      #expect(try document.unlock(means).open(old, "token", 1) == [5])
      #expect(try document.unlock(means).open(new, "token", 2) == [5])
    }
    document.forgetOldKeys()
    #expect(!document.json.contains(#""1":"#))
    document = try SecretsDocument(document.json)
    #expect(try document.unlock(access()).open(new, "token", 2) == [5])
    #expect(error { try document.unlock(access()).open(old, "token", 1) }?.code == .unavailable)
  }

  @Test func `is not rotated while a provider could not read the new secrets`() throws {
    var (document, data) = try documentWithPassphrase()
    let path = folder.path + "/key"
    try document.add(.keyFile(path), KeyFile.make(path), to: data)
    let before = document
    let refusal = error { try document.rotate(access(), at: someTime) }
    #expect(refusal?.code == .unavailable)
    #expect(refusal?.message.contains("no passphrase was given") == true)
    #expect(document == before)
  }
}
