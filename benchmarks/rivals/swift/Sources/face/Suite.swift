// Foundation's UserDefaults, with a suite of 1,000 keys.
//
// On Linux a set changes only the memory of its process. Only `synchronize` writes, and reads what others have written:
// the whole file, in place, with an fsync. Foundation never calls it by itself: a program that exits without it loses
// its sets, and one that is killed in the middle of it may leave a partial file.

import Foundation

struct Suite {
  let defaults: UserDefaults

  /// Keeps the suites of this process, and of those that it starts, out of the user's home folder.
  ///
  /// Foundation reads the path before `main` begins, so the program executes itself again with another path.
  static func keep(in folder: String) throws {
    let place = URL(fileURLWithPath: folder).path
    if ProcessInfo.processInfo.environment["XDG_CONFIG_HOME"] == place { return }
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    setenv("XDG_CONFIG_HOME", place, 1)
    execv(Bundle.main.executablePath ?? CommandLine.arguments[0], CommandLine.unsafeArgv)
    throw CocoaError(.executableLoad)
  }

  init(in folder: String) throws {
    var values: [String: Any] = Dictionary(uniqueKeysWithValues: zip(Names.others, 0...))
    values[Names.volume] = 70
    values[Names.device] = Names.deviceText
    try Self.write(values, as: "com.example.faces", in: folder)
    defaults = try Self.named("com.example.faces")
    defaults.register(defaults: [Names.absent: 1])
  }

  /// Writes a suite as `synchronize` would.
  ///
  /// Setting this many keys takes minutes: the time grows with the square of the keys.
  static func write(_ values: [String: Any], as name: String, in folder: String) throws {
    let file = try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0)
    try file.write(to: URL(fileURLWithPath: "\(folder)/\(name).plist"))
  }

  static func named(_ name: String) throws -> UserDefaults {
    guard let suite = UserDefaults(suiteName: name) else { throw CocoaError(.fileReadUnknown) }
    return suite
  }

  @inline(never) func get(_ count: Int) {
    for _ in 0..<count { blackHole(defaults.integer(forKey: Names.volume)) }
  }
  @inline(never) func getAbsent(_ count: Int) {
    for _ in 0..<count { blackHole(defaults.integer(forKey: Names.absent)) }
  }
  @inline(never) func getText(_ count: Int) {
    for _ in 0..<count { blackHole(defaults.string(forKey: Names.device)?.utf8.count ?? 0) }
  }

  @inline(never) func set(_ count: Int) { for value in 0..<count { defaults.set(value, forKey: Names.volume) } }
  @inline(never) func setSynchronized(_ count: Int) {
    for value in 0..<count {
      defaults.set(value, forKey: Names.volume)
      defaults.synchronize()
    }
  }
}
