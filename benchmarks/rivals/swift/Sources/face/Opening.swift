// From nothing open to the first value: each time in a new process, since UserDefaults caches what a process has read.
// The clock begins when the process runs.

import Foundation
import Kept

struct Opening {
  enum Engine: String {
    case kept = "Kept"
    case userDefaults = "UserDefaults"
  }

  struct Failure: Error, CustomStringConvertible { let description: String }

  let folder: String
  let keys: Int

  /// The key that is read.
  private static let number = 123
  private static func name(_ number: Int) -> String { "section-\(number / 1000).setting-\(number)" }
  private var subject: String { "com.example.opening-\(keys)" }

  private func fill() throws {
    let values = Dictionary(uniqueKeysWithValues: (0..<keys).map { (Self.name($0), $0) })
    let store = try Store.open("\(folder)/\(subject).kept")
    defer { store.close() }
    try store.transaction { all in
      for (name, number) in values { try all.set(number, for: Key(name, default: 0)) }
    }
    try Suite.write(values, as: subject, in: folder)
  }

  func measure(quick: Bool) throws {
    try fill()
    let candidates = [Engine.kept, .userDefaults].map { engine in
      Candidate(engine.rawValue) { operations in
        try (0..<operations).reduce(.zero) { took, _ in try took + inAnotherProcess(engine) }
      }
    }
    try Row("Opening, Swift", row, .opening(quick: quick), candidates).printed()
  }

  var row: String { "open to first value in Swift, \(keys == 1000 ? "1,000" : "100,000") keys" }

  private func inAnotherProcess(_ engine: Engine) throws -> Duration {
    let process = Process(), output = Pipe()
    process.executableURL = Bundle.main.executableURL
    process.arguments = [folder, "--open", engine.rawValue, String(keys)]
    process.standardOutput = output
    try process.run()
    let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard let nanoseconds = Int(printed.trimmingCharacters(in: .newlines)) else {
      throw Failure(description: "the process that opens \(engine.rawValue) printed \(printed)")
    }
    return .nanoseconds(nanoseconds)
  }

  /// The main function of the other process: `face FOLDER --open ENGINE KEYS`.
  func open(_ engine: Engine) throws {
    let name = Self.name(Self.number)
    let clock = ContinuousClock(), began = clock.now
    let value =
      switch engine {
      case .kept: try Store.open("\(folder)/\(subject).kept")[Key(name, default: 0)]
      case .userDefaults: try Suite.named(subject).integer(forKey: name)
      }
    let took = clock.now - began
    guard value == Self.number else { throw Failure(description: "\(engine.rawValue) has lost \(name)") }
    print(Int(took / .nanoseconds(1)))
  }
}
