import ArgumentParser
import Etcd
import Fleet
import FoundationEssentials
import Glibc
import Kept

struct Publish: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Publishes documents to all machines through etcd.",
    usage: "kept-fleet publish IDENTIFIER (--managed FILE | --system FILE | --declarations FILE)... --etcd URL...",
    discussion: """
      All or none are published, after the checks that the machines make, and only if etcd still has the documents \
      that they compared with. With several prefixes the documents go to the last one. - reads standard input.
      """)

  @Argument(help: "The identifier of the store, such as com.example.player.") var identifier: String
  @OptionGroup var etcd: EtcdOptions
  @OptionGroup var groups: GroupOptions
  @Option(help: ArgumentHelp("Prescribed values and locks.", valueName: "file")) var managed: String?
  @Option(help: ArgumentHelp("Defaults.", valueName: "file")) var system: String?
  @Option(help: ArgumentHelp("A JSON Schema file, as `kept lint` takes it.", valueName: "file"))
  var declarations: String?
  @Option(help: ArgumentHelp("Remove a document: managed, system or declarations.", valueName: "document"))
  var remove: [String] = []
  @Option(help: ArgumentHelp("Only if the document has this revision; 0 if there is none.", valueName: "revision"))
  var ifRevision: Int64?
  @Flag(help: "Permit values for keys that are not declared.") var undeclared = false
  @Flag(help: "Change nothing, and list the machines that would refuse.") var dryRun = false
  @Flag(name: [.short, .long], help: "Print nothing but errors.") var quiet = false

  private var files: [(DocumentName, String)] {
    [(.managed, managed), (.system, system), (.declarations, declarations)].compactMap { name, path in
      path.map { (name, $0) }
    }
  }

  func validate() throws {
    let removed = try remove.map { text in
      guard let name = DocumentName(rawValue: text) else {
        throw ValidationError("--remove takes managed, system or declarations, not \"\(text)\"")
      }
      return name
    }
    let all = files.map(\.0) + removed
    if all.isEmpty {
      throw ValidationError("no document was given; use --managed, --system, --declarations or --remove")
    }
    if Set(all).count < all.count { throw ValidationError("a document was given twice; specify each only once") }
    if ifRevision != nil, all.count > 1 { throw ValidationError("--if-revision needs exactly one document") }
    if files.filter({ $0.1 == "-" }).count > 1 {
      throw ValidationError("only one document can be read from standard input")
    }
  }

  func run() async throws {
    var changes: [DocumentName: Data?] = [:]
    for name in remove.compactMap(DocumentName.init) { changes.updateValue(nil, forKey: name) }
    for (name, path) in files { changes.updateValue(try Self.contents(path), forKey: name) }
    let publication = Publication(
      try groups.group(identifier), changes, ifRevision: ifRevision, allowsUndeclared: undeclared)
    let done = try await etcd.cluster().withAnySession(publication.read) { session, present -> String? in
      try publication.check(present)
      func show() { if !quiet { publication.differences(present).forEach { print(Terminal.line($0)) } } }
      guard !dryRun else {
        show()
        KeptFleet.complain(ofNoReports: present.malformed)
        try list(publication.refusing(present), of: present.reports.count)
        return nil
      }
      let revision = try await publication.commit(session, present)
      show()
      return revision.map { "revision \($0)" } ?? "nothing has changed"
    }
    if !quiet, let done { print(done) }
    guard dryRun || KeptFleet.isOutputWritten else { throw ExitStatus.unreported }
  }

  private func list(_ refusing: [(host: String, reason: String)], of count: Int) throws(ExitStatus) {
    if !quiet {
      for (host, reason) in refusing { print(Terminal.line("\(host) would refuse \(reason)")) }
      print("\(count - refusing.count) of \(count) machines would accept it")
    }
    if !refusing.isEmpty { throw .refused }
  }

  private static func contents(_ path: String) throws(StoreError) -> Data {
    if path == "-" { return try standardInput() }
    try Store.checkLinks(on: path)
    do { return try Data(contentsOf: URL(filePath: path)) } catch {
      throw StoreError(.unavailable, "\(path) cannot be read")
    }
  }

  private static func standardInput() throws(StoreError) -> Data {
    var bytes = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(STDIN_FILENO, &buffer, buffer.count)
      if count > 0 { bytes.append(contentsOf: buffer.prefix(count)) }
      if count == 0 { return bytes }
      if count < 0, errno != EINTR {
        throw StoreError(.unavailable, "standard input cannot be read: \(String(cString: strerror(errno)))")
      }
    }
  }
}
