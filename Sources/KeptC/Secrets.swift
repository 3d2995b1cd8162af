// kept_secrets_json, of the section "Secrets" of kept.h: how a store keeps its secrets, and what has their key.

public import CKept
import KeptCore
import KeptSchema
import KeptValues

@_cdecl("kept_secrets_json") @implementation
public func kept_secrets_json(
  _ store: OpaquePointer?, _ request: UnsafePointer<CChar>?,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let (store, out) = (try store.store(), try json.required("json"))
    let request = SecretsRequest(request == nil ? [:] : try request.value(for: nil).asDictionary)
    out.pointee = try copied(request.carryOut(on: store).json)
  }
}

private struct SecretsRequest {
  private let members: ValueDictionary?

  init(_ members: ValueDictionary?) { self.members = members }

  func carryOut(on store: Store) throws(StoreError) -> SecretsStatus {
    guard let members else { throw Self.invalid("it is not an object") }
    let action = try text("do") ?? "show"
    let known: [ExactString]? =
      switch action {
      case "show", "plain": []
      case "check", "rotate", "unlock": ["passphrase"]
      case "encrypt", "remove": ["provider"]
      case "add": ["provider", "passphrase"]
      default: nil
      }
    guard let known else {
      throw Self.invalid("\"do\" is not show, check, plain, encrypt, add, remove, rotate or unlock")
    }
    try Self.check(members, has: ["do"] + known, "with \"do\": \"\(action)\"")
    let passphrase = try text("passphrase")
    switch action {
    case "check": return try store.secretsStatus(askingProviders: true, passphrase: passphrase)
    case "plain": try store.keepSecretsPlain()
    case "encrypt": try store.encryptSecrets(with: try provider())
    case "add": try store.addSecretsProvider(try provider(), passphrase: passphrase)
    // A passphrase is not part of a status, and the store has one at most.
    case "remove": try store.removeSecretsProvider(try provider(passphrase: ""))
    case "rotate": try store.rotateSecrets(passphrase: passphrase)
    case "unlock": try store.unlockSecrets(passphrase: passphrase ?? "")
    default: break
    }
    return try store.secretsStatus()
  }

  /// The text of a member; nil if there is none.
  private func text(_ name: ExactString) throws(StoreError) -> String? {
    guard let member = members?[name] else { return nil }
    guard let text = member.asString else { throw Self.invalid("\"\(name)\" is not text") }
    return text
  }

  /// - Parameter passphrase: for a provider that is given without one.
  private func provider(passphrase: String? = nil) throws(StoreError) -> SecretsProvider {
    let provider = members?["provider"]?.asDictionary ?? [:]
    let kind = provider["kind"]?.asString ?? ""
    let known: ExactString? =
      switch kind {
      case "passphrase": "passphrase"
      case "file": "path"
      case "program": "arguments"
      default: nil
      }
    try Self.check(provider, has: ["kind"] + (known.map { [$0] } ?? []), "in \"provider\"")
    switch kind {
    case "systemd-creds": return .systemCredential
    case "secret-service": return .keyring
    case "passphrase": if let text = provider["passphrase"]?.asString ?? passphrase { return .passphrase(text) }
    case "file": if let path = provider["path"]?.asString { return .keyFile(path) }
    case "program":
      let words = provider["arguments"]?.asArray ?? []
      let arguments = words.compactMap(\.asString)
      if !arguments.isEmpty, arguments.count == words.count { return .program(arguments) }
    default: break
    }
    throw Self.invalid(
      "\"provider\" is not an object with the kind systemd-creds, secret-service, passphrase (with passphrase), file "
        + "(with path) or program (with arguments)")
  }

  /// Throws for a member that has no meaning there.
  private static func check(
    _ members: ValueDictionary, has known: [ExactString], _ place: String
  ) throws(StoreError) {
    for member in members where !known.contains(member.key) {
      throw invalid("the member \"\(Excerpt.of(member.key.text))\" is not known \(place)")
    }
  }

  private static func invalid(_ reason: String) -> StoreError {
    StoreError(.invalid, "the request about secrets is wrong: \(reason); correct it")
  }
}
