import ArgumentParser
import Kept

struct Verify: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks the files of stores and backups, without opening a store.",
    usage: "kept verify STORE|FOLDER|BACKUP... [--json | --quiet]",
    discussion: """
      Checks every block, record, commit and past change, and that they follow each other. Nothing is created, \
      locked or changed, so a store may be in use, a copy, or on a medium that cannot be written. Each finding names \
      the file, the place in it, and the keys as far as they can be read. Without the file pulse, as in some copies, \
      damage to a commit may look like the end of the journal. `kept doctor` opens a store and also examines \
      its surroundings. Exit status 0: all is well; 4: something is damaged, or cannot be checked.
      """)

  @OptionGroup var store: StoreOption
  @Flag(help: "Print JSON: an array of findings with store, severity (damage), what, remedy and key.")
  var json = false
  @Flag(name: [.short, .long], help: "Report damage only through the exit status.")
  var quiet = false
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if quiet, json { throw ValidationError("--quiet prints nothing, so it cannot be combined with --json") }
  }

  func run() throws {
    let (location, rest) = try store.split(words)
    let places = [location] + rest
    var (found, isWell): ([Value], Bool) = ([], true)
    for location in places {
      do throws(StoreError) {
        let findings = try Self.findings(location)
        if !findings.isEmpty { isWell = false }
        found += findings.map { $0.json(in: location) }
        if !json, !quiet { print(findings, location) }
      } catch {
        isWell = false
        Failure.print(error, in: places.count > 1 ? location : nil)
      }
    }
    if json { Output.standard.write(json: Value.array(found).json) }
    if !isWell { throw ExitStatus.unavailable }
  }

  private static func findings(_ location: String) throws(StoreError) -> [Finding] {
    // Without a slash it would be an identifier.
    let isFile = File.isRegular(location) && !location.has("/")
    let place = try StorePlace(isFile ? "./" + location : location)
    do throws(StoreError) { return try place.verifyFiles() } catch {
      // With the name that may have been meant.
      if place.isMissing { _ = try StoreAccess.existing(location) }
      throw error
    }
  }

  private func print(_ findings: [Finding], _ location: String) {
    let name = Shown.line(location)
    if findings.isEmpty { Output.standard.write(line: "\(name): all is well".styled(.green)) }
    for finding in findings {
      Output.standard.write(line: "\(finding.severity.mark) \(name): \(Shown.line(finding.what))")
      if let remedy = finding.remedy { Output.standard.write(line: "  \(Shown.line(remedy))") }
    }
  }
}
