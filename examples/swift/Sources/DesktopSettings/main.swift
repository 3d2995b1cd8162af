// Changes six settings of the desktop, or puts them back: DesktopSettings LOCATION change|undo

import Foundation
import Kept

/// Sets the six keys, and saves what they were as a struct.
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
  try settings.set(Date(), for: .written)
  return "changed 6 keys, and saved what they were as a struct"
}

/// Puts back what the struct holds, and removes it.
func undo(_ settings: Transaction) throws -> String {
  guard let replaced = try settings.value(for: .replaced) else { return "found nothing to put back" }
  try settings.set(replaced.options, for: .options)
  try settings.set(replaced.opacity, for: .opacity)
  try settings.set(replaced.color, for: .color)
  try settings.set(replaced.icons, for: .icons)
  try settings.set(replaced.magnification, for: .magnification)
  try settings.set(replaced.keyboard, for: .keyboard)
  try settings.set(nil, for: .replaced)
  try settings.set(nil, for: .written)
  return "read the struct, put 6 keys back, and removed it"
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let body = ["change": change, "undo": undo][arguments[2]] else {
  FileHandle.standardError.write(Data("usage: DesktopSettings LOCATION change|undo\n".utf8))
  exit(2)
}
do {
  var did = ""
  let duration = try ContinuousClock().measure {
    let settings = try Store.open(arguments[1])
    did = try settings.transaction(body)
    settings.close()
  }
  let milliseconds = String(format: "%.1f", duration / .milliseconds(1))
  print("Swift:  \(did), in one transaction: \(milliseconds) ms")
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
