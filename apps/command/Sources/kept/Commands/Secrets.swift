import ArgumentParser
import Kept

struct Secrets: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "secrets",
    abstract: "Shows how a store keeps its secrets, and changes it.",
    usage: """
      kept secrets STORE [--json]
      kept secrets STORE init PROVIDER | --plain
      kept secrets STORE add PROVIDER
      kept secrets STORE remove PROVIDER
      kept secrets STORE rotate
      kept secrets STORE recover PROVIDER
      """,
    discussion: """
      Secrets are the values of keys that are declared secret. `init` encrypts those that are stored and all that \
      follow, with a data key that a provider can unlock. `add` adds another provider, or renews one, and `remove` \
      removes one. `rotate` makes a new data key, and encrypts all secrets with it. `recover` asks for the passphrase \
      of a store that comes from another machine, and adds a provider of this one. If one of them is killed, nothing \
      is lost, and the same command goes on.

      PROVIDER is one of the options below. A passphrase is asked for, and not shown. If standard input is not a \
      terminal, a passphrase is a line of it. `add --passphrase` reads the passphrase of the store first, if it has \
      one, and then the new one. The first line may be empty if another provider gives the key.

      Without an action, exit status 1 if no one has decided yet how secrets are stored, or if a provider does not \
      give its key.
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var changing: ChangeOptions
  @Flag(name: .customLong("systemd-creds"), help: "The key of this machine, with its TPM if it has one.")
  var systemd = false
  @Flag(help: "The user's keyring: GNOME Keyring, KWallet or KeePassXC.")
  var keyring = false
  @Option(help: ArgumentHelp("A file that only its owner can read; it is made if it is missing.", valueName: "path"))
  var keyFile: String?
  @Flag(help: "A passphrase, for backups and for machines without anything else.")
  var passphrase = false
  @Option(
    parsing: .remaining,
    help: ArgumentHelp("A program that prints the key, and its arguments: the last words.", valueName: "words"))
  var program: [String] = []
  @Flag(help: "Store secrets as they are.")
  var plain = false
  @Flag(help: "Print one JSON object.")
  var json = false
  @Argument(help: .hidden) var words: [String] = []

  private enum Action: String, CaseIterable { case `init`, add, remove, rotate, recover }
  static var actions: [String] { Action.allCases.map(\.rawValue) }

  func validate() throws {
    if changing.dryRun {
      throw ValidationError("secrets has no --dry-run; without an action it shows the state, and changes nothing")
    }
  }

  func run() throws {
    let (location, rest) = try store.split(words)
    let word = try rest.expect(0...1, "the store and an action").first
    guard let word else { return try show(location) }
    guard let action = Action(rawValue: word) else {
      throw ValidationError("\(Excerpt.of(word)) is not an action; use \(Self.actions.joined(separator: ", "))")
    }
    let count = [systemd, keyring, keyFile != nil, passphrase, !program.isEmpty, plain].count { $0 }
    guard count == (action == .rotate ? 0 : 1), !plain || action == .`init` else {
      throw ValidationError(
        action == .rotate ? "rotate takes no provider" : "\(word) needs one provider, such as --systemd-creds")
    }
    let layers = LayerChoice(hasStandard: false)
    let settings =
      action == .`init`
      ? try StoreAccess.openToWrite(location, changing, layers) { _ in }
      : try StoreAccess.open(location, layers, toChange: changing)
    try change(settings, action)
    Output.standard.isDone = true
    let status = try settings.secretsStatus()
    changing.report("secrets are \(status.line)")
    if action == .`init` {
      for path in try settings.plainCopies() {
        changing.report("\(Shown.line(path)) is older, and may have them in plain; remove it, or replace the secrets")
      }
    }
  }

  private func change(_ settings: Store, _ action: Action) throws {
    switch action {
    case .`init` where plain: try settings.keepSecretsPlain()
    case .`init`: try settings.encryptSecrets(with: provider(isNew: true))
    case .remove: try settings.removeSecretsProvider(provider(isNew: false))
    case .rotate: try settings.rotateSecrets(passphrase: Self.passphrase(of: settings.secretsStatus().providers))
    case .recover:
      let known =
        try namesProgram(of: settings.secretsStatus()) ? nil : Passphrase.ofStore()
      try settings.addSecretsProvider(provider(isNew: true), passphrase: known)
    case .add:
      let known = try passphraseToAdd(settings.secretsStatus(askingProviders: true))
      try settings.addSecretsProvider(provider(isNew: true), passphrase: known)
    }
  }

  /// The passphrase of the store, if it is needed; nil if another provider gives the key.
  private func passphraseToAdd(_ status: SecretsStatus) throws -> String? {
    let isLocked = !namesProgram(of: status) && status.providers.allSatisfy { $0.reason != nil }
    // It is the first of two lines, whichever provider works.
    guard try isLocked || passphrase && !HiddenInput.isTerminal || Passphrase.inNamedFile() != nil else { return nil }
    let known = try Self.passphrase(of: status.providers)
    return known?.isEmpty == true && !isLocked ? nil : known
  }

  /// Whether the new provider is a program that the store, or the backup that it comes from, names already.
  private func namesProgram(of status: SecretsStatus) -> Bool {
    status.providers.contains { $0.provider == .program(program) }
  }

  /// Asks for the passphrase of a store; nil if it has none.
  private static func passphrase(of providers: [SecretsStatus.Entry]) throws -> String? {
    let hasOne = providers.contains { if case .passphrase = $0.provider { true } else { false } }
    return hasOne ? try Passphrase.ofStore() : nil
  }

  /// - Parameter isNew: whether a passphrase is asked for.
  private func provider(isNew: Bool) throws -> SecretsProvider {
    if systemd { return .systemCredential }
    if keyring { return .keyring }
    if let keyFile { return .keyFile(keyFile) }
    if passphrase { return .passphrase(isNew ? try HiddenInput.newPassphrase() : "") }
    return .program(program)
  }

  private func show(_ location: String) throws {
    let status = try StoreAccess.open(location, LayerChoice(hasStandard: false))
      .secretsStatus(askingProviders: true, passphrase: Passphrase.inNamedFile())
    if json {
      Output.standard.write(json: status.json)
    } else {
      changing.report("secrets are \(status.line)")
      for entry in status.providers {
        changing.report("  \(entry.line)\(entry.reason.map { ": \(Shown.line($0.message))" } ?? "")")
      }
    }
    if status.state == .undecided || status.providers.contains(where: \.isUseless) { throw ExitStatus.absent }
  }
}

extension SecretsStatus {
  fileprivate var line: String {
    let rest = unsealed == 0 ? "" : "; \(Count.of(unsealed, "secret")) to be encrypted with the present key"
    return switch state {
    case .undecided: "refused, because no one has decided how they are stored; see kept help secrets"
    case .plain: "plain, readable for anyone who can read the files"
    case .encrypted: "encrypted\(created.map { ", with a key of \($0)" } ?? "")\(rest)"
    }
  }
}

extension SecretsStatus.Entry {
  /// A passphrase is not expected to be there.
  fileprivate var isUseless: Bool { if case .passphrase = provider { false } else { reason != nil } }

  fileprivate var line: String {
    switch provider {
    case .systemCredential: "systemd-creds"
    case .keyring: "keyring"
    case .keyFile(let path): "key file \(Shown.line(path))"
    case .program(let arguments): "program \(Shown.line(arguments.joined(separator: " ")))"
    case .passphrase: "passphrase"
    case nil: "a provider of a later version"
    }
  }
}
