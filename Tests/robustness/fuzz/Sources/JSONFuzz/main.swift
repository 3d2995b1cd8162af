// Properties of every sequence of bytes: the reader does not crash, errors have an offset inside the text, and accepted
// text yields a value whose canonical JSON reads back as the same value and is written back as the same text. Read as
// another program's object, flat or nested, it yields keys in order with values that can be stored.

import CFuzzer
@testable import KeptCore
@testable import KeptValues

func check(_ holds: Bool, _ property: StaticString) {
  // libFuzzer detects a finding by the crash, and keeps the input that caused it.
  if !holds { fatalError("broken: \(property)") }
}

func readAnything(_ bytes: UnsafeBufferPointer<UInt8>) throws {
  let value: Value
  do {
    value = try Value(jsonBytes: bytes)
  } catch {
    check(error.code == .invalid || error.code == .tooLarge, "a refusal is invalid or too large")
    check(0...bytes.count ~= error.offset ?? -1, "a refusal has an offset in the text")
    check(!error.message.isEmpty, "a refusal has a sentence")
    return
  }
  let text = value.json
  let again = try Value(json: text)
  check(again == value, "canonical JSON reads back as the same value")
  check(again.json == text, "canonical JSON is written back as the same text")
  check(value.jsonByteCount == text.utf8.count, "the counted length is the written length")
  if value != .null { check(try value.checkedForStore() == value, "a value read has the form that a store keeps") }
}

func readForeign(_ bytes: UnsafeBufferPointer<UInt8>, separator: String?) {
  do {
    let text = try ForeignJSON(bytes, separator: separator)
    check(zip(text.settings, text.settings.dropFirst()).allSatisfy { $0.key < $1.key }, "keys are in order, each once")
    for setting in text.settings {
      check(try setting.value.checkedForStore() == setting.value, "a value is in the form that a store keeps")
    }
    check(text.notCarried.allSatisfy { !$0.place.isEmpty && !$0.reason.isEmpty }, "a report has a place and a reason")
  } catch {
    check(error.code == .invalid || error.code == .tooLarge, "a refusal is invalid or too large")
    check(0...bytes.count ~= error.offset ?? -1, "a refusal has an offset in the text")
  }
}

var count = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
let status = LLVMFuzzerRunDriver(&count, &arguments) { data, size in
  let bytes = UnsafeBufferPointer(start: data, count: size)
  do {
    try readAnything(bytes)
    for separator in [nil, "."] { readForeign(bytes, separator: separator) }
  } catch {
    check(false, "canonical JSON is never refused, and the value read can be stored")
  }
  return 0
}
