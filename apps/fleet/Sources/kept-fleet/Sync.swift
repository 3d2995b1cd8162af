import ArgumentParser
import Fleet
import Glibc
import Kept

struct Sync: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Keeps a user's settings the same on several machines.",
    usage: """
      kept-fleet sync IDENTIFIER --etcd URL... [--prefix PREFIX] [--conflicts etcd | local] [--secrets-key FILE]...
      """,
    discussion: """
      Every value that the user has set is a key of etcd, PREFIX/IDENTIFIER/user/KEY, as the JSON of \
      `kept get --json`. Changes are sent in both directions. If both have changed, etcd's value wins, and \
      the one of this machine is in `kept log`. Secrets stay on the machine, unless a key \
      seals them (`openssl rand -base64 32` makes one).
      """)

  @Argument(help: "The identifier of the store, such as com.example.player.") var identifier: String
  @OptionGroup var etcd: EtcdOptions
  @Option(help: ArgumentHelp("The first part of the keys in etcd; default: /kept-users/NAME.", valueName: "prefix"))
  var prefix: String?
  @Option(help: ArgumentHelp("A store in place of that of the identifier.", valueName: "location"))
  var store: String?
  @Option(help: ArgumentHelp("The administrator's file of locks, if the store has no identifier.", valueName: "file"))
  var managed: String?
  @Option(help: ArgumentHelp("Where to record the state that both sides had.", valueName: "folder"))
  var state: String?
  @Option(help: ArgumentHelp("Who wins if both sides have changed a key: etcd or local.", valueName: "side"))
  var conflicts: ConflictRule = .etcd
  @Option(
    help: ArgumentHelp("The same for the keys with a prefix; the longest prefix is used.", valueName: "prefix=side"))
  var conflictsFor: [String] = []
  @Option(
    help: ArgumentHelp(
      "A key that seals secrets, which then are kept the same, too. The first of several seals.", valueName: "file"))
  var secretsKey: [String] = []
  @OptionGroup var machine: MachineArguments

  func validate() throws { _ = try rules() }

  func run() async throws {
    let log = machine.logger()
    var machineOptions = try machine.options()
    machineOptions.hidesStatus = true
    let prefix = try prefix ?? "/kept-users/\(Self.userName())"
    let options = SyncOptions(
      group: try Group(identifier, prefixes: [prefix]), store: store ?? identifier, managed: managed,
      folder: try state ?? Self.stateFolder(identifier), rules: try rules(), secretsKeys: try SecretsKeys(secretsKey),
      machine: machineOptions)
    let manager = ServiceManager()
    try await manager.run(Syncer(try etcd.cluster(), options, log: log) { manager.notify("READY=1") })
  }

  private func rules() throws -> ConflictRules {
    var rules = ConflictRules(general: conflicts)
    for text in conflictsFor {
      let scalars = text.unicodeScalars
      guard let equals = scalars.lastIndex(of: "="),
        let rule = ConflictRule(rawValue: String(scalars[equals...].dropFirst()))
      else { throw ValidationError("--conflicts-for takes PREFIX=etcd or PREFIX=local, not \"\(text)\"") }
      rules.byPrefix[ExactString(String(scalars[..<equals]))] = rule
    }
    return rules
  }

  private static func userName() throws(StoreError) -> String {
    guard let entry = getpwuid(geteuid()), let name = String(validatingCString: entry.pointee.pw_name) else {
      throw StoreError(.unavailable, "the current user has no name; specify the prefix of the keys with --prefix")
    }
    return name
  }

  private static func stateFolder(_ identifier: String) throws(StoreError) -> String {
    if let folder = Environment.variable("XDG_STATE_HOME"), folder.unicodeScalars.first == "/" {
      return "\(folder)/kept-fleet/\(identifier)"
    }
    guard let home = Environment.variable("HOME"), home.unicodeScalars.first == "/" else {
      throw StoreError(.unavailable, "neither XDG_STATE_HOME nor HOME is an absolute path; use --state")
    }
    return "\(home)/.local/state/kept-fleet/\(identifier)"
  }
}

extension ConflictRule: ExpressibleByArgument {}
