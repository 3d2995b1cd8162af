// What can give the key that a store's data keys are wrapped with.

package import KeptValues

/// A provider of the key that wraps a store's data keys.
package enum Provider: Sendable, Equatable {
  /// A file that only its owner may read.
  case keyFile(String)
  /// A passphrase, which the caller has.
  case passphrase(PassphraseHash)
  /// A program that prints the key: its path and its arguments.
  case program([String])
  /// A key that systemd-creds has encrypted for this machine.
  case systemCredential(name: String, sealed: String)
  /// An item of the user's keyring, found by the identity of the store's secrets.
  case secretService

  /// Describes the provider, for messages.
  package var name: String {
    switch self {
    case .keyFile(let path): "the key file \(path)"
    case .passphrase: "the passphrase"
    case .program(let arguments): "the program \(arguments.first ?? "")"
    case .systemCredential: "systemd-creds"
    case .secretService: "the Secret Service"
    }
  }

  /// Whether a store has only one of both: one passphrase, one credential of the system and one item of the keyring.
  package func isRenewed(by other: Provider) -> Bool {
    switch (self, other) {
    case (.passphrase, .passphrase), (.systemCredential, .systemCredential): true
    default: self == other
    }
  }

  /// Gets the key of an existing provider.
  ///
  /// Throws a `StoreError` with the reason and the remedy.
  package func key(of store: [UInt8], _ access: ProviderAccess) throws(StoreError) -> LockedBytes {
    switch self {
    case .keyFile(let path): return try KeyFile.read(path)
    case .passphrase(let hash):
      var passphrase = access.passphrase
      if passphrase == nil, let ask = access.askPassphrase { passphrase = try ask() }
      guard let passphrase else {
        throw StoreError(.unavailable, "no passphrase was given; give the one that was set when it was added")
      }
      return try hash.key(of: passphrase)
    case .program(let arguments):
      guard access.mayRunPrograms || access.namedPrograms.contains(arguments.map { ExactString($0) }) else {
        throw StoreError(
          .denied,
          "it is not run, because the store comes from elsewhere; if you trust it, remove all other programs of the "
            + "store and add it again, or restore the backup over a store that has it")
      }
      return try KeyProgram.key(arguments, access)
    case .systemCredential(let name, let sealed): return try SystemCredential.key(name, sealed, access)
    case .secretService: return try SecretService.key(of: store, access)
    }
  }
}

/// What providers may use.
package struct ProviderAccess: Sendable {
  /// The passphrase, if the caller has one.
  package var passphrase: LockedBytes?
  /// Asks for it where no other provider has given the key.
  package var askPassphrase: (@Sendable () throws(StoreError) -> LockedBytes?)?
  /// Whether the programs that the document names are run: only if it is known that this user has named them.
  package var mayRunPrograms = true
  /// The paths and arguments of programs that this user has named, which are run even if others are not.
  package var namedPrograms: Set<[ExactString]> = []
  /// How long each program may take, in milliseconds.
  ///
  /// A keyring may ask its user within that time.
  package var timeout: Int64 = 30_000

  // Tests give others.
  var systemdCreds = "systemd-creds"
  var secretTool = "secret-tool"

  package init() {}

  package init(passphrase: String?) throws(StoreError) {
    self.passphrase = try passphrase.map { text throws(StoreError) in try LockedBytes(copying: text) }
  }
}

// MARK: - In the file

extension Provider {
  /// Throws `unsupported` for a kind that this version does not know, and `corrupt` for invalid parameters.
  init(_ parameters: ValueDictionary) throws(StoreError) {
    let members = Members(parameters)
    let kind = members["kind"]?.asString ?? ""
    switch kind {
    case "file":
      guard let path = members["path"]?.asString, path.begins(with: "/") else {
        throw Members.damaged("a key file has no absolute path")
      }
      self = .keyFile(path)
    case "passphrase": self = .passphrase(try PassphraseHash(members))
    case "program":
      let arguments = members["arguments"]?.asArray?.compactMap(\.asString) ?? []
      guard arguments.count == members["arguments"]?.asArray?.count, arguments.first?.begins(with: "/") == true else {
        throw Members.damaged("a program has no absolute path and arguments")
      }
      self = .program(arguments)
    case "systemd-creds":
      guard let name = members["name"]?.asString, let sealed = members["credential"]?.asString else {
        throw Members.damaged("a credential of systemd has no name or text")
      }
      self = .systemCredential(name: name, sealed: sealed)
    case "secret-service": self = .secretService
    default:
      throw StoreError(
        .unsupported, "this version knows no provider of the kind \"\(kind)\"; use the version that added it")
    }
  }

  var parameters: ValueDictionary {
    switch self {
    case .keyFile(let path): ["kind": "file", "path": .string(path)]
    case .passphrase(let hash): hash.parameters
    case .program(let arguments): ["kind": "program", "arguments": .array(arguments.map { .string($0) })]
    case .systemCredential(let name, let sealed):
      ["kind": "systemd-creds", "name": .string(name), "credential": .string(sealed)]
    case .secretService: ["kind": "secret-service"]
    }
  }
}
