import ArgumentParser
import Fleet
import Kept

struct Follow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Keeps the administrator's files of a program equal to their documents in etcd.",
    usage: "kept-fleet follow IDENTIFIER --etcd URL... [--prefix PREFIX]...",
    discussion: """
      Writes /etc/kept/IDENTIFIER/managed.json and system.json whenever PREFIX/IDENTIFIER/managed and system change in \
      etcd. A document that is wrong is refused and reported under PREFIX/IDENTIFIER/status; the last good one stays. \
      Without etcd the files stay as they are.
      """)

  @Argument(help: "The identifier of the store, such as com.example.player.") var identifier: String
  @OptionGroup var etcd: EtcdOptions
  @OptionGroup var groups: GroupOptions
  @Option(help: ArgumentHelp("A folder in place of /etc/kept/IDENTIFIER.", valueName: "folder"))
  var folder: String?
  @OptionGroup var machine: MachineArguments

  func run() async throws {
    let log = machine.logger()
    let options = FollowOptions(
      group: try groups.group(identifier), folder: folder ?? "/etc/kept/\(identifier)", machine: try machine.options())
    let manager = ServiceManager()
    try await manager.run(Follower(try etcd.cluster(), options, log: log) { manager.notify("READY=1") })
  }
}
