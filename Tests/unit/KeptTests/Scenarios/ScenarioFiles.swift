// The files of a scenario: layers, lists of declarations, and other kinds of files in their place.

import Foundation

/// The scenario's own folder and environment variables.
final class ScenarioGround {
  let folder: URL
  private let variables: [String: String]
  // The environment is process-wide: a scenario that sets it runs alone.
  private static let environment = NSLock()

  init(variables: [String: String]) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "kept-scenario-\(UUID())")
    self.variables = variables
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    guard !variables.isEmpty else { return }
    Self.environment.lock()
    for (name, text) in variables { setenv(name, text, 1) }
  }

  func leave() {
    try? FileManager.default.removeItem(at: folder)
    guard !variables.isEmpty else { return }
    for name in variables.keys { unsetenv(name) }
    Self.environment.unlock()
  }

  func path(_ file: String) -> String { folder.appending(path: file).path }

  /// Runs a step about a file; false if it is another step.
  func perform(_ name: String, _ fields: inout ScenarioFields) throws -> Bool {
    switch name {
    case "write_file":
      let (file, text) = (try fields.string("file"), try fields.take("text").bytes())
      try write(text, to: file, mode: try fields.takeIfThere("mode")?.string() ?? "644")
    case "remove_file": try FileManager.default.removeItem(atPath: path(fields.string("file")))
    case "make":
      let (file, kind) = (try fields.string("file"), try fields.string("as"))
      try make(kind, path(file), to: try fields.takeIfThere("to")?.string())
    case "damage": try damage(path(fields.string("file")))
    default: return false
    }
    return true
  }

  /// Writes a file next to it and renames that, so that the file is replaced atomically.
  private func write(_ text: [UInt8], to file: String, mode: String) throws {
    guard let mode = mode_t(mode, radix: 8) else { throw ScenarioFault("\(mode) is not a file mode") }
    let draft = path(file) + ".draft"
    try Data(text).write(to: URL(filePath: draft))
    guard chmod(draft, mode) == 0, rename(draft, path(file)) == 0 else {
      throw ScenarioFault("\(file) cannot be written")
    }
  }

  /// Replaces the contents of a closed store's checkpoint.
  private func damage(_ store: String) throws {
    let values = try FileHandle(forWritingTo: URL(filePath: store + "/values"))
    try values.truncate(atOffset: 0)
    try values.write(contentsOf: Data("damaged".utf8))
    try values.close()
  }

  /// Creates another kind of file in the place of a file, which is never missing.
  ///
  /// Only a folder cannot replace a file atomically.
  private func make(_ kind: String, _ path: String, to other: String?) throws {
    let draft = path + ".draft"
    if kind == "folder" { _ = remove(path) }
    let isMade =
      switch kind {
      case "folder": mkdir(draft, 0o700) == 0
      case "fifo": mkfifo(draft, 0o600) == 0
      case "link": symlink(self.path(other ?? ""), draft) == 0
      default: throw ScenarioFault("the runner does not know how to make a \(kind)")
      }
    guard isMade, rename(draft, path) == 0 else { throw ScenarioFault("a \(kind) cannot be made at \(path)") }
  }
}
