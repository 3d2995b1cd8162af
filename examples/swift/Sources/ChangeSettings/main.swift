// Changes some keys while other programs watch, each together with the time of the change: ChangeSettings LOCATION

import Foundation
import Kept

extension Keys {
  static let volume = Key("demo.volume", default: 50)
  static let theme = Key("demo.theme", default: "system")
  static let scale = Key("demo.scale", default: 1.0)
  static let written = Key<Date?>("demo.written")
  static let quit = Key("quit", default: false)
}

/// One commit, so that observers receive the change and its time together.
func change(_ settings: Store, _ body: (Transaction) throws -> Void) throws {
  try settings.transaction { together in
    try body(together)
    try together.set(Date(), for: .written)
  }
  // So that each has its own notice: in other processes notices may be coalesced.
  Thread.sleep(forTimeInterval: 0.05)
}

let arguments = CommandLine.arguments
guard arguments.count == 2 else {
  FileHandle.standardError.write(Data("usage: ChangeSettings LOCATION\n".utf8))
  exit(2)
}
do {
  let settings = try Store.open(arguments[1])
  try change(settings) { try $0.set(70, for: .volume) }
  try change(settings) { try $0.set("dark", for: .theme) }
  try change(settings) {
    try $0.set(75, for: .volume)
    try $0.set(1.25, for: .scale)
  }
  try change(settings) { _ = try $0.remove(.theme) }
  try change(settings) { try $0.set(true, for: .quit) }
  settings.close()
  print("Swift:  changed 4 keys in 5 transactions")
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
