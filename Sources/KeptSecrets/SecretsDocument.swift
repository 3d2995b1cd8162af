// The file `secrets` of a store: its data keys, wrapped by each of its providers. It has nothing secret in it.

package import KeptValues

/// How a store keeps its secrets.
package struct SecretsDocument: Sendable, Equatable {
  /// The identity that values and wrapped keys are bound to.
  ///
  /// A copy and a backup of the store have the same.
  package let id: [UInt8]
  /// Whether someone has decided that secrets are not encrypted.
  package internal(set) var isPlain: Bool
  package internal(set) var keys: [DataKey]
  /// Whether programs that it names are run: not if it comes from a backup, whose author a user may not trust.
  package internal(set) var mayRunPrograms = true
  /// The first is tried first.
  package internal(set) var providers: [ProviderEntry]

  /// A data key, without the key.
  package struct DataKey: Sendable, Equatable {
    package let number: UInt32
    package let created: Timestamp
    /// The public key of its pair, for processes that do not have the data key.
    let publicKey: [UInt8]
    /// Whether new values are sealed with it.
    package internal(set) var isCurrent: Bool
  }

  /// A provider, and the data keys that its key wraps.
  package struct ProviderEntry: Sendable, Equatable {
    /// Its kind and its parameters, as they are in the file: also those of a kind that this version does not know.
    let parameters: ValueDictionary
    /// The wrapped keys, by the numbers of the keys.
    var wrapped: ValueDictionary = [:]
  }

  private init(_ id: [UInt8]) { (self.id, isPlain, keys, providers) = (id, true, [], []) }

  package static let format: Int64 = 1
  static let idBytes = 16

  /// Secrets that are not encrypted.
  ///
  /// This needs no library.
  package static func plain() -> SecretsDocument {
    SecretsDocument((0..<idBytes).map { _ in .random(in: 0 ... .max) })
  }
}

// MARK: - JSON

extension SecretsDocument {
  /// Throws `corrupt` for a text that is not one, and `unsupported` for one of a later format.
  package init(json text: UnsafeBufferPointer<UInt8>) throws(StoreError) {
    let members = try Members(text)
    switch members["format"] {
    case .int(Self.format): break
    case .int(let later) where later > Self.format:
      throw StoreError(
        .unsupported,
        "the file secrets has format \(later), and this version knows format \(Self.format) only; use a later version")
    default: throw Members.damaged("its format is missing")
    }
    id = try members.bytes("id", count: Self.idBytes)
    isPlain = try members.text("state", of: ["plain", "encrypted"]) == "plain"
    mayRunPrograms = members["programs"] == nil
    keys = try members.list("keys", DataKey.init)
    providers = try members.list("providers", ProviderEntry.init)
    var numbers = Set<UInt32>()
    for key in keys where !numbers.insert(key.number).inserted {
      throw Members.damaged("it has data key \(key.number) twice")
    }
    guard keys.count(where: \.isCurrent) == 1 || isPlain && keys.allSatisfy({ !$0.isCurrent }) else {
      throw Members.damaged("not exactly one of its data keys is current")
    }
  }

  package var json: String {
    var members: ValueDictionary = [
      "format": .int(Self.format), "id": .string(Base64.text(id)), "state": isPlain ? "plain" : "encrypted",
      "keys": .array(keys.map { .dictionary($0.members) }),
      "providers": .array(
        providers.map { entry in
          var members = entry.parameters
          members["wrapped"] = .dictionary(entry.wrapped)
          return .dictionary(members)
        }),
    ]
    if !mayRunPrograms { members["programs"] = "refused" }
    return Value.dictionary(members).json
  }

  /// What a backup has: the same, but a restore runs no program that it names.
  package var ofBackup: SecretsDocument {
    var document = self
    document.mayRunPrograms = false
    return document
  }
}

extension SecretsDocument.DataKey {
  fileprivate init(_ members: Members) throws(StoreError) {
    guard case .int(let number) = members["number"], let number = UInt32(exactly: number) else {
      throw Members.damaged("a data key has no number")
    }
    self.number = number
    guard let created = try? Timestamp(text: members["created"]?.asString ?? "") else {
      throw Members.damaged("data key \(number) has no time")
    }
    self.created = created
    publicKey = try members.bytes("public", count: KeyPair.publicBytes)
    isCurrent = try members.text("state", of: ["current", "old"]) == "current"
  }

  var members: ValueDictionary {
    [
      "number": .int(Int64(number)), "created": .string(created.description),
      "public": .string(Base64.text(publicKey)),
      "state": isCurrent ? "current" : "old",
    ]
  }
}

extension SecretsDocument.ProviderEntry {
  fileprivate init(_ members: Members) throws(StoreError) {
    var parameters = members.all
    parameters["wrapped"] = nil
    self.parameters = parameters
    guard case .dictionary(let wrapped) = members["wrapped"] else {
      throw Members.damaged("a provider has no wrapped keys")
    }
    self.wrapped = wrapped
  }
}

/// The members of an object in the file.
struct Members {
  let all: ValueDictionary

  init(_ all: ValueDictionary) { self.all = all }

  fileprivate init(_ text: UnsafeBufferPointer<UInt8>) throws(StoreError) {
    do throws(StoreError) {
      guard case .dictionary(let all) = try Value(jsonBytes: text) else { throw Self.damaged("it is not an object") }
      self.all = all
    } catch {
      guard error.code == .invalid else { throw error }
      let place = error.offset.map { " at byte \($0)" } ?? ""
      throw Self.damaged("it is not JSON\(place): \(error.message)")
    }
  }

  subscript(name: ExactString) -> Value? { all[name] }

  func text(_ name: ExactString, of choices: [String]) throws(StoreError) -> String {
    guard let text = all[name]?.asString, choices.contains(where: { ExactString($0) == ExactString(text) }) else {
      throw Self.damaged("\(name) is not one of \(choices.joined(separator: ", "))")
    }
    return text
  }

  func bytes(_ name: ExactString, count: Int) throws(StoreError) -> [UInt8] {
    guard let bytes = all[name]?.asString.flatMap(Base64.decode), bytes.count == count else {
      throw Self.damaged("\(name) is not the base64 of \(count) bytes")
    }
    return bytes
  }

  fileprivate func list<Element>(
    _ name: ExactString, _ element: (Members) throws(StoreError) -> Element
  ) throws(StoreError) -> [Element] {
    guard case .array(let values) = all[name] else { throw Self.damaged("\(name) is not a list") }
    var list: [Element] = []
    for value in values {
      guard case .dictionary(let members) = value else { throw Self.damaged("\(name) has elements other than objects") }
      list.append(try element(Members(members)))
    }
    return list
  }

  static func damaged(_ what: String) -> StoreError {
    StoreError(
      .corrupt,
      "the file secrets of the store is damaged: \(what); move it away, and bring it back from a backup (kept "
        + "restore): without it encrypted secrets are lost")
  }
}
