// Changes six settings of the desktop, restores them, or tries values that their declarations refuse: DesktopSettings
// LOCATION change|undo|exceed

import Foundation
import Kept

/// Declares the six keys.
///
/// Has no effect if another program has declared the same.
func declare(_ settings: Store) throws -> String {
  let before = try settings.currentRevision()
  try settings.declare(.options, .opacity, .color, .icons, .magnification, .keyboard)
  let after = try settings.currentRevision()
  return before == after
    ? "declared 6 keys, and found them declared like that: still revision \(after)"
    : "declared 6 keys anew: revision \(before) became \(after)"
}

/// Sets the six keys, and saves their previous values as a struct.
func change(_ settings: Transaction) throws -> String {
  let replaced = Replaced(
    options: try settings.value(for: .options), opacity: try settings.value(for: .opacity),
    color: try settings.value(for: .color), icons: try settings.value(for: .icons),
    magnification: try settings.value(for: .magnification), keyboard: try settings.value(for: .keyboard),
    at: Date())
  try settings.set(.spanned, for: .options)
  try settings.set(replaced.opacity / 2, for: .opacity)
  try settings.set("#ff8800", for: .color)
  try settings.set(!replaced.icons, for: .icons)
  try settings.set(replaced.magnification * 1.25, for: .magnification)
  try settings.set(replaced.keyboard + ["caps:escape"], for: .keyboard)
  try settings.set(replaced, for: .replaced)
  return "changed 6 keys, and saved what they were as a struct"
}

/// Restores the values in the struct, and removes it.
func undo(_ settings: Transaction) throws -> String {
  guard let replaced = try settings.value(for: .replaced) else { return "found nothing to put back" }
  try settings.set(replaced.options, for: .options)
  try settings.set(replaced.opacity, for: .opacity)
  try settings.set(replaced.color, for: .color)
  try settings.set(replaced.icons, for: .icons)
  try settings.set(replaced.magnification, for: .magnification)
  try settings.set(replaced.keyboard, for: .keyboard)
  try settings.set(nil, for: .replaced)
  return "read the struct, put 6 keys back, and removed it"
}

/// Tries to set an opacity above 1.
func exceed(_ settings: Transaction) throws -> String {
  try settings.set(101, for: .opacity)
  return "set an opacity of 101"
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let body = ["change": change, "undo": undo, "exceed": exceed][arguments[2]] else {
  FileHandle.standardError.write(Data("usage: DesktopSettings LOCATION change|undo|exceed\n".utf8))
  exit(2)
}
do {
  var declared = ""
  var did = ""
  let duration = try ContinuousClock().measure {
    let settings = try Store.open(arguments[1])
    declared = try declare(settings)
    did = try settings.transaction(body)
    settings.close()
  }
  let milliseconds = String(format: "%.1f", duration / .milliseconds(1))
  print("Swift:  \(declared);")
  print("        \(did), in one transaction: \(milliseconds) ms")
} catch let error as StoreError {
  FileHandle.standardError.write(Data("Swift:  \(error.code): \(error)\n".utf8))
  exit(1)
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
