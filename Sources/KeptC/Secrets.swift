// kept_secrets_json, of the section "Secrets" of kept.h: how a store keeps its secrets, and what has their key.

public import CKept
import KeptCore
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
    let passphrase = members["passphrase"]?.asString
    switch members["do"]?.asString ?? (members["do"] == nil ? "show" : "") {
    case "show": break
    case "check": return try store.secretsStatus(askingProviders: true, passphrase: passphrase)
    case "plain": try store.keepSecretsPlain()
    case "encrypt": try store.encryptSecrets(with: try provider())
    case "add": try store.addSecretsProvider(try provider(), passphrase: passphrase)
    case "remove": try store.removeSecretsProvider(try provider())
    case "rotate": try store.rotateSecrets(passphrase: passphrase)
    case "unlock": try store.unlockSecrets(passphrase: passphrase ?? "")
    default: throw Self.invalid("\"do\" is not show, check, plain, encrypt, add, remove, rotate or unlock")
    }
    return try store.secretsStatus()
  }

  private func provider() throws(StoreError) -> SecretsProvider {
    let provider = members?["provider"]?.asDictionary
    switch provider?["kind"]?.asString {
    case "systemd-creds": return .systemCredential
    case "secret-service": return .keyring
    case "passphrase": if let text = provider?["passphrase"]?.asString { return .passphrase(text) }
    case "file": if let path = provider?["path"]?.asString { return .keyFile(path) }
    case "program":
      let words = provider?["arguments"]?.asArray ?? []
      let arguments = words.compactMap(\.asString)
      if !arguments.isEmpty, arguments.count == words.count { return .program(arguments) }
    default: break
    }
    throw Self.invalid(
      "\"provider\" is not an object with the kind systemd-creds, secret-service, passphrase (with passphrase), file "
        + "(with path) or program (with arguments)")
  }

  private static func invalid(_ reason: String) -> StoreError {
    StoreError(.invalid, "the request about secrets is wrong: \(reason); correct it")
  }
}
