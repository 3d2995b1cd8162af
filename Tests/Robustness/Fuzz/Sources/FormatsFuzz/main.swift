// Properties of every sequence of bytes that is imported in any format: the reader does not crash, errors have an
// offset inside the text, and accepted text yields keys in order with values that can be stored.
//
// The first byte of an input, a digit, selects the format; the rest is the text.

import CFuzzer
@testable import KeptCore
@testable import KeptFormats

func check(_ holds: Bool, _ property: StaticString) {
  // libFuzzer detects a finding by the crash, and keeps the input that caused it.
  if !holds { fatalError("broken: \(property)") }
}

func readAnything(_ bytes: UnsafeBufferPointer<UInt8>, as format: ImportFormat) {
  do {
    let text = try ForeignText(bytes, as: format)
    check(zip(text.entries, text.entries.dropFirst()).allSatisfy { $0.key < $1.key }, "keys are in order, each once")
    for case .value(let value) in text.entries.map(\.content) {
      check(try value.checkedForStore() == value, "a value is in the form that a store keeps")
    }
    check(text.notCarried.allSatisfy { !$0.place.isEmpty && !$0.reason.isEmpty }, "a report has a place and a reason")
  } catch {
    check(error.code == .invalid || error.code == .tooLarge, "a refusal is invalid or too large")
    check(0...bytes.count ~= error.offset ?? -1, "a refusal has an offset in the text")
    check(!error.message.isEmpty, "a refusal has a sentence")
  }
}

var count = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
let status = LLVMFuzzerRunDriver(&count, &arguments) { data, size in
  guard let data, size > 0, let format = ImportFormat(rawValue: UInt32(data[0] & 7)), format != .kept else { return 0 }
  readAnything(UnsafeBufferPointer(start: data + 1, count: size - 1), as: format)
  return 0
}
