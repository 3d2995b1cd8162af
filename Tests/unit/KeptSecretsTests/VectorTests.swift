// The examples of the formats, which Tests/vectors/test_secrets.py has made and decrypts with other libraries.

import Foundation
import KeptValues
import Testing

@testable import KeptSecrets

@Suite struct `The examples of the formats of secrets` {
  private struct Vectors: Decodable {
    struct Sealed: Decodable {
      let key: String
      let revision: Revision
      let kind: UInt8
      let payload: Data
      let sealed: Data
    }
    let passphrase: String
    let file: String
    let values: [Sealed]
  }

  private let vectors: Vectors
  private let document: SecretsDocument

  init() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
    let json = try Data(contentsOf: root.appending(path: "Tests/vectors/secrets.json"))
    vectors = try JSONDecoder().decode(Vectors.self, from: json)
    let all = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    let part = try JSONSerialization.data(withJSONObject: #require(all["document"]))
    document = try SecretsDocument(String(decoding: part, as: UTF8.self))
  }

  private func check(_ data: DataKeys) throws {
    for value in vectors.values {
      let plain = try data.open([UInt8](value.sealed), value.key, value.revision)
      #expect(plain == [value.kind] + [UInt8](value.payload))
    }
    #expect(!vectors.values.isEmpty)
  }

  @Test func `open with the passphrase`() throws { try check(document.unlock(access(vectors.passphrase))) }

  @Test func `open with the key file`() throws {
    let key = try #require(
      try Array(vectors.file.utf8).withUnsafeBufferPointer { line throws(StoreError) in try ProviderKey.read(line) })
    try check(document.unlock(document.providers[0], by: key))
  }
}
